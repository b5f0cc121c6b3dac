"""The choice of an engine by name, processor and installed packages."""

from __future__ import annotations

import platform
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.base.errors import UsageError, require_name

if TYPE_CHECKING:
    from boolcomp.engines.engine import Engine, Wiring

EngineName = Literal["auto", "numpy", "llvm", "words", "bdd"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

X86 = ("x86_64", "amd64")


def make_engine(wiring: Wiring, name: str = "auto", threads: int = 1) -> Engine:
    """Return an engine for a wiring, as `engine_name` chooses it.

    The threads share a large batch; engines numpy and bdd have one thread.
    """
    chosen = engine_name(name)
    if chosen == "bdd":
        from boolcomp.engines.bdd import DiagramEngine  # noqa: PLC0415 (imports numba)

        return DiagramEngine(wiring)
    if name == "auto" and chosen == "llvm" and wiring.logic is not None:
        from boolcomp.engines.auto import AutoEngine  # noqa: PLC0415 (imports llvmlite)

        return AutoEngine(wiring, threads)
    if chosen == "words":
        from boolcomp.engines.words import WordEngine  # noqa: PLC0415 (imports llvmlite)

        return WordEngine(wiring, threads)
    if chosen == "llvm":
        from boolcomp.engines.native import NativeEngine  # noqa: PLC0415 (imports llvmlite)

        return NativeEngine(wiring, threads=threads)
    from boolcomp.engines.numpy import NumpyEngine  # noqa: PLC0415 (rarely used)

    return NumpyEngine(wiring)


def engine_name(name: str) -> Literal["numpy", "llvm", "words", "bdd"]:
    """Return the engine that a name selects: for `auto` it is `llvm` if that can run, else `numpy`.

    For `auto` with a word graph, `make_engine` combines `llvm` and `words`.
    """
    require_name("engine", name, ENGINES)
    if name == "bdd":
        if find_spec("numba") is None:
            raise UsageError("engine 'bdd' needs the package numba", "use engine 'numpy'")
        return "bdd"
    lacks = _native_lacks() if name != "numpy" else ""
    if name in ("llvm", "words") and lacks:
        raise UsageError(f"engine {name!r} needs {lacks}", "use engine 'numpy'")
    if name == "words":
        return "words"
    return "numpy" if name == "numpy" or lacks else "llvm"


def _native_lacks() -> str:
    """Return a missing requirement of the native engine with a hint, or ""."""
    if platform.machine().lower() not in X86:
        return f"an x86-64 processor, and this one is {platform.machine() or 'unknown'}: take one"
    try:
        import llvmlite.binding  # noqa: F401, PLC0415 (a check)
    except (ImportError, OSError) as error:
        return f"the package llvmlite ({error}): install it"
    return ""
