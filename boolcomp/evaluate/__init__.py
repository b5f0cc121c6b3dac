"""Torques by logic: engines that run a wiring on bit-planes, with identical results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.errors import UsageError, listing, suggestion
from boolcomp.evaluate.batch import Batch, Engine, Evaluation, evaluate

if TYPE_CHECKING:
    from boolcomp.wiring import Wiring

EngineName = Literal["auto", "numpy", "llvm"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

__all__ = ["ENGINES", "Batch", "Engine", "EngineName", "Evaluation", "evaluate", "make_engine"]


def make_engine(wiring: Wiring, name: str = "auto", threads: int = 1) -> Engine:
    """Return an engine for a wiring; `auto` is `llvm` where llvmlite is installed, else `numpy`.

    So many threads share a large batch in the llvm engine; the numpy engine uses one.
    """
    if name not in ENGINES:
        raise UsageError(f"engine {name!r}{suggestion(name, ENGINES)}: {listing(ENGINES)}")
    if name != "numpy":
        try:
            import llvmlite.binding  # noqa: F401, PLC0415 (only asked whether it is there)
        except (ImportError, OSError) as error:
            if name == "llvm":
                raise UsageError(
                    f"engine 'llvm' needs the package llvmlite ({error}): install it, or use "
                    "engine 'numpy'"
                ) from error
        else:
            from boolcomp.evaluate.native import NativeEngine  # noqa: PLC0415 (imports llvmlite)

            return NativeEngine(wiring, threads=threads)
    from boolcomp.evaluate.planes import NumpyEngine  # noqa: PLC0415 (only who asks needs it)

    return NumpyEngine(wiring)
