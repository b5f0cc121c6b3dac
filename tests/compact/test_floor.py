"""What coarse inputs make of errors, known before any search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boolcomp.common.errors import UsageError
from boolcomp.compact.widths import search
from boolcomp.compact.widths.compile import compile_words
from boolcomp.compact.widths.demand import Demand
from boolcomp.compact.widths.search import Search, Task
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot import load_robot
from boolcomp.terms import split_torques

ALL = np.full(2, np.inf)


def floor_of(demand: Demand) -> Any:
    torques = split_torques(load_robot("machado-2r"))
    return Search(Task(torques, demand, np.ones(2), ALL), 0).floor()


def test_each_word_makes_what_newton_euler_makes_of_the_middles_of_its_cells() -> None:
    robot = load_robot("machado-2r")
    floor = floor_of(Demand(input_bits={"q": 7, "qd": 5, "qdd": 6}))
    steps = np.array([(k.torque.high - k.torque.low) / 256 for k in robot.links])
    rng = np.random.default_rng(9)
    ranges = {
        f"{kind}{j}": getattr(link, field)
        for kind, field in (("q", "position"), ("qd", "velocity"), ("qdd", "acceleration"))
        for j, link in enumerate(robot.links, 1)
    }
    states = {name: rng.uniform(r.low, r.high, 20_000) for name, r in ranges.items()}

    def torques(columns: dict[str, Any]) -> Any:
        arrays = [
            np.stack([columns[k + "1"], columns[k + "2"]], axis=1) for k in ("q", "qd", "qdd")
        ]
        return inverse_dynamics(robot, *arrays) / steps

    exact = torques(states)
    for name, span in ranges.items():
        step = (span.high - span.low) / (1 << {"q": 7, "qd": 5, "qdd": 6}[name[:-1]])
        middle = (np.floor((states[name] - span.low) / step) + 0.5) * step + span.low
        missed = ((torques({**states, name: middle}) - exact) ** 2).mean(axis=0)
        assert floor.parts[name] == pytest.approx(missed, rel=0.1, abs=1e-9)


def test_a_demand_below_it_is_refused_before_any_width_is_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "screen", None)
    demand = Demand(rms=(0.4,), input_bits={"q": 12, "q2": 6, "qd": 12, "qdd": 12})
    with pytest.raises(UsageError, match="no widths reach") as caught:
        compile_words(split_torques(load_robot("machado-2r")), demand)
    assert "most of it q2 (6 bits): widen it (--input-bits q2=" in str(caught.value)


def test_the_widths_it_advises_are_enough() -> None:
    floor = floor_of(Demand(input_bits={"q": 6, "qd": 6, "qdd": 6}))
    allowed = np.full(2, 0.45**2)
    assert floor.forbids(allowed)
    said = floor.advice(allowed).partition("--input-bits ")[2].partition(")")[0]
    wider = dict.fromkeys(floor.bits, 6)
    if "=" in said:
        wider |= {name: int(bits) for name, _, bits in (p.partition("=") for p in said.split(","))}
    else:
        wider = dict.fromkeys(wider, int(said))
    assert not floor_of(Demand(input_bits=wider)).forbids(allowed)
    assert (floor_of(Demand(input_bits=wider)).total < allowed).all()


def test_where_inputs_are_fine_it_does_not_blame_them() -> None:
    floor = floor_of(Demand(input_bits={"q": 14, "qd": 14, "qdd": 14}))
    assert floor.advice(np.full(2, 0.3**2)) == "allow more"
