"""Programs of any problem: any groups of inputs, any outputs, by position and by name."""

import json
import math
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.logic import Builder, Network, copied
from boolcomp.problem import (
    Group,
    Input,
    Interval,
    Output,
    Problem,
    numbered,
)
from boolcomp.program import (
    CodedOutput,
    Load,
    Program,
    Slice,
    TermUse,
    program_of_network,
    program_of_problem,
)

Floats = NDArray[np.float64]

ENGINES: tuple[Any, ...] = ("numpy", "llvm")
SPAN = Interval(-1.0, 2.0)
BITS = {"x": 6, "v1": 7, "v2": 5, "v3": 9, "w2": 3}  # nothing reads w1


def natural(reach: float, bits: int) -> Code:
    return Code(Interval(-reach, reach), bits, "natural")


def random_network(inputs: int, outputs: int, seed: int) -> Network:
    rng = np.random.default_rng(seed)
    builder = Builder(inputs)
    literals = [builder.input(k) for k in range(inputs)]
    for lut in rng.integers(1, 255, 60).tolist():
        operands = (literals[k] for k in rng.integers(0, len(literals), 3))
        literals.append(builder.node(lut, *operands))
    return builder.build(literals[-outputs:])


def quiet(network: Network, words: tuple[int, ...]) -> Network:
    """Return a network that says behind every output's bits that it did not saturate."""
    builder = Builder(network.inputs)
    made = iter(copied(network, builder, [builder.input(k) for k in range(network.inputs)]))
    return builder.build(x for bits in words for x in (*islice(made, bits), 0))


def expected(network: Network, codes: tuple[Code, ...], state: dict[str, float]) -> list[float]:
    """Return the outputs of one network at one state, bit by bit."""
    values = [0, 1]
    for name, bits in BITS.items():
        cell = min(max(math.floor((state[name] + 1.0) / 3.0 * 2**bits), 0), 2**bits - 1)
        values += [cell >> k & 1 for k in reversed(range(bits))]
    for lut, operands in network.nodes:
        a, b, c = (*(values[k] for k in operands), 0, 0)[:3]
        values.append(lut >> (4 * a + 2 * b + c) & 1)
    found, outputs = [], iter([values[k] for k in network.outputs])
    for code in codes:
        word = int("".join(str(next(outputs)) for _ in range(code.bits)), 2)
        next(outputs)  # whether it saturated
        low, high = code.range.low, code.range.high
        found.append(low + (word + 0.5) * (high - low) / 2**code.bits)
    return found


def zeros(*arrays: Floats) -> Floats:
    return np.zeros((len(arrays[0]), 2))


@cache
def any_problem() -> Problem:
    groups = (Group("x", ("x",)), numbered("v", 3), numbered("w", 2))
    names = [name for group in groups for name in group.members]
    reach = Interval(-8.0, 8.0)
    return Problem(
        "thing", "thing", tuple(Input(name, SPAN, "m", SPAN, SPAN) for name in names),
        (Output("y", "Y", reach, "kg"), Output("z", "Z", reach, "kg")),
        groups, Group("out", ("y", "z")), zeros, cast("Any", zeros),
    )  # fmt: skip


@cache
def any_program(mode: str = "compact") -> Program:
    """Return random logic with groups of one, three and two inputs, as one network or as terms."""
    read = {name: Code(SPAN, bits, "natural") for name, bits in BITS.items()}
    if mode == "compact":
        network = quiet(random_network(sum(BITS.values()), 7 + 9, 5), (7, 9))
        return program_of_network(
            any_problem(), 7, read, (natural(8.0, 7), natural(8.0, 9)), network
        )
    networks = [random_network(8, 4, seed) for seed in range(5)]
    code, inner = Code(Interval(-8.0, 8.0), 5), Code(Interval(-2.0, 2.0), 4)
    uses = [
        TermUse(f"t{k}", "", k, inner, (Slice(k, 3, 0), Slice((k + 1) % 4, 5, 0))) for k in range(4)
    ] + [TermUse("t4", "", 4, inner, (Slice(4, 3, 0), Slice(1, 6, 1)))]  # fmt: skip
    outputs = tuple(
        CodedOutput(one.name, one.symbol, one.unit, code, 1, tuple(terms))
        for one, terms in zip(any_problem().outputs, (uses[:3], uses[1:]), strict=True)
    )
    return program_of_problem(any_problem(), 5, "paper", read, networks, (Load(0.0, outputs),))


def drawn(count: int, seed: int = 0) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 2, (count, size)) for size in (1, 3, 2)]


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_of_different_widths_give_what_the_network_gives(engine: Any) -> None:
    program = any_program()
    codes = tuple(output.code for output in program.outputs)
    x, v, w = drawn(150)
    found = program(x, v, w, engine=engine)
    for k, row in enumerate(found):
        state = {"x": x[k, 0], "v1": v[k, 0], "v2": v[k, 1], "v3": v[k, 2], "w2": w[k, 1]}
        assert row.tolist() == expected(program.networks[0], codes, state)
    assert (program(x[:, 0], v, w, engine=engine) == found).all()  # a lone input, as a list


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


def test_inputs_are_given_by_their_names_too() -> None:
    program = any_program()
    x, v, w = drawn(6)
    full = program(x, v, w)
    columns: dict[str, Any] = {f"v{k + 1}": v[:, k] for k in range(3)}
    assert (program(x=x[:, 0], **columns, w=w) == full).all()
    assert (program(x, w1=w[:, 0], w2=w[:, 1], v=v) == full).all()
    one = program(x=x[0, 0], v1=v[0, 0], v2=v[0, 1], v3=v[0, 2], w1=0.0, w2=w[0, 1])
    assert one.tolist() == full[0].tolist()
    held = program(x=x[:, 0], v1=v[:, 0], v2=0.5, v3=0.25, w=0.0)
    rows = np.stack([v[:, 0], *np.full((2, 6), [[0.5], [0.25]])], 1)
    assert held.tolist() == program(x, rows, np.zeros(2)).tolist()
    words = program.evaluate_words(x=3, v=[0, 0, 0], w1=0, w2=np.arange(4))
    assert words.values.shape == (4, 2)
    narrow: list[Any] = [np.float32(0.5), np.zeros(3, np.float32)]
    assert program(*narrow, w1=np.float32(0), w2=np.zeros(4, np.float32)).dtype == np.float32


MISTAKES: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((1, 2, 3, 4), {}, "this program takes x, v and w, not 4 arrays"),
    ((1, [0, 0, 0]), {}, "this program needs w, too"),
    ((1, [0, 0, 0]), {"w2": 1.0}, "this program needs w1, too"),
    ((1, [0, 0, 0]), {"w": [0, 0], "w1": 0.0}, "w is given twice"),
    ((1,), {"x": 1.0}, "x is given twice"),
    ((1, [0, 0, 0]), {"u": 1.0}, "unknown input 'u'; inputs are x, v, w, v1"),
    ((1, [0, 0, 0]), {"w1": [0, 1], "w2": [0, 1, 2]}, "w1 and w2 must be numbers, or as many"),
    ((1, [0, 0, 0]), {"w1": "a", "w2": 0}, "w1 holds <U1, not real numbers"),
    (([[1, 2]], 0, 0), {}, r"x has shape \(1, 2\); this program takes a number or \(samples,\)"),
    ((0, [1, 2], 0), {}, r"v has shape \(2,\); this program takes \(3,\) or \(samples, 3\)"),
    (([1, 2], [[0, 0, 0]], 0), {}, "x, v and w must have as many samples each, not x 2, v 1"),
    ((0, 0, 0), {}, "numbers alone are not enough; this program has 3 inputs"),
]


@pytest.mark.parametrize(("given", "named", "sentence"), MISTAKES)
def test_what_does_not_fit_the_groups_is_a_sentence(
    given: tuple[Any, ...], named: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(bc.UsageError, match=sentence):
        any_program()(*given, **named)


@pytest.mark.parametrize("engine", ENGINES)
def test_messages_name_inputs_and_outputs_as_the_problem_does(engine: Any) -> None:
    x, v, w = drawn(70)
    v[69, 2] = np.nan
    with pytest.raises(bc.DataError, match="v3 of sample 69 is nan, not a finite number"):
        any_program()(x, v, w, engine=engine)
    w[5, 0] = np.inf  # nothing reads it
    with pytest.raises(bc.DataError, match="w1 of sample 5 is inf, not a finite number"):
        any_program()(x, drawn(70)[1], w, engine=engine)
    with pytest.warns(bc.SaturationWarning, match="thing: 1 input values beyond their words: the"):
        any_program()(9.0, [0, 0, 0], [0, 0], engine=engine)
    with pytest.raises(bc.DataError, match="w2: word 8 does not fit in 3 bits"):
        any_program().evaluate_words(0, [0, 0, 0], [0, 8])


def test_the_command_evaluates_by_names(run: Callable[..., Any]) -> None:
    x, v, w = drawn(20)
    any_program().save("p")
    columns = np.stack([v[:, 1], w[:, 0], x[:, 0], w[:, 1], v[:, 0], v[:, 2]], axis=1)
    np.savetxt("s.csv", columns, "%.17g", ",", header="v2,w1,x,w2,v1,v3", comments="")
    result = run("evaluate", "p", "-i", "s.csv")
    assert result.code == 0, result.err
    assert result.out.startswith("y,z\n")
    rows = [list(map(float, line.split(","))) for line in result.out.splitlines()[1:]]
    assert np.allclose(rows, any_program()(x, v, w), rtol=1e-8)
    Path("s.csv").write_text("v2,w1,x,w2,v1\n1,2,3,4,5\n")
    result = run("evaluate", "p", "-i", "s.csv")
    assert (result.code, "missing columns v3 (s.csv:1)" in result.err) == (1, True)
    Path("s.csv").write_text("v2,w1,x,w2,v1,v3\n9,0,0,0,0,0\n")
    result = run("evaluate", "p", "-i", "s.csv", "-o", "t.npz", "--json")
    assert json.loads(result.out)["saturated_inputs"] == 1
    assert np.load("t.npz")["out"].shape == (1, 2)
