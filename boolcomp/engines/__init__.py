"""Engines that evaluate a wiring of networks on batches of samples, with identical results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.engines.choice import make_engine as make_engine
    from boolcomp.engines.engine import Call as Call
    from boolcomp.engines.engine import EnginePort as EnginePort
    from boolcomp.engines.engine import Evaluation as Evaluation
    from boolcomp.engines.engine import Result as Result
    from boolcomp.engines.engine import Stop as Stop
    from boolcomp.engines.engine import Wiring as Wiring
    from boolcomp.engines.engine import evaluate as evaluate
    from boolcomp.engines.engine import split_calls as split_calls
    from boolcomp.engines.llvm import NativeCode as NativeCode
    from boolcomp.engines.llvm import host as host
    from boolcomp.engines.native import NativeEngine as NativeEngine
    from boolcomp.engines.words import WordEngine as WordEngine
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "choice": "make_engine",
            "engine": "Call EnginePort Evaluation Result Stop Wiring evaluate split_calls",
            "llvm": "NativeCode host",
            "native": "NativeEngine",
            "words": "WordEngine",
        },
    )
