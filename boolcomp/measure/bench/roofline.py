"""Where the logic's time goes: nodes a cycle beside the limit, spills, the way in and out.

The limit is 3.75 ternary operations of 512 bits a cycle, measured on Zen 5; on narrower vectors,
and on processors with fewer vector ports, it is only a mark.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.engines import engine_name, make_engine
from boolcomp.measure.bench.machine import gigahertz
from boolcomp.measure.bench.tasks import NativeTask

if TYPE_CHECKING:
    from boolcomp.program.program import Program

LIMIT = 3.75
ROUNDS = 15
TURN = 2e-3
GROUP = 64
_VECTOR = re.compile(r"[xyz]mm\d")
_STACK = re.compile(r"\(%r(?:sp|bp|dx)\)")
_COPY = re.compile(r"vmov\w+\s+%[xyz]mm\d+, %[xyz]mm\d+$")


def roofline(program: Program, whole_ns: float | None) -> dict[str, float | str]:
    """Return the figures; `whole_ns` is the measured time of a sample with the way in and out."""
    engine: Any = make_engine(program.wiring(), engine_name("auto"))
    if getattr(engine, "name", "") != "llvm" or not hasattr(engine, "layout"):
        return {}
    wiring = engine.wiring
    nodes = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    seconds, samples = _logic_alone(engine)
    if not samples:
        return {}
    clock = gigahertz()
    alone = seconds / samples * 1e9
    cycles = alone * clock
    found: dict[str, float | str] = {
        "nodes executed": float(nodes),
        "lanes": float(engine.width),
        "clock, GHz (chain of additions)": clock,
        "logic alone, ns a sample": alone,
        "nodes a cycle": nodes / engine.width / cycles,
        "limit, nodes a cycle": LIMIT,
        "limit, ns a sample": nodes / engine.width / LIMIT / clock,
        "share of the limit": nodes / engine.width / cycles / LIMIT,
    }
    if whole_ns is not None:
        found["with the way in and out, ns a sample"] = whole_ns
        found["share of the way in and out"] = max(0.0, 1 - alone / whole_ns)
    found.update(code_counts(engine))
    return found


def _logic_alone(engine: Any) -> tuple[float, int]:
    """Return the least seconds of a tile, planes resident, and how many samples it holds."""
    address = getattr(engine, "address", None)
    if address is None:
        return 0.0, 0
    size = engine.layout.block_bytes * engine.blocks
    room = np.zeros(size + GROUP, np.uint8)
    room[:] = np.random.default_rng(0).integers(0, 256, len(room), np.uint8)
    start = room.ctypes.data + -room.ctypes.data % GROUP
    task = NativeTask(address, [start, engine.blocks], [], room)
    task.seconds(1)
    once = min(task.seconds(1) for _ in range(3))
    times = max(1, round(TURN / once))
    return min(task.seconds(times) for _ in range(ROUNDS)) / times, engine.blocks * engine.width


def code_counts(engine: Any) -> dict[str, float | str]:
    """Return the vector instructions of the logic and those that spill, from its assembly."""
    from boolcomp.engines import llvm as machine  # noqa: PLC0415 (an engine is there)
    from boolcomp.engines.native import logic  # noqa: PLC0415 (an engine is there)
    from boolcomp.engines.native.assembly import logic_assembly  # noqa: PLC0415 (likewise)

    if engine.width == 512 and machine.assembles():
        return spills(logic_assembly(engine.pieces, engine.layout))
    from llvmlite import binding as llvm  # noqa: PLC0415 (likewise)

    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=engine.machine.cpu, features=engine.machine.features, opt=2, jit=True
    )
    module = llvm.parse_assembly(logic.logic_module(engine.pieces, engine.layout))
    return spills(target.emit_assembly(module))


def spills(assembly: str) -> dict[str, float | str]:
    """Count vector instructions, those that load from the stack or store to it, and copies.

    Our own assembly keeps its spills behind rdx, LLVM's behind the stack or frame pointer; in
    AT&T order a store names the memory last.
    """
    vector = [line.rstrip('"') for line in assembly.splitlines() if _VECTOR.search(line)]
    touching = [line for line in vector if _STACK.search(line)]
    stores = [line for line in touching if line.endswith(")")]
    return {
        "vector instructions": float(len(vector)),
        "vector loads from the stack": float(len(touching) - len(stores)),
        "vector stores to the stack": float(len(stores)),
        "vector copies": float(sum(bool(_COPY.search(line)) for line in vector)),
    }
