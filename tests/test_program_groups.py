"""Programs of any problem: any groups of inputs, any outputs, by position and by name."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import boolcomp as bc
from boolcomp import pipeline
from boolcomp.codes import Code
from boolcomp.common.errors import DataError, SaturationWarning, UsageError
from boolcomp.logic.network import Builder, copied
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import Options
from boolcomp.paper.store import Recipe
from boolcomp.parallel.sharding.pool import ProcessPool
from boolcomp.problem.interval import Interval
from boolcomp.problem.makers import gravity_problem
from boolcomp.problem.problem import Group, Input, Output, Problem, numbered
from boolcomp.problem.samples import read_states, write_results
from boolcomp.program.parts import CodedOutput, Load, Slice, TermUse
from boolcomp.program.program import Program, program_of_network, program_of_problem
from boolcomp.program.programfile import load_program
from boolcomp.proof.worst import find_worst, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network

    Floats = NDArray[np.float64]

ENGINES: tuple[Any, ...] = ("numpy", "llvm")
COUNTS = (6, 7, 5, 9, 3)  # bits of the words of x, v1, v2, v3, w2; nothing reads w1


def natural(reach: float, bits: int) -> Code:
    return Code(Interval(-reach, reach), bits, "natural")


def random_network(inputs: int, outputs: int, seed: int) -> Network:
    rng = np.random.default_rng(seed)
    builder = Builder(inputs)
    literals = [builder.input(k) for k in range(inputs)]
    for lut in rng.integers(1, 255, 60).tolist():
        literals.append(
            builder.node(lut, *(literals[k] for k in rng.integers(0, len(literals), 3)))
        )
    return builder.build(literals[-outputs:])


def quiet(network: Network, words: tuple[int, ...]) -> Network:
    """Return a network that says behind every output's bits that it did not saturate."""
    builder = Builder(network.inputs)
    made = iter(copied(network, builder, [builder.input(k) for k in range(network.inputs)]))
    return builder.build(x for bits in words for x in (*islice(made, bits), 0))


def run(network: Network, bits: list[int]) -> list[int]:
    """Evaluate a network on single bits: a node's table has its value where its operands point."""
    values = [0, 1, *bits]
    for lut, operands in network.nodes:
        a, b, c = (*(values[k] for k in operands), 0, 0)[:3]
        values.append(lut >> (4 * a + 2 * b + c) & 1)
    return [values[k] for k in network.outputs]


def cell_of(value: float, code: Code) -> int:
    low, high = code.range.low, code.range.high
    count = 1 << code.bits
    return min(max(math.floor((value - low) / (high - low) * count), 0), count - 1)


def bits_of(word: int, bits: int) -> list[int]:
    return [word >> k & 1 for k in reversed(range(bits))]


def expected(
    network: Network, read: Mapping[str, Code], codes: tuple[Code, ...], state: Mapping[str, float]
) -> list[float]:
    """Return the outputs of one network at one state."""
    planes = [
        b for name, code in read.items() for b in bits_of(cell_of(state[name], code), code.bits)
    ]
    outputs = run(network, planes)
    found, at = [], 0
    for code in codes:
        word = int("".join(map(str, outputs[at : at + code.bits])), 2)
        at += code.bits + 1
        found.append(
            code.range.low + (word + 0.5) * (code.range.high - code.range.low) / 2**code.bits
        )
    return found


@cache
def gravity() -> tuple[Program, Network, dict[str, Code], tuple[Code, ...]]:
    """Return random logic in the place of the gravity torques of the paper's arm."""
    problem = gravity_problem(bc.load_robot("machado-2r"))
    read = {"q2": Code(Interval(-math.pi, math.pi), 6, "natural"),
            "q1": Code(Interval(-math.pi, math.pi), 8, "natural")}  # fmt: skip
    codes = (natural(200.0, 8), natural(100.0, 5))
    network = quiet(random_network(14, 8 + 5, 3), (8, 5))
    return program_of_network(problem, 8, read, codes, network), network, read, codes


def zeros(*arrays: Floats) -> Floats:
    return np.zeros((len(arrays[0]), 2))


@cache
def any_problem() -> Problem:
    groups = (Group("x", ("x",)), numbered("v", 3), numbered("w", 2))
    span = Interval(-1.0, 2.0)
    names = [name for group in groups for name in group.members]
    return Problem(
        "thing", "thing", tuple(Input(name, span, "m", span, span) for name in names),
        (Output("y", "Y", Interval(-8.0, 8.0), "kg"), Output("z", "Z", Interval(-8.0, 8.0), "kg")),
        groups, Group("out", ("y", "z")), zeros, cast("Any", zeros),
    )  # fmt: skip


@cache
def any_program(mode: str = "compact") -> Program:
    """Return random logic with groups of one, three and two inputs, as one network or as terms."""
    problem, span = any_problem(), Interval(-1.0, 2.0)
    names = ("x", "v1", "v2", "v3", "w2")
    read = {n: Code(span, bits, "natural") for n, bits in zip(names, COUNTS, strict=True)}
    if mode == "compact":
        codes = (natural(8.0, 7), natural(8.0, 9))
        network = quiet(random_network(sum(COUNTS), 7 + 9, 5), (7, 9))
        return program_of_network(problem, 7, read, codes, network)
    networks = [random_network(8, 4, seed) for seed in range(5)]
    code, inner = Code(Interval(-8.0, 8.0), 5), Code(Interval(-2.0, 2.0), 4)
    uses = [
        TermUse(f"t{k}", "", k, inner, (Slice(k, 3, 0), Slice((k + 1) % 4, 5, 0))) for k in range(4)
    ] + [TermUse("t4", "", 4, inner, (Slice(4, 3, 0), Slice(1, 6, 1)))]  # fmt: skip
    outputs = tuple(
        CodedOutput(one.name, one.symbol, one.unit, code, 1, tuple(terms))
        for one, terms in zip(problem.outputs, (uses[:3], uses[1:]), strict=True)
    )
    return program_of_problem(problem, 5, "paper", read, networks, (Load(0.0, outputs),))


def drawn(count: int, seed: int = 0) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 2, (count, size)) for size in (1, 3, 2)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_program_of_positions_alone_gives_what_its_network_gives(engine: Any) -> None:
    program, network, read, codes = gravity()
    q = np.random.default_rng(2).uniform(-3.1, 3.1, (200, 2))
    found = program(q, engine=engine)
    assert found.shape == (200, 2)
    for row, state in zip(found, q, strict=True):
        known = dict(zip(("q1", "q2"), state, strict=True))
        assert row.tolist() == expected(network, read, codes, known)
    assert (program.evaluate(q=q, engine=engine).values == found).all()


@cache
def held_arm() -> Program:
    """Return the torques that hold the paper's arm, compiled as the paper does."""
    choices = PaperChoices(Options(5), Recipe("isop"))
    return pipeline.compile_paper(gravity_problem(bc.load_robot("machado-2r")), choices).program


@pytest.mark.check
@pytest.mark.parametrize("engine", ENGINES)
def test_gravity_is_compiled_saved_and_evaluated_within_its_bound(
    tmp_path: Path, engine: Any
) -> None:
    held_arm().save(tmp_path / "p")
    program = load_program(tmp_path / "p")
    assert program == held_arm()
    assert program.name == "machado-2r-gravity"
    rng = np.random.default_rng(6)
    q = rng.uniform(-math.pi, math.pi, (3000, 2))
    still = np.zeros_like(q)
    error = program(q, engine=engine) - bc.inverse_dynamics("machado-2r", q, still, still)
    bound = np.array(program.bound)
    assert (np.abs(error) <= bound).all()
    assert (np.abs(error).max(axis=0) > bound / 4).all()
    assert (program(q1=q[:, 0], q2=q[:, 1], engine=engine) == program(q, engine=engine)).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_of_different_widths_give_what_the_network_gives(engine: Any) -> None:
    program = any_program()
    read = {word.name: word.code for word in program.inputs}
    codes = tuple(output.code for output in program.outputs)
    x, v, w = drawn(150)
    found = program(x, v, w, engine=engine)
    for k, row in enumerate(found):
        state = {"x": x[k, 0], "v1": v[k, 0], "v2": v[k, 1], "v3": v[k, 2], "w2": w[k, 1]}
        assert row.tolist() == expected(program.networks[0], read, codes, state)
    assert (program(x[:, 0], v, w, engine=engine) == found).all()  # a lone input, as a list


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["compact", "paper"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint32])
def test_engines_agree_on_groups_of_different_widths(mode: str, kind: Any) -> None:
    program = any_program(mode)
    states = [x.astype(kind) for x in drawn(1500)]
    if kind is np.uint32:
        states = [np.full((1500, size), 5, np.uint32) for size in (1, 3, 2)]
        states[1][:, 2] = np.arange(1500) % 512
    evaluate = program.evaluate_words if kind is np.uint32 else program.evaluate
    first, second = (evaluate(*states, engine=engine) for engine in ENGINES)
    assert first.values.dtype == (np.float32 if kind is np.float32 else np.float64)
    assert (first.values == second.values).all()
    assert (first.words == second.words).all()
    assert first.saturated_outputs == second.saturated_outputs


@pytest.mark.slow
@pytest.mark.parametrize("shard", ["samples", "terms", "pipeline"])
@pytest.mark.parametrize("engine", ENGINES)
def test_processes_share_programs_of_any_groups(shard: Any, engine: Any) -> None:
    program, states = any_program("paper"), drawn(1700)
    alone = program.evaluate(*states, engine="numpy")
    with ProcessPool(program, processes=2, shard=shard, engine=engine) as pool:
        assert [x.shape for x in pool.arrays(5)] == [(5, 1), (5, 3), (5, 2)]
        shared = pool.evaluate(states[0][:, 0], v=states[1], w=states[2])
    assert (shared.values == alone.values).all()
    assert (shared.words == alone.words).all()
    assert shared.saturated_inputs == alone.saturated_inputs
    assert shared.saturated_outputs == alone.saturated_outputs


@pytest.mark.slow
def test_inputs_are_given_by_their_names_too() -> None:
    program = any_program()
    x, v, w = drawn(6)
    full = program(x, v, w)
    columns: dict[str, Any] = {f"v{k + 1}": v[:, k] for k in range(3)}
    assert (program(x=x[:, 0], **columns, w=w) == full).all()
    assert (program(x, w1=w[:, 0], w2=w[:, 1], v=v) == full).all()
    one = program(x=x[0, 0], v1=v[0, 0], v2=v[0, 1], v3=v[0, 2], w1=9.0 * 0, w2=w[0, 1])
    assert one.tolist() == full[0].tolist()
    held = program(x=x[:, 0], v1=v[:, 0], v2=0.5, v3=0.25, w=0.0)
    assert held.tolist() == program(x, np.stack([v[:, 0], *np.full((2, 6), [[0.5], [0.25]])], 1),
                                    np.zeros(2)).tolist()  # fmt: skip
    arm = gravity()[0]
    assert arm(q1=0.5, q2=-1.0).tolist() == arm([0.5, -1.0]).tolist()
    assert arm.evaluate_words(q1=3, q2=np.arange(4)).values.shape == (4, 2)
    narrow: list[Any] = [np.float32(0.5), np.zeros(3, np.float32)]
    assert program(*narrow, w1=np.float32(0), w2=np.zeros(4, np.float32)).dtype == np.float32


MISTAKES: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((1, 2, 3, 4), {}, "this program takes x, v and w, not 4 arrays"),
    ((1, [0, 0, 0]), {}, "this program needs w, too"),
    ((1, [0, 0, 0]), {"w2": 1.0}, "this program needs w1, too"),
    ((1, [0, 0, 0]), {"w": [0, 0], "w1": 0.0}, "w is given twice"),
    ((1,), {"x": 1.0}, "x is given twice"),
    ((1, [0, 0, 0]), {"u": 1.0}, "this program has no input 'u'.*: inputs are x, v, w, v1"),
    ((1, [0, 0, 0]), {"w1": [0, 1], "w2": [0, 1, 2]}, "w1 and w2 must be numbers, or as many"),
    ((1, [0, 0, 0]), {"w1": "a", "w2": 0}, "w1 holds <U1, not real numbers"),
    (([[1, 2]], 0, 0), {}, r"x has shape \(1, 2\): this program takes a number or \(samples,\)"),
    ((0, [1, 2], 0), {}, r"v has shape \(2,\): this program takes \(3,\) or \(samples, 3\)"),
    (([1, 2], [[0, 0, 0]], 0), {}, "x, v and w must have as many samples each, not x 2, v 1"),
    ((0, 0, 0), {}, "numbers alone do not say enough: this program has 3 inputs"),
]


@pytest.mark.parametrize(("given", "named", "sentence"), MISTAKES)
def test_what_does_not_fit_the_groups_is_a_sentence(
    given: tuple[Any, ...], named: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        any_program()(*given, **named)


@pytest.mark.parametrize("engine", ENGINES)
def test_messages_name_inputs_and_outputs_as_the_problem_does(engine: Any) -> None:
    x, v, w = drawn(70)
    v[69, 2] = np.nan
    with pytest.raises(DataError, match="v3 of sample 69 is nan: not a finite number"):
        any_program()(x, v, w, engine=engine)
    w[5, 0] = np.inf  # nothing reads it
    with pytest.raises(DataError, match="w1 of sample 5 is inf: not a finite number"):
        any_program()(x, drawn(70)[1], w, engine=engine)
    with pytest.warns(SaturationWarning, match="thing: 1 input values beyond their words: their"):
        any_program()(9.0, [0, 0, 0], [0, 0], engine=engine)
    with pytest.raises(DataError, match="w2: word 8 does not fit in 3 bits"):
        any_program().evaluate_words(0, [0, 0, 0], [0, 8])


def test_files_are_read_and_written_by_the_names_of_any_problem(tmp_path: Path) -> None:
    problem, states = any_problem(), np.concatenate(drawn(9), axis=1)
    (tmp_path / "a.csv").write_text(
        "\n".join(["w2,t,x,v2,v1,v3,w1"]
                  + [f"{s[5]!r},{k},{s[0]!r},{s[2]!r},{s[1]!r},{s[3]!r},{s[4]!r}"
                     for k, s in enumerate(states.tolist())] + [""])
    )  # fmt: skip
    np.save(tmp_path / "a.npy", states)
    np.savez(tmp_path / "a.npz", x=states[:, :1], v=states[:, 1:4], w=states[:, 4:])
    for name in ("a.csv", "a.npy", "a.npz"):
        with read_states(tmp_path / name, problem.groups) as (chunks, _):
            (state,) = chunks
        assert [x.shape for x in state.arrays] == [(9, 1), (9, 3), (9, 2)]
        assert (np.concatenate(state.arrays, axis=1) == states).all()
        with write_results(tmp_path / f"out-{name}", problem.returned) as sink:
            sink.write(states[:, :2])
    assert (tmp_path / "out-a.csv").read_text().startswith("y,z\n")
    assert np.load(tmp_path / "out-a.npz")["out"].tolist() == states[:, :2].tolist()
    np.savez(tmp_path / "b.npz", x=states[:, :1], v=states[:, :3], w=states[1:, 4:])
    with (
        pytest.raises(DataError, match=r"w has shape \(8, 2\): \(9, 2\) is needed, as x has"),
        read_states(tmp_path / "b.npz", problem.groups),
    ):
        pass


def test_a_problem_may_have_an_input_that_is_called_t(tmp_path: Path) -> None:
    groups = (Group("t", ("t",)),)
    (tmp_path / "a.csv").write_text("time,t\n0.1,5\n0.2,6\n")
    with read_states(tmp_path / "a.csv", groups) as (chunks, _):
        (state,) = chunks
    assert state.arrays[0].tolist() == [[5.0], [6.0]]
    assert state.times is not None
    assert state.times.texts == ["0.1", "0.2"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_evaluates_by_names(run: Callable[..., Any], engine: Any) -> None:
    x, v, w = drawn(20)
    any_program().save("p")
    lines = [f"{v[k, 1]!r},{w[k, 0]!r},{x[k, 0]!r},{w[k, 1]!r},{v[k, 0]!r},{v[k, 2]!r}"
             .replace("np.float64(", "").replace(")", "") for k in range(20)]  # fmt: skip
    Path("s.csv").write_text("\n".join(["v2,w1,x,w2,v1,v3", *lines, ""]))
    result = run("evaluate", "p", "-i", "s.csv", "--engine", engine)
    assert result.code == 0, result.err
    rows = [list(map(float, line.split(","))) for line in result.out.splitlines()[1:]]
    assert result.out.startswith("y,z\n")
    assert np.allclose(rows, any_program()(x, v, w), rtol=1e-8)
    Path("s.csv").write_text("v2,w1,x,w2,v1\n1,2,3,4,5\n")
    result = run("evaluate", "p", "-i", "s.csv")
    assert (result.code, "missing columns: v3" in result.err) == (1, True)
    Path("s.csv").write_text("v2,w1,x,w2,v1,v3\n9,0,0,0,0,0\n")
    result = run("evaluate", "p", "-i", "s.csv", "-o", "t.npz", "--json")
    assert json.loads(result.out)["saturated_inputs"] == 1
    assert np.load("t.npz")["out"].shape == (1, 2)
    result = run("evaluate", "p", "-i", "s.csv")
    assert "saturated: 1 inputs, 0 outputs" in result.err


def test_the_worst_of_any_problem_is_sought() -> None:
    subject = subject_of(any_program(), any_problem(), engine="numpy")
    worst = find_worst(subject, 20_000)
    codes = [output.code for output in any_program().outputs]
    reach = [(code.range.high - code.step / 2) / code.step for code in codes]
    assert worst.states.shape == (2, 2, 6)
    assert (worst.most <= np.array(reach) + 1e-9).all()
    assert (worst.most > 0.7 * np.array(reach)).all()
