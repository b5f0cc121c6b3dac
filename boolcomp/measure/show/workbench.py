"""The workbench as HTML: the arm, sliders for every input, outputs by logic beside exact ones.

Everything that a state says is filled in, so that it can be read where no script runs.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import short, short_above
from boolcomp.measure.show import curves
from boolcomp.measure.show.arm import HEIGHT, WIDTH, arm_steps, arm_values, still, view_of
from boolcomp.measure.show.model import exact_function, model_values
from boolcomp.measure.show.scripts import straight_function
from boolcomp.measure.show.trajectory import shown_trajectory
from boolcomp.program.parts import NOT_USEFUL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.show.model import Subject
    from boolcomp.measure.show.trajectory import Trajectory
    from boolcomp.program.parts import CodedOutput

    Floats = NDArray[np.float64]

RESTING = ("qd", "qdd", "qddr", "e", "de")  # groups that are zero where a joint rests


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """A workbench: values for the script, functions of it, and its parts as HTML.

    `why` says why there are no exact values; it is empty where there are.
    """

    values: dict[str, Any]
    functions: dict[str, str]
    why: str
    desk: str
    strips: str
    slice: str


def bench_of(subject: Subject) -> Bench:
    """Return the workbench of a program."""
    values = model_values(subject)
    exact, why = exact_function(subject)
    groups = [(group.name, group.members) for group in subject.program.groups]
    ranges = {one["name"]: (one["low"], one["high"]) for one in values["inputs"]}
    trajectory = shown_trajectory(groups, ranges)
    start = _start(subject, trajectory)
    known = not why
    values |= {
        "start": start.tolist(),
        "trajectory": {
            "period": trajectory.period,
            "waves": [[w.centre, w.size, w.times, w.phase] for w in trajectory.waves],
        },
        "follows": _follows(subject),
        "points": curves.POINTS,
        "strip": [curves.CURVE_WIDE, curves.CURVE_HIGH, curves.ERRORS, curves.GAP],
    }
    functions = {"exact": exact, "points": "const points = null;"}
    picture = ""
    if subject.robot is not None and "q1" in subject.names:
        picture, functions["points"] = _arm(subject, values, dict(zip(ranges, start, strict=True)))
    made, wanted = _outputs(subject, start[None, :], exact=known)
    desk = (
        f'<div class="desk{"" if picture else " armless"}">{picture}<div class="hands">'
        f"{_buttons(subject, trajectory)}{_readout(subject, made[0], wanted)}"
        f"</div></div>{_sliders(values)}"
    )
    made, wanted = _outputs(subject, trajectory.states(curves.POINTS), exact=known)
    drawn = (
        curves.draw_output(
            k, one, made[:, k], None if wanted is None else wanted[:, k], trajectory.period
        )
        for k, one in enumerate(subject.load.outputs)
    )
    strips = f'<div class="strips">{"".join(drawn)}</div>'
    return Bench(values, functions, why, desk, strips, _slice(subject))


def _start(subject: Subject, trajectory: Trajectory) -> Floats:
    """Return the state that is shown first: an arm that is bent, and at rest."""
    first: Floats = trajectory.states(1)[0]
    moving = any(group.name == "q" for group in subject.program.groups)
    place = 0
    for group in subject.program.groups:
        for _ in group.members:
            if group.name in RESTING and moving:
                first[place] = 0.0
            elif not moving:
                first[place] = trajectory.waves[place].centre
            place += 1
    return first


def _follows(subject: Subject) -> list[list[int]]:
    """Return which inputs move where one joint moves alone (or one input)."""
    groups = subject.program.groups
    joints = next((group.size for group in groups if group.name == "q"), 0)
    if not joints:
        return [[k] for k in range(len(subject.names))]
    places = {name: k for k, name in enumerate(subject.names)}
    return [
        [places[group.members[k]] for group in groups if group.size == joints]
        for k in range(joints)
    ]


def _outputs(subject: Subject, states: Floats, *, exact: bool) -> tuple[Floats, Floats | None]:
    """Return outputs by logic and, where they are known, exact ones."""
    ends = np.cumsum([group.size for group in subject.program.groups])[:-1]
    arrays = np.split(states, ends, axis=1)
    payload = subject.load.payload
    made = subject.program.evaluate(*arrays, payload=payload, engine="numpy").values
    wanted = subject.problem.exact(states) if exact and subject.problem else None
    return np.asarray(made, np.float64), wanted


def _arm(subject: Subject, values: dict[str, Any], posture: dict[str, float]) -> tuple[str, str]:
    robot = subject.robot
    assert robot is not None  # noqa: S101 (who calls has asked)
    steps = arm_steps(robot)
    view = view_of(robot, steps)
    places = {name: k for k, name in enumerate(subject.names)}
    names = [f"q{k}" for k in range(1, robot.joints + 1)]
    torques = [f"tau{k}" for k in range(1, robot.joints + 1)]
    outputs = {one.name: k for k, one in enumerate(subject.load.outputs)}
    values["arm"] = {
        **arm_values(robot, view),
        "inputs": [places[name] for name in names],
        "outputs": [outputs[name] for name in torques] if set(torques) <= set(outputs) else None,
    }
    turn = "" if view.flat else " Drag the ground, or use the arrow keys, to walk around it."
    picture = (
        f'<figure class="arm"><svg id="arm-picture" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'tabindex="0" role="img" aria-label="{html.escape(robot.name)}, drawn from its '
        f'kinematics">{still(robot, view, steps, posture)}</svg><figcaption>Pull a joint or the '
        f"tip; an arc about a joint is its torque as a part of its range.{turn}</figcaption>"
        "</figure>"
    )
    return picture, "const points = " + straight_function("places", names, steps) + ";"


def _buttons(subject: Subject, trajectory: Trajectory) -> str:
    noun = "joint" if any(group.name == "q" for group in subject.program.groups) else "input"
    alone = len(_follows(subject))
    names = [f"{noun} {k}" for k in range(1, alone + 1)]
    if noun == "input":
        names = list(subject.names)
    options = "".join(
        f'<option value="{k}">{html.escape(name)} alone</option>' for k, name in enumerate(names)
    )
    return (
        '<div class="play"><button type="button" id="play" aria-pressed="false">Play</button>'
        '<label>along <select id="trajectory"><option value="-1">'
        f"a trajectory of all {noun}s</option>{options if alone > 1 else ''}</select></label>"
        '<input type="range" id="time" min="0" max="1" step="any" value="0" '
        'aria-label="time on the trajectory">'
        f'<span id="clock" class="soft">period {trajectory.period:.1f} s</span>'
        f'<button type="button" id="rest">{"At rest" if noun == "joint" else "Middle"}</button>'
        '<button type="button" id="chance">Any state</button>'
        '<span id="rate" class="soft"></span></div>'
    )


def _readout(subject: Subject, made: Floats, wanted: Floats | None) -> str:
    """Return the table of outputs: exact, by logic, their difference beside its bound."""
    heads = [
        ("", "output"), ("exact", "double precision, Newton and Euler or the function itself"),
        ("logic", "by the program's logic, in JavaScript"), ("word", "the output's code word"),
        ("error", "logic minus exact"), ("LSB", "the error in steps of the output's word"),
        ("error / bound", "the width is ± the bound (without one, the worst that was found)"),
        ("bound", "proved: no state errs more"),
        ("most yet", "the largest error of all states that this page has shown"),
    ]  # fmt: skip
    head = "".join(f'<th scope="col" title="{tip}">{name}</th>' for name, tip in heads)
    rows = []
    for k, one in enumerate(subject.load.outputs):
        exact = None if wanted is None else float(wanted[0, k])
        rows.append(_output_row(k, one, float(made[k]), exact))
    same = ""
    if subject.load.graph is not None:
        same = (
            '<p class="note">Words and gates are calculated apart, and compare: '
            '<b id="agree">–</b>.</p>'
        )
    return (
        '<div class="scrolls" role="group" tabindex="0" aria-label="outputs">'
        f'<table class="readout">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{same}"
    )


def _output_row(k: int, output: CodedOutput, value: float, exact: float | None) -> str:
    code = output.code
    word = int(code.encode(np.array([value])).words[0])
    unit = html.escape(output.unit)
    cells = {
        "exact": "–" if exact is None else short(exact, 4),
        "logic": short(value, 4),
        "word": format(word, f"0{code.bits}b"),
        "error": "–" if exact is None else short(value - exact, 3),
        "steps": "–" if exact is None else f"{(value - exact) / code.step:.2f}",
    }
    found = "".join(f'<td data-cell="{name}">{text}</td>' for name, text in cells.items())
    gauge = '<span class="gauge"><i data-cell="gauge"></i></span>'
    worst = output.errors.worst_found if output.errors else None
    none = NOT_USEFUL if output.bound_note == NOT_USEFUL else "none"
    bound = f"{none}; found {short(worst, 3)}" if worst else none
    if not output.bound_note:
        bound = short_above(output.bound, 3)
    return (
        f'<tr id="output{k}"><th scope="row">{html.escape(output.symbol)} '
        f"<small>{unit}</small></th>{found}<td>{gauge if bound != none else '–'}</td>"
        f'<td>{bound}</td><td data-cell="most">–</td></tr>'
    )


def _sliders(values: dict[str, Any]) -> str:
    """Return a slider for every input, in its group."""
    folds = []
    read = set(values["read"])
    for group in values["groups"]:
        rows = "".join(_slider(k, values, read=k in read) for k in group["places"])
        folds.append(f"<fieldset><legend>{html.escape(group['name'])}</legend>{rows}</fieldset>")
    return f'<div class="sliders">{"".join(folds)}</div>'


def _slider(k: int, values: dict[str, Any], *, read: bool) -> str:
    one, value = values["inputs"][k], values["start"][k]
    name, unit = html.escape(one["name"]), html.escape(one["unit"])
    word = f'<code id="bits{k}"></code>' if read else '<small class="soft">not read</small>'
    return (
        f'<div class="slider"><label for="input{k}">{name}</label>'
        f'<input type="range" id="input{k}" min="{one["low"]!r}" max="{one["high"]!r}" step="any" '
        f'value="{value!r}"><output id="value{k}" for="input{k}">{short(value, 4)} {unit}</output>'
        f"{word}</div>"
    )


def _options(names: Sequence[str]) -> str:
    return "".join(f'<option value="{k}">{html.escape(x)}</option>' for k, x in enumerate(names))


def _slice(subject: Subject) -> str:
    """Return the place of a slice; first over an input that the logic reads."""
    read = {word.name for word in subject.program.inputs}
    first = next((k for k, name in enumerate(subject.names) if name in read), 0)
    options = _options(subject.names).replace(f'value="{first}"', f'value="{first}" selected', 1)
    outputs = [one.symbol for one in subject.load.outputs]
    return (
        '<div class="slice"><div class="play"><label>output <select id="slice-output">'
        f'{_options(outputs)}</select></label><label>over <select id="slice-input">'
        f'{options}</select></label><label><input type="checkbox" id="slice-near"> '
        "near the state that is shown</label></div>"
        '<svg id="slice-picture" viewBox="0 0 640 260" preserveAspectRatio="none" role="img" '
        'aria-labelledby="slice-caption"><rect class="ground" width="640" height="260"/>'
        '<polygon class="band" points=""/><polyline class="logic" points=""/>'
        '<polyline class="exact" points=""/><path class="spot" d=""/></svg>'
        '<p id="slice-caption" class="note">one output over one input</p></div>'
    )
