"""Measure the structure of the package, and check its rules of imports: a part of `make lint`.

    python benchmarks/house.py             prints the figures beside those of house.json
    python benchmarks/house.py --json      prints them as JSON
    python benchmarks/house.py --accept    writes them to house.json
    python benchmarks/house.py --check     prints violations of the import rules; exit code 1

The import rules: Files do not import each other in a circle, nor in pairs (an import for type
checkers counts). An import inside a function has a comment with the reason. Tests import faces: a
face is a room's `__init__.py`. A test may also import a file as a module in order to patch it.
`[tool.boolcomp]` in pyproject.toml lists other exceptions and limits that may only fall.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import resource
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
COMMITTED = Path(__file__).with_suffix(".json")
MOST_EXCEPTIONS = 40
RUNS = 15
PATCHING = ("setattr", "object", "getattr", "vars", "setitem", "reload")
REASON = re.compile(r"# noqa: [\w, ]*PLC0415 \(.+\)")
GRAPH = "boolcomp.words.graph"
LATE = "boolcomp/commands/"  # imports at run time: `boolcomp --help` stays fast
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Counts modules whose functions run: outside of imports, and in all.
TRACER = """
import sys
outside, modules, importing = set(), set(), 0
def profile(frame, event, argument):
    global importing
    code = frame.f_code
    if code.co_name == "<module>":
        importing += (event == "call") - (event == "return")
    elif event == "call" and "boolcomp/" in code.co_filename:
        modules.add(code.co_filename)
        if not importing:
            outside.add(code.co_filename)
def end():
    sys.setprofile(None)
    print(len(outside), len(modules), file=sys.stderr)
"""
COMMAND = """
from boolcomp.cli import main
sys.argv = ["boolcomp", "compile", "machado-2r", "--bits", "8"]
sys.setprofile(profile)
try:
    main()
finally:
    end()
"""
FUNCTION = """
import boolcomp
sys.setprofile(profile)
boolcomp.compile("machado-2r", bits=8)
end()
"""


class Module(NamedTuple):
    """A source file of the package."""

    path: str  # relative to the root of the repository
    text: str
    tree: ast.Module


def dotted(path: str) -> str:
    """Return the name of a module by its path from the root."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def parse(texts: Mapping[str, str]) -> dict[str, Module]:
    """Return modules by name, given the texts of files by path."""
    return {dotted(path): Module(path, text, ast.parse(text)) for path, text in texts.items()}


def package() -> dict[str, Module]:
    """Return all modules of the package."""
    paths = sorted((ROOT / "boolcomp").rglob("*.py"))
    return parse({path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths})


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements inside a node: several times as fast as `ast.walk`."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for one in getattr(tree, name, ()):
            if isinstance(one, ast.stmt):
                yield one
            yield from statements(one)


def imported(nodes: Iterable[ast.AST], modules: Mapping[str, Module]) -> set[str]:
    """Return the modules of the package that import statements name."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in modules else f"{node.module}")
    return found & modules.keys()


def circle(modules: Mapping[str, Module]) -> list[str]:
    """Return modules that import each other in a circle when they are loaded, or nothing."""
    needs = {name: imported(one.tree.body, modules) - {name} for name, one in modules.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def importers(modules: Mapping[str, Module]) -> dict[str, set[str]]:
    """Return which modules import a module, anywhere in their text; faces are left out."""
    found: dict[str, set[str]] = {name: set() for name in modules}
    for name, one in modules.items():
        if not one.path.endswith("__init__.py"):
            for other in imported(statements(one.tree), modules) - {name}:
                found[other].add(name)
    return found


def mutual(modules: Mapping[str, Module]) -> list[tuple[str, str]]:
    """Return pairs of modules of which each imports the other."""
    users = importers(modules)
    return sorted((a, b) for a in modules for b in users[a] if a < b and a in users[b])


def unexplained(module: Module) -> Iterator[int]:
    """Yield the lines of imports inside functions whose comment gives no reason."""
    lines = module.text.split("\n")
    functions = [one for one in statements(module.tree) if isinstance(one, FUNCTIONS)]
    inside = {one for function in functions for one in statements(function)}
    for one in sorted(inside, key=lambda one: one.lineno):
        if isinstance(one, ast.Import | ast.ImportFrom):
            beside = "\n".join(lines[one.lineno - 1 : one.end_lineno])
            if not REASON.search(beside):
                yield one.lineno


def inner_names(tree: ast.Module, names: Iterable[str]) -> Iterator[str]:
    """Yield names that a test imports from files instead of faces."""
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


def violations_of_files(modules: Mapping[str, Module], pairs: int) -> Iterator[str]:
    """Yield violations of the rules for imports between files of the package."""
    if found := circle(modules):
        yield f"these modules import each other in a circle: {' -> '.join(found)}"
    if len(both := mutual(modules)) > pairs:
        listed = ", ".join(f"{a} and {b}" for a, b in both)
        yield f"{len(both)} pairs of modules import each other (at most {pairs}): {listed}"
    for module in modules.values():
        if not module.path.startswith(LATE):
            for line in unexplained(module):
                yield f"{module.path}:{line}: import inside a function: add `(reason)` to its noqa"
        for line, name in undocumented(module):
            yield f"{module.path}:{line}: {name} has several statements and no docstring"


def undocumented(module: Module) -> Iterator[tuple[int, str]]:
    """Yield public functions and methods of several statements that have no docstring."""
    classes = [one for one in module.tree.body if isinstance(one, ast.ClassDef)]
    scopes: list[ast.Module | ast.ClassDef] = [module.tree, *classes]
    for scope in scopes:
        for node in scope.body:
            if (
                isinstance(node, ast.FunctionDef)
                and not node.name.startswith("_")
                and len(node.body) > 1
                and ast.get_docstring(node) is None
                and not any("overload" in ast.unparse(one) for one in node.decorator_list)
                and not (isinstance(scope, ast.ClassDef) and scope.name.startswith("_"))
            ):
                yield node.lineno, node.name


def violations_of_tests(
    tests: Mapping[str, ast.Module], modules: Iterable[str], limits: Mapping[str, Any]
) -> Iterator[str]:
    """Yield violations of the rule that tests import faces."""
    exceptions = limits["inner-tests"]
    if len(exceptions) > MOST_EXCEPTIONS:
        yield f"{len(exceptions)} tests of inner functions (at most {MOST_EXCEPTIONS})"
    faces: set[str] = set()
    for path, tree in tests.items():
        inner = list(inner_names(tree, modules))
        if path in exceptions:
            if not inner:
                yield f"{path}: imports only faces: remove it from the list in pyproject.toml"
            continue
        for one in inner:
            yield f"{path}: imports {one} from a file: is it in the face of its room?"
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("boolcomp."):
                faces |= {f"{node.module}.{alias.name}" for alias in node.names}
    if len(faces) > limits["most-names"]:
        yield f"tests import {len(faces)} names (at most {limits['most-names']})"


def violations() -> list[str]:
    """Return all violations of the import rules in the repository."""
    limits = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["boolcomp"]
    modules = package()
    paths = sorted((ROOT / "tests").rglob("*.py"))
    tests = {one.relative_to(ROOT).as_posix(): ast.parse(one.read_text("utf-8")) for one in paths}
    return [
        *violations_of_files(modules, limits["most-pairs"]),
        *violations_of_tests(tests, modules, limits),
    ]


def code_lines(module: Module) -> int:
    """Return the number of lines that are not blank, import, docstring or comment."""
    lines = module.text.splitlines()
    others: set[int] = set()
    for node in statements(module.tree):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            others.update(range(node.lineno, (node.end_lineno or 0) + 1))
    return sum(
        number not in others and bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in enumerate(lines, 1)
    )


def class_names(modules: Mapping[str, Module]) -> Counter[str]:
    """Return how many classes at the top of modules have a name."""
    return Counter(
        node.name
        for module in modules.values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    )


def dispatching(modules: Mapping[str, Module]) -> dict[str, int]:
    """Return how often modules outside of `words/` select by the class of a word graph's part."""
    parts = set()
    if graph := modules.get(GRAPH):
        parts = {node.name for node in graph.tree.body if isinstance(node, ast.ClassDef)}
    parts -= {"WordGraph"}
    found = {
        module.path: sum(_selects(node, parts) for node in ast.walk(module.tree))
        for module in modules.values()
        if not module.path.startswith("boolcomp/words/") and GRAPH in importing(module)
    }
    return {path: count for path, count in found.items() if count}


def importing(module: Module) -> set[str | None]:
    """Return the modules that a module imports names from."""
    return {one.module for one in ast.walk(module.tree) if isinstance(one, ast.ImportFrom)}


def _selects(node: ast.AST, classes: set[str]) -> bool:
    """Tell whether a node is `isinstance`, a class pattern or a dictionary by a class."""
    selectors: list[ast.AST] = []
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
        selectors = [node.args[1]]
    elif isinstance(node, ast.MatchClass):
        selectors = [node.cls]
    elif isinstance(node, ast.Dict):
        selectors = [key for key in node.keys if isinstance(key, ast.Name)]
    names = (one for selector in selectors for one in ast.walk(selector))
    return any(isinstance(one, ast.Name) and one.id in classes for one in names)


def modules_run(script: str) -> tuple[int, int]:
    """Return how many modules have functions that a script runs: outside of imports, and in all."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", TRACER + script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    outside, in_all = done.stderr.split()[-2:]
    return int(outside), int(in_all)


def start_up(*arguments: str) -> float:
    """Return the median processor time of Python with these arguments, in milliseconds."""
    times = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return round(1000 * statistics.median(times), 1)


def structure(modules: Mapping[str, Module]) -> dict[str, float]:
    """Return the figures that follow from the source text."""
    sizes = [len(one.text.splitlines()) for one in modules.values()]
    faceless = [one for one in modules.values() if not one.path.endswith("__init__.py")]
    repeated = [name for name, count in class_names(modules).items() if count > 1]
    private = sum(name.startswith("_") for name in repeated)
    return {
        "modules": len(modules),
        "rooms": sum(one.path.count("/") == 2 for one in modules.values() if one not in faceless),
        "lines": sum(sizes),
        "lines of code": sum(map(code_lines, modules.values())),
        "longest module": max(sizes),
        "modules under 60 lines": sum(len(one.text.splitlines()) < 60 for one in faceless),
        "modules imported by exactly one other": sum(
            len(users) == 1 for users in importers(modules).values()
        ),
        "pairs of modules that import each other": len(mutual(modules)),
        "public class names defined more than once": len(repeated) - private,
        "private class names defined more than once": private,
        "modules that dispatch over parts of word graphs": len(dispatching(modules)),
    }


def figures() -> dict[str, float]:
    """Measure all figures."""
    command, command_with_imports = modules_run(COMMAND)
    function, _ = modules_run(FUNCTION)
    return {
        **structure(package()),
        "modules run by `boolcomp compile`": command,
        "modules run by it, imports included": command_with_imports,
        "modules run by `boolcomp.compile`": function,
        "ms of `boolcomp --help`": start_up("-P", "-m", "boolcomp", "--help"),
        "ms of `import boolcomp`": start_up("-P", "-c", "import boolcomp"),
        "ms of Python itself": start_up("-P", "-c", ""),
    }


def main() -> int:
    """Run the action that the options select."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for option in ("--json", "--accept", "--check"):
        parser.add_argument(option, action="store_true")
    asked = parser.parse_args()
    if asked.check:
        found = violations()
        print("\n".join(found) or "imports: no violations")
        return bool(found)
    committed = json.loads(COMMITTED.read_text("utf-8"))
    rows = {
        name: {"figure": value, "target": committed.get(name, {}).get("target")}
        for name, value in figures().items()
    }
    text = json.dumps(rows, indent=2) + "\n"
    if asked.accept:
        COMMITTED.write_text(text, "utf-8")
    if asked.json:
        print(text, end="")
        return 0
    print(f"{'':47}{'now':>9}{'committed':>11}{'target':>9}")
    for name, row in rows.items():
        before = committed.get(name, {}).get("figure", "")
        print(f"{name:47}{row['figure']:>9}{before:>11}{_limit(row['target']):>9}")
    print("\ndispatch over parts of word graphs outside of boolcomp/words, times in a module:")
    print("\n".join(f"{count:4} {path}" for path, count in dispatching(package()).items()))
    return 0


def _limit(target: float | None) -> str:
    return "" if target is None else f"≤ {target}"


if __name__ == "__main__":
    sys.exit(main())
