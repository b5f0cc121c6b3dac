"""Make small faults in the core, one at a time, and count those that no unit test notices.

    python benchmarks/mutants.py                 55 mutants of every room
    python benchmarks/mutants.py --room words    of one room
    python benchmarks/mutants.py --accept        and update mutants.json

A mutant is one small change: a constant by one, a comparison, a sign or another operator, `and` and
`or`, min and max, any and all, a dropped guard (an `if` that ends in raise, return, continue or
break) or a dropped call (a statement that is nothing but a call). The sample is drawn by the hash
of each mutant and a seed, in turn from these kinds, so it changes only where the code does.

The tests of a room are those of `make test` in files that import from it. Which of them run a line
is recorded once for every file (coverage, a context a test) and kept in out/mutants/tests/ until
the file or a module that it runs changes. A mutant's tests are those that run its line, files of
the cheapest tests first, then the other tests of these files, as many as take BUDGET seconds. It is
killed when one fails or all take LIMIT seconds of processor time. Outcomes are kept in
out/mutants/ROOM.jsonl, so that an interrupted run goes on where it ended.

mutants.json lists survivors by function and changed line, not by file: those that are equivalent,
with the reason; those that a test kills since, with the test; those that are open. They run along
with the sample. The exit code is 1 where more than a tenth of the mutants of a room survive, or an
"equivalent" one is killed.

Mutants of modules with loops that numba compiles run with numba switched off, against tests that
pass so within seconds.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import ctypes
import hashlib
import importlib
import importlib.metadata
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Job = tuple[Any, Callable[[Path], int]]  # what it is for, and what starts it in a tree

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    "words", "logic", "codes", "checker", "proof", "targets", "paper", "compact", "twolevel",
    "terms", "problem/dynamics",
)  # fmt: skip
HEAVY = ("bitarray", "click", "coverage", "highspy", "hypothesis", "llvmlite.binding", "numba",
         "numpy", "pytest")  # fmt: skip
UNIT = "not check"  # the tests that mutants run: below a second
BUDGET, LIMIT = 10.0, 20  # seconds of processor time: of the recorded tests, and of a mutant
INTERPRETED = 1.0  # such seconds a test may take where numba is off
WAITING = 10  # times the limit, where a mutant sleeps or the machine is busy
SHARE = 0.1  # of the mutants of a room may survive

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
CALLS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum",
    "maximum": "minimum", "floor": "ceil", "ceil": "floor", "round": "int", "rint": "floor",
}  # fmt: skip
LEAVES = (ast.Raise, ast.Return, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Name:
    """What a mutant is, wherever its module lies: its function, and the line before and after."""

    function: str
    before: str
    after: str
    number: int = 0  # of equal ones

    def drawn(self, seed: int) -> str:
        """Return its place in the order of a seed."""
        return digest(f"{seed}|{self}")


@dataclass(frozen=True)
class Mutant:
    """One small change of a file: the text in a place, and what takes its place."""

    name: Name
    kind: str
    file: str
    start: int
    end: int
    text: str
    lines: int  # a bit for each line of its statement; outside of functions, of those that use it
    looped: bool  # numba compiles loops of its file

    def source(self, root: Path) -> str:
        """Return the file with the change."""
        old = text_of(root / self.file)
        return old[: self.start] + self.text + old[self.end :]

    def place(self, root: Path) -> str:
        """Return its file and line."""
        return f"{self.file}:{text_of(root / self.file).count(chr(10), 0, self.start) + 1}"


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def text_of(path: Path) -> str:
    """Return a file as it was when it was first asked for."""
    return path.read_text()


class Mutants(ast.NodeVisitor):
    """All mutants of a file. Annotations, texts and the words of messages have none."""

    def __init__(self, root: Path, file: str) -> None:
        self.file, self.text = file, text_of(root / file)
        self.rows = self.text.split("\n")
        self.begins = [0]
        for row in self.rows:
            self.begins.append(self.begins[-1] + len(row) + 1)
        tree = ast.parse(self.text)
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        self.looped = any(map(_compiled, functions))
        self.bodies = 0
        self.using: dict[str, int] = defaultdict(int)  # which functions use a name
        for function in functions:
            own = _bits(function.body[0], function.body[-1])
            self.bodies |= own
            for one in ast.walk(function):
                if isinstance(one, ast.Name):
                    self.using[one.id] |= own
        self.scope: list[str] = []
        self.inside = 0  # of how many functions
        self.header = 0  # the first line of the statement
        self.sets = ""  # the name that it sets
        self.found: list[Mutant] = []
        self.names: dict[tuple[str, str, str], int] = defaultdict(int)
        self.visit(tree)

    def visit(self, node: ast.AST) -> None:
        """Yield the changed forms of a node and of what is in it."""
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                self._scope(node)
            case ast.Raise() | ast.JoinedStr() | ast.arg() | ast.Import() | ast.ImportFrom():
                pass
            case ast.If(ast.Name("TYPE_CHECKING")):
                pass
            case ast.AnnAssign(annotation=ast.Name("TypeAlias")):
                pass
            case ast.AnnAssign():
                self._begin(node)
                if node.value:
                    self.visit(node.value)
            case ast.stmt():
                self._statement(node)
            case ast.expr():
                for kind, changed in _changes(node):
                    made = ast.unparse(changed)
                    bare = isinstance(changed, ast.Constant)
                    self._add(kind, node, made if bare else f"({made})", _bits(node))
                self.generic_visit(node)
            case _:
                self.generic_visit(node)

    def _scope(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        function = isinstance(node, ast.FunctionDef)
        if isinstance(node, ast.FunctionDef):
            self._begin(node)
            self.visit(node.args)
        self.scope.append(node.name)
        self.inside += function
        for one in node.body:
            self.visit(one)
        self.inside -= function
        self.scope.pop()

    def _begin(self, node: ast.stmt) -> None:
        self.header, self.sets = 1 << node.lineno, ""
        if not self.scope:
            match node:
                case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                    self.sets = name
                case ast.FunctionDef(name):
                    self.sets = name

    def _statement(self, node: ast.stmt) -> None:
        self._begin(node)
        if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], LEAVES):
            other = self.text.startswith("elif", self._place(node.lineno, node.col_offset))
            self._add("guard", node, "" if other else "pass", _bits(node.test))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._add("call", node, "pass", _bits(node))
        self.generic_visit(node)

    def _add(self, kind: str, node: ast.expr | ast.stmt, text: str, lines: int) -> None:
        start = self._place(node.lineno, node.col_offset)
        end = self._place(node.end_lineno or 0, node.end_col_offset or 0)
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end) % (len(self.text) + 1)
        before = " ".join(self.text[first:last].split())
        after = " ".join((self.text[first:start] + text + self.text[end:last]).split())
        scope = ".".join(self.scope)
        number = self.names[scope, before, after]
        self.names[scope, before, after] += 1
        if self.inside:
            lines |= self.header
        else:
            lines = self.using[self.sets] or self.bodies
        name = Name(scope, before, after, number)
        self.found.append(Mutant(name, kind, self.file, start, end, text, lines, self.looped))

    def _place(self, line: int, column: int) -> int:
        return self.begins[line - 1] + len(self.rows[line - 1].encode()[:column].decode())


def _bits(node: ast.expr | ast.stmt, last: ast.expr | ast.stmt | None = None) -> int:
    """Return a bit for each line from a node to itself or a last one."""
    end = (last or node).end_lineno or node.lineno
    return (2 << end) - (1 << node.lineno)


def _compiled(function: ast.FunctionDef) -> bool:
    """Tell whether numba compiles a function."""
    return any(
        name in ast.unparse(one) for one in function.decorator_list for name in ("njit", "compiled")
    )


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the changed forms of an expression, and of what kind they are."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield "constant", ast.Constant(value + 1)
            yield "constant", ast.Constant(value - 1)
        case ast.Compare(left, ops, comparators):
            for k, op in enumerate(ops):
                if type(op) in SWAPS:
                    other = [*ops[:k], SWAPS[type(op)](), *ops[k + 1 :]]
                    yield "comparison", ast.Compare(left, other, comparators)  # type: ignore[arg-type]
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            yield "operator", ast.BinOp(left, SWAPS[type(op)](), right)  # type: ignore[arg-type]
        case ast.BoolOp(op, values):
            yield "condition", ast.BoolOp(SWAPS[type(op)](), values)  # type: ignore[arg-type]
        case ast.UnaryOp(ast.USub() | ast.Invert(), operand):
            yield "operator", operand
        case ast.UnaryOp(ast.Not(), operand):
            yield "condition", operand
        case ast.Call(function, args, keywords) if swapped := _other_function(function):
            yield "choice", ast.Call(swapped, args, keywords)


def _other_function(function: ast.expr) -> ast.expr | None:
    match function:
        case ast.Name(name) if name in CALLS:
            return ast.Name(CALLS[name])
        case ast.Attribute(value, name) if name in CALLS:
            return ast.Attribute(value, CALLS[name])
    return None


def mutants_of(root: Path, room: str) -> list[Mutant]:
    """Return all mutants of a room: a folder of the package, or a module."""
    found: dict[Name, Mutant] = {}
    for package in _packages(root):
        for path in sorted(
            [*package.parent.glob(f"{room}.py"), *package.parent.glob(f"{room}/**/*.py")]
        ):
            for one in Mutants(root, str(path.relative_to(root))).found:
                found.setdefault(one.name, one)
    return list(found.values())


def sample(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return so many mutants in the order of a seed, in turn of every kind."""
    kinds: dict[str, list[Mutant]] = defaultdict(list)
    for one in sorted(mutants, key=lambda one: one.name.drawn(seed)):
        kinds[one.kind].append(one)
    turns = zip_longest(*(kinds[kind] for kind in sorted(kinds)))
    return [one for one in chain.from_iterable(turns) if one][:count]


# Which tests run which lines.


class Recorder:
    """A plugin of pytest that notes which tests run which lines, and what they take."""

    def __init__(self, tree: Path, most: float) -> None:
        self.tree, self.most = tree, most
        self.tests: dict[str, float] = {}
        self.left_out: list[str] = []
        self.coverage = started_coverage(tree)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note when a test begins; fixtures may serve several tests."""
        self.began = _used()
        self.coverage.switch_context("fixtures")
        del nodeid

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what a test took, and what does not pass."""
        if report.when == "setup" and report.passed:
            self.coverage.switch_context(report.nodeid)
            if self.most:
                signal.signal(signal.SIGPROF, _too_long)
                signal.setitimer(signal.ITIMER_PROF, self.most)
        if report.when == "call":
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.coverage.switch_context("fixtures")
        if report.when == "call" and report.passed:
            self.tests[report.nodeid] = round(_used() - self.began, 3)
        elif report.failed:
            self.left_out.append(report.nodeid)

    def record(self) -> dict[str, Any]:
        """Return all that was noted: for every module and test, a bit for each line in hex."""
        lines = covered(self.coverage, self.tree)
        passed = {test: took for test, took in self.tests.items() if test not in self.left_out}
        return {"tests": passed, "left out": self.left_out, "lines": lines}


def started_coverage(root: Path) -> Any:
    """Start to note which lines of a tree's modules run."""
    packages = [f"{one.parent}/*" for one in _packages(root)]
    coverage = importlib.import_module("coverage")
    found = coverage.Coverage(data_file=None, config_file=False, include=packages)
    found.start()
    return found


def covered(coverage: Any, root: Path) -> dict[str, dict[str, str]]:
    """Return for every module and context a bit for each line, in hex."""
    coverage.stop()
    data = coverage.get_data()
    lines: dict[str, dict[str, str]] = {}
    for path in sorted(data.measured_files()):
        bits: dict[str, int] = defaultdict(int)
        for line, contexts in data.contexts_by_lineno(path).items():
            for one in contexts:
                bits[one] |= 1 << line
        lines[str(Path(path).relative_to(root))] = {k: f"{v:x}" for k, v in bits.items()}
    return lines


def load(root: Path) -> None:
    """Import what tests import, so that forks need not."""
    for name in HEAVY:
        importlib.import_module(name)
    if "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ:
        for one in importlib.metadata.entry_points(group="pytest11"):
            one.load()
    sys.path.insert(0, str(root))
    for module in modules_of(root):
        with contextlib.suppress(ImportError):  # what is an extra
            importlib.import_module(module)


def _packages(root: Path) -> list[Path]:
    return list(root.glob("*/__init__.py"))


@cache
def imports_of(path: Path) -> set[str]:
    """Return the modules that a file imports, and what it imports from them, as dotted names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text_of(path))):
        match node:
            case ast.Import(aliases):
                names |= {one.name for one in aliases}
            case ast.ImportFrom(str(module), aliases, 0):
                names |= {module, *(f"{module}.{one.name}" for one in aliases)}
    return names


def _with_packages(names: set[str]) -> set[str]:
    """Return dotted names, and those of the packages that they are in."""
    return {name.rsplit(".", k)[0] for name in names for k in range(name.count(".") + 1)}


def modules_of(root: Path) -> list[str]:
    """Return the modules of a tree's packages."""
    parts = [
        path.relative_to(root).with_suffix("").parts
        for package in _packages(root)
        for path in sorted(package.parent.rglob("*.py"))
    ]
    found = [".".join(p[:-1] if p[-1] == "__init__" else p) for p in parts if p[-1] != "__main__"]
    return [one for one in found if "shipped" not in one]


class _TooLongError(BaseException):
    """A test takes too long where numba is off."""


def _too_long(*_: object) -> None:
    raise _TooLongError


def _used() -> float:
    """Return the seconds of processor time of this process and those that it waited for."""
    own, others = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


@dataclass(frozen=True)
class Tests:
    """The tests of a file, and what each of them runs."""

    file: str
    tests: dict[str, float]
    lines: dict[str, dict[str, str]]

    def runs(self, file: str) -> bool:
        """Tell whether any of the tests runs a line of a module, and does not only import it."""
        return any("::" in context for context in self.lines.get(file, {}))

    def that_run(self, mutant: Mutant) -> list[str]:
        """Return the tests that run a mutant's lines."""
        ran = {k: int(v, 16) & mutant.lines for k, v in self.lines.get(mutant.file, {}).items()}
        if ran.get("fixtures") or ran.get(""):
            return list(self.tests)
        return [test for test in self.tests if ran.get(test)]


class Selection:
    """A plugin of pytest that runs some tests in an order, and says which one failed."""

    def __init__(self, tests: Sequence[str], found: Path) -> None:
        self.order = {test: k for k, test in enumerate(tests)}
        self.found = found

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep what is asked for."""
        kept = [one for one in items if one.nodeid in self.order]
        items[:] = sorted(kept, key=lambda one: self.order[one.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write down the test that failed."""
        if report.failed:
            self.found.write_text(report.nodeid)


def run_pytest(
    tree: Path,
    files: Sequence[str],
    plugin: Callable[[], Any],
    found: Path,
    limit: int,
    *,
    numba: bool,
) -> int:
    """Start tests in a fork, which writes what a recorder found, and return its process."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with its parent
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        os.chdir(tree)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        if limit:  # modules of this tree, one of which is changed
            packages = {one.parent.name for one in _packages(tree)}
            for name in [x for x in sys.modules if x.partition(".")[0] in packages]:
                del sys.modules[name]
            sys.path.insert(0, str(tree))
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.environ["PYTHONPATH"] = str(tree)
        os.environ["PYTEST_TIMEOUT"] = "0"  # processor time is what counts
        plain = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"]
        plain += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is there already
        if not numba:
            _without_numba()
            plain += ["-W", "ignore::RuntimeWarning"]  # integers wrap, as they do compiled
        used = plugin()
        first = ["-x"] if isinstance(used, Selection) else []
        pytest = importlib.import_module("pytest")
        code = int(pytest.main(["-q", "-m", UNIT, *first, *plain, *files], plugins=[used]))
        if isinstance(used, Recorder):
            found.write_text(json.dumps(used.record()))
    finally:
        os._exit(code)


def _without_numba() -> None:
    config: Any = importlib.import_module("numba").config
    config.DISABLE_JIT = 1


@dataclass
class Children:
    """Forks at work, one in each copy of the tree."""

    trees: list[Path]
    at_work: dict[int, tuple[Any, Path, float]] = field(default_factory=dict)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Any, int, float, str]]:
        """Yield of each job what it is for, its exit code, its seconds, and what it wrote."""
        free, waiting = list(self.trees), iter(jobs)
        try:
            while True:
                while free and (job := next(waiting, None)):
                    (free[-1] / "found").write_text("")
                    self.at_work[job[1](free[-1])] = (job[0], free[-1], time.monotonic())
                    free.pop()
                if not self.at_work:
                    return
                for child in list(self.at_work):
                    done, status, used = os.wait4(child, os.WNOHANG)
                    what, tree, began = self.at_work[child]
                    if done:
                        del self.at_work[child]
                        free.append(tree)
                        code = os.waitstatus_to_exitcode(status)
                        took = used.ru_utime + used.ru_stime
                        yield what, code, took, (tree / "found").read_text()
                    elif time.monotonic() - began > WAITING * LIMIT and what.limited:
                        os.killpg(child, signal.SIGKILL)
                time.sleep(0.01)
        finally:
            for child in self.at_work:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)


# Running mutants.


@dataclass(frozen=True)
class Recording:
    """A test file to record."""

    file: str
    numba: bool

    @property
    def limited(self) -> bool:
        """Tell whether it is ended after a time: the clock of a test may ring within a lock."""
        return not self.numba


@dataclass(frozen=True)
class Trial:
    """A mutant, and the tests that are to kill it."""

    mutant: Mutant
    tests: tuple[str, ...]
    limited: bool = True

    @property
    def files(self) -> list[str]:
        """Return the files of the tests, in the order of their first one."""
        return list(dict.fromkeys(test.partition("::")[0] for test in self.tests))


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed by a test or the limit ("time"), or survived ("")."""

    killed_by: str
    tests: int
    seconds: float


class Runner:
    """A tree of sources and tests, what its tests run, and what became of its mutants."""

    def __init__(self, root: Path, trees: list[Path]) -> None:
        self.root, self.children = root, Children(trees)
        self.kept = root / "out" / "mutants"
        (self.kept / "tests").mkdir(parents=True, exist_ok=True)

    @cached_property
    def helpers(self) -> str:
        """Return a digest of what test files share."""
        paths = sorted((self.root / "tests").rglob("*.py"))
        return digest("".join(text_of(p) for p in paths if not p.name.startswith("test_")))

    def test_files(self, room: str) -> list[str]:
        """Return the test files that import from a room, or from the room around it."""
        asked = {f"{one.parent.name}.{room.partition('/')[0]}" for one in _packages(self.root)}
        return [
            str(path.relative_to(self.root))
            for path in sorted((self.root / "tests").rglob("test_*.py"))
            if not asked.isdisjoint(_with_packages(imports_of(path)))
        ]

    @cache  # noqa: B019 (one runner a process)
    def recorded(self, room: str, *, numba: bool) -> list[Tests]:
        """Return what a room's test files run, recorded where it is not known or has changed."""
        files = self.test_files(room)
        if not numba:
            loops = self._loops(room)
            recorded = self.recorded(room, numba=True)
            files = [one.file for one in recorded if any(map(one.runs, loops))]
        asked = [Recording(file, numba) for file in sorted(files)]
        kept = {one.file: self._kept(one) for one in asked}
        missing = [one for one in asked if kept[one.file] is None]
        jobs = [(one, self._start_recording(one)) for one in missing]
        for k, (one, code, took, written) in enumerate(self.children.run(jobs), 1):
            # All pass, some fail, there are none; as Python the clock of a test may ring after it.
            if code not in ({0, 1, 5} if numba else {0, 1, 3, 5, -signal.SIGKILL}):
                sys.exit(f"mutants: {one.file} does not run (exit code {code})")
            found = json.loads(written) if written else {"tests": {}, "left out": [], "lines": {}}
            found["of"] = {file: digest(text_of(self.root / file)) for file in found["lines"]}
            found["helpers"], found["test"] = self.helpers, digest(text_of(self.root / one.file))
            kept[one.file] = found
            self._record_file(one).write_text(json.dumps(found))
            print(
                f"recorded {k} of {len(missing)}: {one.file} {took:.1f} s",
                *found["left out"] * numba,
            )
        return [Tests(file, one["tests"], one["lines"]) for file, one in kept.items() if one]

    def _loops(self, room: str) -> set[str]:
        """Return the modules of a room with loops that numba compiles, and those importing them."""
        looped = {m.file for m in mutants_of(self.root, room) if m.looped}
        return looped.union(*map(self._importers, looped))

    def _record_file(self, one: Recording) -> Path:
        name = one.file.replace("/", "-") + ("" if one.numba else "-interpreted")
        return self.kept / "tests" / f"{name}.json"

    def _kept(self, one: Recording) -> dict[str, Any] | None:
        path = self._record_file(one)
        if not path.exists():
            return None
        found: dict[str, Any] = json.loads(path.read_text())
        valid = found["helpers"] == self.helpers and all(
            (self.root / file).exists() and digest(text_of(self.root / file)) == was
            for file, was in [*found["of"].items(), (one.file, found["test"])]
        )
        return found if valid else None

    def _start_recording(self, one: Recording) -> Callable[[Path], int]:
        most = 0 if one.numba else INTERPRETED

        def start(tree: Path) -> int:
            found, root = tree / "found", self.root
            plugin = partial(Recorder, root, most)
            return run_pytest(root, [one.file], plugin, found, 0, numba=one.numba)

        return start

    def trial(self, room: str, mutant: Mutant, killer: str) -> Trial:
        """Return a mutant with its tests: the last killer, those that run its line, others."""
        having = self._having(room, mutant)
        if not having and not mutant.lines:
            for file in self._importers(mutant.file):
                having += self._having(room, replace(mutant, file=file, lines=-1))
        having.sort(key=lambda one: (one[0] / len(one[1]), one[2].file))
        took = {test: seconds for _, _, one in having for test, seconds in one.tests.items()}
        order = [killer] if killer in took else []
        order += [test for _, tests, _ in having for test in tests]
        order += [test for _, _, one in having for test in one.tests]
        chosen, used = [], 0.0
        for test in dict.fromkeys(order):
            if used + took[test] <= BUDGET:
                used += took[test]
                chosen.append(test)
        return Trial(mutant, tuple(chosen))

    def _having(self, room: str, mutant: Mutant) -> list[tuple[float, list[str], Tests]]:
        """Return test files that run a mutant's lines, with these tests and their seconds."""
        recorded = self.recorded(room, numba=not mutant.looped)
        having = [(one.that_run(mutant), one) for one in recorded]
        return [
            (sum(one.tests[test] for test in tests), tests, one) for tests, one in having if tests
        ]

    def _importers(self, file: str) -> list[str]:
        """Return the modules that import a module."""
        module = ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")
        paths = chain(*(one.parent.rglob("*.py") for one in _packages(self.root)))
        return sorted(str(p.relative_to(self.root)) for p in paths if module in imports_of(p))

    def _digest(self, trial: Trial, killed_by: str) -> str:
        """Return a digest of the changed file and the tests: of the killer's file, or of all."""
        killer = killed_by.partition("::")[0] if "::" in killed_by else ""
        files = [killer] if killer else sorted(trial.files)
        texts = [text_of(self.root / file) for file in (trial.mutant.file, *files)]
        return digest("".join([*texts, self.helpers, *(() if killer else trial.tests)]))

    def outcomes(self, room: str, mutants: list[Mutant]) -> Iterator[tuple[Mutant, Outcome]]:
        """Yield what becomes of mutants; outcomes are kept, and read where nothing changed."""
        path = self.kept / f"{room.replace('/', '-')}.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        before = {digest(str(line["mutant"])): line for line in map(json.loads, lines)}
        jobs: list[Job] = []
        for one in mutants:
            was = before.get(digest(str(vars(one.name))), {"killed by": "", "digest": ""})
            trial = self.trial(room, one, was["killed by"])
            if was["digest"] == self._digest(trial, was["killed by"]):
                yield one, Outcome(was["killed by"], was["tests"], was["seconds"])
            elif not trial.tests:
                yield one, Outcome("", 0, 0.0)
            else:
                jobs.append((trial, self._start(trial)))
        with path.open("a") as file:
            for trial, code, took, written in self.children.run(jobs):
                killed_by = _killer(code, written)
                line = {
                    "mutant": vars(trial.mutant.name), "digest": self._digest(trial, killed_by),
                    "killed by": killed_by, "tests": len(trial.tests), "seconds": round(took, 2),
                }  # fmt: skip
                file.write(json.dumps(line) + "\n")
                file.flush()
                yield trial.mutant, Outcome(killed_by, len(trial.tests), took)

    def _start(self, trial: Trial) -> Callable[[Path], int]:
        mutant = trial.mutant

        def start(tree: Path) -> int:
            self._restore(tree)
            (tree / mutant.file).write_text(mutant.source(self.root))
            (tree / "changed").write_text(mutant.file)
            found = tree / "found"
            plugin = partial(Selection, trial.tests, found)
            return run_pytest(tree, trial.files, plugin, found, LIMIT, numba=not mutant.looped)

        return start

    def _restore(self, tree: Path) -> None:
        """Put a file back as it was, its time as well: bytecode and compiled loops go by it."""
        changed = tree / "changed"
        if changed.exists() and (file := changed.read_text()):
            shutil.copy2(self.root / file, tree / file)


def _killer(code: int, written: str) -> str:
    if written:
        return written
    if code < 0:
        return "time" if -code in {signal.SIGXCPU, signal.SIGKILL} else f"signal {-code}"
    return "" if code in {0, 5} else "collecting"


# The list of survivors.


def name_of(entry: dict[str, Any]) -> Name:
    """Return the mutant of an entry."""
    return Name(entry["function"], entry["before"], entry["after"], entry.get("number", 0))


def entry_of(name: Name, **said: str | bool) -> dict[str, Any]:
    """Return the entry of a mutant."""
    found: dict[str, Any] = {k: v for k, v in vars(name).items() if k != "number" or v}
    return found | {key.replace("_", " "): value for key, value in said.items()}


@dataclass
class Listed:
    """The survivors that are known: equivalent, killed by a test since, or open."""

    path: Path

    def __post_init__(self) -> None:
        entries = json.loads(self.path.read_text()) if self.path.exists() else []
        self.entries = {name_of(one): one for one in entries}

    def equivalent(self, name: Name) -> bool:
        """Tell whether a mutant is said to change nothing."""
        return "equivalent because" in self.entries.get(name, {})

    def note(self, name: Name, outcome: Outcome) -> None:
        """Note what became of a mutant."""
        if self.equivalent(name):
            return
        if not outcome.killed_by:
            self.entries[name] = entry_of(name, open=True)
        elif name in self.entries:
            self.entries[name] = entry_of(name, killed_by=outcome.killed_by)

    def write(self, known: set[Name]) -> None:
        """Write the list, without mutants that are no more."""
        order = sorted(self.entries, key=lambda name: tuple(vars(name).values()))
        lines = [
            json.dumps(self.entries[name], ensure_ascii=False) for name in order if name in known
        ]
        self.path.write_text("[\n" + ",\n".join(lines) + "\n]\n")


@dataclass
class Tally:
    """What became of the mutants of a room."""

    room: str
    mutants: int = 0
    killed: int = 0
    equivalent: int = 0
    not_run: int = 0
    seconds: float = 0.0
    wrong: int = 0  # equivalent ones that were killed

    @property
    def surviving(self) -> int:
        """Return how many survive and are not equivalent."""
        return self.mutants - self.killed - self.equivalent

    @property
    def holds(self) -> bool:
        """Tell whether few enough survive."""
        return not self.wrong and self.surviving <= SHARE * (self.mutants - self.equivalent)

    def add(self, outcome: Outcome, *, equivalent: bool) -> None:
        """Count a mutant."""
        self.mutants += 1
        self.killed += bool(outcome.killed_by)
        self.wrong += equivalent and bool(outcome.killed_by)
        self.equivalent += equivalent and not outcome.killed_by
        self.not_run += not outcome.tests and not equivalent
        self.seconds += outcome.seconds

    def row(self) -> str:
        """Return a line of the table."""
        share = self.surviving / max(1, self.mutants - self.equivalent)
        return (
            f"{self.room:17} {self.mutants:7} {self.killed:6} {self.equivalent:10}"
            f" {self.surviving:9} {share:6.1%} {self.not_run:7} {self.seconds:7.0f}"
        )


HEADER = "room              mutants killed equivalent surviving  share not run seconds"


def run_room(runner: Runner, room: str, listed: Listed, asked: argparse.Namespace) -> Tally:
    """Run the sample of a room and its listed mutants, and print those that survive."""
    mutants = mutants_of(runner.root, room)
    chosen = dict.fromkeys(sample(mutants, asked.count, asked.seed))
    chosen |= dict.fromkeys(one for one in mutants if one.name in listed.entries)
    tally = Tally(room)
    for mutant, outcome in runner.outcomes(room, list(chosen)):
        equivalent = listed.equivalent(mutant.name)
        tally.add(outcome, equivalent=equivalent)
        if equivalent == bool(outcome.killed_by):
            said = f"{outcome.tests} tests run" if outcome.tests else "no test runs it"
            said = f"not equivalent: {outcome.killed_by}" if equivalent else said
            name = mutant.name
            print(f"{mutant.place(runner.root)} {name.function or 'module'}: {mutant.kind}, {said}")
            print(f"  - {name.before}\n  + {name.after}", flush=True)
        listed.note(mutant.name, outcome)
    return tally


def main(arguments: Sequence[str] | None = None) -> int:
    """Run mutants, print the survivors and a table, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--room", action="append", help="a room, usually all", metavar="ROOM")
    parser.add_argument("--count", type=int, default=55, help="mutants of a room")
    parser.add_argument("--seed", type=int, default=1988)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--accept", action="store_true", help="update benchmarks/mutants.json")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    rooms = asked.room or ROOMS
    for room in rooms:
        if not mutants_of(asked.root, room):
            parser.error(f"there is no room {room}: choose from {', '.join(ROOMS)}")
    listed = Listed(asked.root / "benchmarks" / "mutants.json")
    tallies = []
    load(asked.root)
    with tempfile.TemporaryDirectory() as folder:
        trees = [Path(folder).resolve() / f"tree{k}" for k in range(asked.cores)]
        for tree in trees:
            hidden = shutil.ignore_patterns(".*", "out", "*.tmp")
            shutil.copytree(asked.root, tree, ignore=hidden)
        runner = Runner(asked.root, trees)
        for room in rooms:
            tallies.append(run_room(runner, room, listed, asked))
            print(HEADER, tallies[-1].row(), sep="\n", flush=True)
    print(HEADER, *(tally.row() for tally in tallies), sep="\n")
    if asked.accept:
        known = {one.name for room in ROOMS for one in mutants_of(asked.root, room)}
        listed.write(known)
    return int(not all(tally.holds for tally in tallies))


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))  # a package of tests has the name of a benchmark
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # removes the copies
    sys.exit(main())
