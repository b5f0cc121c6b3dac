"""The bdd engine: the bits of other engines, in both modes as far as it goes, and sentences."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_programs import same, stages, table_wiring
from targets.exported import tiny

from boolcomp.base import UsageError
from boolcomp.codes import Code
from boolcomp.engines import Result, evaluate, make_engine
from boolcomp.logic import Builder
from boolcomp.problem import CodeKind, Interval
from boolcomp.program import Program
from boolcomp.scale import ProcessPool


def states(count: int, reach: float, dtype: Any = np.float64) -> list[NDArray[Any]]:
    rng = np.random.default_rng(7)
    return [rng.uniform(-reach * s, reach * s, (count, 2)).astype(dtype) for s in (np.pi, 1, 1)]


def agree(program: Program, arrays: list[NDArray[Any]], *, coded: bool = False) -> None:
    ask = program.evaluate_words if coded else program.evaluate
    found, other = (ask(*arrays, engine=name) for name in ("bdd", "numpy"))
    assert same(found, other)


@pytest.mark.slow
@pytest.mark.parametrize("code", ["gray", "natural", "twos", "sign-magnitude"])
def test_it_gives_the_bits_of_the_numpy_engine(code: CodeKind) -> None:
    program = stages(4, code)[2]
    for dtype in (np.float64, np.float32):
        for count in (0, 1, 2000):
            agree(program, states(count, 1.2, dtype))
    rng = np.random.default_rng(8)
    columns = {word.name: rng.integers(0, word.code.cells, 999) for word in program.inputs}
    words = [
        np.stack([columns.get(name, np.zeros(999, int)) for name in group.members], axis=1)
        for group in program.groups
    ]
    agree(program, words, coded=True)


def signed() -> Program:
    """Return a compact program whose words have signs, cells at zero, and an output that rests."""
    made = tiny()
    (load,) = made.loads
    unit = Interval(-1.0, 1.0)
    codes = [Code(unit, 2, "sign-magnitude", tread=True), made.inputs[1].code,
             Code(unit, 2, "twos", tread=True)]  # fmt: skip
    inputs = [replace(word, code=code) for word, code in zip(made.inputs, codes, strict=True)]
    rests = Code(unit, 2, "sign-magnitude", tread=True)
    output = replace(load.outputs[0], code=rests, rest=("a", "c"))
    return replace(made, inputs=tuple(inputs), loads=(replace(load, outputs=(output,)),))


def test_words_with_signs_are_walked_in_compact_mode() -> None:
    agree(signed(), [np.random.default_rng(1).uniform(-1.5, 1.5, (500, 3))])
    words = np.stack(np.meshgrid(range(4), range(2), range(4)), axis=-1).reshape(-1, 3)
    agree(signed(), [words], coded=True)


def test_more_outputs_than_a_word_has_bits_are_several_diagrams() -> None:
    builder = Builder(5)
    bits = [builder.input(k % 5) ^ (k % 3 == 0) for k in range(70)]
    code = Code(Interval(-1.0, 1.0), 8, "natural")
    wide = replace(
        table_wiring(builder.build(bits[:8])),
        networks=(builder.build(bits),),
        results=tuple(Result(f"y{k}", code, 5 + k, 5 + k) for k in (0, 58, 62)),
        planes=75,
    )
    words = np.arange(32, dtype=np.uint32)[:, None]
    engines = [make_engine(wide, name) for name in ("bdd", "numpy")]
    found, other = (evaluate(engine, [words], coded=True) for engine in engines)
    assert (found.words == other.words).all()
    assert found.saturated_outputs == other.saturated_outputs


def test_what_it_cannot_do_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder(23)
    wiring = table_wiring(builder.build([builder.all_of(builder.input(k) for k in range(23))] * 2))
    with pytest.raises(UsageError, match=r"at most 22 input bits.* one of 23; .*--mode paper"):
        make_engine(wiring, "bdd")
    with pytest.raises(UsageError, match="engine 'bdd' runs in one process"):
        ProcessPool(stages(4)[2], engine="bdd")
    monkeypatch.setattr("boolcomp.engines.choice.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="needs the package numba"):
        make_engine(stages(4)[2].wiring(), "bdd")
