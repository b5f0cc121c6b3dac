"""A study as one page: what was asked, how many bits it takes, charts, and every figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.charts import Axis, Chart, ChartRow, lines, scatter
from boolcomp.base.pages import Fact, KeyFigure, Page, Section, page_text
from boolcomp.common.pages.parts import Beside, Choice, Text
from boolcomp.common.pages.tables import Column, Table
from boolcomp.measure.control.study import documents, enough
from boolcomp.measure.control.tabulate import answers, footnote, longest, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.common.pages.parts import Parts
    from boolcomp.measure.control.study import Study
    from boolcomp.measure.control.variants import Variant

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
