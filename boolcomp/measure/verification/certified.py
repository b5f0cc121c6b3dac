"""A program's certificate, checked by code that shares nothing with the compiler; and by tools."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.processes import run_program
from boolcomp.checker.chain import NO_CERTIFICATE, check_program
from boolcomp.checker.claim import described, not_verified
from boolcomp.checker.folder import read_program
from boolcomp.checker.lemmas import Lemma, add_final, cone_clauses
from boolcomp.checker.network import first_network
from boolcomp.common.errors import BoolcompError, DataError
from boolcomp.logic import formats
from boolcomp.logic.network import Builder
from boolcomp.measure.verification.tools import cec
from boolcomp.measure.verify import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.gates import Nodes
    from boolcomp.checker.same import Asked
    from boolcomp.logic.network import Network

LONGEST = 1e6  # seconds: the checker takes as long as it takes


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The steps of a certificate, what of the program they do not confirm, and what they are of."""

    steps: tuple[Check, ...]
    not_verified: tuple[str, ...]
    described: str


def chain(
    folder: str, step: Callable[[str], None], asked: Asked | None = None, *, needed: bool
) -> Confirmed:
    """Return what the checker says of a program; where there need not be a certificate, say so."""
    step("certificate")
    program = read_program(folder)
    if program.certificate is None and not needed and asked is None:
        none = Check("certificate", "none", note=NO_CERTIFICATE, skipped=True)
        return Confirmed((none,), (), "")
    found = []
    for one in check_program(program, asked):
        found.append(Check(**asdict(one)))
        step(one.name)
    unverified = not_verified(program, confirmed=asked is not None)
    return Confirmed(tuple(found), tuple(unverified), described(program))


def chain_alone(folder: str, asked: Asked | None = None) -> Confirmed:
    """Return what the checker says in a process of its own, which imports nothing from here."""
    command = [sys.executable, "-P", "-m", "boolcomp.checker", "--json"]
    with tempfile.TemporaryDirectory() as scratch:
        if asked is not None:
            (Path(scratch) / "asked.toml").write_text(asked.text, "utf-8")
            command += ["--robot", str(Path(scratch) / "asked.toml")]
        ended = run_program([*command, "--", folder], LONGEST)
    text = ended.printed.decode("utf-8", "replace").strip()
    try:
        said = json.loads(text)
        steps = tuple(Check(**one) for one in said["steps"])
        return Confirmed(steps, tuple(said["not_verified"]), str(said["described"]))
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(text or "the checker ended without a word") from error


def chain_tools(folder: str, deadline: float, step: Callable[[str], None]) -> Iterator[Check]:
    """Yield what others say of networks and lemmas: ABC, and a SAT solver that made no proofs."""
    loads = read_program(folder).loads
    for load in loads:
        if "lemmas" not in load.sections or load.network is None:
            continue
        ending = f", load {load.place}" if len(loads) > 1 else ""
        step("ABC")
        first = first_network(load)
        made = network_of(first.nodes, first.outputs)
        files = {"a.blif": formats.render(made), "b.blif": formats.render(load.network)}
        yield cec(f"first against final network{ending}", files, deadline)
        step("CaDiCaL")
        yield _by_solver(f"lemmas{ending}", load, deadline)


def network_of(nodes: Nodes, outputs: list[int]) -> Network:
    """Return the checker's nodes as a network."""
    builder = Builder(nodes.inputs)
    literals = [0, *(builder.input(k) for k in range(nodes.inputs))]
    for table, operands in list(zip(nodes.tables, nodes.operands, strict=True))[len(literals) :]:
        literals.append(builder.node(table, *(literals[k >> 1] ^ (k & 1) for k in operands)))
    return builder.build(literals[k >> 1] ^ (k & 1) for k in outputs)


def _by_solver(name: str, load: LoadFiles, deadline: float) -> Check:
    """Prove every lemma once more, over its cut, whatever the certificate says of why."""
    from pysat.solvers import Cadical153  # noqa: PLC0415 (tools alone need it)

    start, method, count = time.perf_counter(), "CaDiCaL", 0
    try:
        nodes = first_network(load).nodes
        if load.network is not None:
            add_final(nodes, load.network)
        section = load.section("lemmas")
        for place, line in enumerate(section.lines):
            lemma = Lemma.parse(nodes, line, section.where(place))
            clauses = cone_clauses(nodes, 2 * lemma.signal, lemma.literal, set(lemma.cut))
            with Cadical153(bootstrap_with=clauses) as solver:
                if solver.solve():
                    seconds = time.perf_counter() - start
                    note = f"{section.where(place)}: no lemma: both can differ over its cut"
                    return Check(name, method, count, seconds, holds=False, note=note)
            nodes.equal[lemma.signal] = lemma.literal
            count += 1
            if time.perf_counter() - start > deadline:
                note = f"{count} of {len(section.lines)} lemmas in time"
                return Check(name, method, count, deadline, None, note)
    except (BoolcompError, KeyError) as error:
        seconds = time.perf_counter() - start
        return Check(name, method, count, seconds, holds=False, note=str(error))
    return Check(name, method, count, time.perf_counter() - start, holds=True)
