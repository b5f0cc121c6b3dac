"""What others measured, shown in the report: files of `bench`, `area`, benchmarks/codes.py.

A file is told by its keys; what it holds is drawn as it is, and nothing is measured again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boolcomp.base.charts import Axis, bars
from boolcomp.base.files import read_json
from boolcomp.base.pages import Section
from boolcomp.common.errors import DataError
from boolcomp.common.pages.parts import Text
from boolcomp.common.pages.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from boolcomp.base.charts import ChartRow

MOST_BARS = 24
KINDS = "files of `bench -o` (bench.json), `area --json` and `benchmarks/codes.py --json`"


def read_beside(paths: Sequence[Path]) -> list[Section]:
    """Return a section for every file."""
    return [_section(path) for path in paths]


def _section(path: Path) -> Section:
    document = read_json(path)
    try:
        for keys, make in WAYS:
            found = document if isinstance(document, list) else document.get("rows")
            if isinstance(found, list) and found and keys <= set(found[0]):
                return make(document, found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: not what it looks like: {error!r}") from error
    raise DataError(f"{path}: none of {KINDS}")


def _bench(document: Any, rows: list[Any]) -> Section:
    """Return ns a sample of every rival with one core, and the rms error beside it."""
    timed = [row for row in rows if row["cores"] == 1 and row["ns_per_sample"] is not None]
    batches = [row["batch"] for row in timed]
    batch = max(sorted(set(batches)), key=batches.count)
    mine = sorted((row for row in timed if row["batch"] == batch), key=_nanoseconds)
    drawn: list[ChartRow] = [
        {
            "rival": f"{row['rival']}, {row['kind']}", "ns": row["ns_per_sample"],
            "what": "logic" if row["logic"] else "arithmetic", "rms": row["rms_error"],
        }
        for row in mine[:MOST_BARS]
    ]  # fmt: skip
    chart = bars(
        drawn, Axis("rival", "rival", names=True), Axis("ns", "ns a sample", form=".3g"),
        colour_by=Axis("what", "", names=True), hover=(Axis("rms", "rms error, LSB"),),
        title=f"Nanoseconds a sample, batches of {batch}, one core",
        shows=f"On {document['machine']['processor']}; outputs were checked.",
    )  # fmt: skip
    columns = (
        Column("rival"), Column("type", "of samples, in and out"),
        Column("ns a sample", "the least of the rounds", ".3g", "ns_per_sample"),
        Column("ratio", "times as long as the logic took", ".2f"),
        Column("rms, LSB", "against exact values, worst output", ".3g", "rms_error"),
        Column("wrong", "whether results are not what they promise"),
    )  # fmt: skip
    cells = [
        [r["rival"], r["kind"], r["ns_per_sample"], r["ratio"], r["rms_error"],
         "WRONG" if r["wrong"] else ""]
        for r in mine
    ]  # fmt: skip
    title = f"Beside rivals: {document['program']}, {document['bits']} bits"
    return Section(title, (chart, Table(columns, cells)))


def _nanoseconds(row: Any) -> float:
    return float(row["ns_per_sample"])


def _area(document: Any, rows: list[Any]) -> Section:
    """Return what designs take of FPGAs."""
    names = ("target", "design", "luts", "carries", "dsp", "bram", "ff", "levels", "fmax_mhz")
    meanings = (
        "which FPGA", "gates, mapped tables or words", "look-up tables", "carries",
        "multiplier blocks", "memory blocks", "flip-flops", "tables from register to register",
        "estimated clock",
    )  # fmt: skip
    columns = [Column(name, said) for name, said in zip(names, meanings, strict=True)]
    drawn: list[ChartRow] = [
        {"design": f"{row['target']}, {row['design']}", "luts": row["luts"]} for row in rows
    ]
    chart = bars(
        drawn, Axis("design", "design", names=True), Axis("luts", "look-up tables", form=",d"),
        title="Look-up tables by target",
    )  # fmt: skip
    del document
    table = Table(columns, [[row[name] for name in names] for row in rows])
    note = Text("Clocks are estimates of place and route.", kind="note")
    return Section("What it takes of FPGAs", (chart, table, note))


def _codes(document: Any, rows: list[Any]) -> Section:
    """Return product terms by code of outputs, sums over the terms that all codes have."""
    known = {"term", "bits", "code", "inputs"}
    codes = [name for name in rows[0] if name not in known]
    totals: list[ChartRow] = [
        {
            "output": code, "input": f"inputs in {kind} code",
            "products": sum(row[code] for row in rows if row["code"] == kind),
        }
        for code in codes
        for kind in dict.fromkeys(row["code"] for row in rows)
    ]  # fmt: skip
    chart = bars(
        totals, Axis("output", "code of outputs", names=True),
        Axis("products", "product terms", form=",d"),
        colour_by=Axis("input", "", names=True), title="Product terms by code",
        shows="Sums over the terms and word lengths that were minimised.",
    )  # fmt: skip
    columns = [Column(name) for name in ("term", "bits", "code", "inputs", *codes)]
    table = Table(columns, [[row[column.name] for column in columns] for row in rows])
    del document
    return Section("Which code is best", (chart, table))


WAYS: tuple[tuple[set[str], Callable[[Any, list[Any]], Section]], ...] = (
    ({"rival", "ns_per_sample", "cores", "batch"}, _bench),
    ({"target", "design", "luts"}, _area),
    ({"term", "code", "inputs"}, _codes),
)
