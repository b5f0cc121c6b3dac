"""The faces of rooms: what type checkers see is what Python finds."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import boolcomp

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
