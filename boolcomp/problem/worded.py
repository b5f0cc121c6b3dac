"""A problem with the words that a user asks for: other ranges, widths, codes, places of zero."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError, listing, shown, suggestion
from boolcomp.problem.span import part_of, span_of
from boolcomp.problem.words import NEARLY, WordFormat, word_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.problem.problem import Input, Output, Problem


def with_words(problem: Problem, asked: Mapping[str, WordFormat]) -> Problem:
    """Return a problem whose words have these formats, by their names or those of their groups.

    What they leave open stays as it was. Its key tells what changes numbers: ranges, zeros, and
    widths of outputs; codes are put on at the ends.
    """
    if not asked:
        return problem
    groups = (*problem.groups, problem.returned)
    names = [group.name for group in groups]
    names += [one.name for one in problem.inputs] + [one.name for one in problem.outputs]
    for name in asked:
        if name not in names:
            known = list(dict.fromkeys(names))
            raise UsageError(
                f"{problem.name} has no word {shown(name)}{suggestion(name, known)}: "
                f"words are {listing(known)}"
            )
    of_group = {name: asked[g.name] for g in groups if g.name in asked for name in g.members}
    formats = {**of_group, **{k: v.over(of_group.get(k, WordFormat())) for k, v in asked.items()}}
    inputs = tuple(_input(x, formats[x.name]) if x.name in formats else x for x in problem.inputs)
    outputs = tuple(
        _output(x, formats[x.name]) if x.name in formats else x for x in problem.outputs
    )
    changes = [_change(new, old) for new, old in zip(inputs, problem.inputs, strict=True)]
    changes += [_change(new, old) for new, old in zip(outputs, problem.outputs, strict=True)]
    told = "".join(f"\nword {change}" for change in changes if change)
    return replace(problem, inputs=inputs, outputs=outputs, key=problem.key + told)


def _input(one: Input, asked: WordFormat) -> Input:
    """Return an input whose word is as asked."""
    if one.range.single:
        raise UsageError(f"{one.name} never moves: it has no word to be {asked}")
    found = asked.over(one.format)
    word, reach, wraps = one.word, one.reach, one.wraps
    if asked.range is not None:
        if wraps and part_of(asked.range) != 0:
            raise UsageError(
                f"{one.name} turns all the way round: its word spans a turn, such as 0..2pi, not "
                f"{asked.range}"
            )
        if not wraps and not asked.range.holds(one.range):
            raise UsageError(f"a word of {asked.range} does not hold {one}")
        span = span_of(one.range, asked.range, revolute=one.angle)
        word, reach, wraps = span.word, span.reach, span.wraps
    if problem := word_problem(word, found, wraps=wraps):
        raise UsageError(f"{one.name}: {problem}")
    return replace(one, word=word, reach=reach, wraps=wraps, format=found)


def _output(one: Output, asked: WordFormat) -> Output:
    """Return an output whose word is as asked."""
    found = asked.over(one.format)
    span = asked.range or one.range
    if found.tread and abs(span.centre) > NEARLY * span.width:
        raise UsageError(f"{one.name}: a range of {span} is not symmetric about zero")
    if problem := word_problem(span, found, wraps=False):
        raise UsageError(f"{one.name}: {problem}")
    return replace(one, range=span, format=found)


def _change(new: Input | Output, old: Input | Output) -> str:
    """Return what of a word's numbers is another, as text; nothing where all are the same."""
    span, before = (getattr(x, "word", x.range) for x in (new, old))
    parts = [f"{span.low!r}..{span.high!r}"] if span != before else []
    parts += ["tread" if new.format.tread else "rise"] * (new.format.tread != old.format.tread)
    if not hasattr(new, "word") and new.format.bits != old.format.bits:
        parts.append(str(new.format.bits))
    return f"{new.name}={':'.join(parts)}" if parts else ""
