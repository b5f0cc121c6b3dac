"""Programs that many tests share: the paper's arm at few bits, made once and in no time."""

from dataclasses import replace
from functools import cache

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.engines import Call, EnginePort, Evaluation, Result, Wiring
from boolcomp.logic import Network
from boolcomp.paper import Plan, PlanOptions, TermTable, program_of
from boolcomp.pipeline import run_passes
from boolcomp.problem import CodeKind, Interval, numbered
from boolcomp.program import Program, family_of
from boolcomp.twolevel import Cubes, Dense, minimise


@cache
def stages(bits: int, code: CodeKind = "gray") -> tuple[Plan, tuple[TermTable, ...], Program]:
    """Return plan, tables and program of the paper's arm."""
    options = PlanOptions(bits, code)
    plan: Plan = run_passes("machado-2r", options, until="plan")
    tables: tuple[TermTable, ...] = run_passes("machado-2r", options, until="tables")
    covers = {entry.table: cover_of(entry) for entry in tables}
    return plan, tables, program_of(plan, tables, [covers[entry.table] for entry in tables])


@cache
def compact(bits: int = 4) -> Program:
    """Return the paper's arm in compact mode; results of 4 and 8 bits ship."""
    return bc.compile("machado-2r", bits=bits)


@cache
def family() -> Program:
    """Return a program of two loads that differ; its masses are 0 and 2.5 kg."""
    heavy = stages(5)[2]
    load = replace(heavy.loads[0], payload=2.5)
    return family_of([stages(4)[2], replace(heavy, bits=4, loads=(load,))])


def cover_of(entry: TermTable) -> Cubes:
    """Return an irredundant cover of a table."""
    return minimise(Dense.from_columns(entry.table.inputs, entry.table.columns), "isop").cubes


def table_wiring(network: Network) -> Wiring:
    """Return the wiring that reads a network's inputs as one word and gives its outputs as one."""
    whole = Code(Interval(-1.0, 1.0), network.inputs, "natural")
    code = Code(Interval(-1.0, 1.0), len(network.outputs), "natural")
    call = Call(0, tuple(range(network.inputs)), network.inputs)
    result = Result("y", code, network.inputs, network.inputs)
    planes = network.inputs + len(network.outputs)
    return Wiring(
        (numbered("x", 1),), (EnginePort(0, 0, whole, 0),), (network,), (call,), (result,), planes
    )


def same(one: Evaluation, other: Evaluation) -> bool:
    """Tell whether two evaluations have the same types, bytes and counts."""
    counts = [(x.saturated_inputs, x.saturated_outputs, x.beyond_stops) for x in (one, other)]
    return (
        counts[0] == counts[1]
        and one.values.dtype == other.values.dtype
        and one.values.tobytes() == other.values.tobytes()
        and one.words.tobytes() == other.words.tobytes()
    )
