"""The checker of certificates: it shares file formats with the compiler, and nothing else.

It trusts Python, numpy, numba and python-flint, the readers of word graphs and networks
(`words.graphtext`, `logic.networktext`), and itself. What a certificate says it never believes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.checker.__main__ import LINKS as LINKS
    from boolcomp.checker.__main__ import TABLED as TABLED
    from boolcomp.checker.__main__ import check_program as check_program
    from boolcomp.checker.__main__ import main as main
    from boolcomp.checker.bound import check_bound as check_bound
    from boolcomp.checker.bound import read_bounds as read_bounds
    from boolcomp.checker.boxes import Boxes as Boxes
    from boolcomp.checker.claim import Asked as Asked
    from boolcomp.checker.claim import check_same as check_same
    from boolcomp.checker.claim import stated as stated
    from boolcomp.checker.folder import FIRST_LINE as FIRST_LINE
    from boolcomp.checker.folder import NAME as NAME
    from boolcomp.checker.folder import OLD_LINE as OLD_LINE
    from boolcomp.checker.folder import SECTIONS as SECTIONS
    from boolcomp.checker.folder import DoesNotHoldError as DoesNotHoldError
    from boolcomp.checker.folder import LoadFiles as LoadFiles
    from boolcomp.checker.folder import NotCoveredError as NotCoveredError
    from boolcomp.checker.folder import Section as Section
    from boolcomp.checker.folder import Step as Step
    from boolcomp.checker.folder import parse as parse
    from boolcomp.checker.folder import read_program as read_program
    from boolcomp.checker.graph import Place as Place
    from boolcomp.checker.graph import Places as Places
    from boolcomp.checker.graph import check_graph as check_graph
    from boolcomp.checker.graph import check_part as check_part
    from boolcomp.checker.lemmas import cone_clauses as cone_clauses
    from boolcomp.checker.lemmas import letters as letters
    from boolcomp.checker.lemmas import primes as primes
    from boolcomp.checker.lemmas import prove as prove
    from boolcomp.checker.network import FirstNetwork as FirstNetwork
    from boolcomp.checker.network import Nodes as Nodes
    from boolcomp.checker.plain import Plain as Plain
    from boolcomp.checker.plain import near_words as near_words
    from boolcomp.checker.problem import Curve as Curve
    from boolcomp.checker.problem import Operation as Operation
    from boolcomp.checker.problem import Waves as Waves
    from boolcomp.checker.problem import check_origin as check_origin
    from boolcomp.checker.problem import check_sketch as check_sketch
    from boolcomp.checker.problem import differences as differences
    from boolcomp.checker.robot import signature as signature
    from boolcomp.checker.spans import ONE as ONE
    from boolcomp.checker.spans import Span as Span
    from boolcomp.checker.spans import between as between
    from boolcomp.checker.tabled import Sums as Sums
    from boolcomp.checker.tight import Tight as Tight
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "__main__": "LINKS TABLED check_program main",
            "bound": "check_bound read_bounds",
            "boxes": "Boxes",
            "claim": "Asked check_same stated",
            "folder": "DoesNotHoldError FIRST_LINE LoadFiles NAME NotCoveredError "
            "OLD_LINE SECTIONS Section Step parse read_program",
            "graph": "Place Places check_graph check_part",
            "lemmas": "cone_clauses letters primes prove",
            "network": "FirstNetwork Nodes",
            "plain": "Plain near_words",
            "problem": "Curve Operation Waves check_origin check_sketch differences",
            "robot": "signature",
            "spans": "ONE Span between",
            "tabled": "Sums",
            "tight": "Tight",
        },
    )
