"""The figures of the four papers on parallel dynamics, each beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.parallel.schedule import paper_schaefer, paper_zalzala, paper_zeng, paper_zomaya

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.findings import Finding
    from boolcomp.parallel.schedule.graph import TaskGraph

PAPERS = ("zomaya", "zeng", "zalzala", "schaefer")


def reproduce(paper: str, cycle: TaskGraph | None = None) -> tuple[Finding, ...]:
    """Return all findings of a paper; `cycle` is the graph that schaefer's model needs."""
    match paper:
        case "zomaya":
            return paper_zomaya.zomaya_findings()
        case "zeng":
            return paper_zeng.zeng_findings()
        case "zalzala":
            return paper_zalzala.zalzala_findings()
        case "schaefer":
            return paper_schaefer.schaefer_findings(cycle)
    raise UsageError(
        f"no figures of {paper!r}{suggestion(paper, PAPERS)}; there are {listing(PAPERS)}"
    )
