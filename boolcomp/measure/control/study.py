"""A study as one page: what was asked, how many bits it takes, charts, and every figure."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.charts import (
    Axis,
    Beside,
    Chart,
    ChartRow,
    Choice,
    Column,
    Table,
    Text,
    blank,
    lines,
    picture,
    scatter,
)
from boolcomp.base.errors import table
from boolcomp.base.pages import Fact, KeyFigure, Page, Section, page_text
from boolcomp.measure.control.blocks import EXACT
from boolcomp.measure.control.loop import inertia
from boolcomp.measure.control.trajectories import tip
from boolcomp.program.program import NOT_USEFUL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from boolcomp.base.charts import Parts
    from boolcomp.measure.control.blocks import Variant
    from boolcomp.measure.control.loop import Loop, Recording
    from boolcomp.measure.control.trajectories import Trajectory

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# What a recording tells, run by run and joint by joint. All of it is simulated, nothing proved.
# --------------------------------------------------------------------------------------------------


LEAST_REST = 0.5  # s: shorter ones tell nothing of what remains
STILL = 1e-9  # rad or m: less is rounding
CROSSINGS = 3  # at least, for a period


@dataclass(frozen=True, slots=True)
class Rest:
    """What remains at rest: half of peak to peak, its period (s), the mean distance.

    Amplitudes are of the position and of the torque; the period is None where nothing repeats.
    """

    amplitude: float
    torque: float
    period: float | None
    offset: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """One joint in one run: errors of its position, of its torque, and how the torque jumps.

    Noise is the block's torque less what exact arithmetic gives for the same measured states.
    `limited` counts instants at which the drive gave less than was wanted, `outside` values that
    the block was given beyond the ranges of their words.
    """

    rms_tracking: float
    max_tracking: float
    rms_noise: float | None
    max_noise: float | None
    rms_jump: float
    max_jump: float
    limited: int
    outside: int
    rest: Rest | None


def figures(
    recording: Recording,
    column: int,
    joint: int,
    exact: Floats | None,
    outside: NDArray[np.bool_],
    rate: float,
) -> Figures | None:
    """Return what a run tells of a joint; None of a run that was lost.

    `exact` are the torques that the block should have made, `outside` what it was given beyond
    words, (instants,) each.
    """
    if recording.lost[column]:
        return None
    path = recording.trajectories[column % len(recording.trajectories)]
    own = slice(0, path.own)
    error = path.q[own, joint] - recording.q[own, joint, column]
    applied = recording.applied[own, joint, column]
    noise = None if exact is None else recording.made[own, joint, column] - exact[own]
    jumps = np.diff(applied)
    wanted = recording.wanted[own, joint, column]
    return Figures(
        rms_tracking=_rms(error),
        max_tracking=float(np.abs(error).max()),
        rms_noise=None if noise is None else _rms(noise),
        max_noise=None if noise is None else float(np.abs(noise).max()),
        rms_jump=_rms(jumps),
        max_jump=float(np.abs(jumps).max()),
        limited=int(np.count_nonzero(wanted != applied)),
        outside=int(np.count_nonzero(outside[own])),
        rest=_rest(recording, column, joint, rate),
    )


def _rms(values: Floats) -> float:
    return float(np.sqrt((values**2).mean()))


def _rest(recording: Recording, column: int, joint: int, rate: float) -> Rest | None:
    """Return what remains in the second half of the time at which all should rest."""
    path = recording.trajectories[column % len(recording.trajectories)]
    length = path.own - path.rest
    if length < LEAST_REST * rate:
        return None
    last = slice(path.own - length // 2, path.own)
    q, torque = recording.q[last, joint, column], recording.applied[last, joint, column]
    amplitude = float(np.ptp(q)) / 2
    return Rest(
        amplitude=amplitude,
        torque=float(np.ptp(torque)) / 2,
        period=_period(q, rate) if amplitude > STILL else None,
        offset=float((path.q[last, joint] - q).mean()),
        seconds=length // 2 / rate,
    )


def _period(values: Floats, rate: float) -> float | None:
    """Return the mean time between upward passages through the middle; None without some."""
    middle = (values.max() + values.min()) / 2
    above = values > middle
    up = np.flatnonzero(above[1:] & ~above[:-1])
    if len(up) < CROSSINGS:
        return None
    period = float(up[-1] - up[0]) / (len(up) - 1) / rate
    return period if math.isfinite(period) else None


# --------------------------------------------------------------------------------------------------
# A question and its answer: which blocks, on which trajectories, and the rows that come of it.
# --------------------------------------------------------------------------------------------------


PLACES = 200  # of a trajectory at which M is inverted
ROUNDING = 1e-9  # of a range: a value at its end is not beyond it


@dataclass(frozen=True, slots=True)
class Row:
    """One joint (from 1) of one variant on one trajectory.

    `estimate` is how far the proven bound of the torques would let the joint stray from where it
    is led, beyond what exact arithmetic strays: of a loop that controls at every time, along this
    trajectory. `tip_rms` and `tip_max` are of the tip, the same for all joints. What was not
    simulated has no figures, and its `note` says why.
    """

    trajectory: str
    variant: Variant
    joint: int
    unit: str
    torque_unit: str
    figures: Figures | None = None
    tip_rms: float | None = None
    tip_max: float | None = None
    estimate: float | None = None
    note: str = ""

    @property
    def lsb(self) -> float | None:
        """One step of the joint's torque."""
        return self.variant.steps[self.joint - 1] if self.variant.steps else None

    @property
    def bound(self) -> float | None:
        """What no error of the joint's torque exceeds, proved."""
        return self.variant.bounds[self.joint - 1] if self.variant.bounds else None


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A loop, the variants of its block, the exact one first, and what it did with them."""

    loop: Loop
    variants: tuple[Variant, ...]
    recording: Recording
    rows: tuple[Row, ...]
    seconds: float

    @property
    def made(self) -> tuple[Variant, ...]:
        """The variants that were simulated, in the order of their runs."""
        return tuple(one for one in self.variants if one.block is not None)


def study(
    loop: Loop,
    variants: Sequence[Variant],
    trajectories: Sequence[Trajectory],
    heard: Callable[[float], None] = lambda _: None,
) -> Study:
    """Simulate all variants on all trajectories."""
    made = [one for one in variants if one.block is not None]
    blocks = [one.block for one in made if one.block is not None]
    recording = loop.simulate(blocks, trajectories, heard)
    exact = next((one for one in made if one.mode == EXACT), None)
    rows = []
    for t, trajectory in enumerate(trajectories):
        for variant in variants:
            if variant.block is None:
                rows += [
                    _row(loop, trajectory, variant, joint, note=variant.note)
                    for joint in range(loop.plant.robot.joints)
                ]
            else:
                column = recording.run(made.index(variant), t)
                rows += _rows(loop, recording, variant, exact, column)
    seconds = max(one.own for one in trajectories) * loop.drive.period
    return Study(loop, tuple(variants), recording, tuple(rows), seconds)


def _row(loop: Loop, trajectory: Trajectory, variant: Variant, joint: int, **more: Any) -> Row:
    link = loop.plant.robot.links[joint]
    unit = "rad" if link.revolute else "m"
    return Row(trajectory.name, variant, joint + 1, unit, link.torque_unit, **more)


def _rows(
    loop: Loop, recording: Recording, variant: Variant, exact: Variant | None, column: int
) -> list[Row]:
    """Return the rows of a run."""
    path = recording.trajectories[column % len(recording.trajectories)]
    if recording.lost[column]:
        when = recording.lost[column] * loop.drive.period
        note = f"lost after {when:.3g} s: the loop is not stable"
        joints = range(loop.plant.robot.joints)
        return [_row(loop, path, variant, joint, note=note) for joint in joints]
    own = slice(0, path.own)
    wanted = (path.q[own].T, path.qd[own].T, path.qdd[own].T)
    seen, speeds = recording.seen[own, :, column].T, recording.speeds[own, :, column].T
    signals = loop.law.signals(seen, speeds, wanted, 0.0)
    signals["t"] = np.repeat(np.arange(path.own)[None] * loop.drive.period, len(seen), axis=0)
    right = None if exact is None or exact.block is None else exact.block.torques(signals)
    off = np.linalg.norm(
        tip(loop.plant.robot, recording.q[own, :, column]) - tip(loop.plant.robot, path.q[own]),
        axis=1,
    )
    estimate = _estimate(loop, variant, path)
    found = []
    for joint in range(loop.plant.robot.joints):
        outside = np.zeros(path.own, np.bool_)
        for (name, k), (low, high) in (variant.spans or {}).items():
            slack = ROUNDING * (high - low)
            if k == joint:
                outside |= (signals[name][k] < low - slack) | (signals[name][k] > high + slack)
        told = figures(
            recording, column, joint, None if right is None else right[joint], outside,
            loop.drive.rate,
        )  # fmt: skip
        more = {"figures": told, "tip_rms": float(np.sqrt((off**2).mean())),
                "tip_max": float(off.max()), "note": variant.note}  # fmt: skip
        broken = told is None or told.outside or told.limited
        strays = None if estimate is None or broken else float(estimate[joint])
        found.append(_row(loop, path, variant, joint, estimate=strays, **more))
    return found


def _estimate(loop: Loop, variant: Variant, path: Trajectory) -> Floats | None:
    """Return how far joints stray by errors of torques up to their bounds: max |M⁻¹| b ∫|h|."""
    if variant.bounds is None or loop.law.kind != "computed-torque" or not loop.drive.ideal:
        return None
    chosen = np.linspace(0, path.own - 1, min(PLACES, path.own)).astype(np.int64)
    inverse = np.abs(np.linalg.inv(inertia(loop.plant.robot, path.q[chosen].T)))
    return np.asarray((inverse @ np.array(variant.bounds)).max(axis=0) * loop.law.pull)


def documents(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return rows under the keys that `boolcomp simulate --json` promises."""
    return [_document(row) for row in rows]


def _document(row: Row) -> dict[str, object]:
    told: dict[str, Any] = {} if row.figures is None else asdict(row.figures)
    rest = told.get("rest") or {}
    lsb, noise = row.lsb, told.get("rms_noise")
    return {
        "trajectory": row.trajectory,
        "mode": row.variant.mode,
        "bits": row.variant.bits,
        "joint": row.joint,
        "unit": row.unit,
        "rms_tracking": told.get("rms_tracking"),
        "max_tracking": told.get("max_tracking"),
        "bound_tracking": row.estimate,
        "tip_rms": row.tip_rms,
        "tip_max": row.tip_max,
        "torque_unit": row.torque_unit,
        "lsb": lsb,
        "rms_noise": noise,
        "max_noise": told.get("max_noise"),
        "rms_noise_lsb": None if noise is None or not lsb else noise / lsb,
        "rms_jump": told.get("rms_jump"),
        "max_jump": told.get("max_jump"),
        "bound": row.bound,
        "rest_amplitude": rest.get("amplitude"),
        "rest_period": rest.get("period"),
        "rest_offset": rest.get("offset"),
        "rest_torque": rest.get("torque"),
        "saturated_inputs": told.get("outside"),
        "limited_torques": told.get("limited"),
        "nodes": row.variant.nodes,
        "table_bits": row.variant.table_bits,
        "note": row.note,
        "bound_note": row.variant.bound_note or None,
    }


def enough(rows: Sequence[Row], tolerance: float, *, tip: bool = False) -> dict[str, int | None]:
    """Return for every mode the fewest bits from which on no joint strays by more than this.

    Or the `tip`. More bits that were simulated must hold it as well; None where the most do not.
    """
    worst: dict[str, dict[int, float]] = {}
    for row in rows:
        if row.variant.bits is not None:
            lengths = worst.setdefault(row.variant.mode, {})
            size = float("inf")
            if row.figures is not None:
                size = (row.tip_max or 0.0) if tip else row.figures.max_tracking
            lengths[row.variant.bits] = max(size, lengths.get(row.variant.bits, 0.0))
    return {mode: _fewest(lengths, tolerance) for mode, lengths in worst.items()}


def _fewest(lengths: Mapping[int, float], tolerance: float) -> int | None:
    found = None
    for bits in sorted(lengths, reverse=True):
        if lengths[bits] > tolerance:
            break
        found = bits
    return found


# --------------------------------------------------------------------------------------------------
# What was simulated as text, and as CSV.
# --------------------------------------------------------------------------------------------------


HEADER = (
    "mode", "bits", "nodes", "joint", "rms/{0}", "max/{0}", "bound/{0}", "tip max/mm",
    "noise/{1}", "noise/LSB", "jump/{1}", "rest ±/{0}", "period/s", "beyond words", "at limit",
)  # fmt: skip
MANY = 40  # characters of a note that a table has room for


def text_table(found: Study, tolerance: float, at_tip: float) -> str:
    """Return the tables of all trajectories, what their figures are, and how many bits it takes."""
    parts = []
    header = [one.format(*units(found.rows)) for one in HEADER]
    for name in dict.fromkeys(row.trajectory for row in found.rows):
        rows = [row for row in found.rows if row.trajectory == name]
        cells = [_cells(row) for row in rows if row.figures is not None]
        parts.append(f"{name}\n{table(header, cells, left=(0,))}")
    return "\n".join(
        [*parts, *_notes(found.rows), footnote(found), *answers(found, tolerance, at_tip)]
    )


def _cells(row: Row) -> list[str]:
    told = row.figures
    assert told is not None  # noqa: S101 (rows without figures have no line)
    rest, lsb = told.rest, row.lsb
    noise = told.rms_noise
    return [
        row.variant.mode,
        _some(row.variant.bits),
        _some(row.variant.nodes),
        str(row.joint),
        _size(told.rms_tracking),
        _size(told.max_tracking),
        NOT_USEFUL if row.variant.bound_note == NOT_USEFUL else _size(row.estimate),
        _size(None if row.tip_max is None else 1000 * row.tip_max),
        _size(noise),
        f"{noise / lsb:.2f}" if lsb and noise is not None else "",
        _size(told.rms_jump),
        _size(None if rest is None else rest.amplitude),
        _size(None if rest is None else rest.period),
        str(told.outside or ""),
        str(told.limited or ""),
    ]


def _some(value: int | None) -> str:
    return "" if value is None else str(value)


def _size(value: float | None) -> str:
    """Return a figure to three digits: below a billionth it is rounding."""
    if value is None:
        return ""
    return "0" if abs(value) < 1e-9 else f"{value:.3g}"


def _notes(rows: Sequence[Row]) -> list[str]:
    """Return a line for every note, with what it is of."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            bits = "" if row.variant.bits is None else f" {row.variant.bits}"
            name = f"{row.variant.mode}{bits}"
            if row.figures is None:
                name += f" ({row.trajectory})"
            notes.setdefault(row.note, []).append(name)
    return [f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in notes.items()]


def units(rows: Sequence[Row]) -> tuple[str, str]:
    """Return what joints and torques of an arm are counted in: `rad or m`, `N·m or N`."""
    joints = sorted({row.unit for row in rows}, reverse=True)
    torques = sorted({row.torque_unit for row in rows}, reverse=True)
    return " or ".join(joints), " or ".join(torques)


def footnote(found: Study) -> str:
    """Say what figures are."""
    drive, plant = found.loop.drive, found.loop.plant
    joints, torques = units(found.rows)
    steps = plant.steps(drive.period)
    sensed = "exact states" if drive.ideal else f"encoders, {drive.speeds} speeds"
    return (
        f"simulated, not proved: {found.seconds:g} s at {drive.rate:g} Hz, {sensed}, "
        f"Runge-Kutta with {steps} {'step' if steps == 1 else 'steps'} a period; tracking in "
        f"{joints}, torques in {torques}\n"
        "bound: how far the proven bound of torques would let a joint stray, of a loop without "
        "sampling in which nothing saturates"
    )


def answers(found: Study, tolerance: float, at_tip: float) -> list[str]:
    """Return a line for every mode: from how many bits on no joint, and no tip, strays by more."""
    joints = enough(found.rows, tolerance)
    tips = enough(found.rows, at_tip, tip=True)
    unit, _ = units(found.rows)
    most = longest(found.rows)
    return [
        f"{mode}: for {tolerance:g} {unit} at every joint, all the time, "
        f"{_said(bits, most[mode])}; for {1000 * at_tip:g} mm at the tip "
        f"{_said(tips[mode], most[mode])}"
        for mode, bits in joints.items()
    ]


def longest(rows: Sequence[Row]) -> dict[str, int]:
    """Return the most bits of every mode."""
    lengths = sorted((row.variant.bits or 0, row.variant.mode) for row in rows)
    return {mode: bits for bits, mode in lengths}


def _said(bits: int | None, most: int) -> str:
    return f"{most} bits are not enough" if bits is None else f"{bits} bits are enough"


def csv_table(rows: Sequence[Row]) -> str:
    """Return rows as CSV under the keys of the JSON document."""
    items = documents(rows)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(items[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(items)
    return stream.getvalue()


# --------------------------------------------------------------------------------------------------
# A study as one page: what was asked, how many bits it takes, charts, and every figure.
# --------------------------------------------------------------------------------------------------


PAGE_POINTS = 400  # of a line over time
SERIES = Axis("series", "", names=True)
BITS = "bits of a torque"
# Key, name, what it says, its form; {0} is what joints are counted in, {1} what torques are.
COLUMNS = (
    ("mode", "mode", "how torques are made: exact, or by which words", ""),
    ("bits", "bits", "the word length of a torque", ""),
    ("joint", "joint", "counted from 1", ""),
    ("rms_tracking", "rms, {0}", "of how far the joint is from its place", ".3g"),
    ("max_tracking", "max, {0}", "the largest of that", ".3g"),
    ("bound_tracking", "bound, {0}",
     "how far the proven bound of torques would let it stray", ".3g"),
    ("tip_max_mm", "tip max, mm", "how far the tip is off at most", ".3g"),
    ("rms_noise", "noise, {1}", "torque less exact torque for the same measured state, rms", ".3g"),
    ("rms_noise_lsb", "noise, LSB", "the same in steps of the torque's word", ".2f"),
    ("rms_jump", "jump, {1}", "change of torque from one instant to the next, rms", ".3g"),
    ("bound", "torque bound, {1}", "what no error of the torque exceeds: proved", ".3g"),
    ("rest_amplitude", "rest ±, {0}", "half of peak to peak of what remains at rest", ".3g"),
    ("rest_period", "rest period, s", "that of what remains at rest", ".3g"),
    ("rest_offset", "rest mean, {0}", "mean distance at rest", ".3g"),
    ("saturated_inputs", "beyond words", "instants at which an input lay beyond its word", ""),
    ("limited_torques", "at limit", "instants at which the drive gave less than was wanted", ""),
    ("nodes", "nodes", "of the logic, three inputs each", ""),
)  # fmt: skip


def page(found: Study, tolerances: tuple[float, float], command: str) -> str:
    """Return the page; the same study and command are the same bytes."""
    drive, robot = found.loop.drive, found.loop.plant.robot
    names = list(dict.fromkeys(row.trajectory for row in found.rows))
    return page_text(
        Page(
            f"How many bits does control of {robot.name} need?",
            asked=(
                Fact("command", command, copied=True),
                Fact("robot", robot.title or robot.name),
                Fact("law", f"{found.loop.law.kind}, at {drive.rate:g} Hz, {drive.speeds} speeds"),
                Fact("trajectories", ", ".join(names)),
            ),
            found=tuple(_answers(found, tolerances)),
            meaning=(
                *(Text(line) for line in answers(found, *tolerances)),
                *(Text(line, kind="note") for line in footnote(found).splitlines()),
            ),
            sections=(
                Section("Against bits and nodes", _charts(found)),
                Section("Over time", (_over_time(found, names),)),
                Section("All figures", (_tables(found, names),)),
            ),
        )
    )


def _answers(found: Study, tolerances: tuple[float, float]) -> list[KeyFigure]:
    """Return the fewest bits of every mode, or the most of those that are not enough."""
    most = longest(found.rows)
    tips = enough(found.rows, tolerances[1], tip=True)
    return [
        KeyFigure(
            f"> {most[mode]} bits" if bits is None else f"{bits} bits",
            f"{mode}, for {1000 * tolerances[1]:g} mm at the tip",
            "simulated, these trajectories",
        )
        for mode, bits in tips.items()
    ]


def _charts(found: Study) -> Parts:
    words = [row for row in found.rows if row.variant.bits is not None and row.figures]
    off = f"largest error, {units(found.rows)[0]}"
    tracking: list[ChartRow] = []
    noise: list[ChartRow] = []
    sizes: dict[tuple[str, int], dict[str, float]] = {}
    for row in words:
        told, key = row.figures, (row.variant.mode, row.variant.bits or 0)
        assert told is not None  # noqa: S101 (of words there are only such)
        line = sizes.setdefault(key, {"tracking": 0.0, "bound": 0.0, "noise": 0.0, "nodes": 0.0})
        line["tracking"] = max(line["tracking"], told.max_tracking)
        line["bound"] = max(line["bound"], row.estimate or 0.0)
        share = (told.rms_noise or 0.0) / row.lsb if row.lsb else 0.0
        line["noise"] = max(line["noise"], share)
        line["nodes"] = float(row.variant.nodes or 0)
    for (mode, bits), line in sizes.items():
        one: ChartRow = {"bits": bits, "series": mode}
        tracking.append({**one, "error": line["tracking"], "kind": "simulated"})
        if line["bound"]:
            tracking.append({**one, "error": line["bound"], "kind": "of the proven bound"})
        if line["noise"]:
            noise.append({**one, "noise": line["noise"]})
    at = Axis("bits", BITS, values=tuple(sorted({bits for _, bits in sizes})))
    charts: list[Chart] = [
        lines(
            tracking, at, Axis("error", off, log=True, form=".3~g"),
            colour_by=SERIES, dash_by=Axis("kind", "", names=True), title="Tracking",
            shows="The largest error of any joint on any trajectory.",
        ),
        lines(
            noise, at, Axis("noise", "rms in LSB", form=".3~g", zero=True), colour_by=SERIES,
            title="Noise of torques", shows="The largest of all joints; rounding alone is 0.29.",
        ),
    ]  # fmt: skip
    logic: list[ChartRow] = [
        {"nodes": line["nodes"], "error": line["tracking"], "series": mode, "bits": bits}
        for (mode, bits), line in sizes.items()
        if line["nodes"]
    ]
    if logic:
        charts.append(
            scatter(
                logic, Axis("nodes", "nodes", log=True),
                Axis("error", off, log=True, form=".3~g"),
                colour_by=SERIES, hover=(Axis("bits", "bits"),), title="Error against logic",
                shows="What a node buys.",
            )
        )  # fmt: skip
    return (Beside(tuple(chart for chart in charts if chart.rows)),)


def _over_time(found: Study, names: Sequence[str]) -> Choice:
    """Return the errors of all joints over time, by trajectory, of some variants."""
    shown = _page_variants(found)
    options = []
    for place, name in enumerate(names):
        charts = [
            _errors(found, place, joint, shown) for joint in range(found.loop.plant.robot.joints)
        ]
        options.append((name, (Beside(tuple(charts)),)))
    return Choice("trajectory", options)


def _errors(found: Study, place: int, joint: int, shown: Sequence[Variant]) -> Chart:
    recording = found.recording
    path = recording.trajectories[place]
    kept = np.unique(np.linspace(0, path.own - 1, min(PAGE_POINTS, path.own)).astype(np.int64))
    rows: list[ChartRow] = []
    for variant in shown:
        column = recording.run(found.made.index(variant), place)
        if recording.lost[column]:
            continue
        error = path.q[kept, joint] - recording.q[kept, joint, column]
        name = variant.mode if variant.bits is None else f"{variant.mode} {variant.bits}"
        rows += [
            {"t": float(k * found.loop.drive.period), "error": float(f"{x:.4g}"), "series": name}
            for k, x in zip(kept, error, strict=True)
        ]
    unit = "rad" if found.loop.plant.robot.links[joint].revolute else "m"
    return lines(
        rows, Axis("t", "s"), Axis("error", f"error, {unit}", form=".3~g"), colour_by=SERIES,
        title=f"Joint {joint + 1}", points=False,
    )  # fmt: skip


def _page_variants(found: Study) -> list[Variant]:
    """Return what is drawn over time: what is exact, and of every mode the middle word length."""
    shown = []
    for mode in dict.fromkeys(one.mode for one in found.made):
        same = [one for one in found.made if one.mode == mode]
        shown.append(same[len(same) // 2])
    return shown


def _tables(found: Study, names: Sequence[str]) -> Choice:
    joints, torques = units(found.rows)
    columns = [
        Column(name.format(joints, torques), meaning, form, key)
        for key, name, meaning, form in COLUMNS
    ]
    told = [
        {**row, "tip_max_mm": None if one.tip_max is None else 1000 * one.tip_max}
        for row, one in zip(documents(found.rows), found.rows, strict=True)
    ]
    options: list[tuple[str, Parts]] = []
    for name in names:
        rows: list[list[Any]] = [
            [row[key] for key, *_ in COLUMNS] for row in told if row["trajectory"] == name
        ]  # fmt: skip
        notes = dict.fromkeys(
            f"{row['mode']} {row['bits']}: {row['note']}"
            for row in told
            if row["trajectory"] == name and row["note"]
        )
        said = tuple(Text(one, kind="note") for one in notes)
        options.append((name, (Table(columns, rows, f"on {name}"), *said)))
    return Choice("trajectory", options)


# --------------------------------------------------------------------------------------------------
# Pictures of a study: tracking and torque against bits and nodes, and errors over time.
# --------------------------------------------------------------------------------------------------


COLOURS = {"exact": "#444444", "paper": "#c8553d", "compact": "#3367b0", "rounded": "#4f9d69"}
OTHER = "#8e6bb0"
MARKS = {"paper": "s", "compact": "o", "rounded": "^"}
CHART_POINTS = 2000  # of a line over time


def draw(found: Study, tolerance: float, kind: str) -> bytes:
    """Return a picture (`svg` or `png`) of a study."""
    return picture(lambda: figure_of(found, tolerance), kind)


def figure_of(found: Study, tolerance: float) -> Figure:
    """Return the figure: largest tracking errors and noise against bits, and errors over time."""
    figure = blank(10.5, 3.6)
    left, middle, right = figure.subplots(1, 3)
    draw_tracking(left, found.rows, tolerance)
    draw_noise(middle, found.rows)
    draw_errors(right, found)
    return figure


def draw_tracking(panel: Any, rows: Sequence[Row], tolerance: float) -> None:
    """Draw the largest error of any joint on any trajectory against bits."""
    for mode, line in _lines(rows, lambda row: row.figures and row.figures.max_tracking).items():
        panel.plot(list(line), list(line.values()), MARKS.get(mode, "D") + "-",
                   color=COLOURS.get(mode, OTHER), label=f"{mode}, simulated")  # fmt: skip
    for mode, line in _lines(rows, lambda row: row.estimate).items():
        panel.plot(list(line), list(line.values()), "_--", color=COLOURS.get(mode, OTHER), lw=0.8,
                   ms=10, label=f"{mode}, of the proven bound")  # fmt: skip
    exact = [r.figures.max_tracking for r in rows if r.figures and r.variant.bits is None]
    if exact:
        panel.axhline(max(exact), color=COLOURS["exact"], lw=0.9, label="exact torques")
    panel.axhline(tolerance, color="#b8860b", ls=":", lw=1.2, label="tolerance")
    _finish(panel, rows, "largest tracking error, rad or m")


def draw_noise(panel: Any, rows: Sequence[Row]) -> None:
    """Draw the noise of torques in LSB, the largest of all joints, against bits."""

    def noise(row: Row) -> float | None:
        told = row.figures.rms_noise if row.figures else None
        return told / row.lsb if told is not None and row.lsb else None

    for mode, line in _lines(rows, noise).items():
        panel.plot(list(line), list(line.values()), MARKS.get(mode, "D") + "-",
                   color=COLOURS.get(mode, OTHER), label=mode)  # fmt: skip
    panel.axhline(12**-0.5, color="grey", ls=":", label="rounding alone")
    _finish(panel, rows, "noise of torque, rms in LSB")


def draw_errors(panel: Any, found: Study) -> None:
    """Draw the error of one joint over time, on the first trajectory: exact, few bits, many."""
    made, recording = found.made, found.recording
    path = recording.trajectories[0]
    known = [row for row in found.rows if row.figures and row.trajectory == path.name]
    worst = max(
        (row for row in known if row.variant.bits is not None),
        key=lambda row: row.figures.max_tracking if row.figures else 0.0,
        default=known[0] if known else None,
    )
    joint = worst.joint - 1 if worst else 0
    times = np.arange(path.own) * found.loop.drive.period
    every = max(1, path.own // CHART_POINTS)
    for place, variant in enumerate(made):
        column = recording.run(place, 0)
        if recording.lost[column] or variant not in _chart_variants(found):
            continue
        error = path.q[: path.own, joint] - recording.q[: path.own, joint, column]
        name = variant.mode if variant.bits is None else f"{variant.mode} {variant.bits}"
        panel.plot(times[::every], error[::every], lw=0.8, label=name,
                   color=COLOURS.get(variant.mode, OTHER),
                   alpha=1.0 if variant.bits is None else 0.75)  # fmt: skip
    panel.set(title=f"{path.name}, joint {joint + 1}", xlabel="s", ylabel="error, rad or m")
    panel.grid(visible=True, alpha=0.3)
    panel.legend(fontsize=6)


def _chart_variants(found: Study) -> list[Any]:
    """Return the variants whose errors are drawn: what is exact, and one of every mode."""
    chosen = []
    for mode in dict.fromkeys(one.mode for one in found.made):
        same = [one for one in found.made if one.mode == mode]
        chosen.append(same[len(same) // 2])
    return chosen


def _lines(rows: Sequence[Row], value: Any) -> dict[str, dict[int, float]]:
    """Return the largest value of every mode by bits, of all joints and trajectories."""
    lines: dict[str, dict[int, float]] = {}
    for row in rows:
        found = value(row)
        if found and row.variant.bits is not None:
            line = lines.setdefault(row.variant.mode, {})
            line[row.variant.bits] = max(found, line.get(row.variant.bits, 0.0))
    return {mode: dict(sorted(line.items())) for mode, line in lines.items()}


def _finish(panel: Any, rows: Sequence[Row], label: str) -> None:
    bits = sorted({row.variant.bits for row in rows if row.variant.bits is not None})
    if bits:
        panel.set(xticks=bits)
    panel.set_yscale("log")
    panel.set(xlabel="bits of a torque", ylabel=label)
    panel.grid(visible=True, which="major", alpha=0.3)
    panel.legend(fontsize=6)
