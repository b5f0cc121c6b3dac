"""Libraries of loads: which stands for a mass, by how much it errs, and what is read of it."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.problem import problem_of
from boolcomp.program import Program
from boolcomp.targets import export_texts

Floats = NDArray[np.float64]


@cache
def loads() -> Program:
    """Return a program of loads of 1, 0 and 2 kg with bounds of (1/4, 1/2), (1, 1/8) and (2, 4).

    A kilogram changes its outputs by 8 and 0.
    """
    made, bounds = library(), {1.0: (0.25, 0.5), 0.0: (1.0, 0.125), 2.0: (2.0, 4.0)}
    several = tuple(
        replace(
            load,
            payload=mass,
            outputs=tuple(replace(x, bound=b) for x, b in zip(load.outputs, bound, strict=True)),
        )
        for load, (mass, bound) in zip(made.loads, bounds.items(), strict=False)
    )
    return replace(made, loads=several, per_kilogram=(8.0, 0.0))


@pytest.mark.parametrize(
    ("mass", "nearest", "bounds"),
    [
        (0.25, 0.0, (1.0 + 2.0, 0.125)),
        (0.5, 1.0, (0.25 + 4.0, 0.5)),  # the heavier of two that are as near
        (1.0, 1.0, (0.25, 0.5)),
    ],
)
def test_the_nearest_load_errs_by_the_difference_of_masses_more(
    mass: float, nearest: float, bounds: tuple[float, ...]
) -> None:
    found = loads().chosen(mass)
    assert [load.payload for load in found.loads] == [nearest]
    assert found.bounds == bounds
    assert found.exact == (mass == nearest)
    assert [one.bound for one in found.outputs] == list(bounds)


@pytest.mark.slow
def test_what_a_kilogram_changes_is_said_of_every_output_or_of_none() -> None:
    assert replace(library(), per_kilogram=()).payloads == library().payloads
    for changes in ((1.0,), (1.0, -1.0), (1.0, 1.0, 1.0)):
        with pytest.raises(ValueError, match="per_kilogram"):
            replace(library(), per_kilogram=changes)
    many = tuple(replace(library().loads[0], payload=k / 2) for k in range(20))
    with pytest.raises(bc.UsageError, match=r"has 0, 0.5 … 9.5 \(20 of them\)"):
        replace(library(), loads=many, per_kilogram=()).chosen(0.25)


@pytest.mark.parametrize("mass", [-1.0, 2.5, float("nan"), float("inf")])
def test_beyond_all_loads_there_is_no_answer(mass: float) -> None:
    with pytest.raises(bc.UsageError, match=r"has 1, 0, 2 kg, and answers from 0 to 2$"):
        loads().chosen(mass)
    with pytest.raises(bc.UsageError, match=r"no payload 1\.5; this program has 1, 0, 2 kg$"):
        replace(loads(), per_kilogram=()).chosen(1.5, interpolate=True)


@pytest.mark.parametrize("of", ["inverse-dynamics", "gravity", "bias"])
def test_functions_of_forces_are_affine_in_the_mass_and_change_by_no_more(of: str) -> None:
    how: dict[str, Any] = {"bits": 4, "mode": "paper", "minimizer": "isop", "processes": 1}
    most = bc.compile("machado-2r", of=of, payloads=(0, 1), **how).per_kilogram
    empty, half, whole = (problem_of("machado-2r", of, mass) for mass in (0.0, 1.2, 3.0))
    low, high = empty.bounds()
    states = np.random.default_rng(7).uniform(low, high, (4000, len(low)))
    states[::2] = np.where(np.random.default_rng(8).random(states[::2].shape) < 0.5, low, high)
    a, b, c = (problem.exact(states) for problem in (empty, half, whole))
    assert np.allclose(b, a + 0.4 * (c - a), rtol=0, atol=1e-9 * np.abs(c).max())
    found = np.abs(c - a).max(axis=0) / 3.0
    assert (found <= most).all()
    assert (found > 0.4 * np.asarray(most)).all()  # and it is no idle bound


@cache
def library() -> Program:
    """Return a library of four loads in paper mode."""
    loads = (0.0, 0.5, 1.0, 1.5)
    return bc.compile(
        "machado-2r", bits=4, mode="paper", minimizer="isop", payloads=loads, processes=1
    )


def states(mass: float) -> tuple[tuple[Floats, ...], Floats]:
    problem = problem_of("machado-2r", mass=mass)
    low, high = problem.bounds()
    drawn = np.random.default_rng(5).uniform(low, high, (3000, len(low)))
    return (drawn[:, :2], drawn[:, 2:4], drawn[:, 4:]), problem.exact(drawn)


@pytest.mark.slow
def test_what_lies_between_is_the_mean_of_both_and_no_other_engine_is_made() -> None:
    made = library()
    fresh = replace(made)
    arrays, _ = states(0.6)
    found = fresh.evaluate(*arrays, payload=0.6, interpolate=True, engine="numpy").values
    assert {mass for mass, _, _ in fresh._engines} == {0.5, 1.0}  # noqa: SLF001 (who was made)
    one, two = (made.evaluate(*arrays, payload=m, engine="numpy").values for m in (0.5, 1.0))
    assert np.allclose(found, 0.8 * one + 0.2 * two, rtol=1e-12)
    nearest = fresh.evaluate(*arrays, payload=0.6, engine="numpy").values
    assert np.array_equal(nearest, one)
    narrow = [x.astype(np.float32) * 1.5 for x in arrays]
    mean, *both = (
        made.evaluate(*narrow, payload=m, interpolate=True, engine="numpy") for m in (0.6, 0.5, 1.0)
    )
    assert mean.values.dtype == np.float32
    assert mean.saturated_inputs == both[0].saturated_inputs > 0
    assert mean.saturated_outputs == sum(one.saturated_outputs for one in both)


@pytest.mark.slow
def test_of_a_saved_library_only_the_loads_next_to_a_mass_are_read(
    tmp_path: Path,
) -> None:
    made = library()
    made.save(tmp_path / "library")
    whole = bc.load_program(tmp_path / "library")
    assert whole.per_kilogram == made.per_kilogram
    assert bc.load_program(tmp_path / "library", 7.0).payloads == made.payloads
    for mass, kept in ((0.6, (0.5, 1.0)), (1.0, (1.0,)), (0.0, (0.0,)), (1.5, (1.5,))):
        part = bc.load_program(tmp_path / "library", mass)
        assert part.payloads == kept
        assert len(part.networks) < len(whole.networks)
        arrays, _ = states(mass)
        for interpolate in (False, True):
            one, other = (
                program.evaluate(*arrays, payload=mass, interpolate=interpolate, engine="numpy")
                for program in (part, whole)
            )
            assert np.array_equal(one.values, other.values)
    needed = set(bc.load_program(tmp_path / "library", 1.5).networks)
    place = next(k for k, network in enumerate(whole.networks) if network not in needed)
    (tmp_path / "library" / f"networks/{place}.txt").write_text("damaged")
    assert bc.load_program(tmp_path / "library", 1.5).payloads == (1.5,)
    with pytest.raises(bc.DataError, match="damaged"):
        bc.load_program(tmp_path / "library")


@pytest.mark.slow
def test_commands_take_masses_between_loads(run: Run, tmp_path: Path) -> None:
    made = library()
    made.save(tmp_path / "library")
    arrays, exact = states(0.6)
    np.save("s.npy", np.concatenate(arrays, axis=1))
    given = ("evaluate", "library", "-i", "s.npy", "--engine", "numpy", "--payload", "0.6")
    nearest = run(*given, "-o", "n.npy")
    assert "0.6 kg by the nearest load, of 0.5 kg" in nearest.err
    told = json.loads(run(*given, "-o", "i.npy", "--interpolate", "--json").out)
    assert told["payload"] == 0.6
    assert [one["payload"] for one in told["loads"]] == [0.5, 1.0]
    assert np.allclose([one["weight"] for one in told["loads"]], [0.8, 0.2])
    errors = np.abs(np.load("i.npy") - exact).max(axis=0)
    assert all(e <= one["bound"] for e, one in zip(errors, told["outputs"], strict=True))
    assert [one["rms"] for one in told["outputs"]] == [None, None]
    assert "no payload 4.0" in run(*given[:-1], "4").err
    assert "--payload" in run(*given[:-2], "--interpolate").err
    assert (
        "--interpolate needs a program"
        in run("evaluate", "machado-2r", *given[2:], "--interpolate").err
    )
    refused = run(*given, "-o", "x.npy", "--interpolate", "--processes", "2")
    assert "runs in one process" in refused.err
    shared = run(*given, "-o", "p.npy", "--processes", "2")
    assert shared.code == 0
    assert np.array_equal(np.load("p.npy"), np.load("n.npy"))


@pytest.mark.slow
def test_a_part_of_a_library_is_exported_and_too_many_loads_are_a_sentence(
    run: Run, tmp_path: Path
) -> None:
    made = library()
    made.save(tmp_path / "library")
    export = ("export", "library", "--to", "blif", "-o", "x.blif", "--load")
    for masses, kept in (("0.5:1:0.5", "0: 0.5 kg, 1: 1 kg"), ("1.5,0.5", "0: 0.5 kg, 1: 1.5 kg")):
        assert run(*export, masses).code == 0
        assert f"load, natural binary 1 bits: {kept}, the last" in Path("x.blif").read_text()
    assert run(*export, "1.5").code == 0
    bc.export(bc.load_program("library", 1.5), "blif", "alone.blif")
    assert Path("x.blif").read_bytes() == Path("alone.blif").read_bytes()
    assert "no payload 2.0" in run(*export, "0.5,2").err
    many: Any = replace(
        made,
        loads=tuple(replace(made.loads[0], payload=float(k)) for k in range(33)),
    )
    with pytest.raises(
        bc.UsageError, match=r"33 loads in one design are about \d+ nodes.*--payload, su"
    ):
        export_texts(many, "blif")
