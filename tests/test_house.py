"""benchmarks/house.py: every rule of imports is violated by an example, and figures are counted."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import boolcomp

with pytest.MonkeyPatch.context() as patch:  # a folder of scripts, with names of folders here
    patch.syspath_prepend(str(Path(__file__).resolve().parent.parent / "benchmarks"))
    import house


def checked(*, pairs: int = 0, **texts: str) -> list[str]:
    """Return violations of a package whose files are given as room__file="text"."""
    files = {f"boolcomp/{name.replace('__', '/')}.py": text for name, text in texts.items()}
    return list(house.violations_of_files(house.parse(files), pairs))


def test_a_circle_of_imports_is_reported_with_its_files() -> None:
    (found,) = checked(
        a__one="from boolcomp.a.two import x\n",
        a__two="from boolcomp.b import three\n",
        b__three="from boolcomp.a import one\n",
    )
    assert found.startswith("these modules import each other in a circle: boolcomp.")
    assert {"boolcomp.a.one", "boolcomp.a.two", "boolcomp.b.three"} <= set(found.split())


def test_a_pair_of_files_that_import_each_other_is_reported_even_for_type_checkers() -> None:
    pair = {
        "a__one": "from boolcomp.a.two import x\n",
        "a__two": "if TYPE_CHECKING:\n    from boolcomp.a.one import y\n",
    }
    message = "1 pairs of modules import each other (at most 0): boolcomp.a.one and boolcomp.a.two"
    assert checked(pairs=0, **pair) == [message]
    assert checked(pairs=1, **pair) == []


@pytest.mark.parametrize("statement", ["import numpy", "from boolcomp.a.one import f"])
def test_an_import_inside_a_function_needs_a_reason(statement: str) -> None:
    text = f"class A:\n    def f(self):\n        if self:\n            {statement}"
    message = "boolcomp/a/one.py:4: import inside a function: add `(reason)` to its noqa"
    assert checked(a__one=text) == [message]
    assert checked(a__one=f"{text}  # noqa: PLC0415") == [message]
    assert checked(a__one=f"{text}  # noqa: PLC0415 (it is heavy)") == []
    assert checked(commands__one=text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from boolcomp.a.one import f", ["boolcomp.a.one.f"]),
        ("from boolcomp.a import one\none.f()", ["boolcomp.a.one"]),
        ("from boolcomp.a import one\nmonkeypatch.setattr(one, 'f', 1)", []),
        ("from boolcomp.a import f", []),
    ],
)
def test_a_test_imports_faces(text: str, found: list[str]) -> None:
    limits = {"inner-tests": {}, "most-names": 1}
    tests = {"tests/test_x.py": ast.parse(text)}
    messages = [
        f"tests/test_x.py: imports {one} from a file: is it in the face of its room?"
        for one in found
    ]
    assert list(house.violations_of_tests(tests, ["boolcomp.a.one"], limits)) == messages


def test_exceptions_and_limits_of_tests_are_checked_too() -> None:
    tests = {
        "tests/test_x.py": ast.parse("from boolcomp.a import f, g"),
        "tests/test_y.py": ast.parse("from boolcomp.a import f"),
    }
    exceptions = {"tests/test_y.py": "reason"} | dict.fromkeys(map(str, range(40)), "reason")
    limits = {"inner-tests": exceptions, "most-names": 1}
    assert list(house.violations_of_tests(tests, ["boolcomp.a.one"], limits)) == [
        "41 tests of inner functions (at most 40)",
        "tests/test_y.py: imports only faces: remove it from the list in pyproject.toml",
        "tests import 2 names (at most 1)",
    ]


def test_a_public_function_of_several_statements_needs_a_docstring() -> None:
    text = "class A:\n  def one(self):\n    return 1\n  def two(self):\n    x = 1\n    return x"
    found = house.violations_of_files(house.parse({"boolcomp/base/files.py": text}), 0)
    assert list(found) == ["boolcomp/base/files.py:4: two has several statements and no docstring"]


def test_committed_figures_have_the_names_that_are_measured() -> None:
    committed = json.loads(house.COMMITTED.read_text("utf-8"))
    assert set(house.structure(house.parse({"boolcomp/a.py": ""}))) <= set(committed)
    assert all(set(one) == {"figure", "target"} for one in committed.values())


PACKAGE = Path(boolcomp.__file__).parent
FACES = sorted(
    one.parent.name for one in PACKAGE.glob("*/__init__.py") if "lazy(" in one.read_text("utf-8")
)


@pytest.mark.parametrize("room", FACES)
def test_a_face_offers_what_it_shows_to_type_checkers(room: str) -> None:
    face = importlib.import_module(f"boolcomp.{room}")
    tree = ast.parse((PACKAGE / room / "__init__.py").read_text("utf-8"))
    (checking,) = [one for one in tree.body if isinstance(one, ast.If) and one.orelse]
    shown = {
        alias.name: one.module
        for one in checking.body
        if isinstance(one, ast.ImportFrom)
        for alias in one.names
    }
    homes = {name: importlib.import_module(str(module)) for name, module in shown.items()}
    there = {name for name, home in homes.items() if hasattr(home, name)}  # others are types alone
    assert there == set(dir(face)) & set(shown)
    assert all(getattr(face, name) is getattr(homes[name], name) for name in there)
    assert {x for x in dir(face) if not x.startswith("_")} - set(vars(face)) <= there
    with pytest.raises(AttributeError, match="no_such_name"):
        face.no_such_name  # noqa: B018 (reading it is what is tested)


def test_importing_faces_loads_no_file_of_them() -> None:
    text = f"import sys; {'; '.join(f'import boolcomp.{room}' for room in FACES)}; "
    text += "print(*(x for x in sys.modules if x.count('.') > 1 and x.startswith('boolcomp.')))"
    found = subprocess.run(
        [sys.executable, "-P", "-c", text], capture_output=True, text=True, check=True
    )
    assert sorted(found.stdout.split()) == []
