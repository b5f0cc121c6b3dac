"""What coarse inputs make of errors, known before any search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compact.word_robots import searched
from samples import terms_of

from boolcomp.common.errors import UsageError
from boolcomp.compact.demand import Demand
from boolcomp.compact.widths import search
from boolcomp.compact.widths.floor import Floor
from boolcomp.compact.widths.search import Search, SearchTask
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot import load_robot

ALL = np.full(2, np.inf)


def floor_of(demand: Demand) -> Any:
    torques = terms_of("machado-2r")
    return Search(SearchTask(torques, demand, np.ones(2), ALL), 0).floor()


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
        searched(terms_of("machado-2r"), demand)
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


def made(bits: dict[str, int], **parts: tuple[float, ...]) -> Floor:
    return Floor({name: np.array(part) for name, part in parts.items()}, bits)


def test_rounding_is_a_twelfth_beside_what_inputs_make() -> None:
    floor = made({"q1": 6, "qd1": 6}, q1=(0.3, 0.0), qd1=(0.1, 0.2))
    assert floor.total == pytest.approx([0.4 + 1 / 12, 0.2 + 1 / 12])
    assert floor.forbids(np.array([1 / 12 + 0.33, 9.0]))
    assert not floor.forbids(np.array([1 / 12 + 0.35, 9.0]))


def test_a_bit_more_quarters_what_a_word_makes() -> None:
    # 0.75 of the 0.1 beside rounding is left: 0.26 must be quartered once, 1.1 twice.
    allowed = np.array([1 / 12 + 0.1])
    assert "(--input-bits q1=7)" in made({"q1": 6, "q2": 6}, q1=(0.26,), q2=(0.0,)).advice(allowed)
    assert "(--input-bits q1=8)" in made({"q1": 6, "q2": 6}, q1=(1.1,), q2=(0.0,)).advice(allowed)


def test_one_width_is_advised_for_many_words_and_none_that_is_not_there() -> None:
    allowed, names = np.array([1 / 12 + 0.1]), ("q1", "q2", "q3", "qd1", "qd2")
    bits = dict.fromkeys(names, 6)
    # 3 in four steps and 0.2 in two leave 0.062 of 0.075.
    many = made(bits, q1=(3.0,), **dict.fromkeys(names[1:], (0.2,)))
    assert "widen them (--input-bits 10), or" in many.advice(allowed)
    text = made({"q1": 15}, q1=(100.0,)).advice(allowed)
    assert text == "most of it q1 (15 bits), but wider words would not do: allow more"
    assert "would not do" in made({"q1": 15}, q1=(1.0,)).advice(allowed)  # 17 bits would
    assert "q1=16" in made({"q1": 15}, q1=(0.2,)).advice(allowed)


def test_no_more_words_are_blamed_than_make_four_fifths() -> None:
    bits = dict.fromkeys(("q1", "q2", "q3"), 6)
    text = made(bits, q1=(0.7,), q2=(0.2,), q3=(0.1,)).advice(np.array([0.2]))
    assert text.startswith("most of it q1 (6 bits), q2 (6 bits): ")
