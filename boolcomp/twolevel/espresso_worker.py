"""The process that runs Espresso (pyeda's C engine), which may crash or exceed limits.

Started by `espresso.py` as a script of its own: it imports nothing of boolcomp. Input and output
are a line of JSON and then rows of letters; the C code's own prints go to stderr.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time

_TERM = bytes.maketrans(b"01-", bytes([1, 2, 3]))
_LETTER = bytes.maketrans(bytes([1, 2, 3]), b"01-")
_OWNER = bytes.maketrans(b"012", bytes([0, 1, 2]))


def main() -> None:
    """Read one job, answer it."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    job = json.loads(sys.stdin.buffer.readline())
    with contextlib.suppress(ImportError, OSError, ValueError):  # some systems know no such limits
        import resource  # noqa: PLC0415 (not everywhere)

        resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
        resource.setrlimit(resource.RLIMIT_CPU, (job["seconds"], job["seconds"] + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows: list[bytes] = []
    seconds = 0.0
    try:
        status, rows, seconds = "ok", *_minimised(job)
    except ImportError:
        status = "missing"
    except MemoryError:
        status = "memory"
    except Exception as error:  # noqa: BLE001 (whatever it is, the caller must hear of it)
        status = f"failed: {error}"
    head = json.dumps({"status": status, "rows": len(rows), "seconds": seconds})
    answer.write(head.encode() + b"\n")
    answer.write(b"".join(rows))
    answer.flush()
    os._exit(0)  # the C code leaks; no need to wait for Python to clean up


def _minimised(job: dict[str, int]) -> tuple[list[bytes], float]:
    from pyeda.boolalg import espresso  # noqa: PLC0415 (after the memory limit is set)

    inputs, outputs = job["inputs"], job["outputs"]
    rows = []
    width = inputs + outputs
    data = sys.stdin.buffer.read(width * job["rows"])
    for at in range(0, width * job["rows"], width):
        term = tuple(data[at : at + inputs].translate(_TERM))
        rows.append((term, tuple(data[at + inputs : at + width].translate(_OWNER))))
    espresso.set_config(
        single_expand=job["single_expand"], remove_essential=True, force_irredundant=True,
        unwrap_onset=True, recompute_onset=False, use_super_gasp=False, skip_make_sparse=False,
    )  # fmt: skip
    begin = time.perf_counter()
    cover = espresso.espresso(inputs, outputs, rows, intype=job["type"])
    seconds = time.perf_counter() - begin
    found = sorted(
        bytes(term).translate(_LETTER) + bytes(48 + owner for owner in owners)
        for term, owners in cover
    )
    return found, seconds


if __name__ == "__main__":
    main()
