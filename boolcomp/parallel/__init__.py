"""The parallel-dynamics papers: methods, schedules, machines and measured runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.parallel.execute import StageRunner as StageRunner
    from boolcomp.parallel.execute import measure_runs as measure_runs
    from boolcomp.parallel.machine import load_machine as load_machine
    from boolcomp.parallel.methods import RecordedMethod as RecordedMethod
    from boolcomp.parallel.papers import reproduce as reproduce
    from boolcomp.parallel.registry import METHODS as METHODS
    from boolcomp.parallel.registry import ProductTable as ProductTable
    from boolcomp.parallel.registry import boolean_tasks as boolean_tasks
    from boolcomp.parallel.registry import network_tasks as network_tasks
    from boolcomp.parallel.registry import straight_line as straight_line
    from boolcomp.parallel.registry import task_graph as task_graph
    from boolcomp.parallel.schedulers import communication as communication
    from boolcomp.parallel.schedulers import exact_communication as exact_communication
    from boolcomp.parallel.schedulers import lower_bounds as lower_bounds
    from boolcomp.parallel.schedulers import make_schedule as make_schedule
    from boolcomp.parallel.schedulers import optimal as optimal
    from boolcomp.parallel.schedulers import parse_assignment as parse_assignment
    from boolcomp.parallel.simulation import pipelined as pipelined
    from boolcomp.parallel.simulation import simulate as simulate
    from boolcomp.parallel.taskgraph import Assignment as Assignment
    from boolcomp.parallel.taskgraph import Edge as Edge
    from boolcomp.parallel.taskgraph import Task as Task
    from boolcomp.parallel.taskgraph import TaskGraph as TaskGraph
    from boolcomp.parallel.taskgraph import check_schedule as check_schedule
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "execute": "StageRunner measure_runs",
            "machine": "load_machine",
            "methods": "RecordedMethod",
            "papers": "reproduce",
            "registry": "METHODS ProductTable boolean_tasks network_tasks straight_line task_graph",
            "schedulers": "communication exact_communication lower_bounds make_schedule "
            "optimal parse_assignment",
            "simulation": "pipelined simulate",
            "taskgraph": "Assignment Edge Task TaskGraph check_schedule",
        },
    )
