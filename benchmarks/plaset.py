"""A whole set of PLA files by Espresso, `own` and `exact`: what is proved, and who is worse.

    python benchmarks/plaset.py --folder DIR … --results FILE.jsonl [--deadline 60]
        [--stretch 1] [--only NAME,…] [--asked 132]

One process; every file's row is kept as soon as it is done, and files that the results hold already
are not measured again. Each file: Espresso from our ISOP, `own`, `exact`; every cover is verified.
Seconds are of the processor, all processes together (ours and CP-SAT's beside it). The deadline is
of the wall clock: on a busy machine `--stretch 2` allows `exact` and `own` twice the deadline by
the wall, and what took more processor time than the deadline counts as not proved.

`minima.json` in a folder names what is known: {"minimum": {NAME: …}, "best": {NAME: …}}, the former
proved. Proofs that disagree with it are named at the end.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import table as aligned
from boolcomp.twolevel import minimisation, pla
from boolcomp.twolevel.cubes import MOST_INPUTS
from boolcomp.twolevel.exact import warm_exact
from boolcomp.twolevel.function import verify
from boolcomp.twolevel.minimisation import minimise, warm

if TYPE_CHECKING:
    from boolcomp.twolevel.function import Cover, Function

HEADER = (
    "file", "in", "out", "isop", "espresso", "own", "s", "exact", "proved", "s", "known", "note",
)  # fmt: skip
Row = dict[str, Any]


def processor() -> float:
    """Return the seconds of a processor that this process and its ended children took."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))


def timed(function: Function, method: str, seconds: float) -> tuple[Cover, float]:
    """Minimise a function; return its cover, and the seconds of a processor that it took."""
    before = processor()
    found = minimise(function, method, seconds)
    return found, processor() - before


def measured(name: str, function: Function, seconds: float) -> Row:
    """Minimise one function every way, and verify what comes out."""
    first = minimise(function, "isop")
    rival = minimisation.run_espresso(function, first.cubes, seconds)
    own, own_seconds = timed(function, "own", seconds)
    exact, exact_seconds = timed(function, "exact", seconds)
    for cubes in (first.cubes, rival.cubes, own.cubes, exact.cubes):
        if cubes and verify(function, cubes) is not None:
            raise SystemExit(f"{name}: a cover is wrong")
    return {
        "name": name, "inputs": function.inputs, "outputs": function.outputs,
        "isop": first.products,
        "espresso": None if rival.cubes is None else len(rival.cubes),
        "own": own.products, "own_seconds": round(own_seconds, 2),
        "exact": exact.products, "literals": exact.literals,
        "proved": exact.proved, "bound": exact.lower_bound,
        "exact_seconds": round(exact_seconds, 2), "note": exact.note or rival.note,
    }  # fmt: skip


def read(folders: list[Path]) -> tuple[dict[str, Path], dict[str, int], dict[str, int]]:
    """Return the files of folders, of one name the first; known minima; the fewest products known.

    The second are proved, the third were found by somebody.
    """
    files: dict[str, Path] = {}
    minima: dict[str, int] = {}
    best: dict[str, int] = {}
    for folder in folders:
        known = folder / "minima.json"
        if known.exists():
            said = json.loads(known.read_text())
            minima |= said.get("minimum", {})
            best |= said.get("best", {})
        for path in sorted(folder.glob("*.pla")):
            files.setdefault(path.stem, path)
    return files, minima, best | minima


def cells(row: Row, best: dict[str, int]) -> list[str]:
    """Return a row as text."""
    proof = "yes" if row["proved"] else f"at least {row['bound']}"
    keys = ("name", "inputs", "outputs", "isop", "espresso", "own")
    head = [str(row[key]) for key in keys]
    tail = [f"{row['own_seconds']:.1f}", str(row["exact"]), proof, f"{row['exact_seconds']:.1f}"]
    return [*head, *tail, str(best.get(row["name"], "-")), row["note"]]


def beside(rows: list[Row], ours: str, theirs: dict[str, int]) -> str:
    """Say where our products are more than theirs, and where fewer."""
    texts = []
    for word, sign in (("worse on", 1), ("better on", -1)):
        some = [f"{row['name']} {row[ours]}:{theirs[row['name']]}" for row in rows
                if row["name"] in theirs
                and sign * row[ours] > sign * theirs[row["name"]]]  # fmt: skip
        texts.append(f"{word} {len(some)} ({', '.join(some)})" if some else f"{word} none")
    return ", ".join(texts)


def report(
    rows: list[Row], minima: dict[str, int], best: dict[str, int], deadline: float, asked: int
) -> None:
    """Print every row and the totals, found and asked."""
    print(aligned(HEADER, [cells(row, best) for row in rows]), end="\n\n")
    proved = [row for row in rows if row["proved"] and row["exact_seconds"] <= deadline]
    late = [row["name"] for row in rows if row["proved"] and row not in proved]
    print(f"proved within {deadline:g} s of a processor: {len(proved)} of {len(rows)} "
          f"(asked: {asked}); proved, but later: {', '.join(late) or 'none'}")  # fmt: skip
    wide = [row for row in rows if row["inputs"] > MOST_INPUTS]
    for title, some in (("all", rows), (f"above {MOST_INPUTS} inputs", wide)):
        rival = {row["name"]: row["espresso"] for row in some if row["espresso"] is not None}
        theirs = sum(rival.values())
        ours = sum(row["own"] for row in some if row["name"] in rival)
        print(f"{title}: {len(rival)} files, Espresso {theirs}, own {ours} "
              f"({100 * (ours / max(1, theirs) - 1):+.2f} %); own is "
              f"{beside(some, 'own', rival)}")  # fmt: skip
    print(f"exact, beside the fewest products known: {beside(rows, 'exact', best)}")
    sure = [row for row in rows if row["proved"]]
    print(f"proofs beside known minima: {beside(sure, 'exact', minima)}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="a whole set of PLA files")
    parser.add_argument("--folder", nargs="+", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--deadline", type=float, default=60.0)
    parser.add_argument("--stretch", type=float, default=1.0)
    parser.add_argument("--only", default="", metavar="NAME,…")
    parser.add_argument("--asked", type=int, default=132)
    arguments = parser.parse_args()
    files, minima, best = read(arguments.folder)
    lines = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    rows = {row["name"]: row for row in map(json.loads, lines)}
    only = set(filter(None, arguments.only.split(",")))
    for dense in (False, True):
        warm(dense=dense)
    warm_exact()
    for name, path in sorted(files.items()):
        if name in rows or (only and name not in only):
            continue
        function = pla.read(path).function(str(path))
        row = measured(name, function, arguments.deadline * arguments.stretch)
        with arguments.results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(*cells(row, best), file=sys.stderr, flush=True)
        rows[name] = row
    shown = [row for name, row in sorted(rows.items()) if name in files]
    report(shown, minima, best, arguments.deadline, arguments.asked)


if __name__ == "__main__":
    main()
