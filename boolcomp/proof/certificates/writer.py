"""Certificates of paper mode, and bounds as the checker confirms them (see `checker.tabled`).

What is claimed of a sum of tables is what was proved of it, or a little more where the checker's
own bound is wider: that counts, too, by how much terms differ from what was asked.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataError
from boolcomp.checker.bound import FITTING, Bounded, closer
from boolcomp.checker.boxes import Boxes
from boolcomp.checker.claim import per_kilogram, stated
from boolcomp.checker.folder import (
    CLAIM,
    FIRST_LINE,
    DoesNotHoldError,
    LoadFiles,
    NotCoveredError,
    Section,
)
from boolcomp.checker.graph import claim_of
from boolcomp.checker.plain import Plain
from boolcomp.checker.problem import differences, read_origin
from boolcomp.checker.tabled import Sums, sum_differences
from boolcomp.compact.realisation import realised_places
from boolcomp.compact.sketch import TURN, AngleSum, Curve, Linear, Powers, Source, Waves, quantities
from boolcomp.problem.functions import USUAL
from boolcomp.program.program import HEAD, render_program
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.groups import Flattener, components
from boolcomp.proof.bound.meaning import GivenWord, Total, rounded_up
from boolcomp.proof.bound.plain import Forward
from boolcomp.proof.certificates import lemmas
from boolcomp.proof.certificates.lemmas import Known
from boolcomp.words.graph import cones_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from boolcomp.checker.tabled import Confirmed
    from boolcomp.compact.result import Built
    from boolcomp.compact.sketch import Quantity, Sketch, SketchNode, WordSum
    from boolcomp.paper.passes import Covered
    from boolcomp.paper.plan import Plan
    from boolcomp.problem.expressions.tape import Straight
    from boolcomp.problem.problem import Input, Problem
    from boolcomp.program.program import CodedOutput, Program
    from boolcomp.proof.bound.meaning import Bound, Bounds
    from boolcomp.terms.terms import Term


# --------------------------------------------------------------------------------------------------
# Writes the section `origin`: a robot or a function, and what was asked (see `checker.origin`).
# --------------------------------------------------------------------------------------------------


_ROBOT = re.compile(r"(?:([^\n]+) of\n)?(name = .*?)(?:\nword [^\n]*)*", re.DOTALL)


def origin_section(known: Known) -> str:
    """Return the lines of a section."""
    payload = known.program.loads[known.place].payload
    return origin_text(known.compact.problem, known.compact.demand.input_bits, payload)


def origin_text(problem: Problem, bits: Mapping[str, int], payload: float = 0.0) -> str:
    """Return the section of a problem whose inputs have so many bits, of a load in kg."""
    words = quantities(problem, bits)
    lines = [
        *_robot(problem, payload),
        *(_input(one, words) for one in problem.inputs),
        *_problem_steps(problem),
    ]
    return "".join(f"{line}\n" for line in lines)


def _robot(problem: Problem, payload: float) -> Iterator[str]:
    """Yield the name of a function of a robot, what is at its tip, and its file without that."""
    if found := _ROBOT.fullmatch(problem.key):
        yield f"function {found[1] or USUAL}"
        yield f"payload {payload!r}"
        text = problem.unloaded or found[2]
        yield from (f"| {line}".rstrip() for line in text.rstrip("\n").splitlines())


def _problem_steps(problem: Problem) -> Iterator[str]:
    """Yield the steps of a function that a user wrote, and which of them are outputs."""
    if problem.recorded is not None:
        for step in problem.recorded.nodes[len(problem.inputs) :]:
            value = [repr(float(step.value))] if step.kind == "constant" else [step.kind]
            yield " ".join(["step", *value, *map(str, step.operands)])
        yield from (f"output {one.name} {one.node}" for one in problem.recorded.outputs)


def _input(one: Input, words: Mapping[str, Quantity]) -> str:
    """Return where an input may be, and its word: what its cells divide, and how many they are."""
    parts = [f"input {one.name} {one.range.low!r} {one.range.high!r}{' angle' * one.angle}"]
    if one.name in words:
        word = words[one.name]
        parts.append(f"word {word.range.low!r} {word.range.high!r} {word.bits}")
        parts.append("of all" if word.part is None else f"of {word.part}")
        parts += ["wraps"] * word.wraps + ["exact"] * word.exact
    return " ".join(parts)


# --------------------------------------------------------------------------------------------------
# Writes the section `sketch`: the function that a graph calculates (see `checker.nodes`).
# --------------------------------------------------------------------------------------------------


def sketch_section(known: Known) -> str:
    """Return the lines of a section."""
    compact = known.compact
    return sketch_text(compact.sketch, compact.problem, compact.problem.steps(compact.demand.bits))


def sketch_text(sketch: Sketch, problem: Problem, steps: Sequence[float]) -> str:
    """Return the section of a sketch of a problem, whose outputs have these steps."""
    lines = [f"s{place} = {_node_text(node)}" for place, node in enumerate(sketch.nodes)]
    for one, step, place in zip(problem.outputs, steps, sketch.outputs, strict=True):
        lines.append(f"{one.name} = {one.range.centre!r} {step!r} s{place}")
    return "".join(f"{line}\n" for line in lines)


def _node_text(node: SketchNode) -> str:
    if isinstance(node, Source):
        return f"input {node.name}{' angle' * node.angle}"
    if isinstance(node, AngleSum):
        return " | ".join(["turns", *(f"{multiple} s{k}" for k, multiple in node.items)])
    if isinstance(node, Waves):
        parts = (f"{k} {float(a)!r} {float(b)!r}" for k, a, b in node.parts)
        return " | ".join([f"waves s{node.source}", *parts])
    if isinstance(node, Powers):
        return " | ".join([f"powers s{node.source}", *(repr(float(c)) for c in node.coefficients)])
    if isinstance(node, Curve):
        numbers = (node.unit, node.middle, node.factor, node.low, node.high)
        head = " ".join(repr(float(x)) for x in numbers) + " angle" * node.angle
        return " | ".join([f"curve s{node.source} {head}", *_function_steps(node.function)])
    return _sum_text(node)


def _sum_text(node: WordSum) -> str:
    head = f"turning {TURN}" if node.angle else "sum"
    addends = (
        f"{float(one.factor)!r} s{one.node}"
        if isinstance(one, Linear)
        else f"{float(one.factor)!r} s{one.a} s{one.b}"
        for one in node.addends
    )
    return " | ".join([f"{head} {float(node.constant)!r}", *addends])


def _function_steps(function: Straight) -> Iterator[str]:
    """Yield the steps of a function of one input, the one that is it last."""
    (result,) = function.outputs
    for node in function.nodes[: result.node + 1]:
        if node.kind == "constant":
            yield repr(float(node.value))
        else:
            yield " ".join(["x" if node.kind == "input" else node.kind, *map(str, node.operands)])


# --------------------------------------------------------------------------------------------------
# The bounds of a certified program: of what was asked, and not of the sketch of it.
#
# A sketch has its coefficients in eleven digits. By how much that is another function the checker
# finds (see `checker.sketch`); it is added to what no error exceeds.
# --------------------------------------------------------------------------------------------------


def with_asked_bounds(program: Program, built: Sequence[Built]) -> Program:
    """Return a program whose bounds are of what was asked, where it is known what a sketch adds."""
    loads = []
    for place, (load, one) in enumerate(zip(program.loads, built, strict=True)):
        beside = _beside(Known(one, program, place))
        if one.bounds is None:
            loads.append(load)
            continue
        bounds = {bound.name: bound for bound in one.bounds.outputs}
        outputs = []
        for output in load.outputs:
            bound = bounds[output.name]
            most = max(bound.high, -bound.low) + beside.get(output.name, 0)
            value = math.inf if one.bounds.unproved else rounded_up(most * Fraction(bound.step))
            known = replace(output, bound=value, grade=bound.grade)
            outputs.append(known if math.isfinite(output.bound) else output)
        loads.append(replace(load, outputs=tuple(outputs)))
    return replace(program, loads=tuple(loads))


def _beside(known: Known) -> dict[str, Fraction]:
    """Return by how many steps a sketch may differ from what was asked; nothing if not known."""
    texts = (origin_section(known), sketch_section(known))
    try:
        found = differences(*(Section(tuple(text.splitlines()), 1) for text in texts))
    except (NotCoveredError, DataError):
        return {}
    return {one.name: Fraction(one.steps) for one in found}


# --------------------------------------------------------------------------------------------------
# Writes the section `bound`: what was proved of every output (see `checker.bound`).
# --------------------------------------------------------------------------------------------------


BOUND_DIGITS = 15  # of a bound, rounded outward


def bound_section(known: Known) -> str:
    """Return the lines of a section; none where nothing is proved."""
    bounds = known.built.bounds
    if bounds is None:
        return ""
    lines = []
    for column, one in enumerate(bounds.outputs):
        low, high = _below(one.low), -_below(-one.high)
        ends = f"{one.name} {one.grade} {_decimal(low)} {_decimal(high)}"
        groups = groups_of(known, column) if one.grade != "plain" else ""
        lines.append(f"{ends} {groups}".rstrip())
    if bounds.unproved:
        lines.append(" ".join(["while", *(f"w{k}" for k in bounds.unproved)]))
    return "".join(f"{line}\n" for line in lines)


def groups_of(known: Known, column: int) -> str:
    """Return the groups of linear inputs that are independent of each other for given angles.

    None are of an output that is no sum of waves times powers.
    """
    said = known.explained
    result = said.results[column]
    total = said.meanings[result.meaning]
    if not isinstance(total, Total) or total.word is None:
        raise TypeError(f"{result.name} is no sum that is there")
    flattener = Flattener(Forward(known.explained))
    try:
        flat = flattener.flat(result.meaning, Fraction(2) ** said.graph.scales[total.word].lsb)
    except NotPlainError:
        return ""
    found = []
    for names, _ in components([one.linear for one in flat.addends]):
        given = [said.meanings[k] for k in sorted(names)]
        found.append(" ".join(one.name for one in given if isinstance(one, GivenWord)))
    return " | ".join(one for one in found if one)


def _below(value: Fraction) -> int:
    """Return a number in units of its last digit, rounded down."""
    return int(value * 10**BOUND_DIGITS // 1)


def _decimal(units: int) -> str:
    whole, part = divmod(abs(units), 10**BOUND_DIGITS)
    return f"{'-' * (units < 0)}{whole}.{part:0{BOUND_DIGITS}d}"


# --------------------------------------------------------------------------------------------------
# Writes the sections of a network that is its graph's but for some cones (`checker.cones`).
# --------------------------------------------------------------------------------------------------


def words(known: Known) -> str:
    """Return the word graph, where the program has none because its network is not quite that."""
    return "" if known.compact.demand.keeps_graph else str(known.graph)


def cones_section(known: Known) -> str:
    """Return a line for every cone."""
    return cones_text(known.built.cones)


# --------------------------------------------------------------------------------------------------
# Writes the section `graph`: which words stand for what of the sketch (see `checker.places`).
# --------------------------------------------------------------------------------------------------


def graph_section(known: Known) -> str:
    """Return the lines of a section; nodes that nothing needs have none."""
    compact, lines = known.compact, []
    places = realised_places(compact.sketch, compact.widths, compact.graph)
    for k, place in enumerate(places):
        if place.words:
            words = [f"w{word}" for word in place.words]
            words += ["times", *(f"w{word}" for word in place.product)] if place.product else []
            words += ["of", *map(str, place.owners)] if place.owners else []
            lines.append(f"s{k} = {' '.join(words)}")
    for one in known.explained.results:
        rest = "" if one.rest is None else " ".join(["", "rest", *(name for name, _ in one.rest)])
        lines.append(f"{one.name} = shift {float(one.shift)!r}{rest}")
    return "".join(f"{line}\n" for line in lines)


# --------------------------------------------------------------------------------------------------
# Bounds as the checker confirms them: a certificate claims nothing that it would not find.
#
# The checker is simpler than what finds bounds. What it does not confirm is claimed a little wider,
# at last as its own plain bound.
# --------------------------------------------------------------------------------------------------


CLAIMED = {
    "origin": origin_section,
    "sketch": sketch_section,
    "graph": graph_section,
    "first": lemmas.first_section,
    "cones": cones_section,
}
TRIES = 3  # halvings of what lies between what was proved and the checker's plain bound


def with_confirmed_bounds(program: Program, built: list[Built]) -> list[Built]:
    """Return compilations whose bounds the checker confirms."""
    listed = enumerate(built)
    return [replace(one, bounds=_confirmed(Known(one, program, k))) for k, one in listed]


def _confirmed(known: Known) -> Bounds | None:
    bounds = known.built.bounds
    if bounds is None:
        return None
    texts = {name: write(known) for name, write in CLAIMED.items()}
    sections = {name: Section(tuple(text.splitlines()), 1) for name, text in texts.items() if text}
    try:
        plain = Plain(claim_of(LoadFiles(known.place, {}, {}, known.graph, None, sections)))
    except (DataError, NotCoveredError):
        return None  # nothing is said that the checker would follow
    outputs = [_confirmed_bound(known, plain, k, one) for k, one in enumerate(bounds.outputs)]
    unproved = {k for k in plain.overflow if k in bounds.unproved or not _fits(plain, k)}
    return replace(bounds, outputs=tuple(outputs), unproved=tuple(sorted(unproved)))


def _fits(plain: Plain, word: int) -> bool:
    places = [k for k, one in enumerate(plain.claim.places) if one.words == (word,)]
    try:
        return Boxes(plain, places[0]).fits(FITTING) > 0
    except (DoesNotHoldError, NotCoveredError):
        return False


def _confirmed_bound(known: Known, plain: Plain, column: int, one: Bound) -> Bound:
    """Return the bound of an output, at most as wide as the checker's own plain bound."""
    low, high = plain.error(plain.claim.outputs[column], column).ends
    if one.low <= low and high <= one.high:
        return one
    if one.grade == "plain":  # the checker looks no closer where no more is claimed
        return replace(one, low=min(low, one.low), high=max(high, one.high), of_asked=False)
    groups = tuple(tuple(names.split()) for names in groups_of(known, column).split("|"))

    def holds(ends: tuple[Fraction, Fraction]) -> bool:
        try:
            closer(plain, column, Bounded(one.name, one.grade, *ends, groups))
        except (DoesNotHoldError, NotCoveredError):
            return False
        return True

    beside = Fraction(one.remainder)
    for ends in ((one.low, one.high), (one.low - beside, one.high + beside)):
        if holds(ends):
            return replace(one, low=ends[0], high=ends[1])
    least, most = min(low, one.low), max(high, one.high)
    found, refused, wide = None, Fraction(0), Fraction(1)
    for _ in range(TRIES):
        part = (refused + wide) / 2
        ends = one.low + (least - one.low) * part, one.high + (most - one.high) * part
        if holds(ends):
            found, wide = ends, part
        else:
            refused = part
    if found:
        return replace(one, low=found[0], high=found[1])
    return replace(one, low=least, high=most, grade="plain", of_asked=False)


# --------------------------------------------------------------------------------------------------
# Writes the claim of a certificate, and what a kilogram changes as the checker confirms it.
# --------------------------------------------------------------------------------------------------


def head(program: Program, unproved: Sequence[Iterable[int]], exact: Sequence[str] = ()) -> str:
    """Return the first lines of a program's certificate: all that it claims.

    `unproved` are the words of every load that are not shown to have bits enough.
    """
    lines = stated(json.loads(render_program(program)[HEAD]), unproved, exact)
    return "".join(f"{line}\n" for line in (FIRST_LINE, CLAIM, *lines))


def with_confirmed_changes(program: Program, origin: str) -> Program:
    """Return a program that says what a kilogram changes as the checker finds it, if that is more.

    `origin` is the section of a load.
    """
    if not program.per_kilogram:
        return program
    try:
        asked = read_origin(Section(tuple(origin.splitlines()), 1))
        found = per_kilogram(asked, program.returned.members)
    except (NotCoveredError, DataError):
        return program  # the checker says so, too
    return replace(program, per_kilogram=tuple(map(max, program.per_kilogram, found)))


# --------------------------------------------------------------------------------------------------
# Certificates of paper mode, and bounds as the checker confirms them (see `checker.tabled`).
# --------------------------------------------------------------------------------------------------


CLAIM_DIGITS = 12  # of a claim, rounded outward


def certified(program: Program, made: Sequence[Covered]) -> Program:
    """Return a program with a certificate, and bounds that the checker confirms.

    `made` are the compilations of its loads. Where the checker does not know how to follow, bounds
    stay as they were proved; it says then that this is not checked.
    """
    document = json.loads(render_program(program)[HEAD])
    bits = {one.name: one.code.bits for one in program.inputs}
    loads, lines = [], list[str]()
    for place, (load, one) in enumerate(zip(program.loads, made, strict=True)):
        widths = {x.name: bits.get(x.name, 1) for x in one.plan.problem.inputs}
        origin = origin_text(one.plan.problem, widths, load.payload).splitlines()
        sections = {"origin": origin, "terms": list(_terms(one.plan, None))}
        files = LoadFiles(
            place, document, document["loads"][place], None, None,
            {name: Section(tuple(text), 1) for name, text in sections.items()}, program.networks,
        )  # fmt: skip
        confirmed = _confirmed_sums(files, [output.name for output in load.outputs])
        outputs = [_confirmed_output(*pair) for pair in zip(load.outputs, confirmed, strict=True)]
        loads.append(replace(load, outputs=tuple(outputs)))
        sections["terms"] = list(_terms(one.plan, confirmed))
        sections["bound"] = list(_bounds(outputs, confirmed))
        lines.append(f"== load {place}")
        for name, listed in sections.items():
            lines += [f"= {name}", *listed]
    made_of = with_confirmed_changes(replace(program, loads=tuple(loads)), "\n".join(origin))
    text = head(made_of, [()] * len(loads)) + "".join(f"{line}\n" for line in lines)
    return replace(made_of, certificate=text)


def _confirmed_sums(files: LoadFiles, names: Sequence[str]) -> list[Confirmed | None]:
    """Return what the checker finds of every output, None where it does not know how to."""
    try:
        sums = Sums(files)
        steps = {output.name: output.code.step for output in sums.outputs}
        beside = sum_differences(files.section("origin"), sums.terms, steps)
    except (NotCoveredError, DataError):
        return [None] * len(names)
    found: list[Confirmed | None] = []
    for output in sums.outputs:
        try:
            found.append(sums.confirm(output, beside[output.name]))
        except NotCoveredError:
            found.append(None)
    return found


def _confirmed_output(output: CodedOutput, confirmed: Confirmed | None) -> CodedOutput:
    """Return an output whose bound is no smaller than what is confirmed."""
    if confirmed is None or not math.isfinite(output.bound):
        return output
    low, high = _outward(confirmed.low, confirmed.high)
    step = (Fraction(output.code.range.high) - Fraction(output.code.range.low)) / output.code.cells
    most = max(Fraction(high), -Fraction(low)) * step
    return output if most <= Fraction(output.bound) else replace(output, bound=rounded_up(most))


def _bounds(outputs: Sequence[CodedOutput], confirmed: Sequence[Confirmed | None]) -> Iterator[str]:
    for output, one in zip(outputs, confirmed, strict=True):
        most = Fraction(output.bound) / Fraction(output.code.step)
        low, high = _outward(one.low, one.high) if one else _outward(-most, most)
        yield f"{output.name} {low} {high}"


def _terms(plan: Plan, confirmed: Sequence[Confirmed | None] | None) -> Iterator[str]:
    """Yield what tables stand for; by what their entries err is 0 where it is not known."""
    nothing = (Fraction(0), Fraction(0))
    for output, one in zip(plan.outputs, confirmed or [None] * len(plan.outputs), strict=True):
        ends = one.terms if one else [nothing] * len(output.terms)
        for term, (low, high) in zip(output.terms, ends, strict=True):
            claim = " ".join(_outward(low, high))
            yield f"{output.output.name} {term.term.name} {claim} = {_term_text(term.term)}"
        for left in output.left_out:
            yield f"{output.output.name} left = {_term_text(left)}"


def _term_text(term: Term) -> str:
    """Return a term as waves times powers, with coefficients as they stand."""
    parts = []
    for wave in term.waves():
        powers = dict(wave.powers)
        for variable in term.factor:
            powers[variable.name] = powers.get(variable.name, 0) + 1
        words = [repr(float(wave.cosine)), repr(float(wave.sine))]
        words += [f"{name}*{k}" for name, k in wave.multiples]
        words += [f"{name}^{power}" for name, power in powers.items()]
        parts.append(" ".join(words))
    return " | ".join(parts)


def _outward(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Return both ends as decimals, the first rounded down and the second up."""
    return _claim_decimal(low * 10**CLAIM_DIGITS // 1), _claim_decimal(
        -(-high * 10**CLAIM_DIGITS // 1)
    )


def _claim_decimal(units: int) -> str:
    whole, part = divmod(abs(units), 10**CLAIM_DIGITS)
    return f"{'-' * (units < 0)}{whole}.{part:0{CLAIM_DIGITS}d}"


# --------------------------------------------------------------------------------------------------
# Certificates as text: a section for everything that is claimed (see `checker.container`).
# --------------------------------------------------------------------------------------------------


WRITERS = {
    "words": words,
    "origin": origin_section,
    "sketch": sketch_section,
    "graph": graph_section,
    "cones": cones_section,
    "first": lemmas.first_section,
    "lemmas": lemmas.lemmas_section,
    "bound": bound_section,
}


def certificate(program: Program, built: Sequence[Built]) -> str:
    """Return the certificate of a program; `built` are the compilations of its loads."""
    bounds = [one.bounds for one in built]
    unproved = [() if one is None else one.unproved for one in bounds]
    exact = [one.name for one in built[0].compact.problem.inputs if one.exact]
    lines = [head(program, unproved, exact)]
    for place, one in enumerate(built):
        known = Known(one, program, place)
        lines.append(f"== load {place}\n")
        for name, write in WRITERS.items():
            if text := write(known):
                lines.append(f"= {name}\n{text}")
    return "".join(lines)
