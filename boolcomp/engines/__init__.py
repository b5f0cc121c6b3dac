"""Outputs by logic: engines that run a wiring on bit-planes, with identical results."""

from __future__ import annotations

import platform
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.engines.batch import Batch, Engine, Evaluation, evaluate

if TYPE_CHECKING:
    from boolcomp.engines.wiring import Wiring

EngineName = Literal["auto", "numpy", "llvm", "bdd"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

__all__ = [
    "ENGINES", "Batch", "Engine", "EngineName", "Evaluation", "engine_name", "evaluate",
    "make_engine",
]  # fmt: skip
X86 = ("x86_64", "amd64")


def make_engine(wiring: Wiring, name: str = "auto", threads: int = 1) -> Engine:
    """Return an engine for a wiring, as `engine_name` chooses it.

    So many threads share a large batch in the llvm engine; the numpy engine uses one.
    """
    chosen = engine_name(name)
    if chosen == "bdd":
        from boolcomp.engines.walking import DiagramEngine  # noqa: PLC0415 (imports numba)

        return DiagramEngine(wiring)
    if chosen == "llvm":
        from boolcomp.engines.native import NativeEngine  # noqa: PLC0415 (imports llvmlite)

        return NativeEngine(wiring, threads=threads)
    from boolcomp.engines.planes import NumpyEngine  # noqa: PLC0415 (only who asks needs it)

    return NumpyEngine(wiring)


def engine_name(name: str) -> Literal["numpy", "llvm", "bdd"]:
    """Return the engine that a name means: `auto` is `llvm` where that can run, else `numpy`.

    `bdd` is only taken where it is asked for.
    """
    if name not in ENGINES:
        raise UsageError(f"engine {name!r}{suggestion(name, ENGINES)}: {listing(ENGINES)}")
    if name == "bdd":
        if find_spec("numba") is None:
            raise UsageError("engine 'bdd' needs the package numba, or use engine 'numpy'")
        return "bdd"
    lacks = _native_lacks() if name != "numpy" else ""
    if name == "llvm" and lacks:
        raise UsageError(f"engine 'llvm' needs {lacks}, or use engine 'numpy'")
    return "numpy" if name == "numpy" or lacks else "llvm"


def _native_lacks() -> str:
    """Return what the native engine needs and this machine has not; "" where it can run."""
    if platform.machine().lower() not in X86:
        return f"an x86-64 processor, and this one is {platform.machine() or 'unknown'}: take one"
    try:
        import llvmlite.binding  # noqa: F401, PLC0415 (only asked whether it is there)
    except (ImportError, OSError) as error:
        return f"the package llvmlite ({error}): install it"
    return ""
