"""Outputs by logic: engines that run a wiring on bit-planes, with identical results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.engines.choice import make_engine as make_engine
    from boolcomp.engines.coding import LARGE_HIGH as LARGE_HIGH
    from boolcomp.engines.coding import MARGIN as MARGIN
    from boolcomp.engines.coding import coarse as coarse
    from boolcomp.engines.coding import fine as fine
    from boolcomp.engines.engine import Call as Call
    from boolcomp.engines.engine import Cut as Cut
    from boolcomp.engines.engine import Engine as Engine
    from boolcomp.engines.engine import Evaluation as Evaluation
    from boolcomp.engines.engine import Port as Port
    from boolcomp.engines.engine import Result as Result
    from boolcomp.engines.engine import Stop as Stop
    from boolcomp.engines.engine import Wiring as Wiring
    from boolcomp.engines.engine import WordLogic as WordLogic
    from boolcomp.engines.engine import evaluate as evaluate
    from boolcomp.engines.engine import split_calls as split_calls
    from boolcomp.engines.llvm import NativeCode as NativeCode
    from boolcomp.engines.llvm import Processor as Processor
    from boolcomp.engines.llvm import host as host
    from boolcomp.engines.native import NativeEngine as NativeEngine
    from boolcomp.engines.numpy import NumpyEngine as NumpyEngine
    from boolcomp.engines.planes import WIDTHS as WIDTHS
    from boolcomp.engines.words import WordEngine as WordEngine
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "choice": "make_engine",
            "coding": "LARGE_HIGH MARGIN coarse fine",
            "engine": "Call Cut Engine Evaluation Port Result Stop Wiring WordLogic "
            "evaluate split_calls",
            "llvm": "NativeCode Processor host",
            "native": "NativeEngine",
            "numpy": "NumpyEngine",
            "planes": "WIDTHS",
            "words": "WordEngine",
        },
    )
