"""A design's network as look-up tables, where an export asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic.synthesis.mapping import mapped

if TYPE_CHECKING:
    from boolcomp.logic.lutnetwork import Logic
    from boolcomp.logic.synthesis.mapping import Goal
    from boolcomp.targets import Options
    from boolcomp.targets.target import Design


def mapping_of(design: Design, options: Options) -> tuple[Logic, tuple[str, ...]]:
    """Return the logic that is written, and what there is to say of it; nothing where it is nodes.

    A pipeline wants few levels, which are what its stages are made of; else tables are few.
    """
    if not options.luts:
        return design.network, ()
    goal: Goal = "depth" if options.pipeline else "area"
    found = mapped(design.network, options.luts, goal, stages=max(1, options.pipeline))
    said = f"{len(found.luts.nodes)} look-up tables of at most {options.luts} inputs"
    lines = [f"mapped into {said}, {found.luts.depth} levels, by {found.method}"]
    if found.note:
        lines.append(found.note)
    return found.luts, tuple(lines)
