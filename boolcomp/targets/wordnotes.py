"""What is said of every word of a graph in comments: what it means, its range, its LSB."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.errors import short
from boolcomp.targets.names import comment
from boolcomp.words.graph import Angles, Heap, InputWord, Lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.program.parts import Load
    from boolcomp.targets.target import Design
    from boolcomp.words.graph import WordGraph

READING = (
    "a word w of n bits stands for middle + LSB * (w + 1/2 - 2^(n-1)), middle 0 if not said; "
    "names of inner words leave out what only scales them, identifiers the sign, too"
)


def with_words(design: Design) -> Design:
    """Return a design whose comments say that it is written as words."""
    head, size = design.notes
    return replace(design, notes=(head, f"words of its graph; as gates {size}"))


def word_notes(load: Load, graph: WordGraph, meanings: Sequence[str]) -> list[str]:
    """Return a note for every word.

    The LSB of an angle is a part of a turn, that of a sum which becomes an output is in the
    output's unit; all others count in the steps that the search chose, powers of two.
    """
    outputs = {
        result.node: (output, result)
        for output, result in zip(load.outputs, graph.results, strict=True)
    }
    notes = []
    for place, (node, scale) in enumerate(zip(graph.nodes, graph.scales, strict=True)):
        name = meanings[place]
        if place in outputs and name == f"w{place}":
            name = f"sum of {outputs[place][0].name}"
        text = f"{name}, {node.bits} bits"
        if isinstance(node, Lookup):
            text += f" ({min(node.entries)} .. {max(node.entries)})"
        if isinstance(node, Angles) or (isinstance(node, Heap) and node.wraps):
            text += f", LSB 2^-{node.bits} turn"
        elif isinstance(node, InputWord):
            text += ", leading bits"
        elif place in outputs:
            output, result = outputs[place]
            step = output.code.step / (1 << result.drop)
            text += f", LSB {short(step)}{f' {output.unit}' if output.unit else ''}"
            if left := node.bits - result.drop - result.bits:
                text += f", {left} bits more than {output.name} has"
        else:
            text += f", LSB 2^{scale.lsb}"
            text += f", middle {short(scale.offset)}" if scale.offset else ""
        notes.append(comment(text))
    return notes
