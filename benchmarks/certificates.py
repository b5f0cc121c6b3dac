"""Certificates of shipped programs: what they take, and whether the checker finds what is changed.

    python benchmarks/certificates.py [NAME...] [--bits N]
    python benchmarks/certificates.py --mutations 1000 [NAME...] [--bits N] [--seed N]

NAME is a robot, or the folder of a program with its certificate (certified/machado-2r-8). Programs
are compiled (mostly read from the store) with their certificates, and checked; times are of a
process. With `--mutations` single things are changed in the saved program and certificate
(entries of tables, constants and widths of words, nodes, lemmas, lines, bounds, ranges and other
numbers), all checksums put right, and the checker run: what it does not catch must be harmless,
which other code proves: the same function, and the same claims. The exit code is 1 where something
is neither.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import BoolcompError, table
from boolcomp.checker.__main__ import check_program
from boolcomp.checker.folder import read_program
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.result import plain_network
from boolcomp.logic.equivalence import equivalent
from boolcomp.pipeline import compile_compact
from boolcomp.program.files import load_program
from boolcomp.program.program import CERTIFICATE, HEAD, render_program, sealed
from boolcomp.words.graph import parse_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.checker.folder import VerdictStep
    from boolcomp.program.program import Program

    Files = dict[str, str]

GRAPH, NETWORK = "graphs/0.txt", "networks/0.txt"
USUAL = "machado-2r", "elbow-3r", "puma560"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of change: in which file, and how; what it may not do unnoticed."""

    name: str
    file: str
    change: Callable[[str, random.Random], str]


def other(number: str, noise: random.Random) -> str:
    """Return a number beside a whole one, or one that differs in its digits."""
    if number.lstrip("-").isdigit():
        return str(int(number) + noise.choice((-2, -1, 1, 2)))
    return repr(float(number) * (1 + noise.choice((-1, 1)) * 10 ** -noise.uniform(0, 6)))


def number_in(pattern: str) -> Callable[[str, random.Random], str]:
    """Return what changes the first group of one match of a pattern, a number."""

    def change(text: str, noise: random.Random) -> str:
        found = list(re.finditer(pattern, text, re.MULTILINE))
        if not found:
            return text
        one = noise.choice(found)
        return text[: one.start(1)] + other(one[1], noise) + text[one.end(1) :]

    return change


def entry_bit(text: str, noise: random.Random) -> str:
    """Invert one bit of one entry of one table."""
    line = noise.choice(re.findall(r"^w\d+\[\d+\] = table .*$", text, re.MULTILINE))
    head, entries = re.match(r"(\S+ = table \S+ )([\d ]+\d)", line).groups()  # type: ignore[union-attr]  # it is one
    bits = int(re.match(r"w\d+\[(\d+)\]", line)[1])  # type: ignore[index]  # it is one
    words = [int(word) for word in entries.split()]
    words[noise.randrange(len(words))] ^= 1 << noise.randrange(bits)
    return text.replace(line, head + " ".join(map(str, words)) + line[len(head) + len(entries) :])


def node(text: str, noise: random.Random) -> str:
    """Change an operator, an inversion or an operand of a node, or the order of outputs."""
    lines = text.splitlines()
    place = noise.randrange(1, len(lines))
    line = lines[place]
    ways = [re.sub(r"[&|^]", lambda _: noise.choice("&|^"), line, count=1)]
    ways.append(re.sub(r" ([in]\d)", r" ~\1", line, count=1))
    operands = re.findall(r"[in]\d+", line.partition("=")[2])
    if operands:
        one = noise.choice(operands)
        ways.append(line.replace(one, one[0] + other(one[1:], noise).lstrip("-")))
    lines[place] = noise.choice(ways)
    return "\n".join(lines) + "\n"


def section_line(name: str) -> Callable[[str, random.Random], str]:
    """Return what changes, swaps, repeats or removes a line of a section of the certificate."""

    def change(text: str, noise: random.Random) -> str:
        lines = text.splitlines()
        if f"= {name}" not in lines:
            return text
        first = lines.index(f"= {name}") + 1
        ends = [k for k in range(first, len(lines)) if lines[k].startswith("=")]
        last = min(ends, default=len(lines))
        if last == first:
            return text
        place, way = noise.randrange(first, last), noise.randrange(6)
        if way == 0:
            del lines[place]
        elif way == 1:
            lines.insert(place, lines[place])
        elif way == 2:
            elsewhere = noise.randrange(first, last)
            lines[place], lines[elsewhere] = lines[elsewhere], lines[place]
        else:
            numbers = list(re.finditer(r"-?\d+\.\d+(?:e-?\d+)?|\d+", lines[place]))
            if numbers:
                one = noise.choice(numbers)
                lines[place] = (
                    lines[place][: one.start()] + other(one[0], noise) + lines[place][one.end() :]
                )
        return "\n".join(lines) + "\n"

    return change


_REAL = r"-?\d+\.\d+(?:e[-+]\d+)?"
KINDS = (
    Kind("table bit", GRAPH, entry_bit),
    Kind("constant", GRAPH, number_in(r" \+ (-?\d+) unit")),
    Kind("width", GRAPH, number_in(r"(?:\[|:|>>|>> |<< |&)(\d+)")),
    Kind("word read", GRAPH, number_in(r"[ +\-*] w(\d+)")),
    Kind("unit", GRAPH, number_in(r"(?:unit 2\^| at )(-?[\d.]+)")),
    Kind("node", NETWORK, node),
    Kind("input's range", HEAD, number_in(rf'"range": \[\s*({_REAL})')),
    Kind("stated bound", HEAD, number_in(rf'"bound": ({_REAL})')),
    Kind("stated error", HEAD, number_in(rf'"worst_found": ({_REAL})')),
    Kind("width of a word", HEAD, number_in(r'"bits": (\d+)')),
    *(
        Kind(f"line of {name}", CERTIFICATE, section_line(name))
        for name in ("first", "lemmas", "origin", "sketch", "graph", "bound")
    ),
)


def files_of(program: Program) -> Files:
    """Return the files of a program."""
    return render_program(program)


def write(folder: Path, files: Files) -> None:
    """Write files, their checksums put right."""
    others = {name: text for name, text in files.items() if name != HEAD}
    for name, text in {**others, HEAD: sealed(json.loads(files[HEAD]), others)}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def checked(folder: Path) -> list[VerdictStep] | str:
    """Return what the checker says of a folder, or why it does not read it."""
    try:
        return list(check_program(read_program(folder)))
    except BoolcompError as error:
        return str(error)


def harmless(kind: Kind, before: Files, after: Files) -> bool:
    """Tell whether a change that was accepted changes nothing that is claimed, by other code."""
    if kind.file == CERTIFICATE:
        return True  # another proof of the same claims
    if kind.file == NETWORK:
        from boolcomp.logic.network import parse_network  # noqa: PLC0415 (one kind needs it)

        made = parse_network(after[NETWORK])
        return equivalent(made, parse_network(before[NETWORK])).holds
    if kind.file == GRAPH:
        old, new = parse_graph(before[GRAPH]), parse_graph(after[GRAPH])
        # Units of words are remarks: what outputs count is said by their codes, in the head.
        same = [one.tread for one in old.results] == [one.tread for one in new.results]
        return same and equivalent(plain_network(old).network, plain_network(new).network).holds
    (said, bounds), (now, wider) = claims(before[HEAD]), claims(after[HEAD])
    return said == now and all(a <= b for a, b in zip(bounds, wider, strict=True))


def claims(head: str) -> tuple[dict[str, Any], list[float]]:
    """Return what a program says of itself, but for labels and what was measured, and its bounds.

    Of an input's code the bits that nobody reads are a label: the range is divided the same way. A
    bound that is larger than it was is one.
    """
    bounds = []
    document = json.loads(head)
    for key in ("bits", "files", "checksum", "made_by"):
        del document[key]
    for one in document["inputs"]:
        del one["code"]["bits"]
    for load in document["loads"]:
        for one in load["outputs"]:
            del one["errors"]
            bounds.append(math.inf if one["bound"] is None else one["bound"])
            del one["bound"]
    return dict(document), bounds


def mutate(name: str, program: Program, count: int, seed: int) -> list[list[str]]:
    """Change a program so often; return a row of what came of it for every kind."""
    files, found = files_of(program), Counter[tuple[str, str]]()
    noise = random.Random(f"{name} {seed}")  # noqa: S311 (the same changes anywhere)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder, files)
        right = checked(folder)
        if isinstance(right, str) or any(step.holds is False for step in right):
            raise SystemExit(f"{name}: the checker does not hold what nobody changed: {right}")
        usable = [
            kind for kind in KINDS if kind.change(files[kind.file], noise) != files[kind.file]
        ]
        for _ in range(count):
            kind, new = noise.choice(usable), ""
            while new in ("", files[kind.file]):
                new = kind.change(files[kind.file], noise)
            after = {**files, kind.file: new}
            write(folder, after)
            found[kind.name, _verdict(kind, files, after, checked(folder), right)] += 1
    return [
        [name, kind.name, *(f"{found[kind.name, one]}" for one in OUTCOMES)]
        for kind in KINDS
        if any(found[kind.name, one] for one in OUTCOMES)
    ]


OUTCOMES = "unread", "caught", "harmless", "missed"


def _verdict(
    kind: Kind,
    before: Files,
    after: Files,
    said: list[VerdictStep] | str,
    right: Sequence[VerdictStep],
) -> str:
    if isinstance(said, str):
        return "unread"
    known = [step.name for step in right if step.holds]
    if any(step.holds is False for step in said) or known != [s.name for s in said if s.holds]:
        return "caught"
    if harmless(kind, before, after):
        return "harmless"
    lines = zip(before[kind.file].splitlines(), after[kind.file].splitlines(), strict=False)
    print("missed:", *next((pair for pair in lines if pair[0] != pair[1]), ()), sep="\n  ")
    return "missed"


def timed(name: str, program: Program, seconds: float) -> list[str]:
    """Return what a certificate takes: to make, to keep, to check."""
    files = files_of(program)
    with tempfile.TemporaryDirectory() as temporary:
        write(Path(temporary), files)
        since = time.process_time()
        said = checked(Path(temporary))
        took = time.process_time() - since
    verdict = said if isinstance(said, str) else ", ".join(
        f"{s.name}: {({True: 'yes', False: 'NO', None: '?'})[s.holds]}" for s in said
    )  # fmt: skip
    size = f"{len(files[CERTIFICATE]) / 1e3:.0f}"
    return [name, f"{seconds:.1f}", size, f"{took:.2f}", verdict]


def program_of(name: str, bits: int) -> Program:
    """Return the program in a folder, or else of a robot, with its certificate."""
    if (Path(name) / "program.json").is_file():
        return load_program(name)
    return compile_compact(name, CompactChoices(usual_demand(bits), certify=True)).program


def main() -> int:
    """Measure, or change and check."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=USUAL)
    parser.add_argument("--bits", type=int, default=8)
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows: list[list[str]] = []
    for name in given.names:
        since = time.process_time()
        program = program_of(name, given.bits)
        seconds = time.process_time() - since
        if given.mutations:
            rows += mutate(name, program, given.mutations, given.seed)
        else:
            rows.append(timed(name, program, seconds))
    if given.mutations:
        print(table(["program", "changed", *OUTCOMES], rows, (0, 1)))
        totals = [sum(int(row[2 + k]) for row in rows) for k in range(len(OUTCOMES))]
        print(", ".join(f"{n} {one}" for n, one in zip(totals, OUTCOMES, strict=True)))
        return int(totals[-1] > 0)
    header = ["program", "compiled s", "kB", "checked s", "steps"]
    print(table(header, rows, (0, 4)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
