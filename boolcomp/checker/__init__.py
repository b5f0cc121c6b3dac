"""The certificate checker: it imports readers of files from the compiler, and nothing else.

Its verdict depends on Python, numpy, numba, python-flint, the readers of word graphs and networks
(`words.graph`, `logic.network`), loops that numba has stored (`base.loops`), and this package.
Every statement of a certificate is verified. The compiler calls its bounds over cells of angles,
over boxes and of paper mode: for these the checker has no second method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.checker.__main__ import check_program as check_program
    from boolcomp.checker.__main__ import main as main
    from boolcomp.checker.bound import check_bound as check_bound
    from boolcomp.checker.boxes import BoxedOutput as BoxedOutput
    from boolcomp.checker.claim import ClaimSource as ClaimSource
    from boolcomp.checker.claim import check_same as check_same
    from boolcomp.checker.claim import stated as stated
    from boolcomp.checker.folder import CertificateSection as CertificateSection
    from boolcomp.checker.folder import LoadFiles as LoadFiles
    from boolcomp.checker.folder import NotCoveredError as NotCoveredError
    from boolcomp.checker.folder import parse as parse
    from boolcomp.checker.folder import read_program as read_program
    from boolcomp.checker.graph import check_graph as check_graph
    from boolcomp.checker.groups import groups_of as groups_of
    from boolcomp.checker.plain import PlainBound as PlainBound
    from boolcomp.checker.problem import ClaimedWaves as ClaimedWaves
    from boolcomp.checker.problem import check_origin as check_origin
    from boolcomp.checker.problem import check_sketch as check_sketch
    from boolcomp.checker.problem import differences as differences
    from boolcomp.checker.robot import signature as signature
    from boolcomp.checker.tabled import Sums as Sums
    from boolcomp.checker.tight import Tight as Tight
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "__main__": "check_program main",
            "bound": "check_bound",
            "boxes": "BoxedOutput",
            "claim": "ClaimSource check_same stated",
            "folder": "CertificateSection LoadFiles NotCoveredError parse read_program",
            "graph": "check_graph",
            "groups": "groups_of",
            "plain": "PlainBound",
            "problem": "ClaimedWaves check_origin check_sketch differences",
            "robot": "signature",
            "tabled": "Sums",
            "tight": "Tight",
        },
    )
