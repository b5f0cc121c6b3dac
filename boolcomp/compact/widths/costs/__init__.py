"""What the parts of a graph cost on a target: the price that the search for widths lowers.

The sketch, the noise and what widths may be are the same for all targets; what differs is what a
table, a product and a sum cost, and so which widths are found.

| target | unit | what is cheap |
|---|---|---|
| luts | nodes of three inputs | nothing: the usual |
| lut4, lut6 | tables of four or six inputs | partial products, within the adders that read them |
| gates | gates of two inputs | |
| carry | tables of four inputs, each with a carry | sums of two words |
| dsp | tables of four inputs | products of at most 18 by 18 bits |
| mcu8, mcu32 | cycles of a processor of 8 or 32 bits | products that are not cut, large tables |
| simd | instructions a vector | products of 16 bits, small tables |
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.compact import costs
from boolcomp.compact.widths.costs import logic

if TYPE_CHECKING:
    from boolcomp.compact.demand import Demand
    from boolcomp.compact.widths.costs.model import CostModel


LEVEL = 6.0  # nodes that a level of a graph is worth where logic is to have few of them


def costs_of(demand: Demand) -> CostModel:
    """Return the cost model of a demand; levels count where logic is to have few of them."""
    if demand.target in costs.PROCESSORS:
        return costs.PROCESSORS[demand.target].with_flash(demand.flash)
    model = logic.MODELS[demand.target]
    return replace(model, level=LEVEL) if demand.objective == "depth" else model
