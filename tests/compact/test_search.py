"""The search, from forms to widths that hold; what may be asked of it."""

import hashlib
import math
import re
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compact.word_robots import built_of, measured, searched, small_robot
from limited import with_ranges
from samples import problem_of, terms_of

import boolcomp as bc
from boolcomp.base import ALONE, UsageError
from boolcomp.compact import CompactChoices, Demand, result_store, search, usual_demand, widths
from boolcomp.pipeline import COMPACT, run
from boolcomp.problem import inverse_dynamics, parse_function, promise_of
from boolcomp.terms import split

TIGHTENINGS = 6  # tries to hold the errors on many states


class Memory:
    """Stages in memory; it may stop the search after some of them."""

    def __init__(self, most: int = 1000) -> None:
        self.kept: dict[str, Any] = {}
        self.most = most

    def stages(self) -> dict[str, Any]:
        return dict(self.kept)

    def note(self, stages: dict[str, Any]) -> None:
        self.kept = dict(stages)
        if len(stages) >= self.most:
            raise KeyboardInterrupt


@pytest.fixture(name="fewer", autouse=True)
def fewer_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    for count in ("CLIMBED", "EVALUATIONS"):
        monkeypatch.setattr(f"boolcomp.compact.widths.{count}", 40_000)


@pytest.mark.check
def test_an_interrupted_search_ends_as_an_uninterrupted_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("boolcomp.compact.widths.SEEN", 20_000)
    torques = terms_of(small_robot(1, 1))
    demand = Demand(bits=4, rms=(0.6,), max=(2.6,), effort=0.05)
    whole = searched(torques, demand)
    memory = Memory(11)
    with pytest.raises(KeyboardInterrupt):
        searched(torques, demand, checkpoint=memory)
    assert len(memory.kept) == 11
    memory.most = 1000
    again = searched(torques, demand, checkpoint=memory, processes=2)
    assert again.graph == whole.graph
    assert again.widths == whole.widths


@pytest.mark.slow
@pytest.mark.parametrize(("size", "free"), [(12.125, 6), (6.0, 7)])
def test_an_output_has_the_bits_that_were_asked_for(size: float, free: int) -> None:
    words, made = {"x": bc.word(-20, 20, bits=5)}, {"y": bc.word(-size, size, bits=5)}

    def limited(x: Any) -> Any:
        return bc.clip(x, -12, 12), bc.clip(-x, -12, 12)

    terms = split(bc.function_problem(limited, words, {**made, "z": bc.word(-size, size)}))
    found = searched(terms, Demand(bits=5, input_bits={"x": 5}, effort=0.0))
    assert [result.bits for result in found.graph.results] == [5, free]
    assert (measured(found, 10_000, 5).max < 1.05 * found.errors.max).all()


def test_an_error_that_no_widths_reach_is_refused() -> None:
    inputs = {"q": 3, "qd": 3, "qdd": 3}
    demand = Demand(bits=6, input_bits=inputs, rms=(0.3,), effort=0.0)
    torques = terms_of(small_robot(1, 1))
    usual = r"no widths reach the default rms 0\.\d+ LSB \(the paper's own error at 6 bits; --acc"
    with pytest.raises(UsageError, match=usual):
        searched(torques, Demand(bits=6, input_bits=inputs, effort=0.0))
    with pytest.raises(UsageError, match=r"no widths reach the demanded rms 0\.300 LSB ") as caught:
        searched(torques, demand)
    found = re.search(r"inputs of 3 bits and rounding alone is ([0-9.]+) LSB", str(caught.value))
    assert found is not None


@pytest.mark.check
def test_an_endless_refinement_is_given_up_after_counted_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("boolcomp.compact.widths.SEEN", 1000)
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 1000)
    turns: list[int] = []
    refine = search.refine

    def counted(task: Any, start: Any) -> Any:
        turns.append(len(start.widths))
        return replace(refine(task, start), nodes=50.0)

    monkeypatch.setattr(search, "refine", counted)
    demand = Demand(bits=4, rms=(0.5,), max=(0.52,), effort=0.0)  # out of reach
    torques = terms_of(small_robot(1, 1))
    for free in (10**9, 1):
        monkeypatch.setattr("boolcomp.compact.widths.FREE_WORK", free)
        turns.clear()
        with pytest.raises(UsageError, match="no widths reach"):
            searched(torques, demand)
        assert len(turns) == (TIGHTENINGS if free > 1 else 1)


def test_a_demand_below_the_floor_of_the_inputs_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "screen", None)
    demand = Demand(rms=(0.4,), input_bits={"q": 12, "q2": 6, "qd": 12, "qdd": 12})
    with pytest.raises(UsageError, match="no widths reach") as caught:
        searched(terms_of("machado-2r"), demand)
    assert "mostly from q2 (6 bits): widen it (--input-bits q2=" in str(caught.value)


@pytest.mark.check
def test_the_logic_is_right_within_the_margin_beyond_the_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for count in ("errors.EVALUATIONS", "passes.FRESH_SAMPLES", "widths.QUICK_SEEN"):
        monkeypatch.setattr(f"boolcomp.compact.{count}", 100_000)
    arm = with_ranges("machado-2r", q1=(-1.0, 1.4), q2=(-2.5, 2.5))
    inputs = {"q": 8, "qd": 8, "qdd": 8}
    demand = Demand(bits=5, input_bits=inputs, effort=0.0, rms=(0.5, 0.6))
    choices: Any = {"workers": ALONE, "also_shipped": False}
    program = built_of(terms_of(arm), demand, tmp_path, **choices).program()
    ends = np.array([[x.position.low, x.position.high] for x in arm.links])
    margin, rng = 0.019 * 2 * math.pi, np.random.default_rng(99)
    q = rng.uniform(ends[:, 0] - margin, ends[:, 1] + margin, (20_000, 2))
    qd, qdd = (rng.uniform(*one, (20_000, 2)) for one in ((-1, 1), (-1, 1)))
    found, exact = program.evaluate(q, qd, qdd), inverse_dynamics(arm, q, qd, qdd)
    steps = np.array([output.code.step for output in program.outputs])
    assert np.sqrt((((found.values - exact) / steps) ** 2).mean(axis=0)).max() <= 0.75
    assert found.saturated_inputs == 0
    assert found.beyond_stops == ((q < ends[:, 0]) | (q > ends[:, 1])).sum() > 0


ROOT = Path(__file__).resolve().parents[2]


def _is_there(robot: str, demand: Demand) -> bool:
    name = result_store(split(problem_of(robot)), demand, None).name.removesuffix(".builtin")
    return (ROOT / "tables" / f"{name}.compact.json").is_file()


def test_every_row_of_the_benchmark_ships() -> None:
    module = runpy.run_path(str(ROOT / "benchmarks" / "compact.py"))
    missing = [row.name for row in module["ROWS"] if not _is_there(row.robot, row.demand)]
    assert missing == []


def test_what_the_demonstration_compiles_in_compact_mode_ships() -> None:
    text = (ROOT / "examples" / "demo.py").read_text("utf-8")
    lines = re.findall(r"boolcomp compile (\S+) --bits (\d+)(.*) -o", text)
    compact = [line for line in lines if "--mode paper" not in line[2]]
    assert len(compact) >= 2
    for robot, bits, more in compact:
        rms = re.search(r"--accuracy rms=(\S+)", more)
        assert set(re.findall(r"--\S+", more)) <= {"--accuracy"}
        width = int(bits)
        inputs = dict.fromkeys(("q", "qd", "qdd"), width + 2)
        allowed = tuple(float(x) for x in rms[1].split(",")) if rms else ()
        assert _is_there(robot, Demand(width, inputs, allowed)), (robot, more)


WAVES = ("(2 + cos(q)) * x + sin(q) * x * x",)
PAIR = ("cos(q + p) * x + x * x", "0.5 * sin(q + p) - sin(q)")
MULTIPLES = ("cos(2 * q - p) * x + sin(q) * cos(4 * p)", "sin(q - p)")
CURVES = ("exp(0.5 * x) + sqrt(1.5 + x) * sin(q)",)
FINER = {"bits": 7, "inputs": 6, "rms": (0.6,)}


def promised(error: str) -> dict[str, Any]:
    return {"error": promise_of("error", error), "rms": (), "grade": "plain"}


# Names, outputs, what is asked, and the digest of the graph.
ALWAYS: list[tuple[str, tuple[str, ...], dict[str, Any], str]] = [
    ("waves", WAVES, {}, "9d5757e6f451"),
    ("waves with effort", WAVES, {"effort": 0.1}, "f41d21b385db"),
    ("waves of another seed", WAVES, {"effort": 0.05, "seed": 3}, "dc2344b708b8"),
    ("a pair", PAIR, {"effort": 0.03}, "735581f1ad36"),
    ("curves", CURVES, {"effort": 0.03}, "7a232bb856e8"),
    ("saturated", WAVES, {"saturate": True, "max": (3.0,)}, "b6c796b65689"),
    ("multiples", MULTIPLES, {"bits": 5, "inputs": 5, "effort": 0.03}, "ab6f7ff444f2"),
    ("finer words", WAVES, {**FINER, "effort": 0.03}, "7d4330935b7c"),
    ("finer words with effort", WAVES, {**FINER, "effort": 0.15, "seed": 1}, "96d09d47a91b"),
    ("a finer pair", PAIR, {"bits": 6, "inputs": 6, "rms": (0.7,), "effort": 0.1}, "d37c2f07015a"),
    ("finer curves", CURVES, {"bits": 6, "inputs": 6, "rms": (0.6,)}, "f1a2a8e7e8a2"),
    ("finer code", WAVES, {**FINER, "target": "mcu32"}, "2356f1be231e"),
    ("lut6", PAIR, {"target": "lut6", "effort": 0.03}, "ca11009bb97f"),
    ("code with flash", WAVES, {"target": "mcu8", "flash": 300, "effort": 0.03}, "81fb3f06519b"),
    ("code", CURVES, {"target": "simd", "effort": 0.03}, "4104e92c4de9"),
    ("carries", PAIR, {"target": "carry", "effort": 0.03}, "22a2e2989b8f"),
    ("promised", WAVES, promised("5lsb"), "bd8c09f36580"),
    ("promised with effort", PAIR, {**promised("20lsb"), "effort": 0.05}, "52f23a7709a2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("outputs", "asked", "graph"), [one[1:] for one in ALWAYS], ids=[one[0] for one in ALWAYS]
)
def test_a_small_search_finds_the_graph_that_it_always_found(
    outputs: tuple[str, ...], asked: dict[str, Any], graph: str,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    for count in ("CLIMBED", "EVALUATIONS", "SEEN", "QUICK_SEEN"):
        monkeypatch.setattr(widths, count, 1000)
    wide = f"bits = {asked.get('inputs', 3)}"
    lines = ['name = "small"', "[inputs.x]", "range = [-1, 1]", wide]
    for angle in "qp"[: 1 + ("p" in outputs[0])]:
        lines += [f"[inputs.{angle}]", 'range = ["-pi", "pi"]', wide, "angle = true"]
    for k, one in enumerate(outputs):
        lines += [f"[outputs.y{k}]", f'expression = "{one}"', "range = [-4, 4]"]
    given = {"effort": 0.0, "rms": (1.0,), **asked, "input_bits": {}}
    given.pop("inputs", None)
    demand = replace(usual_demand(4), **given)
    choices = CompactChoices(demand, tmp_path, also_shipped=False, workers=ALONE)
    source = parse_function("\n".join(lines) + "\n")
    _, compact = run(COMPACT, [source], [choices], "graph")[0]
    assert hashlib.sha256(str(compact.graph).encode()).hexdigest()[:12] == graph
