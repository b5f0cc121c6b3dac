"""Every table and figure of the five papers: reproduced, different, or out of scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from boolcomp.parallel.simulation import Finding


class Place(NamedTuple):
    """A table, figure or section of a paper.

    `reason` is that of differences, `here` what reproduces a place without figures, `outside` the
    reason why it is out of scope.
    """

    shows: str
    reason: str = ""
    here: str = ""
    outside: str = ""

    def result(self, rows: Iterable[Finding]) -> str:
        """Return whether the place is reproduced, by its findings."""
        if self.outside:
            return f"out of scope: {self.outside}"
        printed = [one for one in rows if one.printed]
        far = [one for one in printed if not one.holds]
        if not far:
            count = f"{len(printed)} of {len(printed)} agree" if printed else ""
            return f"reproduced: {self.here or count or 'rows of ours, nothing is printed'}"
        worst = max(far, key=lambda one: abs(one.residual))
        agree = f"{len(printed) - len(far)} of {len(printed)} agree"
        return f"differs: {agree}; {worst.figure} {worst.verdict}; {self.reason or worst.note}"


PLACES: Mapping[str, Mapping[str, Place]] = {
    "machado": {
        "Fig. 1a": Place("terms of T1", "states are rounded up and down; a slip in the amplitude"),
        "Fig. 1b": Place("terms of T2", "counts of states are truncated"),
        "Fig. 2a": Place(
            "product terms on k processors, libraries of codes",
            "the tree of ORs and its messages do not shrink",
        ),
        "Fig. 2b": Place("product terms in a pipeline", "filling the pipeline"),
    },
    "zomaya": {
        "Fig. 1": Place("links of an arm", outside="a drawing without figures"),
        "Table 1": Place("parameters of a PUMA 560", here="`puma560` has these links"),
        "Table 2": Place("operations of general Newton-Euler"),
        "Table 3": Place("operations of the semi-customised form"),
        "eq. 11, 12": Place(
            "force and moment at the end effector", here="`compile --wrench 20,5`, method `wrench`"
        ),
        "sec. 5.2": Place("operations saved"),
        "Fig. 2": Place("block diagram of the T800", outside="a drawing of its maker"),
        "Fig. 3": Place("network of four transputers", here="`--scheduler zomaya`"),
        "sec. 7": Place(
            "operations of the parallel form", "ω, N and n are all mapped to P1; 432 leaves out n"
        ),
        "Fig. 4": Place(
            "times on one and on four T800s", "one fitted number; PUMA tensors are diagonal"
        ),
    },
    "zeng": {
        "Fig. 1": Place("equations", here="`zeng-19` agrees with Newton-Euler"),
        "Fig. 2": Place("19 tasks a link and their precedence"),
        "Fig. 3": Place("ten tasks a link"),
        "Fig. 4": Place("task graph of a link"),
        "Fig. 5": Place("task graph of 95"),
        "Fig. 6": Place("task graph of 52"),
        "sec. 5.5": Place("level tables of version 5", "longer lists than those of CP/MISF"),
        "Fig. 7, 8": Place("closed-loop program, sequential and parallel"),
        "Fig. 9": Place("chart of the times of section 7", here="the same times as rows of sec. 7"),
        "sec. 7": Place("table of times", "five numbers fitted on one processor, others predicted"),
        "sec. 8": Place("limit by the critical path"),
    },
    "zalzala": {
        "Fig. 1": Place("the DRL algorithm", here="methods `lagrangian`, `lagrangian-rows`"),
        "Fig. 2": Place("jobs of phase 1", here="tasks W to p* of `lagrangian`"),
        "Fig. 3": Place("jobs of phase 2", here="tasks D to tau of `lagrangian`"),
        "Table 1": Place("operations of phase 1", "changes of sign are printed as additions"),
        "Table 2": Place("operations of phase 2"),
        "Table 3": Place("weights of the jobs"),
        "Table 4": Place("operations of other methods", "formulas of two others give other counts"),
        "Fig. 4": Place("jobs of phase 1 on processors"),
        "Fig. 5": Place("jobs of phase 2 on processors"),
        "Table 5": Place("utilisation"),
        "Fig. 6": Place("utilisation by stage", outside="its values are only drawn"),
        "eq. 57-60": Place("times of communication and in total"),
        "Fig. 7": Place("block diagram of the T800", outside="a drawing of its maker"),
        "Fig. 8": Place("mapping on transputers", here="`--scheduler zalzala`"),
        "Table 6": Place("times of the links", "predicted with the factor of Zomaya and Morris"),
        "Table 7a": Place("messages of phase 1", "fig. 4b has job 6 on P1, its operand on T2"),
        "Table 7b": Place("messages of phase 2"),
        "Fig. 9": Place("pipeline of 26 transputers"),
        "Fig. 10": Place("speed-up of the pipeline"),
        "Table 8a": Place("pipelined times of phase 1", "predicted with the same factor"),
        "Table 8b": Place("pipelined times of phase 2", "predicted with the same factor"),
        "Table 9": Place(
            "T800 and T414",
            "with indexing, control and off-chip memory an operation takes 6.5 times its "
            "time; 0.026 is a misprint of 0.26",
        ),
    },
    "schaefer": {
        "Fig. 1": Place("a rigid body and its forces", outside="a drawing without figures"),
        "Fig. 2": Place("subsystems of a tree", here="`symbolic` accepts trees"),
        "Fig. 3": Place("strategy 1", here="branches of a tree are independent tasks"),
        "Fig. 4": Place("strategy 2", here="`--scheduler schaefer`"),
        "Fig. 5": Place("strategy 3", here="`--scheduler schaefer`"),
        "Fig. 6": Place("network of transputers", outside="a drawing without figures"),
        "Fig. 7": Place(
            "times on one transputer", outside="its parts are only drawn; the sum is fitted"
        ),
        "Fig. 8": Place(
            "times on three transputers", "one fitted number; P3 calculates A and J, too"
        ),
        "eq. 7": Place("reaction forces", here="`compile --of reactions`"),
        "eq. 8": Place("recursive forward dynamics", here="method `recursive-forward`"),
        "sec. 5": Place("speed-ups; Adams-Moulton (`simulate --integrator adams-moulton`)"),
        "sec. 3": Place(
            "closed loops, walking machines",
            outside="arms are trees of joints; loops need constraints, feet contacts",
        ),
    },
}
PAPERS = tuple(PLACES)


def page_rows(findings_of: Callable[[str], Sequence[Finding]]) -> Iterator[tuple[str, ...]]:
    """Yield paper, place, what it shows, and the result, for every place."""
    for paper, places in PLACES.items():
        found = findings_of(paper)
        unknown = {one.place for one in found} - places.keys()
        assert not unknown, f"places without a row: {unknown}"  # noqa: S101 (an error of this file)
        for name, place in places.items():
            rows = [one for one in found if one.place == name]
            yield paper, name, place.shows, place.result(rows)
