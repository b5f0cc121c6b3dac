"""Entries of tables chosen anew: where an entry's change saves logic and errors still hold.

The logic of a table is searched at all its rows (`search_kernels`), at what entries cost
(`prices`); what is left of it says the entries. They go back into the graph, which is simulated on
other states: what does not hold there is undone, all of it, or the half that saves least. Prices
begin so high that only what is nearly free is taken, and fall. What saves nothing but errs less is
taken, too, so that there is more to spend.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.compact.approximate.judge import Judge
from boolcomp.compact.approximate.prices import Pricing, cores_of, with_entries
from boolcomp.compact.approximate.row_kernels import WordRows
from boolcomp.compact.approximate.searching import Searching, row_planes
from boolcomp.compact.approximate_kernels import Asked
from boolcomp.compact.graph.tables import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.approximate.prices import Core, Prices
    from boolcomp.compact.graph.tables import Columns
    from boolcomp.compact.network import Synthesiser
    from boolcomp.compact.result.compact import Compact
    from boolcomp.logic.network import Network
    from boolcomp.words.graph import Lookup, WordGraph

    Floats = NDArray[np.float64]

Known: TypeAlias = "dict[tuple[int, Columns], Network]"
PRICES = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)  # nodes that all that is left to spend must gain
ENTRY_LEAST_LEFT = 0.002  # steps²: what is left of an output counts as no less
ENTRY_TURNS, ENTRY_VISITS = 3, 10  # of searches, and how often each looks at a node
ENTRY_WARMTH = 0.02  # nodes that a change may lose: it leads elsewhere
ENTRY_ALONE, ENTRY_TOGETHER = 40, 10  # signals looked at in place of a node
UNSEEN = 0.1  # of an entry's mean price: that of one that no state reads, at least
ENTRY_FURTHEST = 4.0  # steps of an output: how far an entry may move it


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """Logic of a core with other entries, and what that gains in nodes, prices included."""

    core: int
    gain: float
    network: Network
    entries: NDArray[np.int64]


def with_cheaper_tables(
    compact: Compact,
    synthesise: Synthesiser,
    centred: Sequence[bool],
    report: Callable[[float, int, Floats], None] = lambda *_: None,
) -> tuple[WordGraph, Known]:
    """Return a graph with other entries of tables, whose mean squares are as allowed.

    With it comes the logic of tables that was found, by number of inputs and columns.

    `centred` outputs may err in the mean: that is taken off when they are decoded. `report` is
    told, after every price, how far this is, the nodes that tables have saved, and rms errors.
    """
    judge = Judge.of(compact, centred)
    graph, left = compact.graph, judge.left(compact.graph)
    known: Known = {}
    if left is None:
        return graph, known
    nets = logic_of(cores_of(graph), known, synthesise)
    first = sum(len(net.nodes) for net in nets)
    for turn, price in enumerate(PRICES):
        worth = price / np.maximum(left, ENTRY_LEAST_LEFT)
        cores = cores_of(graph)
        nets = logic_of(cores, known, synthesise)
        pricing = Pricing(graph, judge.window, judge.errors(graph))
        changes = [
            _changed(k, core, net, pricing.of(core), worth)
            for k, (core, net) in enumerate(zip(cores, nets, strict=True))
        ]
        changes = sorted((one for one in changes if one.gain > 0), key=lambda one: -one.gain)
        while changes:
            tried = _with(graph, cores, changes)
            now = judge.left(tried)
            if now is not None:
                graph, left = tried, now
                for one in changes:
                    known[_core_key(cores[one.core], one.entries.tolist())] = one.network
                nets = logic_of(cores_of(graph), known, synthesise)
                break
            changes = changes[: len(changes) // 2]
        saved = first - sum(len(net.nodes) for net in nets)
        report((turn + 1) / len(PRICES), saved, np.sqrt(judge.allowed - left))
    return graph, known


def logic_of(cores: Sequence[Core], known: Known, synthesise: Synthesiser) -> list[Network]:
    """Return the logic of cores, and make it known: what is not, is synthesised.

    With other entries a table may fold once more, or another way round: its core is another then.
    """
    for one in cores:
        key = _core_key(one, one.entries)
        if key not in known:
            known[key] = synthesise(*key)
    return [known[_core_key(one, one.entries)] for one in cores]


def _core_key(core: Core, entries: Sequence[int]) -> tuple[int, Columns]:
    return core.inputs, columns_of(tuple(entries), core.bits)


def _changed(place: int, core: Core, network: Network, prices: Prices, worth: Floats) -> _Change:
    """Return a core's logic after sweeps at what its entries cost."""
    square, linear = worth @ prices.square, worth @ prices.linear
    weight = np.maximum(square, UNSEEN * square.mean() + 1e-12)
    home = np.asarray(core.entries, np.int64)
    most = max(1.0, ENTRY_FURTHEST / max(float(prices.reach.max()), 1e-9) // 1)
    bits = np.arange(core.bits)[None, ::-1].copy()
    words = WordRows(bits, np.zeros(0, np.int64), np.array([most]))
    index = np.arange(len(home))
    planes = np.stack([row_planes(index >> k & 1) for k in range(core.inputs)])
    swept, beside = Searching(network, planes, words, home[None]), linear / (2 * weight)

    def off() -> Floats:
        return np.asarray(swept.word - home + beside)

    before, state = swept.costs(off(), weight[None]).sum(), np.array([1], np.uint64)
    for _ in range(ENTRY_TURNS):
        visits = ENTRY_VISITS * len(swept.network.nodes)
        asked = Asked(
            visits, network.depth, ENTRY_WARMTH, ENTRY_ALONE, ENTRY_TOGETHER, complete=True
        )
        swept.run(off(), weight[None], asked, state)
    after = swept.costs(off(), weight[None]).sum()
    gain = len(network.nodes) - len(swept.network.nodes) + before - after
    return _Change(place, float(gain), swept.network, swept.word[0])


def _with(graph: WordGraph, cores: Sequence[Core], changes: Sequence[_Change]) -> WordGraph:
    made: dict[int, Lookup] = {}
    for one in changes:
        made |= with_entries(graph, cores[one.core], one.entries)
    return replace(graph, nodes=tuple(made.get(k, node) for k, node in enumerate(graph.nodes)))
