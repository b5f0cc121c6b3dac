"""The paper's rule c tested: which code makes the smallest covers.

    python benchmarks/codes.py [--widest INPUTS] [--json FILE]

Terms of the 1988 paper's arm at 4 to 10 bits, input words in Gray or natural code, output words in
five codes, all minimised by the same heuristic with the same effort. Mid-rise cells lie
symmetrically about zero; 'nearest' rounds to whole multiples of the step. The growth is the factor
per input bit of a least-squares fit to log(products); the paper says about 6.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bitarray import frozenbitarray

from boolcomp.base.errors import table
from boolcomp.paper.plan import PlanOptions
from boolcomp.paper.tables import value_blocks, word_centres
from boolcomp.pipeline import run_passes
from boolcomp.twolevel.function import Function
from boolcomp.twolevel.minimisation import minimise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.paper.plan import TermPlan
    from boolcomp.problem.word_codes import CodeKind

TERMS = ("T11", "T12", "T13", "T14", "T15", "T24")
INPUTS: tuple[CodeKind, ...] = ("gray", "natural")
OUTPUTS = (
    "gray mid-rise", "natural mid-rise", "gray nearest", "two's complement", "sign-magnitude",
)  # fmt: skip


def output_words(values: NDArray[np.float64], step: float, bits: int, code: str) -> Any:
    """Return the words of values in an output code, each of `bits` bits."""
    half = 1 << (bits - 1)
    if code.endswith("mid-rise"):
        cells = np.clip(np.floor(values / step + 1e-9).astype(np.int64) + half, 0, 2 * half - 1)
        return cells ^ (cells >> 1) if code.startswith("gray") else cells
    whole = np.clip(np.floor(values / step + 0.5 + 1e-9).astype(np.int64), -half, half - 1)
    if code == "gray nearest":
        return (whole + half) ^ ((whole + half) >> 1)
    if code == "two's complement":
        return whole & (2 * half - 1)
    return np.where(whole < 0, np.minimum(-whole, half - 1) | half, whole)


def products(plan: TermPlan, code: str) -> int:
    """Return the products of a term's table in an output code."""
    centres = [word_centres(word) for word in plan.words]
    values = np.concatenate(list(value_blocks(plan.term, plan.words, centres)))
    bits = plan.code.bits
    words = output_words(values, plan.code.step, bits, code)
    columns = [frozenbitarray((words >> k & 1).tolist()) for k in reversed(range(bits))]
    return minimise(Function.from_columns(plan.input_bits, columns), "own", 60).products


def growth(points: list[tuple[int, int]]) -> float:
    """Return the factor per input bit of a fit to log(products)."""
    inputs, counts = np.array(points, dtype=np.float64).T
    return float(np.exp(np.polyfit(inputs, np.log(counts), 1)[0]))


def main() -> None:
    """Print products for every term, width and pair of codes, and the growth."""
    parser = argparse.ArgumentParser(description="products by code")
    parser.add_argument("--widest", type=int, default=13, help="input bits that are minimised")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for bits in range(4, 11):
        for kind in INPUTS:
            plan = run_passes("machado-2r", PlanOptions(bits=bits, code=kind), until="plan")
            for term in plan.terms:
                if term.term.name in TERMS and term.input_bits <= arguments.widest:
                    counts = {code: products(term, code) for code in OUTPUTS}
                    rows.append(
                        {"term": term.term.name, "bits": term.code.bits, "code": kind,
                         "inputs": term.input_bits, **counts}
                    )  # fmt: skip
    rows.sort(key=lambda row: (row["term"], row["bits"], row["code"]))
    header = ["term", "bits", "input code", "inputs", *OUTPUTS]
    shown = [
        [row["term"], str(row["bits"]), row["code"], str(row["inputs"])]
        + [str(row[code]) for code in OUTPUTS]
        for row in rows
    ]
    print(table(header, shown, left=(0, 2)))
    print("\ngrowth of products per input bit (fit over all widths from 3 bits)")
    for kind in INPUTS:
        for code in OUTPUTS:
            factors = []
            for name in TERMS:
                points = [
                    (row["inputs"], row[code])
                    for row in rows
                    if (row["term"], row["code"]) == (name, kind) and row["bits"] >= 3 and row[code]
                ]
                factors.append(f"{name} {growth(points):.2f}" if len(points) > 2 else f"{name} -")
            print(f"  {kind:8} {code:18} {'  '.join(factors)}")
    total = {
        (kind, code): sum(row[code] for row in rows if row["code"] == kind and _both(row, rows))
        for kind in INPUTS
        for code in OUTPUTS
    }
    best = total["gray", "gray mid-rise"]
    print("\nall products of the terms and widths that every pair of codes has, Gray/Gray = 1")
    for (kind, code), count in total.items():
        print(f"  {kind:8} {code:18} {count / best:.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


def _both(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    """Tell whether the row's term and width was minimised with either input code."""
    same = [r for r in rows if (r["term"], r["bits"]) == (row["term"], row["bits"])]
    return len(same) == len(INPUTS)


if __name__ == "__main__":
    main()
