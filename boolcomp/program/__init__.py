"""Programs: their parts, wiring and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.program.files import family_of as family_of
    from boolcomp.program.files import load_program as load_program
    from boolcomp.program.program import HEAD as HEAD
    from boolcomp.program.program import CodedInput as CodedInput
    from boolcomp.program.program import CodedOutput as CodedOutput
    from boolcomp.program.program import JointNetwork as JointNetwork
    from boolcomp.program.program import KnownErrors as KnownErrors
    from boolcomp.program.program import Load as Load
    from boolcomp.program.program import Program as Program
    from boolcomp.program.program import Slice as Slice
    from boolcomp.program.program import TermUse as TermUse
    from boolcomp.program.program import program_of_network as program_of_network
    from boolcomp.program.program import program_of_problem as program_of_problem
    from boolcomp.program.program import render_program as render_program
    from boolcomp.program.program import sealed as sealed
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "files": "family_of load_program",
            "program": "CodedInput CodedOutput HEAD JointNetwork KnownErrors Load "
            "Program Slice TermUse program_of_network program_of_problem "
            "render_program sealed",
        },
    )
