"""The parallel-dynamics papers: their methods, schedules, machines and real runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.parallel.methods.logic import ProductTable as ProductTable
    from boolcomp.parallel.methods.logic import boolean_tasks as boolean_tasks
    from boolcomp.parallel.methods.logic import network_tasks as network_tasks
    from boolcomp.parallel.methods.physics import Recorded as Recorded
    from boolcomp.parallel.methods.registry import METHODS as METHODS
    from boolcomp.parallel.methods.registry import Count as Count
    from boolcomp.parallel.methods.registry import distributed_lagrangian as distributed_lagrangian
    from boolcomp.parallel.methods.registry import method_named as method_named
    from boolcomp.parallel.methods.registry import newton_euler as newton_euler
    from boolcomp.parallel.methods.registry import recursive_lagrangian as recursive_lagrangian
    from boolcomp.parallel.methods.registry import semi_customised as semi_customised
    from boolcomp.parallel.methods.registry import straight_line as straight_line
    from boolcomp.parallel.methods.registry import task_graph as task_graph
    from boolcomp.parallel.schedule.execute import Engine as Engine
    from boolcomp.parallel.schedule.execute import Executed as Executed
    from boolcomp.parallel.schedule.execute import StageRunner as StageRunner
    from boolcomp.parallel.schedule.execute import check_engine as check_engine
    from boolcomp.parallel.schedule.execute import run_really as run_really
    from boolcomp.parallel.schedule.graph import Assignment as Assignment
    from boolcomp.parallel.schedule.graph import Edge as Edge
    from boolcomp.parallel.schedule.graph import Schedule as Schedule
    from boolcomp.parallel.schedule.graph import Task as Task
    from boolcomp.parallel.schedule.graph import TaskGraph as TaskGraph
    from boolcomp.parallel.schedule.graph import check_schedule as check_schedule
    from boolcomp.parallel.schedule.machine import FOLDER as FOLDER
    from boolcomp.parallel.schedule.machine import Costs as Costs
    from boolcomp.parallel.schedule.machine import Links as Links
    from boolcomp.parallel.schedule.machine import Machine as Machine
    from boolcomp.parallel.schedule.machine import Shared as Shared
    from boolcomp.parallel.schedule.machine import load_machine as load_machine
    from boolcomp.parallel.schedule.machine import machine_names as machine_names
    from boolcomp.parallel.schedule.papers import reproduce as reproduce
    from boolcomp.parallel.schedule.schedulers import communication as communication
    from boolcomp.parallel.schedule.schedulers import exact_communication as exact_communication
    from boolcomp.parallel.schedule.schedulers import lower_bounds as lower_bounds
    from boolcomp.parallel.schedule.schedulers import make_schedule as make_schedule
    from boolcomp.parallel.schedule.schedulers import optimal as optimal
    from boolcomp.parallel.schedule.schedulers import parse_assignment as parse_assignment
    from boolcomp.parallel.schedule.simulate import gantt_svg as gantt_svg
    from boolcomp.parallel.schedule.simulate import pipelined as pipelined
    from boolcomp.parallel.schedule.simulate import simulate as simulate
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "methods.logic": "ProductTable boolean_tasks network_tasks",
            "methods.physics": "Recorded",
            "methods.registry": "Count METHODS distributed_lagrangian method_named "
            "newton_euler recursive_lagrangian semi_customised "
            "straight_line task_graph",
            "schedule.execute": "Engine Executed StageRunner check_engine run_really",
            "schedule.graph": "Assignment Edge Schedule Task TaskGraph check_schedule",
            "schedule.machine": "Costs FOLDER Links Machine Shared load_machine machine_names",
            "schedule.papers": "reproduce",
            "schedule.schedulers": "communication exact_communication lower_bounds make_schedule "
            "optimal parse_assignment",
            "schedule.simulate": "gantt_svg pipelined simulate",
        },
    )
