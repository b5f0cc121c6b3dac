"""What a page knows of a program: its words, its logic and exact outputs, as JSON and functions."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import BoolcompError, DataError
from boolcomp.logic.network import CONSTANTS
from boolcomp.measure.show.scripts import straight_function
from boolcomp.problem.steps import exact_steps
from boolcomp.targets import Options
from boolcomp.targets.javascript import export_javascript
from boolcomp.targets.target import delivered

if TYPE_CHECKING:
    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.parts import CodedOutput, Load
    from boolcomp.program.program import Program

MOST_NODES = 120_000  # of gates on a page: they take 7 bytes each (many 13), as text a third more
CHECKED, NEAR = 200, 1e-9  # states on which steps are compared with the reference, and how near


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What is shown: a program with one load, and where they are known its problem and robot.

    `of` is the robot's function.
    """

    program: Program
    load: Load
    problem: Problem | None = None
    robot: Robot | None = None
    of: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all inputs, those that nothing reads, too."""
        return tuple(name for group in self.program.groups for name in group.members)


def code_values(code: Code) -> dict[str, Any]:
    """Return what the script needs of a code."""
    raised, base = code.centred
    return {
        "kind": code.kind, "bits": code.bits, "low": code.low, "step": code.step,
        "cells": code.cells, "wraps": code.wraps, "tread": code.tread, "first": code.first,
        "raised": raised, "base": base,
    }  # fmt: skip


def model_values(subject: Subject) -> dict[str, Any]:
    """Return inputs, outputs and gates as values for JSON."""
    program = subject.program
    places = {name: k for k, name in enumerate(subject.names)}
    return {
        "name": program.name,
        "groups": [
            {"name": group.name, "places": [places[name] for name in group.members]}
            for group in program.groups
        ],
        "inputs": _inputs(subject),
        "read": [places[word.name] for word in program.inputs],
        "outputs": [_output(one) for one in subject.load.outputs],
        "gates": gates_values(delivered(program, subject.load.payload)),
    }


def _inputs(subject: Subject) -> list[dict[str, Any]]:
    program, problem = subject.program, subject.problem
    words = {word.name: word for word in program.inputs}
    stops = {stop.name: stop.range for stop in program.stops}
    known = {one.name: one for one in problem.inputs} if problem else {}
    found = []
    for name in subject.names:
        word, one = words.get(name), known.get(name)
        span = stops.get(name) or (one.range if one else word.code.range if word else None)
        low, high = (span.low, span.high) if span else (0.0, 0.0)
        found.append({
            "name": name,
            "unit": one.unit if one else word.unit if word else "",
            "low": low,
            "high": high,
            "code": code_values(word.code) if word else None,
            "exact": bool(one and one.exact),
        })  # fmt: skip
    return found


def _output(output: CodedOutput) -> dict[str, Any]:
    known = output.errors
    return {
        "name": output.name,
        "symbol": output.symbol,
        "unit": output.unit,
        "code": code_values(output.code),
        "low": output.code.range.low,
        "high": output.code.range.high,
        "bound": None if output.bound_note else output.bound,
        "worst": known.worst_found if known else None,
    }


def gates_values(network: Network) -> dict[str, Any]:
    """Return a network as arrays in base 64: tables, and three operands a node."""
    count = len(network.nodes)
    if count > MOST_NODES:
        raise DataError(f"{count} nodes are too many for a page, which holds {MOST_NODES}")
    wide = CONSTANTS + network.inputs + count > np.iinfo(np.uint16).max
    operands = np.zeros((count, 3), "<u4" if wide else "<u2")
    for k, node in enumerate(network.nodes):
        operands[k, : len(node.operands)] = node.operands
    return {
        "inputs": network.inputs,
        "outputs": list(network.outputs),
        "wide": wide,
        "luts": _text(np.array([node.lut for node in network.nodes], np.uint8)),
        "operands": _text(operands),
    }


def _text(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


def words_function(subject: Subject) -> str:
    """Return the exported module's function of words as `const words`; null in paper mode."""
    if subject.load.graph is None:
        return "const words = null;"
    files = export_javascript(subject.program, subject.load.payload, Options("words"))
    ((name, text),) = files.items()
    assert isinstance(text, str)  # noqa: S101 (a module is text)
    called = name.removesuffix(".mjs")
    body = text.replace(f"export function {called}(", f"function {called}(")
    return f"const words = (() => {{\n{body}return {called};\n}})();"


def exact_function(subject: Subject) -> tuple[str, str]:
    """Return the exact outputs as `const exact`, and why there are none (or nothing)."""
    none = "const exact = null;"
    if subject.problem is None:
        return none, "which robot or function it was made of is not known"
    try:
        steps = exact_steps(subject.problem, subject.robot, subject.of)
    except BoolcompError as error:
        return none, str(error)
    if steps is None or not _agree(steps, subject.problem):
        return none, "its exact values are no straight-line program"
    return "const exact = " + straight_function("exactly", subject.names, steps) + ";", ""


def _agree(steps: Any, problem: Problem) -> bool:
    """Compare steps with the reference on random states: what is shown as exact must be."""
    states = np.concatenate(problem.draw(CHECKED, 0), axis=1)
    if any(one.exact for one in problem.inputs):
        return True  # the reference moves such states to the middles of cells, and so does the page
    wanted = problem.exact(states)
    columns = dict(zip((one.name for one in problem.inputs), states.T, strict=True))
    found = np.stack(steps.evaluate([columns[name] for name in steps.inputs]), axis=1)
    return bool(np.abs(found - wanted).max() <= NEAR * max(1.0, np.abs(wanted).max()))
