"""Whether files import each other in circles, and tests import faces: a part of `make lint`.

    python benchmarks/rooms.py            prints what is wrong, and how many names tests import

A face is what a room's `__init__.py` offers. A test may also import a file as a module in order to
patch it. Tests that import more are listed in pyproject.toml, each with its reason.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
MOST_EXCEPTIONS = 40
PATCHING = ("setattr", "object", "getattr", "vars", "setitem", "reload")


def dotted(path: Path) -> str:
    """Return the name of a module by its path from the root."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules() -> dict[str, ast.Module]:
    """Return the trees of all modules of the package."""
    found = sorted((ROOT / "boolcomp").rglob("*.py"))
    return {dotted(one.relative_to(ROOT)): ast.parse(one.read_text("utf-8")) for one in found}


def circle(trees: dict[str, ast.Module]) -> list[str]:
    """Return modules that need each other while they are imported; none where all is well."""
    needs = {
        name: {
            next(one for one in (f"{node.module}.{alias.name}", node.module) if one in trees)
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boolcomp")
            for alias in node.names
        }
        - {name}
        for name, tree in trees.items()
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def inner_names(tree: ast.Module, names: set[str]) -> Iterator[str]:
    """Yield what a test imports of files instead of faces."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("boolcomp."):
            continue
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            if full in names:
                if not any(_patches(one, parents) for one in _uses(tree, alias)):
                    yield full
            elif (node.module or "").count(".") > 1:
                yield full


def _uses(tree: ast.Module, alias: ast.alias) -> Iterator[ast.Name]:
    bound = alias.asname or alias.name
    return (one for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id == bound)


def _patches(name: ast.Name, parents: dict[ast.AST, ast.AST]) -> bool:
    call = parents[name]
    if isinstance(call, ast.Attribute):  # monkeypatch.setattr(module.Class, …)
        call = parents[call]
    called = call.func if isinstance(call, ast.Call) else None
    return getattr(called, "attr", getattr(called, "id", "")) in PATCHING


def main() -> int:
    """Print what is wrong; return how much."""
    trees = modules()
    wrong = []
    if found := circle(trees):
        wrong.append(f"these import each other in a circle: {' -> '.join(found)}")
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    exceptions = listed["tool"]["boolcomp"]["inner-tests"]
    if len(exceptions) > MOST_EXCEPTIONS:
        wrong.append(f"{len(exceptions)} tests of inner functions; at most {MOST_EXCEPTIONS}")
    faces: set[str] = set()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        inner = list(inner_names(tree, set(trees)))
        if name in exceptions and not inner:
            wrong.append(f"{name}: imports faces alone: pyproject.toml need not list it")
        elif name not in exceptions:
            wrong += [
                f"{name}: imports {one} of a file: is it in its room's face?" for one in inner
            ]
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boolcomp."):
                    faces |= {f"{node.module}.{alias.name}" for alias in node.names}
    most = listed["tool"]["boolcomp"]["most-names"]
    if len(faces) > most:
        wrong.append(f"tests import {len(faces)} names; at most {most}")
    print(
        "\n".join(wrong) or f"{len(trees)} modules without circles; tests import {len(faces)} names"
    )
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main() > 0)
