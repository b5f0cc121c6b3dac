"""Files of sweeps: which cells they mean, and what is said of wrong ones."""

from pathlib import Path
from typing import Any

import pytest
from conftest import Run

import boolcomp as bc
from boolcomp import options
from boolcomp.scale import CellQueue, CellTimes, parse_spec

USUAL: dict[str, Any] = {"robots": ["machado-2r"], "effort": 0}


def test_cells_are_the_product_of_all_axes_the_last_one_fastest() -> None:
    spec = parse_spec({
        **USUAL, "functions": ["gravity", "inverse-dynamics"], "bits": [4, 5],
        "payloads": [0, [1, 2]],
    })  # fmt: skip
    found = [(cell.function, cell.bits, cell.payloads) for cell in spec.cells]
    assert found == [
        (function, bits, masses)
        for function in ("gravity", "inverse-dynamics")
        for bits in (4, 5)
        for masses in ((0.0,), (1.0, 2.0))
    ]


def test_every_axis_changes_the_key_of_a_cell_and_so_does_what_all_share() -> None:
    others: list[dict[str, Any]] = [
        {}, {"robots": "stanford"}, {"functions": "gravity"}, {"bits": 5}, {"input_bits": 9},
        {"rms_errors": 0.9}, {"max_errors": 3}, {"errors": "2lsb"}, {"payloads": 1},
        {"targets": "lut6"}, {"effort": 1}, {"seed": 1}, {"saturate": True},
        {"objective": "depth"}, {"proof": "tables"}, {"proof_effort": 3}, {"certify": True},
        {"exports": ["c"]},
    ]  # fmt: skip
    keys = [parse_spec({**USUAL, **one}).cells[0].key for one in others]
    assert len(set(keys)) == len(others)


def test_every_option_of_compact_mode_is_a_setting_or_an_axis_but_words() -> None:
    with pytest.raises(bc.UsageError, match="keys are") as caught:
        parse_spec({**USUAL, "x": 1})
    keys = {one.strip() for one in str(caught.value).partition("keys are")[2].split(",")}
    compact = {name for name, one in options.OPTIONS.items() if one.group in options.DEMAND}
    assert all(name in keys or f"{name}s" in keys for name in compact - {"words"})


FUNCTION = """
name = "square"
[inputs.x]
range = [-1, 1]
bits = 8
[outputs.y]
expression = "x*x"
range = [-2, 2]
bits = 6
"""


def test_function_files_are_cells_of_their_own_and_carry_no_loads(tmp_path: Path) -> None:
    (tmp_path / "square.toml").write_text(FUNCTION)
    document = {**USUAL, "function_files": ["square.toml"], "payloads": [0, 1]}
    spec = parse_spec({**document, "targets": ["luts", "lut6"]}, folder=tmp_path)
    found = [(cell.label, cell.function, cell.bits, cell.payloads) for cell in spec.cells]
    robot = [("machado-2r", "inverse-dynamics", 8, (mass,)) for mass in (0.0, 0.0, 1.0, 1.0)]
    assert found == [*robot, *[("square.toml", "", 6, (0.0,))] * 2]
    assert str(spec.cells[-1]) == "square.toml, 6 bits, lut6"
    asked = parse_spec({"function_files": "square.toml", "bits": [4, 5]}, folder=tmp_path).cells
    assert [cell.bits for cell in asked] == [4, 5]


def test_what_files_have_none_of_is_refused_and_files_are_no_robots(tmp_path: Path) -> None:
    (tmp_path / "square.toml").write_text(FUNCTION)
    (tmp_path / "wrong.toml").write_text(FUNCTION.replace("x*x", "x*z"))
    for document, said in (
        ({"function_files": "square.toml", "payloads": 1}, "payloads apply to robots only"),
        ({"robots": "square.toml"}, "is a function file; name it in function_files"),
        ({"function_files": "wrong.toml"}, r"wrong.toml:\d+: outputs.y.expression: .*z"),
        ({"function_files": ["square.toml", "./square.toml"]}, "the same one"),
    ):
        with pytest.raises(bc.UsageError, match=said):
            parse_spec(document, folder=tmp_path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"robot": ["x"]}, "unknown key 'robot'; did you mean 'robots"),
        ({"payload": 1}, "did you mean 'payloads'"),
        ({"robots": ["machado2r"]}, "did you mean 'machado-2r'"),
        ({"functions": ["gravty"]}, "did you mean 'gravity'"),
        ({"targets": ["lut7"]}, "did you mean 'luts'|did you mean 'lut"),
        ({"exports": ["verilg"]}, "did you mean 'verilog'"),
        ({"proof": "tigt"}, "did you mean 'tight'"),
        ({"bits": []}, "bits is empty"),
        ({"bits": [4, 4]}, "4 is listed twice"),
        ({"bits": ["4"]}, "give a whole number"),
        ({"bits": [99]}, "bits must be 2 to 16, not 99"),
        ({"errors": ["1"]}, "errors"),
        ({"errors": ["1lsb"], "rms_errors": [0.5]}, "give either errors"),
        ({"payloads": [-1]}, "machado-2r"),
        (
            {"payloads": [[1, 1]]},
            r"payloads: \[1, 1\] is empty, or has a mass twice",
        ),
        ({"functions": ["inverse-kinematics"], "robots": ["stanford"]}, "stanford, inverse-kin"),
        ({"bits": list(range(2, 17)), "seed": -1}, "a seed is 0"),
        ({"effort": "much"}, r"effort 'much' is not a number; give a number, such as 0\.5"),
        ({"robots": [f"r{k}" for k in range(1000)], "payloads": list(range(101))}, "too many"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(given: dict[str, Any], said: str) -> None:
    with pytest.raises(bc.UsageError, match=said):
        parse_spec({**USUAL, **given})


def test_a_file_without_robots_and_one_that_is_none_are_sentences(
    run: Run,
) -> None:
    for text, said in (
        ("bits = [4]\n", "it names no robots or function_files (sweep.toml)"),
        ("bits = [4\n", "not a TOML file"),
    ):  # fmt: skip
        Path("sweep.toml").write_text(text)
        result = run("sweep", "sweep.toml", "-o", "out")
        assert (result.code, said in result.err) == (1, True)


def cells(bits: list[int], loads: int = 1) -> tuple[Any, ...]:
    masses = [k / 10 for k in range(loads)]
    document = {"robots": "machado-2r", "functions": "gravity", "effort": 0, "bits": bits}
    return parse_spec({**document, "payloads": masses}).cells


def costs(**seconds: float) -> CellTimes:
    """Return what is known where cells of so many bits took so many seconds."""
    known = CellTimes()
    for bits, one in seconds.items():
        known.learn(cells([int(bits[1:])])[0], one)
    return known


def taken(batches: Any, workers: int) -> list[tuple[int, ...]]:
    found = []
    while batches:
        found.append(batches.take(workers))
    return found


def test_cells_of_which_nothing_is_known_go_first_and_alone_then_the_longest() -> None:
    some = cells([4, 5, 6, 7, 8])
    known = costs(b4=3.0, b5=2.0, b6=6.0, b7=1.5, b8=9.0)
    assert taken(CellQueue(some, range(5), known), 1) == [(4,), (2,), (0,), (1,), (3,)]
    assert taken(CellQueue(some, range(5), CellTimes()), 1) == [(4,), (3,), (2,), (1,), (0,)]


@pytest.mark.parametrize(
    "document",
    [
        {"asked": {"bits": 4}, "seconds": 1}, {"asked": [], "seconds": 1}, {},
        {"asked": {"bits": "4", "payloads": [0]}, "seconds": 1},
        {"asked": {"bits": 4, "payloads": []}, "seconds": 1},
        {"asked": {"bits": 4, "payloads": [0], "robot": []}, "seconds": 1},
        {"asked": {"bits": 4, "payloads": [0]}, "seconds": float("nan")},
        {"asked": {"bits": 4, "payloads": [0]}, "seconds": "1"},
    ],
)  # fmt: skip
def test_costs_that_no_sweep_wrote_are_passed_over(document: dict[str, Any]) -> None:
    cell = cells([4])[0]
    assert CellTimes([document]).of(cell) is None
    ours = {"asked": cell.asked, "seconds": 3.0}
    assert CellTimes([document, ours]).of(cell) == 3.0
