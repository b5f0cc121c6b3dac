"""The results of a sweep as tables: a row for every output of every load of every cell."""

from __future__ import annotations

import csv
import io
import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from boolcomp.base.files import write_bytes, write_text
from boolcomp.sweep.spec import family

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boolcomp.scale.sweep import State
    from boolcomp.scale.sweep_spec import Cell
    from boolcomp.sweep.spec import Spec

OF_CELL = (
    "robot", "function", "bits", "input_bits", "rms_error", "max_error", "error", "payloads",
    "target", "key", "nodes", "lut6", "depth",
)  # fmt: skip
OF_OUTPUT = (
    "payload", "output", "unit", "output_bits", "lsb", "rms", "sampled_max", "worst_found", "bound",
    "bound_note",
)  # fmt: skip


def rows(spec: Spec, state: State) -> list[dict[str, Any]]:
    """Return the rows of all cells that are done, in the order of the sweep."""
    found = []
    for place in sorted(state.done):
        cell, result = spec.cells[place], state.done[place]
        own = {**_cell_columns(cell), **{key: result[key] for key in ("nodes", "lut6", "depth")}}
        for one in result["outputs"]:
            named = {"bound_note": None, **one, "output": one["name"], "output_bits": one["bits"]}
            found.append({**own, **{key: named[key] for key in OF_OUTPUT}})
    return found


def _cell_columns(cell: Cell) -> dict[str, Any]:
    return {
        "robot": cell.label,
        "function": cell.function,
        "bits": cell.bits,
        "input_bits": " ".join(f"{name}={bits}" for name, bits in cell.input_bits),
        "rms_error": family(cell.rms_error),
        "max_error": family(cell.max_error),
        "error": cell.error,
        "payloads": family(cell.payloads),
        "target": cell.target,
        "key": cell.key,
    }


def failures(spec: Spec, state: State) -> list[dict[str, Any]]:
    """Return the cells that failed, and why."""
    return [
        {**_cell_columns(spec.cells[place]), "why": state.failed[place].why}
        for place in sorted(state.failed)
    ]


def write_tables(spec: Spec, state: State, folder: Path) -> list[Path]:
    """Write `results.csv` and `.json`; `.parquet` and `.html` where what they need is installed."""
    found = rows(spec, state)
    document = {"sweep": spec.name, "cells": len(spec.cells), "rows": found}
    write_text(folder / "results.csv", _csv(found))
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(folder / "results.json", text + "\n")
    written = [folder / "results.csv", folder / "results.json"]
    if found and find_spec("pyarrow") is not None:
        write_bytes(folder / "results.parquet", _parquet(found))
        written.append(folder / "results.parquet")
    if find_spec("vl_convert") is not None:
        from boolcomp.scale.sweep_page import page  # noqa: PLC0415 (charts take a second)

        write_text(folder / "results.html", page(spec, state))
        written.append(folder / "results.html")
    return written


def _csv(found: Sequence[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [*OF_CELL, *OF_OUTPUT], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return stream.getvalue()


def _parquet(found: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 (where it is installed)
    from pyarrow import parquet  # noqa: PLC0415 (likewise)

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(found), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data
