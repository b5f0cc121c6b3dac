"""Espresso, as pyeda carries it, in a process of its own; without pyeda, a sentence instead.

The C engine exits the whole process on contradictory input, holds the interpreter's lock, leaks and
keeps global settings, so it runs in a fresh interpreter (`espresso_worker.py`) with a time and a
memory limit, and is started from a good cover, never from minterms.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common import children
from boolcomp.twolevel.cubes import Cubes, unpack

if TYPE_CHECKING:
    from boolcomp.twolevel.cover import Function

MEMORY = 2 << 30
_WORKER = Path(__file__).with_name("espresso_worker.py")
_F, _D, _R = 1, 2, 4
_LONGEST = 10**6  # seconds


@dataclass(frozen=True, slots=True)
class Answer:
    """What Espresso found; None and a sentence where it found nothing.

    `seconds` are those of the C engine alone, without starting its process.
    """

    cubes: Cubes | None
    note: str = ""
    seconds: float = 0.0


def available() -> bool:
    """Tell whether pyeda is installed."""
    return find_spec("pyeda") is not None


def run(
    function: Function,
    start: Cubes,
    deadline: float = math.inf,
    *,
    memory: int = MEMORY,
    single_expand: bool = False,
) -> Answer:
    """Minimise from the cover `start`; an answer for certain, at the deadline (seconds) at last.

    `memory` limits the worker's address space, in bytes. `single_expand` stops after the first
    expansion: quicker, and about as good as a plain irredundant sum.
    """
    if not available():
        return Answer(None, "pyeda is not installed: `pip install 'boolcomp[espresso]'`")
    if function.inputs == 0 or function.outputs == 0 or len(start) == 0:
        return Answer(start)
    if deadline <= 0:
        return Answer(None, "no time was left for Espresso")
    request = _request(function, start, deadline, memory, single_expand=single_expand)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with children.start_script(
        _WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment,
    ) as worker:  # fmt: skip
        try:
            answer, complaint = worker.communicate(request, min(deadline, _LONGEST))
        except subprocess.TimeoutExpired:
            return Answer(None, f"Espresso was stopped after {deadline:.3g} s")
        finally:
            worker.kill()
    if worker.returncode:
        return Answer(None, _death(worker.returncode, complaint, memory))
    return _read(function, answer, memory)


def _request(
    function: Function, start: Cubes, deadline: float, memory: int, *, single_expand: bool
) -> bytes:
    given_off = function.given_off
    other = function.dc if given_off is None else given_off
    kind = _F | (_D if given_off is None else _R)
    # In a row given to pyeda 1 puts an output in the ON set, 2 in the DC set, 0 (type r) in OFF;
    # with type fr every 0 counts, so ON rows must name the outputs they do not mean otherwise.
    rows = [_letters(start, "01" if given_off is None else "21")]
    rows.append(_letters(other, "02" if given_off is None else "20"))
    body = b"".join(rows)
    job = {
        "inputs": function.inputs, "outputs": function.outputs, "type": kind, "memory": memory,
        "rows": len(start) + len(other), "single_expand": single_expand,
        "seconds": math.ceil(min(deadline, _LONGEST)) + 1,
    }  # fmt: skip
    return json.dumps(job).encode() + b"\n" + body


def _letters(cubes: Cubes, owners: str) -> bytes:
    """Write cubes as letters without separators; `owners` are the letters for "no" and "yes"."""
    zero, one = unpack(cubes.zero, cubes.inputs), unpack(cubes.one, cubes.inputs)
    terms = np.frombuffer(b"?01-", np.uint8)[zero + 2 * one.astype(np.uint8)]
    letters = np.frombuffer(owners.encode(), np.uint8)
    values = letters[unpack(cubes.out, cubes.outputs).astype(np.uint8)]
    return np.concatenate([terms, values], axis=1).tobytes()


def _read(function: Function, answer: bytes, memory: int) -> Answer:
    head, _, body = answer.partition(b"\n")
    try:
        reply = json.loads(head)
        status, count = reply["status"], int(reply["rows"])
        letters = np.frombuffer(body, np.uint8).reshape(count, function.inputs + function.outputs)
    except (ValueError, KeyError, TypeError):
        return Answer(None, "the Espresso worker's answer was cut off")
    if status == "missing":
        return Answer(None, "pyeda is installed but its Espresso cannot be imported")
    if status == "memory":
        return Answer(None, f"Espresso needed more than {memory >> 20} MiB")
    if status != "ok":
        return Answer(None, f"Espresso {status}")
    terms, owners = letters[:, : function.inputs], letters[:, function.inputs :]
    cubes = Cubes.from_bits(terms != ord("1"), terms != ord("0"), owners == ord("1"))
    return Answer(cubes, seconds=float(reply["seconds"]))


def _death(code: int, complaint: bytes, memory: int) -> str:
    last = complaint.decode("utf-8", "replace").strip().splitlines()[-1:]
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    said = f": {last[0][:200]}" if last else f" (memory limit {memory >> 20} MiB)"
    return f"the Espresso worker died {how}{said}"
