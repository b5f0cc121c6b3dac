"""Parts of interactive pages: scripts, arms, trajectories, strips, word graphs, Quine-McCluskey.

Scripts add the words of the current state, and details of words under the pointer.
"""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import dataclass
from functools import partial
from importlib import resources
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.problem.kinematics import chain_places
from boolcomp.problem.printers import statements
from boolcomp.problem.tape import recorded
from boolcomp.twolevel.function import holds
from boolcomp.words.drawing import (
    HIGH,
    LEGEND,
    MARGIN,
    WIDE,
    curve_points,
    kind_of,
    laid_out,
)
from boolcomp.words.simulation import with_word, word_values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.show_page import ShownProgram
    from boolcomp.problem.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.tape import Straight
    from boolcomp.program.program import CodedOutput
    from boolcomp.words.drawing import Box
    from boolcomp.words.graph import (
        Angles,
        Bits,
        Heap,
        InputWord,
        Lookup,
        PartialProducts,
        WordGraph,
    )

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]

# --------------------------------------------------------------------------------------------------
# JavaScript: modules of the package, and straight-line programs as functions.
# --------------------------------------------------------------------------------------------------


def module(name: str) -> str:
    return resources.files("boolcomp.measure.show").joinpath(name).read_text("utf-8")


def in_script(text: str) -> str:
    """Return a script for use in an HTML element: nothing in it ends the element.

    Changes occur only in strings and comments, and do not change their meaning.
    """
    return re.sub(r"<(?=[/!])", r"<\\", text)


def data(value: Any) -> str:
    """Return a value as JSON for use in a script element; NaN and infinities raise an error."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def straight_function(name: str, given: Sequence[str], steps: Straight) -> str:
    """Return a straight-line program as a JavaScript function; `given` are its arguments in order.

    The program's inputs are found by name among the arguments; the function returns a list.
    """
    place = {one: f"x{k}" for k, one in enumerate(given)}
    lines, results = statements(steps, [place[one] for one in steps.inputs], "javascript")
    head = f"function {name}({', '.join(place.values())}) {{"
    return "\n".join([head, *(f"  {x}" for x in lines), f"  return [{', '.join(results)}];", "}"])


# --------------------------------------------------------------------------------------------------
# Pictures of arms: positions of joints as straight-line programs, and the view.
#
# Each joint has an axis, a place and an elbow, followed by the tip. The elbow is the point on the
# axis at the Denavit-Hartenberg distance d, or at the displacement of a sliding joint.
# --------------------------------------------------------------------------------------------------


DRAWN = 2000  # random postures that determine the size of an arm
FLAT = 1e-9  # tolerance, relative to its size, for an arm that moves in a plane
WIDTH, HEIGHT = 640.0, 480.0  # of the picture
ARM_ROOM = 0.92  # share of the picture for the extended arm
TURNED, RAISED = -0.9, 0.35  # rad: direction of the view of spatial arms


@dataclass(frozen=True, slots=True)
class CameraView:
    """Directions of right and up in the world, and the point in the middle of the picture.

    `flat` tells whether the arm moves only in this plane; `scale` is in pixels per metre.
    """

    flat: bool
    right: tuple[float, ...]
    up: tuple[float, ...]
    middle: tuple[float, ...]
    scale: float


def arm_steps(robot: Robot) -> Straight:
    """Return a program from q1, q2, … to nine numbers per joint and three of the tip."""
    count = range(1, robot.joints + 1)
    places = [f"p{k}" for k in range(9 * robot.joints + 3)]
    return recorded(partial(_drawn_points, robot), [[f"q{k}" for k in count]], places)


def _drawn_points(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    joints, tip = chain_places(robot, algebra, q)
    found: list[Any] = []
    for link, (axis, place), x in zip(robot.links, joints, q, strict=True):
        along = algebra.constant(0.0 if link.pose is not None else link.d)
        elbow = place + axis.scaled(along if link.revolute else along + x)
        found += [*axis, *place, *elbow]
    return [*found, *tip]


def view_of(robot: Robot, steps: Straight) -> CameraView:
    """Return the view of an arm: onto its plane, or from one side."""
    low = np.array([link.position.low for link in robot.links])
    high = np.array([link.position.high for link in robot.links])
    postures = np.random.default_rng(0).uniform(low, high, (DRAWN, robot.joints))
    columns = dict(zip((f"q{k}" for k in range(1, robot.joints + 1)), postures.T, strict=True))
    found = np.stack(steps.evaluate([columns[name] for name in steps.inputs]), axis=1)
    axes, places = _parted(found)
    down = np.array(robot.gravity, np.float64)
    middle = places[:, 0].mean(axis=0)
    size = float(np.abs(places - middle).max()) or 1.0
    normal = axes[0, 0]
    turning = [k for k, link in enumerate(robot.links) if link.revolute]
    heights = places @ normal
    parallel = all(np.abs(np.cross(axes[:, k], normal)).max() < FLAT for k in turning)
    flat = bool(turning) and parallel and float(np.ptp(heights)) < FLAT * size
    if turning and flat:
        up = -down - normal * (-down @ normal)
        if np.linalg.norm(up) < FLAT:
            up = _across(normal)
        up /= np.linalg.norm(up)
        right = np.cross(up, normal)
    else:
        up = -down / np.linalg.norm(down) if np.linalg.norm(down) else np.array([0.0, 0.0, 1.0])
        right = _across(up)
        middle = (places.reshape(-1, 3).max(axis=0) + places.reshape(-1, 3).min(axis=0)) / 2
    reach = float(np.linalg.norm(places - middle, axis=-1).max()) or 1.0
    scale = ARM_ROOM * min(WIDTH, HEIGHT) / 2 / reach
    return CameraView(flat, _numbers(right), _numbers(up), _numbers(middle), scale)


def _numbers(vector: Floats) -> tuple[float, ...]:
    return tuple(map(float, vector))


def _parted(found: Floats) -> tuple[Floats, Floats]:
    """Return axes, and all places (joints, then elbows, then the tip)."""
    joints = found[:, :-3].reshape(len(found), -1, 3, 3)
    tip = found[:, None, -3:]
    return joints[:, :, 0], np.concatenate([joints[:, :, 1], joints[:, :, 2], tip], axis=1)


def _across(axis: Floats) -> Floats:
    """Return a direction perpendicular to an axis, preferably near x."""
    for one in np.eye(3):
        across = one - axis * (one @ axis)
        if np.linalg.norm(across) > 0.5:
            return np.asarray(across / np.linalg.norm(across))
    raise AssertionError("three axes cannot all be parallel to one")


def arm_values(robot: Robot, view: CameraView) -> dict[str, Any]:
    return {
        "flat": view.flat,
        "right": view.right,
        "up": view.up,
        "middle": view.middle,
        "scale": view.scale,
        "base": _base(robot),
        "width": WIDTH,
        "height": HEIGHT,
        "turned": TURNED,
        "raised": RAISED,
        "joints": [
            {"revolute": link.revolute, "parent": parent}
            for link, parent in zip(robot.links, robot.parents, strict=True)
        ],
    }


def _base(robot: Robot) -> tuple[float, float, float]:
    return (0.0, 0.0, 0.0) if robot.base is None else robot.base.origin


def still(robot: Robot, view: CameraView, steps: Straight, posture: dict[str, float]) -> str:
    """Return the initial picture of an arm at a posture as the content of an SVG."""
    found = np.array([steps.evaluate([posture[name] for name in steps.inputs])], np.float64)
    _, places = _parted(found.reshape(1, -1))
    points = _projected(view, places[0])
    joints = robot.joints
    lines = []
    base = _projected(view, np.array([_base(robot)]))[0]
    for k, parent in enumerate(robot.parents):
        start = base if parent == 0 else points[joints + parent - 1]
        lines.append(_line("link", [start, points[k], points[joints + k]]))
    lines.append(_line("link", [points[2 * joints - 1], points[-1]]))
    dots = [f'<circle class="joint" cx="{x:.1f}" cy="{y:.1f}" r="9"/>' for x, y in points[:joints]]
    x, y = points[-1]
    return "\n".join([*lines, *dots, f'<circle class="end" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'])


def _line(kind: str, points: list[Floats]) -> str:
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _projected(view: CameraView, places: Floats) -> Floats:
    """Return places in pixels, with the same view as in arm.js."""
    right, up = np.array(view.right), np.array(view.up)
    if not view.flat:
        across = np.cross(up, right)
        ahead = math.cos(TURNED) * across - math.sin(TURNED) * right
        right = math.cos(TURNED) * right + math.sin(TURNED) * across
        up = math.cos(RAISED) * up + math.sin(RAISED) * ahead
    away = places - np.array(view.middle)
    x = WIDTH / 2 + view.scale * (away @ right)
    y = HEIGHT / 2 - view.scale * (away @ up)
    return np.stack([x, y], axis=1)


# --------------------------------------------------------------------------------------------------
# A periodic trajectory of all inputs: sines.
#
# Positions, speeds and accelerations of joints are one motion within their ranges:
# q = c + a·sin(nωt + φ), with its derivatives q̇ and q̈. Other inputs cover their ranges.
# --------------------------------------------------------------------------------------------------


TIMES = (1, 2, 3, 5, 4, 7)  # cycles of an input in a period
FULL = 0.9  # share of a joint's range
SMALL_ERROR = 0.3  # share of the range of a controller's errors, which are usually small
USUAL_PERIOD = 10.0  # seconds, the shortest period
PHASE = 0.7  # rad, from joint to joint
DERIVATIVES = {"qd": 1, "qdd": 2, "qddr": 2}  # of positions, by the names of their groups


@dataclass(frozen=True, slots=True)
class ShownWave:
    """centre + size · sin(2π · times · t + phase), t from 0 to 1."""

    centre: float
    size: float
    times: int
    phase: float


@dataclass(frozen=True, slots=True)
class ShownTrajectory:
    """A wave for every input, and the period in seconds."""

    period: float
    waves: tuple[ShownWave, ...]

    def states(self, count: int) -> NDArray[np.float64]:
        """Return equally spaced states of a period, (count, inputs)."""
        t = np.arange(count) / count
        columns = [
            w.centre + w.size * np.sin(2 * math.pi * w.times * t + w.phase) for w in self.waves
        ]
        return np.stack(columns, axis=1)


def shown_trajectory(
    groups: Sequence[tuple[str, Sequence[str]]], ranges: Mapping[str, tuple[float, float]]
) -> ShownTrajectory:
    """Return a trajectory through the ranges of inputs, given as named groups."""
    known = dict(groups)
    joints = len(known.get("q", ()))
    period = USUAL_PERIOD
    for k in range(joints):
        for group, order in DERIVATIVES.items():
            if len(known.get(group, ())) == joints:
                limit = min(map(abs, ranges[known[group][k]]))
                rate = (_size(ranges[known["q"][k]], k) / max(FULL * limit, 1e-9)) ** (1 / order)
                period = max(period, 2 * math.pi * TIMES[k % len(TIMES)] * rate)
    waves = []
    place = 0
    for group, members in groups:
        derived = DERIVATIVES.get(group, 0 if group == "q" else None)
        for k, name in enumerate(members):
            if derived is not None and len(members) == joints:
                waves.append(_derived(ranges[known["q"][k]], k, derived, period))
            else:
                share = SMALL_ERROR if group in {"e", "de"} else FULL
                low, high = ranges[name]
                phase = PHASE * place - math.pi / 2
                times = TIMES[place % len(TIMES)]
                waves.append(ShownWave((low + high) / 2, share * (high - low) / 2, times, phase))
            place += 1
    return ShownTrajectory(period, tuple(waves))


def _size(ends: tuple[float, float], k: int) -> float:
    return FULL * (ends[1] - ends[0]) / 2 / TIMES[k % len(TIMES)]


def _derived(ends: tuple[float, float], k: int, order: int, period: float) -> ShownWave:
    times = TIMES[k % len(TIMES)]
    size = _size(ends, k) * (2 * math.pi * times / period) ** order
    centre = 0.0 if order else (ends[0] + ends[1]) / 2
    return ShownWave(centre, size, times, PHASE * k + order * math.pi / 2)


# --------------------------------------------------------------------------------------------------
# Pictures of outputs along a trajectory: exact and by logic, with the error below.
#
# The script adds a cursor, and redraws them for other trajectories.
# --------------------------------------------------------------------------------------------------


CURVE_WIDE, CURVE_HIGH, ERRORS = 420.0, 96.0, 44.0  # pixels: of a picture, its curve, its errors
GAP = 10.0
POINTS = 300
CURVE_ROOM = 1.06


@dataclass(frozen=True, slots=True)
class PictureScale:
    """Scale of a picture: middle and half the height of the curve, half the height of errors."""

    middle: float
    half: float
    error: float


def frame_of(output: CodedOutput, values: Floats, exact: Floats | None) -> PictureScale:
    """Return a scale for values, exact values, and the bound of their error."""
    every = values if exact is None else np.concatenate([values, exact])
    low, high = float(every.min()), float(every.max())
    half = max((high - low) / 2 * CURVE_ROOM, output.code.step)
    largest = 0.0 if exact is None else float(np.abs(values - exact).max())
    error = largest if output.bound_note else output.bound
    return PictureScale(
        (low + high) / 2, half, max(error, largest, output.code.step / 2) * CURVE_ROOM
    )


def points(values: Floats, middle: float, half: float, top: float, high: float) -> str:
    """Return a polyline of values, evenly spaced over the width."""
    x = np.linspace(0, CURVE_WIDE, len(values))
    y = top + high / 2 - (values - middle) / half * high / 2
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def draw_output(
    place: int, output: CodedOutput, values: Floats, exact: Floats | None, period: float
) -> str:
    """Return the picture of an output along a trajectory."""
    frame = frame_of(output, values, exact)
    step = np.repeat(values, 2)  # logic has steps
    unit = html.escape(f" {output.unit}" if output.unit else "")
    name = html.escape(output.symbol)
    lines = [f'<rect class="ground" width="{CURVE_WIDE:g}" height="{CURVE_HIGH:g}"/>']
    zero = CURVE_HIGH / 2 + frame.middle / frame.half * CURVE_HIGH / 2
    if 0 < zero < CURVE_HIGH:
        lines.append(f'<path class="zero" d="M0,{zero:.1f}H{CURVE_WIDE:g}"/>')
    line = points(step, frame.middle, frame.half, 0, CURVE_HIGH)
    lines.append(f'<polyline class="logic" points="{line}"/>')
    if exact is not None:
        line = points(exact, frame.middle, frame.half, 0, CURVE_HIGH)
        lines.append(f'<polyline class="exact" points="{line}"/>')
        top = CURVE_HIGH + GAP
        lines.append(
            f'<rect class="ground" y="{top:g}" width="{CURVE_WIDE:g}" height="{ERRORS:g}"/>'
        )
        lines.append(f'<path class="zero" d="M0,{top + ERRORS / 2:.1f}H{CURVE_WIDE:g}"/>')
        if not output.bound_note:
            away = output.bound / frame.error * ERRORS / 2
            middle = top + ERRORS / 2
            lines.append(
                f'<path class="bound" d="M0,{middle - away:.1f}H{CURVE_WIDE:g}'
                f'M0,{middle + away:.1f}H{CURVE_WIDE:g}"/>'
            )
        line = points(values - exact, 0.0, frame.error, top, ERRORS)
        lines.append(f'<polyline class="error" points="{line}"/>')
    high = CURVE_HIGH if exact is None else CURVE_HIGH + GAP + ERRORS
    lines.append(f'<path class="cursor" d="M0,0V{high:g}"/>')
    ends = f"{frame.middle - frame.half:.3g} … {frame.middle + frame.half:.3g}{unit}"
    errors = "" if exact is None else f"; below, the error: ±{frame.error:.3g}{unit}"
    label = f"{name} along the trajectory of {period:.3g} s: {ends}{errors}"
    return (
        f'<figure class="strip"><figcaption><b>{name}</b> {ends}{errors}</figcaption>'
        f'<svg viewBox="0 0 {CURVE_WIDE:g} {high:g}" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}" data-output="{place}" data-middle="{frame.middle!r}" '
        f'data-half="{frame.half!r}" data-error="{frame.error!r}">{"".join(lines)}</svg></figure>'
    )


# --------------------------------------------------------------------------------------------------
# Effects of the words of a graph on its outputs, measured on random input words.
#
# Each word is changed by one step, and all words that depend on it are recalculated. The change of
# an output divided by √12 estimates the rms error that the rounding of this word contributes. Like
# the noise model, the estimate assumes uniform, independent errors.
# --------------------------------------------------------------------------------------------------


SAMPLES = 384


@dataclass(frozen=True, slots=True)
class Effect:
    """The smallest and largest value of a word, and the effect of a step on outputs (rms, LSB).

    `rounds` tells whether the word is rounded.
    """

    least: int
    most: int
    moves: tuple[float, ...]
    rounds: bool

    @property
    def budget(self) -> tuple[float, ...]:
        return tuple(x / math.sqrt(12) if self.rounds else 0.0 for x in self.moves)


def effects_of(graph: WordGraph, samples: int = SAMPLES) -> list[Effect]:
    """Return the effect of every word, deterministic for a graph."""
    rng = np.random.default_rng(0)
    inputs = {node.name: rng.integers(0, 1 << node.bits, samples) for node in graph.inputs}
    values = word_values(graph, inputs)
    return [
        Effect(
            int(values[place].min()),
            int(values[place].max()),
            _moves(graph, values, place),
            rounds,
        )
        for place, rounds in enumerate(graph.fold(_Rounds(graph)))
    ]


def _moves(graph: WordGraph, values: list[Words], place: int) -> tuple[float, ...]:
    top = (1 << graph.nodes[place].bits) - 1
    step = np.where(values[place] < top, 1, -1)
    moved = with_word(graph, values, place, values[place] + step)
    found = []
    for result in graph.results:
        away = moved[result.node] - values[result.node]
        size = 1 << graph.nodes[result.node].bits
        away = (away + size // 2) % size - size // 2  # heaps are modulo their size
        found.append(float(np.sqrt(np.mean(np.square(away / (1 << result.drop))))))
    return tuple(found)


class _Rounds:
    """Whether words are rounded: inputs, tables, and sums that drop bits."""

    def __init__(self, graph: WordGraph) -> None:
        self.graph = graph

    def input(self, _place: int, _node: InputWord) -> bool:
        return True

    def angles(self, _place: int, node: Angles) -> bool:
        return any(turn.read < self.graph.nodes[turn.node].bits for turn in node.turns)

    def lookup(self, _place: int, node: Lookup) -> bool:
        return node.entries != tuple(range(len(node.entries)))

    def heap(self, _place: int, node: Heap) -> bool:
        cut = any(x.drop_a or x.drop_b or x.column < 0 for x in node.products)
        return cut or any(part.drop for part in node.words)


# --------------------------------------------------------------------------------------------------
# Word graphs: picture, values for the script, table of words.
# --------------------------------------------------------------------------------------------------


EXACT = 50  # bits of a sum that doubles represent exactly
LONGEST = 27  # characters of a title that fit into a box
BESIDE = 16  # the same for a box with a curve
LETTER, SMALL_GRAPH, DIGIT = 6.0, 4.8, 6.4  # approximate widths


def graph_values(subject: ShownProgram, graph: WordGraph) -> dict[str, Any] | None:
    """Return a graph's nodes for the script; None if its sums are too wide for doubles."""
    if max(node.bits for node in graph.nodes) > EXACT:
        return None
    joint = subject.load.joint
    assert joint is not None  # noqa: S101 (programs with a graph have a joint network)
    words = subject.program.inputs
    results = {result.node: k for k, result in enumerate(graph.results)}
    meanings = subject.load.meanings or tuple(f"w{k}" for k in range(len(graph.nodes)))
    return {
        "inputs": [[w.input, words[w.input].code.bits - w.bits] for w in joint.words],
        "nodes": [
            {"name": name, "bits": graph.nodes[k].bits, "result": results.get(k), **values}
            for k, (values, name) in enumerate(
                zip(graph.fold(_NodeValues(graph)), meanings, strict=True)
            )
        ],
        "effects": [
            {
                "least": one.least, "most": one.most, "rounds": one.rounds,
                "moves": [round(x, 5) for x in one.moves],
                "budget": [round(x, 5) for x in one.budget],
            }
            for one in effects_of(graph)
        ],
        "text": str(graph).splitlines()[: len(graph.nodes)],
    }  # fmt: skip


class _NodeValues:
    """Nodes in the format of core.js: operands with their bits and columns."""

    def __init__(self, graph: WordGraph) -> None:
        self.nodes = graph.nodes

    def input(self, _place: int, _node: InputWord) -> dict[str, Any]:
        return {"kind": "input"}

    def angles(self, _place: int, node: Angles) -> dict[str, Any]:
        """Return the turns of a sum of angles."""
        turns = [
            [
                turn.node,
                self.nodes[turn.node].bits - turn.read,
                turn.read,
                turn.shift,
                turn.negative,
            ]
            for turn in node.turns
        ]
        return {"kind": "angles", "turns": turns, "constant": node.constant}

    def lookup(self, _place: int, node: Lookup) -> dict[str, Any]:
        return {
            "kind": "table",
            "source": node.source,
            "drop": self.nodes[node.source].bits - node.read,
            "picked": list(node.picked) if node.mask else None,
            "entries": list(node.entries),
        }

    def heap(self, _place: int, node: Heap) -> dict[str, Any]:
        """Return the words and the products of a sum."""
        words, products = [*map(self.word, node.words)], [*map(self.product, node.products)]
        return {"kind": "sum", "words": words, "products": products, "constant": node.constant}

    def word(self, part: Bits) -> list[Any]:
        row = part.layout(self.nodes)
        return [part.node, row.drop, row.column, row.bits, part.negative]

    def product(self, part: PartialProducts) -> list[Any]:
        """Return a product with the digits of the shorter word."""
        grid, a, b = part.layout(self.nodes), part.a, part.b
        if grid.a > grid.b:
            grid, a, b = grid.swapped, b, a
        return [a, b, part.negative, [[digit, *row] for digit, row in grid.rows()]]


def draw_graph(subject: ShownProgram, graph: WordGraph) -> str:
    """Return a graph as SVG, with data attributes of words and lines for the script."""
    symbols = [one.symbol for one in subject.load.outputs]
    spans = {word.name: word.code.range for word in subject.program.inputs}
    boxes, lines = laid_out(graph, spans, symbols)
    wide = max(box.x for box in boxes) + WIDE + MARGIN
    high = max(box.y for box in boxes) + HIGH + MARGIN
    picture = [
        (
            f'<svg id="graph-picture" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" '
            f'height="{high:g}" role="group" aria-label="the word graph">'
        )
    ]
    picture += [
        f'<path class="line{"" if line.pair is None else f" product pair{line.pair}"}" '
        f'data-from="{line.source}" data-to="{line.place}" d="{line.path}"/>'
        for line in lines
    ]
    widths = {result.node: result.bits for result in graph.results}
    tables = graph.tables
    for place, (box, node) in enumerate(zip(boxes, graph.nodes, strict=True)):
        digits = widths.get(place) or len(str((1 << node.bits) - 1))
        picture += _word(place, box, tables.get(place), digits)
    return "\n".join([*picture, "</svg>"])


def _word(place: int, box: Box, table: Lookup | None, digits: int) -> Iterator[str]:
    """Yield the SVG of a word; its value, with `digits`, is in the line with enough space."""
    title, detail = html.escape(box.title), html.escape(box.detail)
    curve = table is not None and table.read > 0
    room = BESIDE if curve else LONGEST
    above = not curve and SMALL_GRAPH * len(box.detail) + DIGIT * digits > WIDE - 20
    if above:
        room = max(3, int((WIDE - 20 - DIGIT * digits) / LETTER))
    cut = box.title if len(box.title) <= room else f"{box.title[: room - 1]}…"
    yield (
        f'<g class="word {box.kind}" data-word="{place}" tabindex="0" role="button" '
        f'aria-label="{title}, {detail}" transform="translate({box.x:.1f},{box.y:.1f})">'
    )
    yield f'<rect width="{WIDE}" height="{HIGH}" rx="6"/>'
    yield f'<text x="8" y="16">{html.escape(cut)}</text>'
    yield f'<text class="small" x="8" y="31">{detail}</text>'
    if curve and table is not None:
        moved = f'transform="translate({-box.x:.1f},{-box.y:.1f})"'
        yield f'<polyline class="curve" {moved} points="{curve_points(table, box)}"/>'
        yield '<circle class="spot" r="3.2"/>'
    else:
        yield f'<text class="value" x="{WIDE - 8}" y="{16 if above else 31}"></text>'
    yield f'<rect class="level" y="{HIGH - 3}" width="{WIDE}" height="3"/>'
    yield "</g>"


def legend(graph: WordGraph) -> str:
    """Return the legend of colours as HTML."""
    kinds = set(map(kind_of, graph.nodes))
    names = {"torque": "output"}
    return "".join(
        f'<span class="key"><i class="k-{kind}"></i>{html.escape(names.get(kind, meaning))}</span>'
        for kind, meaning in LEGEND.items()
        if kind in kinds or kind == "torque"
    )


def words_table(
    values: dict[str, Any], symbols: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows of a table of all words of a graph."""
    heads = ["word", "stands for", "kind", "bits", "seen", *(f"budget of {x}" for x in symbols)]
    rows = []
    for k, (node, one) in enumerate(zip(values["nodes"], values["effects"], strict=True)):
        budget = [f"{x:.3f}" if x else "–" for x in one["budget"]]
        seen = f"{one['least']} … {one['most']}"
        rows.append([f"w{k}", node["name"], node["kind"], str(node["bits"]), seen, *budget])
    return heads, rows


# --------------------------------------------------------------------------------------------------
# The Quine-McCluskey method step by step, for display, with few inputs.
#
# ON and don't-care minterms are grouped by their number of ones. Pairs that differ in one place
# merge in several rounds; implicants that never merge are prime. A prime is essential if no other
# prime covers one of its minterms. The fewest other primes, with the fewest literals, are added.
# Tests compare the result with `boolcomp.twolevel`.
# --------------------------------------------------------------------------------------------------


MOST_INPUTS = 6


@dataclass(frozen=True, slots=True)
class Implicant:
    """An implicant such as `01-1`, its minterms, and whether it merged into a larger one."""

    cube: str
    minterms: tuple[int, ...]
    merged: bool


@dataclass(frozen=True, slots=True)
class QuineSteps:
    """The steps of a minimisation: rounds of merging, primes, prime chart, cover.

    `rounds` are lists of groups by weight; `chart` tells for every prime and ON minterm whether the
    prime covers it; `essential` and `cover` are indices of primes.
    """

    inputs: int
    on: tuple[int, ...]
    free: tuple[int, ...]
    rounds: tuple[tuple[tuple[Implicant, ...], ...], ...]
    primes: tuple[str, ...]
    chart: tuple[tuple[bool, ...], ...]
    essential: tuple[int, ...]
    cover: tuple[int, ...]


def minimised(inputs: int, on: Collection[int], free: Collection[int] = ()) -> QuineSteps:
    """Return the steps for a function that is 1 at `on` and don't-care at `free`."""
    if inputs > MOST_INPUTS:
        raise ValueError(f"{inputs} inputs are too many: at most {MOST_INPUTS}")
    rounds = _merge_rounds(inputs, sorted({*on, *free}))
    primes = tuple(
        row.cube for groups in rounds for group in groups for row in group if not row.merged
    )
    must = tuple(sorted(set(on) - set(free)))
    chart = tuple(tuple(holds(prime, k) for k in must) for prime in primes)
    essential = tuple(
        p
        for p, row in enumerate(chart)
        if any(held and sum(other[c] for other in chart) == 1 for c, held in enumerate(row))
    )
    left = [c for c in range(len(must)) if not any(chart[p][c] for p in essential)]
    rest = _fewest(chart, primes, left)
    cover = tuple(sorted({*essential, *rest}))
    return QuineSteps(inputs, must, tuple(sorted(free)), rounds, primes, chart, essential, cover)


def minterms(cube: str) -> tuple[int, ...]:
    """Return the minterms of a cube."""
    choices = ("01" if letter == "-" else letter for letter in cube)
    return tuple(int("".join(digits) or "0", 2) for digits in product(*choices))


def _merge_rounds(
    inputs: int, every: Sequence[int]
) -> tuple[tuple[tuple[Implicant, ...], ...], ...]:
    found = []
    cubes = [format(k, f"0{inputs}b") if inputs else "" for k in every]
    while cubes:
        merged: set[str] = set()
        larger: list[str] = []
        groups = _by_weight(cubes)
        for weight, group in groups.items():
            for one, other in product(group, groups.get(weight + 1, ())):
                joined = _joined(one, other)
                if joined is not None:
                    merged |= {one, other}
                    larger.append(joined)
        found.append(
            tuple(
                tuple(Implicant(cube, minterms(cube), cube in merged) for cube in group)
                for group in groups.values()
            )
        )
        cubes = list(dict.fromkeys(larger))
    return tuple(found)


def _by_weight(cubes: Iterable[str]) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = {}
    for cube in sorted(cubes, key=lambda cube: (cube.count("1"), minterms(cube))):
        groups.setdefault(cube.count("1"), []).append(cube)
    return groups


def _joined(one: str, other: str) -> str | None:
    """Return the union of two cubes that differ in one digit; None for others."""
    apart = [k for k, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(apart) != 1 or "-" in (one[apart[0]], other[apart[0]]):
        return None
    return f"{one[: apart[0]]}-{one[apart[0] + 1 :]}"


def _fewest(
    chart: Sequence[Sequence[bool]], primes: Sequence[str], left: Sequence[int]
) -> tuple[int, ...]:
    """Return a cover of minterms with fewest primes, then fewest literals, by branch and bound."""
    held = [sum(1 << c for c in left if row[c]) for row in chart]
    literals = [len(prime) - prime.count("-") for prime in primes]
    takers = {1 << c: [p for p, mask in enumerate(held) if mask >> c & 1] for c in left}
    best: tuple[int, int, tuple[int, ...]] | None = None

    def search(chosen: tuple[int, ...], cost: int, missing: int) -> None:
        nonlocal best
        if best is not None and len(chosen) + _apart(missing, held, takers) > best[0]:
            return
        if not missing:
            found = len(chosen), cost, tuple(sorted(chosen))
            best = found if best is None else min(best, found)
            return
        columns = [bit for bit in takers if bit & missing]
        column = min(columns, key=lambda bit: (len(takers[bit]), bit))
        for p in _undominated(takers[column], held, literals, missing):
            search((*chosen, p), cost + literals[p], missing & ~held[p])

    search((), 0, sum(takers))
    return best[2] if best else ()


def _apart(missing: int, held: Sequence[int], takers: Mapping[int, Sequence[int]]) -> int:
    """Return the size of a set of independent minterms, a lower bound on the number of primes."""
    count = 0
    for bit in sorted(takers, key=lambda bit: len(takers[bit])):
        if bit & missing:
            count += 1
            for p in takers[bit]:
                missing &= ~held[p]
    return count


def _undominated(
    takers: Sequence[int], held: Sequence[int], literals: Sequence[int], missing: int
) -> list[int]:
    """Return primes that no other dominates in missing minterms and literals."""

    def worse(p: int, q: int) -> bool:
        mine, other = held[p] & missing, held[q] & missing
        if mine & ~other or literals[q] > literals[p]:
            return False
        return mine != other or literals[q] < literals[p] or q < p

    kept = [p for p in takers if not any(worse(p, q) for q in takers if q != p)]
    return sorted(kept, key=lambda p: (-(held[p] & missing).bit_count(), literals[p], p))
