"""What Python users call: names, keywords, and the sentences that mistakes get."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from exports import kept
from samples import problem_of
from small_programs import family, stages

import boolcomp as bc
from boolcomp import options, pipeline
from boolcomp.compact import CompactChoices, Demand, usual_demand
from boolcomp.paper import PlanOptions
from boolcomp.problem import gravity_torques, inertia_matrix
from boolcomp.twolevel import Recipe


class _Asked(Exception):  # noqa: N818  # no error: the demand got through
    """Carries what the compiler is asked for."""


def asked(monkeypatch: pytest.MonkeyPatch, *, completed: bool = True, **choices: Any) -> Demand:
    """Return the demand that `compile` makes of its keywords."""

    def compiler(_: object, choices: CompactChoices, *__: object) -> None:
        demand = choices.demand
        raise _Asked(demand.completed(problem_of("machado-2r")) if completed else demand)

    monkeypatch.setattr(pipeline, "compile_compact", compiler)
    with pytest.raises(_Asked) as caught:
        bc.compile("machado-2r", **choices)
    found = caught.value.args[0]
    assert isinstance(found, Demand)
    return found


def test_keywords_take_numbers_and_texts_and_their_older_spelling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = asked(
        monkeypatch, bits=8, rms_error=0.5, max_error=3, input_bits={"q": 12}, effort=1, seed=2
    )
    texts: dict[str, Any] = {"bits": "8", "input_bits": "q=12", "effort": "1", "seed": "2"}
    assert values == asked(monkeypatch, rms_error=".5", max_error="3", **texts)
    assert values == asked(monkeypatch, rms=0.5, max=3, **texts)
    assert (values.rms, values.max, values.bits) == ((0.5,), (3.0,), 8)
    assert values.input_bits == {"q": 12, "qd": 10, "qdd": 10}
    with pytest.raises(bc.UsageError, match="rms is the older spelling of rms_error"):
        bc.compile("machado-2r", rms=0.5, rms_error=0.5)


@pytest.mark.parametrize(
    ("name", "spellings", "field", "value"),
    [
        ("bits", [8, 8.0, "8", " 8 ", np.int64(8), np.float32(8)], "bits", 8),
        ("rms_error", [".4,.6", [0.4, 0.6], (0.4, ".6"), np.array([0.4, 0.6])], "rms", (0.4, 0.6)),
        ("rms_error", [0.4, ".4", np.float64(0.4), np.array(0.4), [0.4]], "rms", (0.4,)),
        ("rms_error", [iter([0.4, 0.6])], "rms", (0.4, 0.6)),
        ("input_bits", [12, "12"], "input_bits", {"words": 12}),
        ("input_bits", ["q=12, qdd1=9", {"q": 12, "qdd1": "9"}], "input_bits",
         {"q": 12, "qdd1": 9}),
        ("input_bits", [None], "input_bits", {}),
    ],
)  # fmt: skip
def test_numbers_have_many_spellings(
    monkeypatch: pytest.MonkeyPatch, name: str, spellings: list[Any], field: str, value: Any
) -> None:
    for given in spellings:
        demand = asked(monkeypatch, completed=False, **{name: given})
        found = getattr(demand, field)
        assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0:5:0.05", [k / 20 for k in range(101)]),
        ("0:1:0.3", [0.0, 0.3, 0.6, 0.9]),
        ("2,0:1:0.5", [2.0, 0.0, 0.5, 1.0]),
        (" 1 : 1 : 1 ", [1.0]),
        ("1e-1:3e-1:1e-1", [0.1, 0.2, 0.3]),
    ],
)
def test_ranges_of_masses_are_those_decimals(
    monkeypatch: pytest.MonkeyPatch, text: str, found: list[float]
) -> None:
    def compiler(*given: Any) -> None:
        raise _Asked(given[2])

    monkeypatch.setattr(pipeline, "compile_compact", compiler)
    with pytest.raises(_Asked) as caught:
        bc.compile("machado-2r", payloads=text)
    assert list(caught.value.args[0]) == found


@pytest.mark.parametrize(
    "text", ["0:5", "0:5:0", "5:0:1", "0:5:-1", "0:nan:1", "0:inf:1", "a:b:c", "::", "1:"]
)
def test_ranges_that_are_none_are_sentences(text: str) -> None:
    with pytest.raises(bc.UsageError, match=r"payloads .*give masses in kg.*0:5:0\.05"):
        bc.compile("machado-2r", payloads=text)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"payloads": "0:1e6:1e-6"}, "more than 1000 masses"),
        ({"payloads": "0:1:.002,0:1:.002,0:1:.002"}, "more than 1000 masses"),
        ({"bits": "eight"}, "bits 'eight' is not a whole number; give a whole number, such"),
        ({"bits": 8.5}, r"bits 8\.5 is not a whole number; give a whole number, such as 8"),
        ({"bits": True}, "bits True is not a whole number; give a whole number, such as 8"),
        ({"bits": "9" * 5000}, "bits"),
        ({"bits": float("inf")}, "bits inf is not a whole number; give a whole number, such as 8"),
        ({"effort": [1.0]}, r"effort \[1\.0\] is not a number; give a number, such as 0\.5"),
        (
            {"rms_error": float("nan")},
            r"rms_error nan is not a list of numbers up to 1e\+06; give LSB,",
        ),
        ({"rms_error": {1: 0.5}}, "unknown output 1; outputs are tau1, tau2"),
        ({"rms_error": 10**400}, "rms_error an integer of about 401 digits is not a list of"),
        ({"rms_error": [[0.4, 0.6]]}, "give LSB"),
        ({"input_bits": 8.5}, "give bits"),
        ({"input_bits": {"q": None}}, "give bits"),
        ({"rms_error": 0.1}, r"the rms error must be at least 0\.289 LSB"),
        ({"rms_error": "much"}, r"rms_error 'much' is not a list of numbers up to 1e\+06; give"),
        (
            {"rms_error": (0.5, 0.5, 0.5)},
            "rms_error has 3 values, but machado-2r has 2; give one for all",
        ),
        ({"bits": 99}, "bits must be 2 to 16, not 99"),
        ({"input_bits": "q:12"}, "input_bits 'q:12' is no number of bits; give bits, such as 10,"),
        ({"effort": "long"}, r"effort 'long' is not a number; give a number, such as 0\.5"),
        ({"saturate": "yes"}, "saturate 'yes' is not a Boolean; give True or False"),
        ({"objective": "node"}, "objective 'node'; did you mean 'nodes"),
        ({"payloads": "heavy"}, r"payloads 'heavy' is not a list of numbers up to 1e\+06; give"),
        ({"mode": 3}, "mode 3; modes are paper, compact"),
        ({"bit": 8}, "mode compact has no 'bit'; did you mean 'bits"),
        (
            {"payloads": 1, "load_range": "0..5"},
            r"a payload of 1 kg and a load that is an input \(load-range\)",
        ),
        ({"mode": "paper", "effort": 3}, "effort belongs to mode compact, not to mode paper"),
        ({"splits": 1}, "splits belongs to mode paper, not to mode compact"),
        (
            {"mode": "paper", "guard_bits": "x"},
            "guard_bits 'x' is not a whole number; give a whole number, such",
        ),
        ({"mode": "paper", "deadline": -1}, "a deadline is a positive number of seconds"),
        ({"mode": "paper", "minimizer": "expresso"}, "method 'expresso'; did you mean 'espresso"),
        ({"mode": "paper", "rouding": "nearest"}, "has no 'rouding'; did you mean 'rounding"),
        ({"mode": "papr"}, r"mode 'papr'; did you mean 'paper'\?"),
        ({"seed": 1 << 70}, "a seed is 0 to"),
        ({"payloads": (1.0, 1.0)}, "payloads must be one or several different masses"),
        ({"error": "1"}, r"error '1' has no unit; give one, such as 1lsb or 0\.5Nm, one"),
        ({"error": 1.0}, "a number without a unit"),
        ({"bits": 8, "error": {"tau1": "0.5Nm"}}, "give it 9 bits or more"),
        ({"error": "1lsb", "proof": "tihgt"}, r"proof 'tihgt'; did you mean 'tight'\?"),
        ({"proof": ["plain"]}, r"unknown proof \['plain'\]; did you mean 'plain'\? proofs are"),
        (
            {"proof": "tight", "proof_effort": 0},
            "proof effort 0 is no whole number above 0",
        ),
        ({"proof_effort": 1.5}, "proof_effort"),
        ({"mode": "paper", "proof": "tight"}, "proof belongs to mode compact, not to mode paper"),
    ],
)
def test_every_wrong_keyword_is_a_sentence(choices: dict[str, Any], sentence: str) -> None:
    with pytest.raises((bc.UsageError, bc.DataError), match=sentence):
        bc.compile("machado-2r", **choices)


def test_the_defaults_of_the_table_are_those_of_the_values_made_of_it() -> None:
    given = options.GivenOptions.read({})
    demand, choices = given.demand(8), given.compact(8)
    assert demand == usual_demand(8, approximate=None)
    assert (given.plan(), given.recipe) == (PlanOptions(), Recipe())
    usual = CompactChoices(demand)
    assert [getattr(choices, name) for name in choices.__slots__] == [
        getattr(usual, name) for name in choices.__slots__
    ]
    assert inspect.signature(bc.compile).parameters["bits"].default is None  # a function's own


def test_every_keyword_is_an_option_of_the_command_and_in_the_reference(run: Run) -> None:
    current = {name: one for name, one in options.OPTIONS.items() if not one.older}
    shown = run("compile", "--help-all").out + run("paper", "compile", "--help-all").out
    text = "".join(str(one.__doc__) for one in (bc.compile, bc.Cost, bc.Search))
    others = {"--base", "--tip", "--output", "--json", "--help", "--help-all", "--verbose"}
    within = {(one.within or one.spelled or f"--{name.replace('_', '-')}").split()[0]
              for name, one in current.items()}  # fmt: skip
    assert set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", shown, re.MULTILINE)) == within | others
    for name in current:
        assert f"\n    {name}: " in text or f"\n    {name} (" in text


def test_names_that_nothing_public_has_are_sentences() -> None:
    for call in ("load_robot", "load_program", "export", "inverse_dynamics", "evaluate_files",
                 "function_problem", "word", "angle"):  # fmt: skip
        with pytest.raises(bc.UsageError, match=f"{call} has no 'nam'"):
            getattr(bc, call)(nam=1)
    for name, near in (
        ("load", "'load_robot' or 'load_program'"),
        ("load_robots", "module 'boolcomp' has no attribute 'load_robots'; did you mean"),
    ):
        with pytest.raises(AttributeError, match=near):
            getattr(bc, name)
    assert set(dir(bc)) == {*bc.__all__, "__version__"}
    assert all(getattr(bc, name) for name in bc.__all__)
    assert issubclass(bc.UsageError, bc.BoolcompError)
    assert issubclass(bc.DataError, bc.BoolcompError)


def test_importing_it_imports_nothing_heavy() -> None:
    program = (
        "import sys, boolcomp\n"
        "heavy = {'numpy', 'click', 'boolcomp.api', 'boolcomp.base.errors'}\n"
        "assert not heavy & set(sys.modules)\n"
        "boolcomp.load_robot('machado-2r')\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


STATE = ([0.3, -0.7], [0.4, 0.9], [-0.5, 0.2])


def test_newton_euler_takes_a_robot_its_name_or_its_path(tmp_path: Path) -> None:
    robot = bc.load_robot("machado-2r")
    (tmp_path / "mine.toml").write_text(str(robot))
    expected = bc.inverse_dynamics(robot, *STATE)
    assert np.allclose(expected, [103.121394, 42.504509], atol=1e-6)
    for same in ("machado-2r", tmp_path / "mine.toml", str(tmp_path / "mine.toml")):
        assert np.array_equal(bc.inverse_dynamics(same, *STATE), expected)
    for function in (gravity_torques, inertia_matrix):
        assert np.array_equal(function("machado-2r", STATE[0]), function(robot, STATE[0]))
    with pytest.raises(bc.UsageError, match="unknown robot 'machado2r'; did you mean 'machado-2r"):
        bc.inverse_dynamics("machado2r", *STATE)


def test_newton_euler_takes_a_number_for_all_joints_and_samples() -> None:
    angles = np.linspace(-3, 3, 10).reshape(5, 2)
    still = bc.inverse_dynamics("machado-2r", angles, np.zeros((5, 2)), np.zeros((5, 2)))
    assert np.array_equal(bc.inverse_dynamics("machado-2r", angles, 0, 0.0), still)
    assert np.array_equal(bc.inverse_dynamics("machado-2r", angles, [0, 0], 0), still)
    assert bc.inverse_dynamics("machado-2r", angles[0], 0, 0).shape == (2,)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (([0, 0, 0], 0, 0), r"q has shape \(3,\); machado-2r takes \(2,\) or \(samples, 2\)"),
        ((np.zeros((3, 2)), np.zeros((4, 2)), 0), "q, qd and qdd must have as many samples each"),
        ((0, 0, 0), "numbers alone are not enough; machado-2r has 2 joints"),
        (("here", 0, 0), "q holds .*, not real numbers"),
        (([[0, 0], [0]], 0, 0), "q is not an array of numbers"),
    ],
)
def test_states_of_wrong_shape_are_sentences(state: Any, sentence: str) -> None:
    program = stages(4)[2]
    with pytest.raises(bc.UsageError, match=sentence):
        bc.inverse_dynamics("machado-2r", *state)
    for evaluated in (program, program.torques, program.evaluate):
        with pytest.raises(bc.UsageError, match=sentence.replace("machado-2r", "this program")):
            evaluated(*state)


def test_a_program_is_called_for_its_torques() -> None:
    program = stages(4)[2]
    assert np.array_equal(program(*STATE), program.torques(*STATE))
    named = program(q=STATE[0], qd=0, qdd=0, engine="numpy")
    assert np.array_equal(named, program.torques(STATE[0], [0, 0], [0, 0]))
    with pytest.raises(bc.UsageError, match=r"wrench has shape \(3,\); give \(6,\) or \(1, 6\)"):
        bc.inverse_dynamics("machado-2r", *STATE, wrench=[1, 2, 3])


def test_a_program_is_shown_in_one_line() -> None:
    light = stages(4)[2]
    nodes = sum(len(network.nodes) for network in light.networks)
    assert repr(light) == (
        f"<program machado-2r: 4 bits, paper mode, {nodes} nodes before the adders, loads of 0 kg>"
    )
    assert repr(family()).endswith("loads of 0, 2.5 kg>")


def test_a_file_that_is_missing_or_a_xacro_is_said_to_be_so(tmp_path: Path) -> None:
    for name in ("ur5.urdf", "arms/ur5", "mine.json", "machado2r.toml"):
        with pytest.raises(bc.UsageError, match=f"{name}: no such robot file"):
            bc.load_robot(name)
    (tmp_path / "ur5.xacro").write_text("<robot/>")
    with pytest.raises(bc.UsageError, match="xacro is not read; run xacro first"):
        bc.load_robot(tmp_path / "ur5.xacro")


def test_a_program_is_exported_to_a_file_or_a_folder(tmp_path: Path) -> None:
    program = kept("export-pid")
    (one,) = bc.export(program, "verilog", tmp_path / "pid.v", level="words")
    assert one == tmp_path / "pid.v"
    assert "module" in one.read_text()
    files = bc.export(program, "c", str(tmp_path / "code"))
    assert sorted(path.suffix for path in files) == [".c", ".h"]
    assert all(path.is_file() for path in files)
    with pytest.raises(bc.UsageError, match="did you mean 'words'"):
        bc.export(program, "verilog", tmp_path, level="word")
    beside = bc.export(program, "verilog", tmp_path / "x.v", test_bench=True)
    assert [path.name for path in beside] == ["x.v", "pid_tb.v"]
    with pytest.raises(bc.UsageError, match=r"Python has no registers"):
        bc.export(program, "python", tmp_path, pipeline=2)
