"""Word graphs, the exact integer form of compact programs: values, text, simulation, operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.words.costs import MACHINES as MACHINES
    from boolcomp.words.costs import cycles as cycles
    from boolcomp.words.drawing import draw_graph as draw_graph
    from boolcomp.words.drawing import word_names as word_names
    from boolcomp.words.graph import Angles as Angles
    from boolcomp.words.graph import Bits as Bits
    from boolcomp.words.graph import Heap as Heap
    from boolcomp.words.graph import InputWord as InputWord
    from boolcomp.words.graph import Lookup as Lookup
    from boolcomp.words.graph import Node as Node
    from boolcomp.words.graph import OutputWord as OutputWord
    from boolcomp.words.graph import PartialProducts as PartialProducts
    from boolcomp.words.graph import Scale as Scale
    from boolcomp.words.graph import Turn as Turn
    from boolcomp.words.graph import WordGraph as WordGraph
    from boolcomp.words.graph import narrowed as narrowed
    from boolcomp.words.graph import parse_graph as parse_graph
    from boolcomp.words.graph import reads as reads
    from boolcomp.words.lowering import Lowering as Lowering
    from boolcomp.words.lowering import Maker as Maker
    from boolcomp.words.operations import Inside as Inside
    from boolcomp.words.operations import IntOp as IntOp
    from boolcomp.words.operations import IntOps as IntOps
    from boolcomp.words.operations import IntOutput as IntOutput
    from boolcomp.words.operations import interpret as interpret
    from boolcomp.words.simulation import agrees as agrees
    from boolcomp.words.simulation import node_word as node_word
    from boolcomp.words.simulation import simulate as simulate
    from boolcomp.words.simulation import with_word as with_word
    from boolcomp.words.simulation import word_values as word_values
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "drawing": "draw_graph word_names",
            "graph": "Angles Bits Heap InputWord Lookup Node OutputWord "
            "PartialProducts Scale Turn WordGraph narrowed parse_graph "
            "reads",
            "costs": "MACHINES cycles",
            "lowering": "Lowering Maker",
            "operations": "Inside IntOp IntOps IntOutput interpret",
            "simulation": "agrees node_word simulate with_word word_values",
        },
    )
