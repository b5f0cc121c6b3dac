"""Espresso, as pyeda carries it, in a process of its own; without pyeda, a sentence instead.

The C engine exits the whole process on contradictory input, holds the interpreter's lock, leaks and
keeps global settings, so it runs in a worker of its own (`espresso_worker`) with a time and a
memory limit, and is started from a good cover, never from minterms.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.processes import Worker
from boolcomp.common.launcher import Limits
from boolcomp.twolevel import espresso_worker
from boolcomp.twolevel.cubes import Cubes, unpack

if TYPE_CHECKING:
    from boolcomp.twolevel.function import Function

MEMORY = 2 << 30
_PATIENCE = 1.0  # seconds that a worker has to end by itself
_F, _D, _R = 1, 2, 4
_LONGEST = 10**6  # seconds


@dataclass(frozen=True, slots=True)
class EspressoAnswer:
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
) -> EspressoAnswer:
    """Minimise from the cover `start`; an answer for certain, at the deadline (seconds) at last.

    `memory` limits the worker's address space, in bytes. `single_expand` stops after the first
    expansion: quicker, and about as good as a plain irredundant sum.
    """
    if not available():
        return EspressoAnswer(None, "pyeda is not installed: `pip install 'boolcomp[espresso]'`")
    if function.inputs == 0 or function.outputs == 0 or len(start) == 0:
        return EspressoAnswer(start)
    if deadline <= 0:
        return EspressoAnswer(None, "no time was left for Espresso")
    job, rows = _request(function, start, single_expand=single_expand)
    limits = Limits(memory, math.ceil(min(deadline, _LONGEST)) + 1)
    end = time.monotonic() + min(deadline, _LONGEST)
    worker = Worker(limits=limits, quiet=True)
    try:
        return _read(function, *worker.call(espresso_worker.minimised, job, rows, end=end))
    except TimeoutError:
        note = f"Espresso was stopped after {deadline:.3g} s"
    except EOFError:
        note = _death(worker, memory)
    except ImportError:
        note = "pyeda is installed but its Espresso cannot be imported"
    except MemoryError:
        note = f"Espresso needed more than {memory >> 20} MiB"
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a sentence)
        note = f"Espresso failed: {error}"
    finally:
        worker.end()
    return EspressoAnswer(None, note)


def _request(
    function: Function, start: Cubes, *, single_expand: bool
) -> tuple[dict[str, int], bytes]:
    given_off = function.given_off
    other = function.dc if given_off is None else given_off
    kind = _F | (_D if given_off is None else _R)
    # In a row given to pyeda 1 puts an output in the ON set, 2 in the DC set, 0 (type r) in OFF;
    # with type fr every 0 counts, so ON rows must name the outputs they do not mean otherwise.
    rows = [_letters(start, "01" if given_off is None else "21")]
    rows.append(_letters(other, "02" if given_off is None else "20"))
    job = {
        "inputs": function.inputs, "outputs": function.outputs, "type": kind,
        "single_expand": single_expand,
    }  # fmt: skip
    return job, b"".join(rows)


def _letters(cubes: Cubes, owners: str) -> bytes:
    """Write cubes as letters without separators; `owners` are the letters for "no" and "yes"."""
    zero, one = unpack(cubes.zero, cubes.inputs), unpack(cubes.one, cubes.inputs)
    terms = np.frombuffer(b"?01-", np.uint8)[zero + 2 * one.astype(np.uint8)]
    letters = np.frombuffer(owners.encode(), np.uint8)
    values = letters[unpack(cubes.out, cubes.outputs).astype(np.uint8)]
    return np.concatenate([terms, values], axis=1).tobytes()


def _read(function: Function, rows: bytes, seconds: float) -> EspressoAnswer:
    letters = np.frombuffer(rows, np.uint8).reshape(-1, function.inputs + function.outputs)
    terms, owners = letters[:, : function.inputs], letters[:, function.inputs :]
    cubes = Cubes.from_bits(terms != ord("1"), terms != ord("0"), owners == ord("1"))
    return EspressoAnswer(cubes, seconds=seconds)


def _death(worker: Worker, memory: int) -> str:
    code = worker.end(_PATIENCE)
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    last = worker.last_words
    said = f": {last}" if last else f" (memory limit {memory >> 20} MiB)"
    return f"the Espresso worker died {how}{said}"
