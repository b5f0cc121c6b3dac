"""Check the section `lemmas`: the final network is equivalent to the first, signal by signal.

Signals are numbered: 0 is the constant 0, then come the inputs, the nodes of the first network (see
`network`), and the nodes of the final network. A lemma states that a signal equals an earlier one,
or its inverse. Its proof is a truth table over a cut, or an LRAT proof over the same cut. The first
clauses of an LRAT proof encode the nodes between signals and cut, and that both signals differ.
Each further clause lists the clauses from which it follows by unit propagation. Under its negation,
all but the last of them leave one literal each, and the last leaves none. The last clause is empty.

    1221 = ~713 over 581 200 565
    1221 = ~713 by 581 200 565: 600 -590 / 3 9 14, 12 / 15 2 1, / 16 0
"""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.folder import CheckedCases, DoesNotHoldError, checked
from boolcomp.checker.network import FirstNetwork, RuleNetwork, first_network

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.folder import LoadFiles, VerdictStep
    from boolcomp.logic.network import Network

WIDEST = 16  # signals of a truth table
SAMPLES = 4096  # random input words that are tried as counterexamples
_LEMMA = re.compile(r"(\d{1,8}) = (~?)(\d{1,8}) (over|by)((?: \d{1,8})*)(?:: ([-\d ,/]*))?")


def check_lemmas(load: LoadFiles) -> Iterator[VerdictStep]:
    yield checked("lemmas: first to final network", "truth tables, LRAT", lambda: _found(load))


def _found(load: LoadFiles) -> CheckedCases:
    if load.network is None:
        raise DataError("a program of paper mode has no network that lemmas apply to")
    first = first_network(load)
    if first.nodes.inputs != load.network.inputs or len(first.outputs) != len(load.network.outputs):
        raise DoesNotHoldError(
            f"the network has {load.network.inputs} inputs and {len(load.network.outputs)} "
            f"outputs, the graph {first.nodes.inputs} and {len(first.outputs)}"
        )
    outputs = add_final(first.nodes, load.network)
    section, rows, clauses = load.section("lemmas"), 0, 0
    try:
        for number, line in enumerate(section.lines):
            more = prove(first.nodes, line, section.where(number))
            rows, clauses = rows + more[0], clauses + more[1]
        _check_outputs(first, outputs)
    except DoesNotHoldError as error:
        raise DoesNotHoldError(f"{error}{_difference(first, outputs)}") from error
    return CheckedCases(rows, f"{len(section.lines)} lemmas, {clauses} steps of SAT proofs")


def _check_outputs(first: FirstNetwork, outputs: list[int]) -> None:
    for place, (made, wanted) in enumerate(zip(outputs, first.outputs, strict=True)):
        if first.nodes.known(made) != first.nodes.known(wanted):
            raise DoesNotHoldError(f"no lemma shows that output {place} is that of the graph")


def add_final(nodes: RuleNetwork, network: Network) -> list[int]:
    """Add the nodes of a network over the same inputs; return the literals of its outputs."""
    literals = [0, 1, *(2 * k for k in range(1, nodes.inputs + 1))]
    for table, operands in network.nodes:
        a, b, c = [*(literals[k] for k in operands), 0, 0][:3]
        literals.append(nodes.node(table, a, b, c))
    return [literals[k] for k in network.outputs]


class Lemma(NamedTuple):
    """A signal, the claimed equal literal of an earlier one, a cut, and an LRAT proof or None."""

    signal: int
    literal: int
    cut: list[int]
    proof: str | None

    @classmethod
    def parse(cls, nodes: RuleNetwork, line: str, where: str) -> Lemma:
        """Read a line; at most one lemma per signal is allowed."""
        match = _LEMMA.fullmatch(line)
        if match is None or (match[4] == "by") != (match[6] is not None):
            raise DataError(f"{shown(line)} is no lemma", where=where)
        signal, earlier, cut = int(match[1]), int(match[3]), [int(k) for k in match[5].split()]
        if not nodes.inputs < signal < len(nodes.tables) or max(earlier, *cut, 0) >= signal:
            raise DataError("a lemma must relate a node to earlier signals", where=where)
        if nodes.equal[signal] != 2 * signal:
            raise DataError(f"signal {signal} has a lemma already", where=where)
        return cls(signal, nodes.known(2 * earlier + bool(match[2])), cut, match[6])


def prove(nodes: RuleNetwork, line: str, where: str) -> tuple[int, int]:
    """Check a lemma and record it; return the numbers of table rows and of clauses checked."""
    signal, literal, cut, proof = Lemma.parse(nodes, line, where)
    rows = clauses = 0
    try:
        if proof is None:
            rows = _by_table(nodes, 2 * signal, literal, cut, where)
        else:
            clauses = _by_clauses(nodes, 2 * signal, literal, cut, proof, where)
    except KeyError as error:
        raise DoesNotHoldError(f"{where}: signal {error} is not within the cut") from error
    except ValueError as error:
        raise DataError(f"{shown(proof)} is no proof", where=where) from error
    nodes.equal[signal] = literal
    return rows, clauses


def _by_table(nodes: RuleNetwork, x: int, y: int, cut: list[int], where: str) -> int:
    if len(cut) > WIDEST:
        raise DataError(f"a truth table may have {WIDEST} signals at most", where=where)
    rows = 1 << len(cut)
    a, b = nodes.values([x, y], dict(zip(cut, letters(len(cut)), strict=True)), (1 << rows) - 1)
    if a != b:
        row = ((a ^ b) & -(a ^ b)).bit_length() - 1
        values = " ".join(f"{one}={row >> k & 1}" for k, one in enumerate(cut))
        raise DoesNotHoldError(f"{where}: {x >> 1} is not {shown_literal(y)} at {values}")
    return rows


def _by_clauses(nodes: RuleNetwork, x: int, y: int, cut: list[int], text: str, where: str) -> int:
    clauses, steps = cone_clauses(nodes, x, y, set(cut)), text.split(",")
    for place, step in enumerate(steps):
        literals, _, hints = step.partition("/")
        clause = [int(one) for one in literals.split()]
        if not _follows(clause, [int(hint) for hint in hints.split()], clauses):
            raise DoesNotHoldError(
                f"{where}: step {place} of the proof that {x >> 1} is {shown_literal(y)} does not "
                f"follow: {shown(step.strip())}"
            )
        clauses.append(clause)
    if clauses[-1]:
        raise DoesNotHoldError(f"{where}: the proof ends without a conflict")
    return len(steps)


def _follows(clause: list[int], hints: list[int], clauses: list[list[int]]) -> bool:
    """Tell whether unit propagation over the hints refutes the negation of a clause."""
    true = {-one for one in clause}
    for hint in hints:
        left = (
            {one for one in clauses[hint] if -one not in true} if 0 <= hint < len(clauses) else ()
        )
        if len(left) != 1:
            return not left and 0 <= hint < len(clauses)
        true |= set(left)
    return False


def cone_clauses(nodes: RuleNetwork, x: int, y: int, cut: set[int]) -> list[list[int]]:
    """Encode the nodes between two literals and a cut, and the assumption that both differ."""
    clauses = [[signed(x), signed(y)], [-signed(x), -signed(y)]]
    if y <= 1:
        clauses = [[-signed(x) if y else signed(x)]]
    waiting, seen = [x >> 1, y >> 1], {0, *cut} - {x >> 1}
    while waiting:
        signal = waiting.pop()
        if signal in seen:
            continue
        if signal <= nodes.inputs:
            raise KeyError(signal)
        seen.add(signal)
        waiting += [nodes.known(one) >> 1 for one in nodes.operands[signal]]
        clauses += node_clauses(nodes, signal)
    return clauses


def node_clauses(nodes: RuleNetwork, signal: int) -> Iterator[list[int]]:
    """Encode a node over what is known of its operands."""
    operands = [nodes.known(one) for one in nodes.operands[signal]]
    for values, made in primes(nodes.tables[signal]):
        chosen = [(one, v) for one, v in zip(operands, values, strict=True) if v < 2]
        if all(one != 1 - v for one, v in chosen):  # else a constant satisfies the clause
            body = [-signed(one) if v else signed(one) for one, v in chosen if one > 1]
            yield [*body, signal if made else -signal]


@cache
def primes(table: int) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Return the prime cubes of a table and of its inverse (2 is free), each with its value."""
    rows = {
        row: table >> (4 * row[0] + 2 * row[1] + row[2]) & 1 for row in product((0, 1), repeat=3)
    }
    cubes: dict[tuple[int, ...], int] = {}
    for cube in product((0, 1, 2), repeat=3):
        values = {v for row, v in rows.items() if _within(row, cube)}
        if len(values) == 1:
            cubes[cube] = values.pop()
    return tuple(
        (cube, value)
        for cube, value in cubes.items()
        if not any(other != cube and _within(cube, other) for other in cubes)
    )


def _within(cube: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(b in (2, a) for a, b in zip(cube, other, strict=True))


def signed(literal: int) -> int:
    return -(literal >> 1) if literal & 1 else literal >> 1


def shown_literal(literal: int) -> str:
    return f"{'~' if literal & 1 else ''}{literal >> 1}"


@cache
def letters(count: int) -> tuple[int, ...]:
    """Return the truth tables of `count` variables: bit r of the k-th table is bit k of r."""
    found = []
    for k in range(count):
        plane = ((1 << (1 << k)) - 1) << (1 << k)
        for higher in range(k + 1, count):
            plane |= plane << (1 << higher)
        found.append(plane)
    return tuple(found)


def _difference(first: FirstNetwork, outputs: list[int]) -> str:
    """Describe random input words at which the networks differ, if any."""
    nodes = RuleNetwork(first.nodes.inputs)  # without lemmas
    nodes.tables, nodes.operands = first.nodes.tables, first.nodes.operands
    nodes.equal = [2 * k for k in range(len(nodes.tables))]
    noise = random.Random(1988)  # noqa: S311 (no secret)
    cut = {k: noise.getrandbits(SAMPLES) for k in range(1, nodes.inputs + 1)}
    ones = (1 << SAMPLES) - 1
    pairs = zip(
        nodes.values(outputs, cut, ones), nodes.values(first.outputs, cut, ones), strict=True
    )
    for place, (a, b) in enumerate(pairs):
        if a != b:
            row = ((a ^ b) & -(a ^ b)).bit_length() - 1
            words, start = [], 1
            for word in first.graph.inputs:
                bits = "".join(str(cut[start + k] >> row & 1) for k in range(word.bits))
                words.append(f"{word.name}={int(bits, 2)}")
                start += word.bits
            return (
                f"; for the input words {' '.join(words)}, output bit {place} of the network is "
                f"{a >> row & 1}, and of the graph {b >> row & 1}"
            )
    return f"; the networks agree on {SAMPLES} random input words"
