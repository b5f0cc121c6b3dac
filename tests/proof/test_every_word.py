"""Bounds beside all words that there are: of small functions of every kind, and of arms."""

import hashlib
import math
import re
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from everyword import all_corners
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from proof.allwords import worst_errors
from shippedarms import made as small_graph

from boolcomp.compact import Compact, CompactChoices, WordEnds, proved, sketched, usual_demand
from boolcomp.pipeline import compile_compact
from boolcomp.problem import formats, inverse_dynamics_problem, load_robot, parse_function
from boolcomp.proof import claim_of, graded_bounds, plain_bounds

Floats = NDArray[np.float64]


EVERY: Any = ("plain", "tables", "tight")
SLACK = 1e-9  # of what doubles say
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a cell
EFFORT = 100  # of tight bounds: the least with which none is looser than one of tables
LITTLE = 2
TURN = (-math.pi, math.pi)


@pytest.fixture(autouse=True)
def few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the search look at few states: it does not matter whether errors are as demanded."""
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 1000)


@dataclass(frozen=True)
class Case:
    """Outputs as they are written, the ranges of their inputs, and how many bits inputs have."""

    outputs: tuple[str, ...]
    ranges: dict[str, tuple[float, float]]
    bits: int = 3
    out: int = 4
    within: tuple[float, float] | None = None
    rms: tuple[float, ...] = (4.0,)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)  # of words, if wider

    @property
    def text(self) -> str:
        """The function file."""
        lines = ['name = "small"']
        for name, (low, high) in self.ranges.items():
            lines += [f"[inputs.{name}]", f"range = [{low}, {high}]"]
            lines += [f"bits = {self.bits}"] * (self.bits > 0) + ["angle = true"] * (name[0] == "q")
        for place, one in enumerate(self.outputs):
            lines += [f"[outputs.y{place}]", f'expression = "{one}"']
            if self.within:
                lines.append(f"range = [{self.within[0]}, {self.within[1]}]")
        return "\n".join(lines) + "\n"

    def made(self) -> Compact:
        """Return a graph, made with no effort and whatever errors; no network is made of it."""
        asked = [f"{k}=natural:{self.bits}:{a}..{b}" for k, (a, b) in self.spans.items()]
        with TemporaryDirectory() as folder:
            compact, _ = small_graph(
                parse_function(self.text), Path(folder), self.out, self.rms,
                words=formats("words", asked),
            )  # fmt: skip
        return compact

    def exact(self, states: Floats) -> Floats:
        """Return the outputs as they are written."""
        at = dict(zip(self.ranges, states.T, strict=True))
        names = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "abs": np.abs, "exp": np.exp, **at}
        found = [eval(text, {"__builtins__": {}}, names) for text in self.outputs]  # noqa: S307 (ours)
        return np.stack([one + np.zeros(len(states)) for one in found], axis=1)


def held(case: Case, compact: Compact) -> dict[str, Any]:
    """Hold bounds of all grades against all words of a case, and return them."""
    worst, said = worst_errors(compact, case.exact, QUARTERS), sketched(compact, WordEnds())
    found: dict[str, Any] = {one: graded_bounds(said, one, EFFORT) for one in EVERY}
    little = graded_bounds(said, "tight", LITTLE)
    shown = proved(compact, WordEnds(), None, None)
    assert shown is not None
    for grade, bounds in {**found, "little": little, "shown": shown}.items():
        for one, (low, high) in zip(bounds.outputs, worst, strict=True):
            assert float(one.low) <= low + SLACK, (grade, one.name)
            assert high - SLACK <= float(one.high), (grade, one.name)
    for looser, tighter in pairwise(EVERY):
        pairs = zip(found[looser].outputs, found[tighter].outputs, strict=True)
        assert all(two.low >= one.low and two.high <= one.high for one, two in pairs)
    pairs = zip(found["plain"].outputs, little.outputs, strict=True)
    assert all(two.low >= one.low and two.high <= one.high for one, two in pairs)
    return found


KINDS = {
    "no angle": Case(("100 * x + 10 * x * y",), {"x": (-1, 3), "y": (0, 1)}, within=(-200, 400)),
    "no angle, wide words": Case(
        ("100 * x + 10 * x * y",), {"x": (-1, 3), "y": (0, 1)}, 7, 6, (-200, 400), ()
    ),
    "one input": Case(("x * x",), {"x": (-1, 1)}),
    "one input, linear": Case(("x",), {"x": (0, 1)}),
    "one angle, nothing linear": Case(("sin(q)",), {"q": TURN}),
    "part of a turn": Case(("sin(q)",), {"q": (-1, 0.5)}),
    "two angles, nothing linear": Case(("sin(q) * cos(q2)",), {"q": TURN, "q2": TURN}),
    "nearly a constant": Case(("0.25 + 0.000001 * x", "x"), {"x": (-1, 1)}, within=(-1, 1)),
    "an output that reads no angle": Case(("x * sin(q)", "x * x"), {"q": TURN, "x": (-1, 1)}),
    "words wider than ranges": Case(
        ("x * y + x",), {"x": (-1, 0.25), "y": (0.5, 1)}, spans={"x": (-2, 1), "y": (0, 3)}, bits=4
    ),
    "a root": Case(("sqrt(1 + x) + y",), {"x": (-0.5, 1), "y": (-1, 1)}),
    "a bend": Case(("abs(x)",), {"x": (-0.5, 1)}),
    "a sum": Case(("x + y + z",), {"x": (-0.5, 1), "y": (-1, 1), "z": (0, 2)}, 2),
    "a sum times a sum": Case(
        ("(x + 0.5 * y) * (z - y)",), {"x": (-1, 1), "y": (-1, 1), "z": (0, 2)}
    ),
    "a sum of angles": Case(("cos(q + q2) + 0.5 * sin(q)",), {"q": TURN, "q2": TURN}),
    "an arm": Case(
        ("(4 + 5 * cos(q)) * x + 5 * sin(q) * y * y", "sin(q) * x * y - cos(2 * q)"),
        {"q": TURN, "x": (-1, 1), "y": (-1, 1)},
    ),
    "stops": Case(("x * cos(q) - y * sin(2 * q)",), {"q": (-1, 0.5), "x": (-1, 1), "y": (0, 1)}),
    "a curve of a sum": Case(("exp(0.5 * x - y) * y",), {"x": (-1, 1), "y": (-0.5, 1)}),
}  # fmt: skip


RECORDED = {  # of the graph, of its bounds by grade, and of the claim
    "no angle": "d090b5 b99d02 c392bd 8b3751 0513c0",
    "no angle, wide words": "c54ddf db9782 338ec5 e4383a d07689",
    "one input": "9f3415 b233a8 491166 9982d7 68b1d3",
    "one input, linear": "ca0a3d 6a938e eccdf3 325bb9 c2c047",
    "one angle, nothing linear": "e0f344 3140b2 664364 eb5236 85a872",
    "part of a turn": "8ae47c 741c31 33016e 9d5c60 0fd011",
    "two angles, nothing linear": "9b7f57 42db48 a10ad7 47ded6 9a0761",
    "nearly a constant": "2205a5 d65229 176d49 d9299e 03fd4e",
    "an output that reads no angle": "95f23f eca5f6 1b353b eda4e3 1611af",
    "words wider than ranges": "dfcf63 207858 89a3a2 ea571a 558930",
    "a root": "5497f4 37b695 f201d8 01616f e83695",
    "a bend": "4fb4d5 d1c79f 8c0b43 7876b0 01eb97",
    "a sum": "1c2ba5 367b4f 8232d6 f5a4e0 0010c9",
    "a sum times a sum": "62ae67 61a4cc f11fad bd4a18 47aebb",
    "a sum of angles": "7ea8fa 619bf7 9caebe f00e16 f2119f",
    "an arm": "478d42 d9e1d1 e670bb 20456f 780cad",
    "stops": "87a5e5 fc1ec0 bd8f5a 1dbc42 070d4e",
    "a curve of a sum": "3b77c5 e194d8 f14260 3025e7 4ab7c2",
}


@pytest.mark.parametrize("name", KINDS)
def test_bounds_of_every_grade_hold_for_all_words(name: str) -> None:
    compact = KINDS[name].made()
    found = held(KINDS[name], compact)
    claim = claim_of(sketched(compact, WordEnds()))
    values = (*(found[grade] for grade in EVERY), claim)
    texts = (str(compact.graph), *(re.sub(r"[A-Za-z_]+(?=[(=])", "", repr(x)) for x in values))
    digests = " ".join(hashlib.sha256(text.encode()).hexdigest()[:6] for text in texts)
    assert digests == RECORDED[name]


FACTORS = st.sampled_from(["x", "y", "x * x", "x * y", "sin(q)", "cos(2 * q) * x", "1"])
TERMS = st.tuples(st.sampled_from(["0.5", "-1.25", "0.3", "0.0001"]), FACTORS)
RANGES = {"x": (-1.0, 2.0), "y": (0.0, 1.0), "q": TURN}


@pytest.mark.slow
@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.lists(st.lists(TERMS, max_size=2), min_size=1, max_size=2))
def test_bounds_of_random_sums_hold_for_all_words(outputs: list[list[tuple[str, str]]]) -> None:
    texts = tuple(
        " + ".join(f"({c}) * {f}" for c, f in [("0.7", "x"), *terms]) for terms in outputs
    )  # none is a constant
    read = {name: ends for name, ends in RANGES.items() if any(name in one for one in texts)}
    case = Case(texts, read, within=(-8.0, 8.0))
    held(case, case.made())


WHOLE = {"q": TURN, "x": (-1.0, 1.0), "y": (-1.0, 1.0), "z": (-1.0, 1.0)}
BETWEEN = 1e-5  # steps: what the worst cells, looked at with every word, leave open
FUNCTIONS = {
    "two functions": "x * y * cos(q) + 0.8 * x * x * sin(2 * q) + 0.5 * z * sin(q)",
    "a sum of its own": "z * (0.9 * y * cos(q) + 0.7 * x * sin(q)) + 0.6 * y * y * sin(2 * q)",
    "a sum, and what it is multiplied by": (
        "x * (0.9 * y * cos(q) + 0.7 * z * sin(q)) + 0.6 * y * y * sin(2 * q)"
        " + 0.5 * z * y * cos(q) + 0.3 * x * x * sin(q)"
    ),
    "a sum with a part of the angle alone": (
        "z * (0.9 * y * cos(q) + 0.7 * x * sin(q) + 0.4 * cos(2 * q)) + 0.6 * y * x * sin(2 * q)"
    ),
}
BENT = {
    "an angle that bends": "0.9 * cos(q) + 0.5 * sin(q) + 0.3 * x",
    "an input that bends": "0.9 * y * y + 0.1 * y + 0.3 * x * cos(q)",
}


@cache
def made(name: str) -> tuple[Case, Compact]:
    """Return a function as it is written, and a small graph of it."""
    case = Case(({**FUNCTIONS, **BENT}[name],), WHOLE, 0, 4, rms=())
    return case, case.made()


@pytest.mark.check
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_tight_bound_is_the_worst_of_all_words_up_to_its_remainder(name: str) -> None:
    case, compact = made(name)
    said = sketched(compact, WordEnds())
    (plain,), (bound,) = plain_bounds(said).outputs, graded_bounds(said, "tight").outputs
    ((low, high),) = worst_errors(compact, case.exact)
    assert bound.grade == "tight"
    assert high <= float(bound.high) <= high + bound.remainder + BETWEEN
    assert low - bound.remainder - BETWEEN <= float(bound.low) <= low
    assert max(bound.high, -bound.low) < max(plain.high, -plain.low)


NEAR = 0.02  # LSB


@pytest.mark.slow
def test_the_tight_bound_of_three_angles_is_near_the_worst_of_all_words(tmp_path: Path) -> None:
    compact, ends = small_graph(load_robot("planar-3r"), tmp_path, 4, of="gravity")
    worst = worst_errors(compact, compact.problem.exact, (0.0, 0.5, 1.0))
    bounds = graded_bounds(sketched(compact, ends), "tight", 50)
    for (low, high), bound in zip(worst, bounds.outputs, strict=True):
        assert high <= float(bound.high) <= high + NEAR
        assert low - NEAR <= float(bound.low) <= low


DUST = 1e-6  # LSB: bounds are rounded up
SHORT = 1e-3  # LSB: of what there is climbing misses no more


@pytest.mark.check  # at 4 bits: `benchmarks/exhaustive.py`
def test_the_tight_bound_of_the_2r_at_five_bits_is_the_worst_of_all_words() -> None:
    compiled = compile_compact("machado-2r", CompactChoices(usual_demand(5), proof="tight"))
    bounds, program = compiled.built[0].bounds, compiled.program
    assert bounds is not None
    found = all_corners(program, inverse_dynamics_problem(load_robot("machado-2r")))
    assert found.words == 1 << 20
    for k, bound in enumerate(bounds.outputs):
        assert bound.grade == "tight"
        assert 0 < bound.remainder < 0.02
        room = bound.remainder + DUST
        assert found.high[k] <= float(bound.high) <= found.high[k] + room
        assert found.low[k] - room <= float(bound.low) <= found.low[k]
    worst = np.maximum(found.high, -found.low)
    lsb = np.array([output.code.step for output in program.outputs])
    assert (worst * lsb <= program.bound).all()
    sought = np.array(program.worst_found, np.float64) / lsb
    assert (worst - SHORT <= sought).all()
    assert (sought <= worst + DUST).all()
