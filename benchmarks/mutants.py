"""How many small faults the unit tests miss: each is made in a copy, and the module's tests run.

    python benchmarks/mutants.py                                300 mutants of all rooms below
    python benchmarks/mutants.py --only boolcomp/paper --count 50 --seed 7

A mutant is one small change: a constant by one, a comparison, a sign, + and -, `and` and `or`, min
and max, shifts, a dropped `not`, a rounding. It is killed when a test of its module fails or takes
five times its processor time. Survivors that mutants.toml explains count as neither.
Every mutant runs in a fork of a process that has imported the heavy packages, and in a copy of the
tree whose bytecode is checked by content. Loops that numba compiles are left out.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import contextlib
import ctypes
import importlib
import math
import os
import py_compile
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    "boolcomp/compact", "boolcomp/words", "boolcomp/logic", "boolcomp/paper", "boolcomp/codes.py",
)  # fmt: skip
PARTS = (
    "boolcomp",
    "tests",
    "robots",
    "tables",
    "docs",
    "benchmarks",
    "pyproject.toml",
    "Makefile",
    "examples",
    "CHANGELOG.md",
    "README.md",
)
HEAVY = (
    "bitarray",
    "click",
    "highspy",
    "hypothesis",
    "llvmlite.binding",
    "numba",
    "numpy",
    "pytest",
)
# The tests of a module: those of the longest name here that it begins with.
TESTS = {
    "boolcomp/codes.py": "test_codes.py",
    "boolcomp/compact": "compact test_pipeline.py test_api.py",
    "boolcomp/compact/sketch": "compact",
    "boolcomp/compact/widths": "compact",
    "boolcomp/compact/graph": "compact",
    "boolcomp/compact/result": "compact test_cli_compact.py test_program_compact.py",
    "boolcomp/words": "compact test_program_graph.py",
    "boolcomp/logic/blif.py": "synthesis/test_blif.py",
    "boolcomp/logic/equivalence.py": "test_equivalence.py",
    "boolcomp/logic/luts.py": "test_luts.py",
    "boolcomp/logic/network.py": "test_network.py",
    "boolcomp/logic/networktext.py": "test_network.py",
    "boolcomp/logic/order.py": "test_order.py test_network.py",
    "boolcomp/logic/sat.py": "test_equivalence.py",
    "boolcomp/logic/simulation.py": "test_simulation.py",
    "boolcomp/logic/sums.py": "test_sums.py",
    "boolcomp/logic/sweep.py": "test_equivalence.py",
    "boolcomp/logic/synthesis": "synthesis",
    "boolcomp/logic/truthtable.py": "test_truth.py",
    "boolcomp/paper/assembly.py": "test_program.py",
    "boolcomp/paper/bounds.py": "test_quantised.py proof/test_tabled.py",
    "boolcomp/paper/coverlogic.py": "test_coverlogic.py test_network.py",
    "boolcomp/paper/covers.py": "test_store.py test_compiler.py",
    "boolcomp/paper/outside.py": "test_outside.py",
    "boolcomp/paper/passes.py": "test_pipeline.py test_compiler.py",
    "boolcomp/paper/plan.py": "test_plan.py",
    "boolcomp/paper/quantised.py": "test_quantised.py test_outside.py",
    "boolcomp/paper/store.py": "test_store.py",
    "boolcomp/paper/stored.py": "test_store.py",
    "boolcomp/paper/truth.py": "test_truth.py",
    "boolcomp/paper/truthfile.py": "test_truthfile.py",
    "boolcomp/paper/words.py": "test_outside.py test_plan.py test_truth.py",
}  # fmt: skip
SLOWER, LEAST = 5, 10.0  # times the unchanged tests, and seconds at least: of processor time
WAITING = 10  # such times, where a mutant sleeps or the machine is busy

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor",
         "round": "int", "rint": "floor"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One small change of a file: the text in a place, and what takes its place."""

    file: str
    start: int
    end: int
    text: str

    def source(self) -> str:
        """Return the file with the change."""
        old = text_of(self.file)
        return old[: self.start] + self.text + old[self.end :]

    def lines(self) -> tuple[int, str, str]:
        """Return the line's number, and the line (or lines) before and after."""
        old = text_of(self.file)
        first = old.rfind("\n", 0, self.start) + 1
        last = old.find("\n", self.end)
        after = old[first : self.start] + self.text + old[self.end : last]
        return old.count("\n", 0, self.start) + 1, _one_line(old[first:last]), _one_line(after)


@cache
def text_of(file: str) -> str:
    """Return a file as it was when it was first asked for."""
    return (ROOT / file).read_text()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def mutants_of(file: str) -> Iterator[Mutant]:
    """Yield all mutants of a file."""
    text = text_of(file)
    begins = [0]
    for line in text.split("\n"):
        begins.append(begins[-1] + len(line) + 1)
    lines = text.split("\n")

    def place(line: int, column: int) -> int:
        return begins[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node in _code(ast.parse(text)):
        for changed in _changes(node):
            start = place(node.lineno, node.col_offset)
            end = place(node.end_lineno or 0, node.end_col_offset or 0)
            made = ast.unparse(changed)
            yield Mutant(
                file, start, end, made if isinstance(changed, ast.Constant) else f"({made})"
            )


def _code(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that compute something: no annotations, texts or loops of numba."""
    if isinstance(node, ast.JoinedStr | ast.AnnAssign) and not getattr(node, "value", None):
        return
    if isinstance(node, ast.FunctionDef) and any(
        "njit" in ast.unparse(d) for d in node.decorator_list
    ):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Raise):
        return  # the words of a message
    if isinstance(node, ast.expr):
        yield node
    skipped = {"annotation", "returns", "decorator_list", "type_params"}
    for name, value in ast.iter_fields(node):
        if name in skipped or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the changed forms of an expression."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Compare(left, ops, comparators):
            for k, op in enumerate(ops):
                if type(op) in SWAPS:
                    other = [*ops[:k], SWAPS[type(op)](), *ops[k + 1 :]]
                    yield ast.Compare(left, other, comparators)  # type: ignore[arg-type]
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            yield ast.BinOp(left, SWAPS[type(op)](), right)  # type: ignore[arg-type]
        case ast.BoolOp(op, values):
            yield ast.BoolOp(SWAPS[type(op)](), values)  # type: ignore[arg-type]
        case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert(), operand):
            yield operand
        case ast.Call(ast.Name(name) as function, args, keywords) if name in CALLS:
            yield ast.Call(ast.Name(CALLS[function.id]), args, keywords)
        case ast.Call(ast.Attribute(value, name), args, keywords) if name in CALLS:
            yield ast.Call(ast.Attribute(value, CALLS[name]), args, keywords)


def tests_of(file: str) -> list[str]:
    """Return the test files of a module."""
    name = max((name for name in TESTS if file.startswith(name)), key=len)
    return [f"tests/{part}" for part in TESTS[name].split()]


def copied_tree(folder: Path) -> Path:
    """Copy the tree; its bytecode is checked by content, so that none is ever stale."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            shutil.copy2(ROOT / part, folder / part)
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "boolcomp", quiet=1, invalidation_mode=mode)
    return folder


def run_tests(tree: Path, tests: list[str], limit: float, *, keep: bool) -> tuple[int, float]:
    """Return pytest's exit code in a fork, and its seconds of processor time, at most `limit`."""
    child = os.fork()
    if not child:
        _child(tree, tests, limit, keep=keep)
    end = time.monotonic() + WAITING * limit
    while time.monotonic() < end:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL, limit


def _child(tree: Path, tests: list[str], limit: float, *, keep: bool) -> None:
    code = 99
    try:
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with its parent
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))
        os.chdir(tree)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        sys.path[0] = str(tree)
        os.environ["PYTHONPATH"] = str(tree)
        if not keep:
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        pytest = importlib.import_module("pytest")
        plain = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"]
        plain += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is there already
        code = int(pytest.main(["-x", "-q", "-m", "not slow", *plain, *tests]))
    finally:
        os._exit(code)


class Runner:
    """Copies of the tree, one a core, and how long unchanged tests take."""

    def __init__(self, folder: Path, cores: int) -> None:
        self.free: SimpleQueue[Path] = SimpleQueue()
        self.limits: dict[tuple[str, ...], float] = {}
        trees = [copied_tree(folder / f"tree{k}") for k in range(cores)]
        for tree in trees:
            self.free.put(tree)

    def time_tests(self, files: set[str]) -> None:
        """Run the unchanged tests of files in every copy, and note how long they take."""
        trees = [self.free.get() for _ in range(self.free.qsize())]
        for tests in sorted({tuple(tests_of(file)) for file in files}):
            for tree in trees:
                code, seconds = run_tests(tree, list(tests), 600, keep=True)
                if code != 0:
                    sys.exit(f"mutants: {' '.join(tests)} fail without a mutant (exit code {code})")
                self.limits[tests] = max(LEAST, SLOWER * seconds)
        for tree in trees:
            self.free.put(tree)

    def killed(self, mutant: Mutant) -> bool:
        """Tell whether the tests notice a mutant."""
        tree, tests = self.free.get(), tests_of(mutant.file)
        try:
            (tree / mutant.file).write_text(mutant.source())
            return run_tests(tree, tests, self.limits[tuple(tests)], keep=False)[0] != 0
        finally:
            (tree / mutant.file).write_text(text_of(mutant.file))
            self.free.put(tree)


def explained() -> dict[tuple[str, str], str]:
    """Return why mutants are equivalent, by file and changed line."""
    entries = tomllib.loads((Path(__file__).with_name("mutants.toml")).read_text())
    return {(one["file"], one["after"]): one["why"] for one in entries.get("equivalent", ())}


def sample(only: str, count: int, seed: int) -> list[Mutant]:
    """Return so many mutants of the rooms, drawn by seed."""
    files = sorted(
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in ([ROOT / room] if room.endswith(".py") else (ROOT / room).rglob("*.py"))
    )
    found = [m for file in files if file.startswith(only) for m in mutants_of(file)]
    draw = random.Random(seed)  # noqa: S311 (no secret)
    return draw.sample(found, min(count, len(found)))


def main() -> None:
    """Run mutants and print the survivors; exit code 1 where a tenth or more survive."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="files that begin so")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1988)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    asked = parser.parse_args()
    chosen = sample(asked.only, asked.count, asked.seed)
    for name in HEAVY:
        importlib.import_module(name)
    known = explained()
    survivors: list[Mutant] = []
    same = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder), asked.cores)
        runner.time_tests({mutant.file for mutant in chosen})
        with ThreadPoolExecutor(asked.cores) as pool:
            for mutant, killed in zip(chosen, pool.map(runner.killed, chosen), strict=True):
                number, before, after = mutant.lines()
                if killed:
                    continue
                why = known.get((mutant.file, after))
                same += why is not None
                if why is None:
                    survivors.append(mutant)
                    print(f"{mutant.file}:{number}\n  - {before}\n  + {after}", flush=True)
    share = len(survivors) / max(1, len(chosen) - same)
    print(f"{len(chosen)} mutants, {same} equivalent, {len(survivors)} survive ({share:.1%})")
    sys.exit(share >= 0.1)


if __name__ == "__main__":
    main()
