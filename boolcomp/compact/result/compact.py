"""A compiled word graph with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.compact.assembly import input_codes, output_codes
from boolcomp.compact.graph.tables import mux_network
from boolcomp.compact.network import Synthesiser, word_logic
from boolcomp.compact.sketch.poly import Quantity, quantities

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.compact.demand import Demand
    from boolcomp.compact.errors.measure import Errors
    from boolcomp.compact.sketch.sketch import Sketch
    from boolcomp.compact.sketch.variables import Widths
    from boolcomp.compact.sketch_terms import Form
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Problem
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Compact:
    """A compiled graph: what was chosen, what was predicted, what was built and measured.

    `allowed` are the mean square errors asked for, in steps²; `nodes` those of the network whose
    tables are made by cofactors; `errors` those of states that the search looked at.
    """

    problem: Problem
    demand: Demand
    form: Form
    sketch: Sketch
    widths: Widths
    graph: WordGraph
    biases: Floats
    allowed: Floats
    nodes: int
    predicted_cost: float
    predicted_rms: Floats
    errors: Errors

    @property
    def asked_words(self) -> dict[str, Quantity]:
        """The input words as they were asked for; the graph may read less of them."""
        return quantities(self.problem, self.demand.input_bits)

    @property
    def input_codes(self) -> dict[str, Code]:
        """The codes of the input words by name, in the order of the network's inputs."""
        return input_codes(self.problem, self.demand, self.graph)

    @property
    def output_codes(self) -> tuple[Code, ...]:
        """The codes of the outputs' words: about zero, wider than the range where that is short."""
        return output_codes(self.problem, self.demand, self.graph)

    @property
    def dropped(self) -> dict[str, int]:
        """How many low bits of every input word the graph does not have."""
        left = {node.name: node.bits for node in self.graph.inputs}
        return {name: word.bits - left.get(name, 0) for name, word in self.asked_words.items()}

    def network(self, synthesise: Synthesiser = mux_network) -> Network:
        """Return the network of the graph (see `word_logic`)."""
        return word_logic(self.graph, synthesise)
