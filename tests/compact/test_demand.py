"""What may be asked of compact mode: completed, refused with a message, part of a digest."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from samples import problem_of

import boolcomp as bc
from boolcomp.base import UsageError, widths
from boolcomp.compact import Built, CompactChoices, Demand, WordEnds, result_store, usual_demand
from boolcomp.problem import Problem, formats, promise_of, with_words
from boolcomp.terms import split

ARM = problem_of("machado-2r")
ONE_LSB = promise_of("--error", "1lsb")
TARGETS: Any = ("luts", "gates", "lut4", "lut6", "carry", "dsp", "mcu8", "mcu32", "simd")


def digest(problem: Problem, demand: Demand) -> str:
    """Return the name under which results are kept, without the problem's."""
    return result_store(split(problem), demand, None).name.removesuffix(".builtin").split(".")[-1]


@pytest.mark.parametrize(("wrong", "said"), [
    ({"bits": 1}, "bits must be 2 to 16"), ({"rms": (0.1,)}, "(rounding)"),
    ({"max": (0.4,)}, "(rounding)"), ({"effort": float("nan")}, "effort"),
    ({"input_bits": {"q": 40}}, "input q has 40 bits; give 2 to 16"),
    ({"target": "lut"}, "did you mean 'luts'"),
    ({"target": "mcu8", "objective": "lut6"}, "give one"),
    ({"target": "lut4", "flash": 4096}, "no flash"),
    ({"target": "mcu8", "flash": 1 << 17}, "flash of mcu8 is 256 to 65536 bytes, not 131072"),
    ({"approximate": "table"}, r"unknown approximation 'table'; did you mean 'tables'\?"),
    ({"approximate": "cones"}, "unknown approximation 'cones'; approximations are off, tables,"),
    ({"target": "mcu8", "approximate": "tables"}, "target mcu8 is code"),
    ({"error": ONE_LSB, "rms": (0.5,)}, "give one of them"),
])  # fmt: skip
def test_an_impossible_demand_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Demand(**wrong)


@pytest.mark.parametrize(("wrong", "said"), [
    ({"rms": (0.5, 0.5, 0.5)}, "rms_error has 3 values"),
    ({"input_bits": {"q": 8, "qd": 8, "qdd": 8, "q3": 9}}, "unknown input 'q3'"),
])  # fmt: skip
def test_a_demand_that_does_not_suit_the_problem_is_refused(
    wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        Demand(**wrong).completed(ARM)


def test_a_certificate_of_freely_changed_logic_is_refused() -> None:
    with pytest.raises(UsageError, match="has no certificate"):
        CompactChoices(Demand(approximate="free"), certify=True)


@pytest.mark.parametrize(("demand", "found"), [
    (Demand(), {"q": 10, "qd": 10, "qdd": 10}),
    (Demand(input_bits={"qd1": 7}, usual_input=9), {"q": 9, "qd": 9, "qdd": 9, "qd1": 7}),
    (Demand(input_bits=widths("input_bits", "7")), {"q": 7, "qd": 7, "qdd": 7}),
    (usual_demand(8, error=ONE_LSB), {"q": 13, "qd": 13, "qdd": 13}),
    (usual_demand(8, {"words": 11}, error=ONE_LSB), {"q": 11, "qd": 11, "qdd": 11}),
])  # fmt: skip
def test_widths_of_inputs_are_completed(demand: Demand, found: dict[str, int]) -> None:
    assert demand.completed(ARM).input_bits == found


@pytest.mark.parametrize(("error", "bits"), [("1.5lsb", 12), ("6lsb", 10), ("0.6lsb", 16)])
def test_inputs_are_as_wide_as_a_promise_needs(error: str, bits: int) -> None:
    asked = usual_demand(8, error=promise_of("--error", error)).completed(ARM)
    assert asked.input_bits["q"] == bits
    assert asked.completed(ARM) == asked


def test_the_older_spelling_of_a_target_is_the_same() -> None:
    assert Demand(objective="lut6") == Demand(target="lut6")
    assert Demand(objective="lut6").synthesis == "lut6"


def test_every_choice_that_changes_the_search_changes_the_digest() -> None:
    given = Demand(bits=8, input_bits={"q": 10, "qd": 10, "qdd": 10})
    others = [
        Demand(bits=7), Demand(rms=(0.5,)), Demand(max=(3.0,)), Demand(saturate=True),
        Demand(seed=1), Demand(effort=1.0), Demand(objective="depth"),
        Demand(input_bits={"q": 9, "qd": 10, "qdd": 10}),
        *(replace(given, target=target) for target in TARGETS),
        replace(given, target="mcu8", flash=2000),
        *(replace(given, approximate=how) for how in ("tables", "free")),
        usual_demand(8, error=ONE_LSB), usual_demand(8, error=ONE_LSB, grade="plain"),
    ]  # fmt: skip
    found = [digest(ARM, one) for one in others] + [digest(problem_of("planar-3r"), given)]
    words = ["tau=tread", "qd1=tread", "q1=0..2pi", "q1=12", "tau1=10"]
    found += [digest(with_words(ARM, formats("words", [one])), given) for one in words]
    assert len(set(found)) == len(found)
    assert digest(ARM, given) in found  # the usual target
    assert given.key.endswith("effort=30.0 objective=nodes")


def test_choices_that_change_no_search_change_no_digest() -> None:
    given = Demand(bits=8, input_bits={"q": 10, "qd": 10, "qdd": 10})
    codes = with_words(ARM, formats("words", ["q1=gray:10", "tau=twos", "qd=sign-magnitude:rise"]))
    same = [
        digest(ARM, Demand()), digest(codes, given),
        digest(ARM, Demand(input_bits={"qdd": 10, "qd": 10, "q": 10})),
        digest(ARM, replace(given, target="luts")), digest(ARM, replace(given, grade="plain")),
    ]  # fmt: skip
    assert set(same) == {digest(ARM, given)}
    assert replace(given, approximate="tables").exact == given


def test_a_result_holds_where_both_its_rms_and_its_largest_error_are_as_demanded() -> None:
    demand = usual_demand(4, approximate=None)
    kept = result_store(split(ARM), demand, None).find()
    assert kept is not None
    assert kept.worst is not None
    made = kept.compact, kept.network, kept.steps, kept.lut6, kept.errors, kept.worst
    built = Built(*made, dropped={}, seconds=0.0, stored=True, ends=WordEnds())

    def holds(rms: float, largest: float) -> bool:
        most = replace(built.compact.demand, max=tuple((largest * built.largest).tolist()))
        allowed = (rms * built.errors.rms / 1.01) ** 2
        return replace(built, compact=replace(built.compact, demand=most, allowed=allowed)).holds

    assert holds(1.001, 1.001)
    assert not holds(0.999, 1.001)
    assert not holds(1.001, 0.999)


VERSIONS = {
    "": Demand(bits=5),
    ".1": usual_demand(5, error=ONE_LSB),
    " depth 1": Demand(bits=5, objective="depth"),
    " saturate 1": Demand(bits=5, saturate=True),
    " own bits 1 y": Demand(bits=5),
}


@pytest.mark.parametrize("version", VERSIONS)
def test_digests_of_results_that_are_kept_are_those_of_their_versions(version: str) -> None:
    """A version that is raised is changed here as well: kept results are not found any more."""
    words = {"y": bc.word(-1, 1, bits=5 if "own" in version else None)}
    problem = bc.function_problem(lambda x: x * x, {"x": bc.word(-1, 1, bits=5)}, words)
    demand = VERSIONS[version]
    text = f"2{version}\n{demand.completed(problem).key}\n{problem.key}"
    assert digest(problem, demand) == hashlib.sha256(text.encode()).hexdigest()[:16]


def test_less_effort_asks_for_fewer_evaluations_but_at_least_a_million() -> None:
    usual = 20_000_000
    found = [Demand(effort=effort).evaluations(usual) for effort in (0, 15, 30, 300)]
    assert found == [1_000_000, 10_500_000, usual, usual]
    assert Demand(effort=0).evaluations(400_000) == 400_000
