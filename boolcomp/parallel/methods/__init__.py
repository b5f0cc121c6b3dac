"""The papers' parallel methods: their physics over any algebra, their counts, their task graphs."""

from boolcomp.parallel.methods.boolean import WORD, ProductTable, boolean_tasks
from boolcomp.parallel.methods.logic import network_tasks
from boolcomp.parallel.methods.recording import Recorded
from boolcomp.parallel.methods.registry import (
    METHODS,
    Method,
    method_named,
    straight_line,
    task_graph,
)

__all__ = [
    "METHODS",
    "WORD",
    "Method",
    "ProductTable",
    "Recorded",
    "boolean_tasks",
    "method_named",
    "network_tasks",
    "straight_line",
    "task_graph",
]
