"""Helpers in C without floating point: words of encoder counts, and drive units of words.

Whoever calls them says how many counts (drive units) the range of a word has; so they know nothing
of units, and are exact: a division by doubling, one bit of the cell after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.codes import Code
    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program
    from boolcomp.targets.procedure import Given, Made, Procedure

MOST_DRIVE = 1 << 15  # drive units that a range may have
FINEST = 6  # binary places of a step in which a range's middle is told
DIVISION = """\
/* The cell of a count in a range of `counts` (1 .. 2^31 - 1) that begins at `first`: a turn wraps,
   all others saturate; `tread`: cells lie about whole steps, and are rounded to. */
static inline uint32_t NAME_cell(int32_t count, int32_t first, int32_t counts, unsigned bits,
                                 int wraps, int tread)
{
    const uint32_t whole = (uint32_t)counts, most = UINT32_C(0xFFFFFFFF) >> (32U - bits);
    uint32_t past = (uint32_t)count - (uint32_t)first, cell = 0;
    unsigned k;
    if (count < first) {
        if (!wraps)
            return 0;
        past = (whole - (UINT32_C(0) - past) % whole) % whole;
    } else if (past >= whole) {
        if (!wraps)
            return most;
        past %= whole;
    }
    for (k = 0; k < bits; k++) {
        past <<= 1;
        cell <<= 1;
        if (past >= whole) {
            past -= whole;
            cell |= 1U;
        }
    }
    if (tread && past >= whole - past)
        cell = cell < most ? cell + 1U : wraps ? 0 : most;
    return cell;
}
"""


def helpers(program: Program, load: Load, procedure: Procedure, name: str) -> str:
    """Return the helpers of all inputs and outputs."""
    lines = [DIVISION.replace("NAME", name)]
    for given, word in zip(procedure.inputs, program.inputs, strict=True):
        lines += [*_of_counts(given, word.code, name), ""]
    for made, output in zip(procedure.outputs, load.outputs, strict=True):
        lines += [*_in_drive_units(made, output.code, name), ""]
    return "\n".join(lines)


def _of_counts(given: Given, code: Code, name: str) -> Iterator[str]:
    kind = "uint16_t" if code.bits <= 16 else "uint32_t"
    head = f"static inline {kind} {name}_{given.parameter}_of_count("
    yield f"{head}int32_t count, int32_t first,"
    yield f"{' ' * len(head)}int32_t counts)"
    yield "{"
    cell = f"{name}_cell(count, first, counts, {code.bits}U, {int(code.wraps)}, {int(code.tread)})"
    yield f"    uint32_t cell = {cell};"
    half = code.cells >> 1
    if code.first:
        yield "    cell = cell ? cell : 1U; /* no word says the lowest */"
    if code.kind == "gray":
        yield "    cell ^= cell >> 1;"
    elif code.kind == "twos":
        yield f"    cell ^= UINT32_C({half});"
    elif code.kind == "sign-magnitude":
        below = code.cells - (not code.tread)
        yield f"    cell = cell < UINT32_C({half}) ? UINT32_C({below}) - cell"
        yield f"                                : cell - UINT32_C({half});"
    yield f"    return ({kind})cell;"
    yield "}"


def _in_drive_units(made: Made, code: Code, name: str) -> Iterator[str]:
    raised, base = code.centred
    begins = base / code.step + raised  # the value of cell 0, in steps
    fine = next(
        (f for f in range(FINEST, -1, -1) if _reach(begins, code.cells, f) * MOST_DRIVE <= 1 << 30),
        None,
    )
    if fine is None:
        yield f"/* {made.result}: no helper, its numbers are too large for 32 bits */"
        return
    yield f"/* {made.result} where its whole range is `full` drive units, -32767 .. 32767; rounded,"
    yield f"   zero within 1/{2 << fine} LSB. */"
    yield f"static inline int32_t {name}_{made.result}_in_drive_units(uint32_t word, int16_t full)"
    yield "{"
    yield f"    uint32_t cell = word & UINT32_C({code.cells - 1});"
    yield "    int32_t sum;"
    half = code.cells >> 1
    if code.kind == "gray":
        yield from (f"    cell ^= cell >> {1 << k};" for k in range((code.bits - 1).bit_length()))
    elif code.kind == "twos":
        yield f"    cell ^= UINT32_C({half});"
    elif code.kind == "sign-magnitude":
        below = code.cells - (not code.tread)
        yield f"    cell = cell >= UINT32_C({half}) ? UINT32_C({below}) - cell"
        yield f"                                 : cell + UINT32_C({half});"
    first, scale = round(begins * (1 << fine)), code.bits + fine
    sign = "-" if first < 0 else "+"
    yield f"    sum = ((int32_t)cell * INT32_C({1 << fine}) {sign} INT32_C({abs(first)})) * full;"
    rounding = f"INT32_C({1 << scale >> 1})"
    yield f"    sum = sum < 0 ? sum - {rounding} : sum + {rounding};"
    yield f"    return sum / INT32_C({1 << scale});"
    yield "}"


def _reach(begins: float, cells: int, fine: int) -> float:
    """Return the largest sum there is, in parts of a step."""
    return max(abs(begins), abs(begins + cells)) * (1 << fine)
