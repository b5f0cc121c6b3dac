"""One sweep of `resub` over all nodes, compiled."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import Any

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.logic.synthesis.builtin.resub_kernels import (
    draw,
    evaluate_after,
    find_care,
    release,
    set_levels,
    sort_nodes,
)
from boolcomp.logic.synthesis.resub_kernels import (
    COUNT,
    FIRST,
    SECOND,
    SERVED,
    TABLE,
    THIRD,
    search,
)

_NOT = 0x0F  # of the first operand
_AT_ONE = 0x10  # a table's row where the first operand is 1 and the others are 0


@njit(cache=True)
def _rewire(g: Any, v: Any, a: Any, b: Any, c: Any, table: Any) -> None:
    """Give v new operands and a new table."""
    g.refs[a] += 1
    g.refs[b] += 1
    g.refs[c] += 1
    release(g.fan, g.refs, g.stack, len(g.arrive), v)
    g.fan[v, 0], g.fan[v, 1], g.fan[v, 2] = a, b, c
    g.lut[v] = table


@njit(cache=True)
def _invert_operand(g: Any, s: Any, k: Any) -> None:
    """Change a node's table as if its operand k were inverted."""
    shift, high = 4 >> k, (0xF0, 0xCC, 0xAA)[k]
    g.lut[s] = (g.lut[s] & high) >> shift | (g.lut[s] & ~high & 0xFF) << shift


@njit(cache=True)
def _substitute(g: Any, v: Any, by: Any, inverse: Any, count: Any) -> None:
    """Let all readers of v read `by`, or its inverse; v stays only for outputs it inverts for."""
    for t in range(count):
        s = g.order[t]
        for k in range(3):
            if s != v and g.fan[s, k] == v:
                g.fan[s, k] = by
                g.refs[by] += 1
                g.refs[v] -= 1
                if inverse:
                    _invert_operand(g, s, k)
    for j in range(len(g.outs)):
        if g.outs[j] == v and (not inverse or by == 0):
            g.outs[j] = 1 if inverse else by
            g.refs[g.outs[j]] += 1
            g.refs[v] -= 1
    if g.refs[v] == 0:
        release(g.fan, g.refs, g.stack, len(g.arrive), v)
        g.fan[v, :] = 0
    else:
        _rewire(g, v, by, 0, 0, _NOT)


@njit(cache=True)
def _collect(g: Any, h: Any, v: Any) -> None:
    """List in random order what v may read: living, not depending on v, and early enough."""
    refs, after, level, state, candidates = g.refs, g.after, g.level, g.state, h.candidates
    first, latest = len(g.arrive), g.required[v]
    count = 0
    for s in range(2, len(refs)):
        if (s < first or refs[s] > 0) and not after[s] and level[s] < latest:
            other = draw(state, count + 1)
            candidates[count] = candidates[other]
            candidates[other] = s
            count += 1
    h.vectors[:] = 0
    h.owners[:] = 0
    h.all_pairs[:] = 0
    h.best[:] = 0
    h.best[COUNT] = count


@njit(cache=True)
def _split(g: Any, h: Any, v: Any) -> Any:
    """Set where v must be 1 and 0; return 0 or 1 if it may be that constant, else -1."""
    seen, planes, high, low = g.seen, g.planes, h.high, h.low
    any_high = any_low = False
    for w in range(len(seen)):
        high[w], low[w] = seen[w] & planes[v, w], seen[w] & ~planes[v, w]
        any_high |= high[w] != 0
        any_low |= low[w] != 0
    if not any_high:
        return 0
    return -1 if any_low else 1


@njit(cache=True)
def _improve(g: Any, h: Any, v: Any, count: Any) -> Any:
    """Change how v is made if that costs nothing; return whether it was changed."""
    constant = _split(g, h, v)
    if constant >= 0:
        _substitute(g, v, 0, constant == 1, count)
        return True
    _collect(g, h, v)
    if h.best[COUNT] == 0:
        return False
    search(g, h, v)
    if h.best[SERVED] == 0:
        return False
    a, b, c, table = h.best[FIRST], h.best[SECOND], h.best[THIRD], h.best[TABLE]
    if b == 0 and c == 0:
        _substitute(g, v, a, table & _AT_ONE == 0, count)
    else:
        _rewire(g, v, a, b, c, table)
    return True


@njit(cache=True)
def sweep(g: Any, h: Any) -> Any:
    """Replace the operands of every node once, where that costs nothing; return nodes saved.

    Planes of all living nodes are right before and after. No output comes later than allowed.
    """
    count = before = sort_nodes(g)
    turns = g.order[:count].copy()
    for t in range(count - 1, 0, -1):
        other = draw(g.state, t + 1)
        turns[t], turns[other] = turns[other], turns[t]
    for v in turns:
        if g.refs[v] <= 0:
            continue
        set_levels(g, count)
        find_care(g, v, count)
        if not _improve(g, h, v, count):
            continue
        count = sort_nodes(g)
        evaluate_after(g, count)
    return before - np.int64(count)
