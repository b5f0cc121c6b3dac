"""The whole way from a robot to a program, from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from samples import random_robot

import boolcomp as bc
from boolcomp.common.cache import user_cache
from boolcomp.common.errors import UsageError
from boolcomp.common.places import Folder
from boolcomp.paper.coverlogic import network_of_cover
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import Options
from boolcomp.paper.quantised import quantised
from boolcomp.paper.store import Recipe, Store, function_of
from boolcomp.paper.stored import stored_network
from boolcomp.pipeline import compile_paper, run_passes
from boolcomp.twolevel.minimise import minimise

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.twolevel.cubes import Cubes


@pytest.fixture(scope="module", name="cubes")
def one_cover() -> Cubes:
    entry = run_passes("machado-2r", Options(bits=7))[0]
    return minimise(function_of(entry.table), "isop").cubes


@pytest.mark.check
def test_a_network_is_made_once_and_then_read(
    cubes: Cubes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = stored_network(cubes)
    assert made == network_of_cover(cubes)
    (path,) = user_cache("networks").iterdir()
    monkeypatch.setattr("boolcomp.paper.stored.network_of_cover", pytest.fail)
    assert stored_network(cubes) == made
    path.write_text(path.read_text().replace("0", "1", 1))
    monkeypatch.setattr("boolcomp.paper.stored.network_of_cover", network_of_cover)
    assert stored_network(cubes) == made  # a damaged file is made anew


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_is_no_error(
    cubes: Cubes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "boolcomp").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert stored_network(cubes) == network_of_cover(cubes)


@pytest.mark.check
def test_python_users_compile_by_name_path_or_value(tmp_path: Path) -> None:
    robot = bc.load_robot("machado-2r")
    (tmp_path / "mine.toml").write_text(str(robot))
    programs = [
        bc.compile(r, bits=4, mode="paper") for r in (robot, "machado-2r", tmp_path / "mine.toml")
    ]
    assert programs[0] == programs[1] == programs[2]
    assert bc.compile(robot, bits=4, mode="paper", minimizer="isop", rounding="faithful").bound > (
        0,
        0,
    )
    with pytest.raises(UsageError, match=r"mode paper has no 'rouding' .did you mean 'rounding'"):
        bc.compile(robot, bits=4, mode="paper", rouding="faithful")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"mode 'papr' \(did you mean 'paper'\?\)"):
        bc.compile(robot, mode="papr")
    with pytest.raises(AttributeError, match="has no attribute 'compil'"):
        bc.compil  # noqa: B018  # that is the mistake


@pytest.mark.check
@pytest.mark.parametrize("seed", [0, 3, 6])
def test_random_arms_compile_to_what_their_plan_computes(seed: int, tmp_path: Path) -> None:
    robot = random_robot(seed, joints=2)
    choices = PaperChoices(Options(bits=4), Recipe("isop"), Store((Folder(tmp_path),)))
    compiled = compile_paper(robot, choices, (0.0, 0.5))
    rng = np.random.default_rng(seed)
    state = []
    for kind in ("position", "velocity", "acceleration"):
        ranges = [getattr(link, kind) for link in robot.links]
        state.append(rng.uniform([r.low for r in ranges], [r.high for r in ranges], (700, 2)))
    for plan, payload in zip(compiled.plans, (0.0, 0.5), strict=True):
        found = compiled.program.evaluate(*state, payload=payload, engine="numpy")
        assert np.array_equal(found.words, quantised(plan, state).words)


def test_payloads_must_differ() -> None:
    for payloads in ((), (1.0, 1.0)):
        with pytest.raises(UsageError, match="payloads must be one or several different masses"):
            compile_paper("machado-2r", payloads=payloads)
