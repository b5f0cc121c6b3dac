"""Espresso (pyeda's C engine), for a worker: it may crash or exceed limits. Needs no numpy."""

from __future__ import annotations

import time

_TERM = bytes.maketrans(b"01-", bytes([1, 2, 3]))
_LETTER = bytes.maketrans(bytes([1, 2, 3]), b"01-")
_OWNER = bytes.maketrans(b"012", bytes([0, 1, 2]))


def minimised(job: dict[str, int], data: bytes) -> tuple[bytes, float]:
    """Minimise rows of letters; return rows of letters and the seconds of the C engine."""
    from pyeda.boolalg import espresso  # noqa: PLC0415 (under the memory limit)

    inputs, outputs = job["inputs"], job["outputs"]
    width = inputs + outputs
    rows = []
    for at in range(0, len(data), width):
        term = tuple(data[at : at + inputs].translate(_TERM))
        rows.append((term, tuple(data[at + inputs : at + width].translate(_OWNER))))
    espresso.set_config(
        single_expand=False, remove_essential=True, force_irredundant=True,
        unwrap_onset=True, recompute_onset=False, use_super_gasp=False, skip_make_sparse=False,
    )  # fmt: skip
    begin = time.perf_counter()
    cover = espresso.espresso(inputs, outputs, rows, intype=job["type"])
    seconds = time.perf_counter() - begin
    found = sorted(
        bytes(term).translate(_LETTER) + bytes(48 + owner for owner in owners)
        for term, owners in cover
    )
    return b"".join(found), seconds
