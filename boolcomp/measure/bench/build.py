"""Compiles the rivals' C: which compilers there are, what the processor can, loaded functions.

A shared object is kept in the user's cache, keyed by all that went into it. It is read back as
other native code is: this user's own, whole, and by its checksum what was compiled.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.files import read_text, shipped, temporary_folder
from boolcomp.base.processes import run_program
from boolcomp.base.store import load_library, native_code
from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    import ctypes

COMPILERS = ("gcc", "clang")
FAST = ("-O3", "-march=native", "-ffast-math", "-funroll-loops", "-mprefer-vector-width=512")
OBJECT = ("-std=gnu11", "-fPIC", "-w", "-c")
MOST_SECONDS = 300.0
ADVANCED = {"avx512": ("avx512f", "avx512bw", "avx512vl", "avx512dq"), "vbmi": ("avx512vbmi",)}


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: its name, where it is, and the line it prints about itself."""

    name: str
    path: str
    version: str


@cache
def compiler(name: str) -> Compiler | None:
    """Return a compiler that is on the path."""
    path = shutil.which(name)
    if path is None:
        return None
    lines = run_program([path, "--version"], MOST_SECONDS).printed.decode().splitlines()
    return Compiler(name, path, lines[0] if lines else name)


@cache
def processor() -> tuple[str, frozenset[str]]:
    """Return the processor's name and flags; flags are empty where the system does not tell."""
    try:
        text = read_text(Path("/proc/cpuinfo"))
    except DataError:
        return "unknown processor", frozenset()
    pairs = [line.partition(":") for line in text.splitlines()]
    found = {key.strip(): value.strip() for key, _, value in reversed(pairs)}
    return found.get("model name", "unknown processor"), frozenset(found.get("flags", "").split())


def missing(feature: str) -> str:
    """Return why the processor cannot run something (`avx512`, `vbmi`), or nothing."""
    flags = processor()[1]
    lacks = [flag for flag in ADVANCED.get(feature, ()) if flag not in flags]
    return f"the processor has no {', '.join(lacks)}" if lacks else ""


def source(name: str) -> str:
    """Return the text of a file in benchmarks/rivals."""
    return read_text(sources() / name)


def sources() -> Path:
    """Return the folder of the C sources: inside a wheel, or in the checkout."""
    inside = shipped("rivals")
    return inside if inside.is_dir() else inside.parent / "benchmarks" / "rivals"


@dataclass(frozen=True, slots=True)
class Unit:
    """What is compiled: a C text, a header put before it, macros, flags, libraries."""

    text: str
    header: str = ""
    macros: tuple[str, ...] = ()
    flags: tuple[str, ...] = FAST
    libraries: tuple[str, ...] = ()


def compiled_library(by: Compiler, unit: Unit) -> ctypes.CDLL:
    """Return the loaded shared object; a `DataError` with the compiler's words where it fails."""
    cpu, flags = processor()
    common = source("rival.h")
    parts = [by.version, cpu, *sorted(flags), *OBJECT, "-shared", common, unit.text, unit.header]
    parts += [*unit.macros, *unit.flags, *unit.libraries]

    def make() -> bytes:
        with temporary_folder() as folder:
            return _run(by, unit, folder).read_bytes()

    return load_library(native_code("rivals", ".so", parts, make))


def _run(by: Compiler, unit: Unit, folder: Path) -> Path:
    (folder / "rival.c").write_text(unit.text, encoding="utf-8")
    (folder / "robot.h").write_text(unit.header, encoding="utf-8")
    command = [by.path, *OBJECT, *unit.flags, *(f"-D{macro}" for macro in unit.macros)]
    command += ["-include", "robot.h", "-I", str(sources()), "-I", str(folder), "rival.c"]
    # Linked apart and without -ffast-math: with it, a shared object that is loaded makes the whole
    # process, Python and numpy with it, take subnormal numbers for zero.
    linked = [by.path, "-shared", "rival.o", "-o", "rival.so", *unit.libraries]
    for each in (command, linked):
        done = run_program(each, MOST_SECONDS, folder=folder)
        if done.code is None:
            raise DataError(f"{by.name} did not finish in {MOST_SECONDS:.0f} s")
        if done.code:
            said = done.printed.decode("utf-8", "replace").strip()[-500:]
            raise DataError(f"{by.name} refuses a rival: {said}")
    return folder / "rival.so"


def function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of a shared object; it gives up Python's lock while it runs."""
    found = library[name]
    found.restype, found.argtypes = result, list(arguments)
    return found
