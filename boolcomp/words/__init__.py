"""Word graphs: what a compact program computes, as values, as text, and simulated on words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.words.drawing import draw_graph as draw_graph
    from boolcomp.words.drawing import laid_out as laid_out
    from boolcomp.words.drawing import word_names as word_names
    from boolcomp.words.graph import Angles as Angles
    from boolcomp.words.graph import Bits as Bits
    from boolcomp.words.graph import Heap as Heap
    from boolcomp.words.graph import HeapPart as HeapPart
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
    from boolcomp.words.simulation import Resimulation as Resimulation
    from boolcomp.words.simulation import agrees as agrees
    from boolcomp.words.simulation import node_word as node_word
    from boolcomp.words.simulation import simulate as simulate
    from boolcomp.words.simulation import wave_name as wave_name
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "drawing": "draw_graph laid_out word_names",
            "graph": "Angles Bits Heap HeapPart InputWord Lookup Node OutputWord "
            "PartialProducts Scale Turn WordGraph narrowed parse_graph "
            "reads",
            "simulation": "Resimulation agrees node_word simulate wave_name",
        },
    )
