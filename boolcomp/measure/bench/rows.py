"""What a bench found: rows, the machine, and both as JSON and as text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import short, short_above, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.measure.bench.states import Kind


@dataclass(frozen=True, slots=True)
class Timing:
    """One rival, one type of samples, one batch size, one number of cores.

    Nanoseconds a sample are for all torques together: the least of the rounds, and their lower
    and upper quartile. `ratio` is how many times as long as the logic it took, of the same type
    where there is one. Errors are against Newton-Euler on the unquantised states, in last bits of
    the program's words, of the worst joint and of every joint; `own_error` is against the states
    as the type holds them (for logic: against the numpy engine).
    """

    rival: str
    kind: Kind
    batch: int
    cores: int
    ns_per_sample: float | None = None
    quartiles: tuple[float, float] | None = None
    ratio: float | None = None
    max_error: float | None = None
    rms_error: float | None = None
    max_errors: tuple[float, ...] = ()
    rms_errors: tuple[float, ...] = ()
    own_error: float | None = None
    bound: float | None = None
    wrong: bool = False
    skipped: str = ""
    logic: bool = False
    break_even: int | None = None

    @property
    def least(self) -> float:
        """Nanoseconds a sample, 0 where nothing was measured."""
        return self.ns_per_sample or 0.0


@dataclass(frozen=True, slots=True)
class Host:
    """Where it was measured."""

    processor: str
    caches: tuple[str, ...]
    flags: tuple[str, ...]
    compilers: tuple[str, ...]
    gigahertz: float
    cores: int


@dataclass(frozen=True, slots=True)
class Bench:
    """All of it.

    `worst_found` are the program's worst errors, in its last bits, of every torque, that climbing
    found with so many `evaluations`; `sampled_max` are those of random states, as a rival's
    `max_error` is, and `bound` is what no error exceeds, proved (None where nothing is). `lsb` are
    the last bits in the torques' `units`.
    """

    program: str
    robot: str
    bits: int
    mode: str
    nodes: int
    machine: Host
    rows: tuple[Timing, ...]
    roofline: dict[str, float | str] = field(default_factory=dict)
    worst_found: tuple[float, ...] = ()
    evaluations: int = 0
    sampled_max: tuple[float, ...] = ()
    bound: tuple[float | None, ...] = ()
    lsb: tuple[float, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def wrong(self) -> tuple[str, ...]:
        """The rivals whose results are not what they promise."""
        return tuple(dict.fromkeys(f"{r.rival} ({r.kind})" for r in self.rows if r.wrong))

    def document(self) -> dict[str, Any]:
        """Return all as JSON values."""
        found = asdict(self)
        found["rows"] = [_document(row) for row in self.rows]
        return found


def _document(row: Timing) -> dict[str, Any]:
    found = asdict(row)
    found["types"] = {"in": row.kind, "out": row.kind}
    found["sampled_max"] = row.max_errors
    return found


def text_report(bench: Bench) -> str:
    """Return everything as text."""
    parts = [_machine_text(bench), *_tables(bench), _sweep(bench), _skipped(bench)]
    if bench.roofline:
        pairs = [[name, _figure(value)] for name, value in bench.roofline.items()]
        parts.append(table(["roofline of the logic", ""], pairs))
    return "\n\n".join(part for part in parts if part)


def _figure(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def _machine_text(bench: Bench) -> str:
    machine = bench.machine
    lines = [
        f"{bench.robot}, {bench.bits} bits, {bench.mode} mode: {bench.nodes} nodes",
        f"{machine.processor}, {machine.cores} cores, {machine.gigahertz:.2f} GHz measured; "
        + ", ".join(machine.caches),
        "; ".join(machine.compilers) or "no C compiler",
        "ns a sample for all torques: the least of the rounds, and how far above it the",
        "upper quartile lies (spread); ratio: times the logic's time; errors: in last bits of the",
        "program's words, worst joint, against Newton-Euler on unquantised random states",
    ]
    if bench.worst_found:
        worst = " ".join(f"{error:.2f}" for error in bench.worst_found)
        lines.append(
            f"worst found of the program: {worst}, searched with {bench.evaluations} evaluations, "
            "not proved"
        )
    if any(error is not None for error in bench.bound):
        errors = " ".join("-" if x is None else short_above(x, 4) for x in bench.bound)
        lines.append(f"no error of the program exceeds: {errors}, proved")
    if bench.lsb:
        pairs = zip(bench.lsb, bench.units, strict=True)
        steps = (f"{short(lsb)} {unit}".rstrip() for lsb, unit in pairs)
        lines.append(f"last bits of the program's words: {', '.join(steps)}")
    return "\n".join(lines)


def _tables(bench: Bench) -> list[str]:
    """Return a table for every batch size and number of cores: a rival a line, types beside it."""
    cases = dict.fromkeys((row.batch, row.cores) for row in bench.rows if not row.skipped)
    return [_case_text(bench, batch, cores) for batch, cores in cases]


def _case_text(bench: Bench, batch: int, cores: int) -> str:
    rows = [r for r in bench.rows if (r.batch, r.cores) == (batch, cores) and r.least]
    kinds = [k for k in ("int8", "int16", "float32", "float64") if any(r.kind == k for r in rows)]
    header = [f"batch {batch}, {cores} core{'s' if cores > 1 else ''}"]
    for kind in kinds:
        header += [f"{kind} ns", "spread", "ratio", "sampled max", "rms"]
    best: dict[str, float] = {}
    for row in rows:
        best[row.rival] = min(best.get(row.rival, row.least), row.least)
    lines = []
    for rival in sorted(best, key=lambda name: best[name]):
        cells = [rival]
        for kind in kinds:
            found = [r for r in rows if r.rival == rival and r.kind == kind]
            cells += _cells(found[0]) if found else [""] * 5
        lines.append(cells)
    return table(header, lines)


def _cells(row: Timing) -> list[str]:
    least = row.least
    quartiles = "" if row.quartiles is None else f"+{100 * (row.quartiles[1] / least - 1):.0f}%"
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    if row.wrong:
        return [_ns(least), quartiles, ratio, "WRONG", f"{row.own_error:.3g}"]
    return [
        _ns(least), quartiles, ratio, f"{row.max_error:.2f}", f"{row.rms_error:.3f}",
    ]  # fmt: skip


def _ns(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _sweep(bench: Bench) -> str:
    """Return ns over batch sizes, one core, the best type of each rival; break-even marked *."""
    one = [r for r in bench.rows if r.cores == 1 and r.ns_per_sample is not None]
    batches = sorted({r.batch for r in one})
    if len(batches) < 2:
        return ""
    lines = []
    for rival, kind in dict.fromkeys((r.rival, r.kind) for r in one):
        cells = [f"{rival} {kind}"]
        for batch in batches:
            found = [r for r in one if (r.rival, r.kind, r.batch) == (rival, kind, batch)]
            if not found or found[0].ns_per_sample is None:
                cells.append("")
                continue
            mark = "*" if found[0].break_even == batch else ""
            cells.append(_ns(found[0].ns_per_sample) + mark)
        lines.append(cells)
    note = "* from this batch size on, the logic is faster"
    return table(["ns a sample, one core", *map(str, batches)], lines) + f"\n{note}"


def _skipped(bench: Bench) -> str:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in bench.rows:
        if row.skipped:
            place = row.kind if not row.batch else f"{row.kind} at {row.batch}"
            reasons.setdefault((row.rival, row.skipped), []).append(place)
    lines = [
        f"skipped: {rival} ({', '.join(dict.fromkeys(kinds))}): {reason}"
        for (rival, reason), kinds in reasons.items()
    ]
    return "\n".join(lines)


def break_evens(rows: Sequence[Timing]) -> dict[tuple[str, Kind], int | None]:
    """Return for every rival the least batch from which on the logic stays faster, on one core."""
    found: dict[tuple[str, Kind], int | None] = {}
    for row in sorted((r for r in rows if r.cores == 1 and r.ratio is not None), key=_batch):
        key = (row.rival, row.kind)
        if (row.ratio or 0.0) <= 1:
            found[key] = None
        elif found.get(key) is None:
            found[key] = row.batch
    return found


def _batch(row: Timing) -> int:
    return row.batch
