"""`boolcomp graph`: the word graph of compact mode; `boolcomp plan --mode compact` before."""

from __future__ import annotations

from boolcomp.commands.paper import in_mode
from boolcomp.commands.plan import command as plan
from boolcomp.options import OPTIONS

ABOUT = """Print the word graph that compile chooses for ROBOT, or draw it.

The graph is searched, or read from the store."""
PAPER = ("page", "verbose", *(name for name, one in OPTIONS.items() if one.group == "plan"))

command = in_mode(plan, "compact", ABOUT, *PAPER)
command.name, command.epilog = "graph", "Example: boolcomp graph machado-2r -o graph.svg"
