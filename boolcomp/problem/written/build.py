"""From a function that a user wrote to a problem: recorded once, checked, ranges found."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import short
from boolcomp.common.errors import BoolcompError, UsageError, listing, shown, spelled, suggestion
from boolcomp.problem.expressions.straight import Straight
from boolcomp.problem.extremes import MARGIN, extremes
from boolcomp.problem.interval import MOST_SIZE, Interval, round_above
from boolcomp.problem.problem import Group, Output, Problem
from boolcomp.problem.written.checks import check_values
from boolcomp.problem.written.tracing import Recorder, Value, code_place
from boolcomp.problem.written.waves import wave_form
from boolcomp.problem.written.words import Word, name_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Input
    from boolcomp.problem.spectra import Spectra

    Floats = NDArray[np.float64]

SAMPLES, BEST, FINE = 20_000, 4, 1e-3  # of the search for what outputs reach
CONSTANT = 1e-9  # of what an output reaches: what varies no more is rounding
VISIBLE = 1e-4  # of it: what is shown with four digits
AGREED = 1e-9  # of an output's size: what two ways to calculate it may differ by
TRIED, SEED = 64, 7  # states at which a function is run with arrays


@dataclass(frozen=True, slots=True)
class Written:
    """A function as it was recorded: its steps, and what was said of its words, by name."""

    name: str
    steps: Straight
    inputs: Mapping[str, Word]
    outputs: Mapping[str, Word]

    def problem(self) -> Problem:
        """Return the problem, with every check of it."""
        inputs = tuple(word.input(name) for name, word in self.inputs.items())
        steps = bare(check_values(self.steps, inputs))
        wave_like = wave_form(steps, inputs) is not None
        outputs, notes = _outputs(self, steps, inputs)
        names = tuple(self.outputs)
        group = Group(names[0], names) if len(names) == 1 else Group("outputs", names)
        bits = {**self.inputs, **self.outputs}
        return Problem(
            name=self.name,
            key="\n".join(["function", *map(repr, inputs), *map(repr, outputs), str(steps)]),
            inputs=inputs,
            outputs=outputs,
            groups=tuple(Group(name, (name,)) for name in self.inputs),
            returned=group,
            reference=partial(evaluated_steps, steps),
            form=partial(_wave_form, steps, inputs) if wave_like else partial(_itself, steps),
            recorded=steps,
            widths=tuple((name, word.bits) for name, word in bits.items() if word.bits is not None),
            notes=(*_unread(steps), *notes),
        )


@spelled
def function_problem(
    function: Callable[..., Any],
    inputs: Mapping[str, Word],
    outputs: Mapping[str, Word | None] | Sequence[str],
    name: str | None = None,
) -> Problem:
    """Return the problem of a Python function of values by name.

    It is called once with recorded values, and once with arrays: both must agree. `outputs` are
    names with words, or names alone whose ranges are found.
    """
    called = name or getattr(function, "__name__", "function").strip("<>")
    words = _words("inputs", inputs)
    results = _words("outputs", outputs if isinstance(outputs, Mapping) else _named(outputs))
    check_names(words, results, called)
    _check_parameters(function, words, called)
    recorder = Recorder(code_place)
    values = {one: recorder.input(one) for one in words}
    found = _results(function(**values), tuple(results), called)
    for one, value in found.items():
        _check_result(value, one, called)
    steps = recorder.tape.finish([(one, value.wire) for one, value in found.items()])
    made = Written(called, steps, words, results).problem()
    _check_arrays(function, made)
    return made


def check_names(inputs: Iterable[str], outputs: Iterable[str], whose: str) -> None:
    """Refuse what is no name, and a name that stands for two things."""
    seen: set[str] = set()
    for kind, names in (("input", inputs), ("output", outputs)):
        for one in names:
            if problem := name_problem(one, seen):
                raise UsageError(f"{whose}: {kind} {problem}")
            seen.add(one)


def evaluated_steps(steps: Straight, *arrays: Floats) -> Floats:
    """Return the outputs of steps, (samples, outputs), at an array (samples, 1) for each input."""
    with np.errstate(all="ignore"):  # what is not finite is told by who asks
        columns = steps.evaluate([np.asarray(array)[:, 0] for array in arrays])
    return np.stack(columns, axis=1)


def bare(steps: Straight) -> Straight:
    """Return steps without the places that they come from."""
    return Straight(tuple(replace(step, task="") for step in steps.nodes), steps.outputs)


def _itself(steps: Straight) -> Straight:
    return steps


def _wave_form(steps: Straight, inputs: tuple[Input, ...]) -> Spectra | Straight:
    return wave_form(steps, inputs) or steps


def _words(kind: str, given: object) -> dict[str, Word]:
    """Return what is said of inputs or outputs, by name."""
    example = f'{kind}={{"x": boolcomp.word(-1, 1, bits=10)}}'
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"{kind} of a function are words by name, such as {example}")
    found: dict[str, Word] = {}
    for name, word in given.items():
        said = Word() if word is None and kind == "outputs" else word
        if not isinstance(said, Word):
            raise UsageError(f"{kind}: {name} is {shown(word)}, no word: say {example}")
        found[name] = said
    return found


def _named(given: object) -> dict[str, Word]:
    if isinstance(given, str):
        return {given: Word()}
    try:
        names = list(given)  # type: ignore[call-overload]  # what cannot be listed is refused
    except TypeError:
        return {}
    if len(set(names)) < len(names):
        raise UsageError("outputs: a name is there twice")
    return dict.fromkeys(names, Word())


def _check_parameters(function: object, inputs: Mapping[str, Word], whose: str) -> None:
    """Refuse a function whose parameters are not the inputs."""
    if not callable(function):
        raise UsageError(f"{shown(function)} is no function")
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    named = [p for p in parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    known = [p.name for p in named]
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        known += list(inputs)
    for name in inputs:
        if name not in known:
            hint = suggestion(name, known)
            raise UsageError(f"{whose} has no parameter {name!r}{hint}: it has {listing(known)}")
    for p in named:
        if p.name not in inputs and p.default is p.empty:
            raise UsageError(f"{whose} needs {p.name}, too: inputs are {listing(inputs)}")


def _results(made: Any, names: tuple[str, ...], whose: str) -> dict[str, Any]:
    """Return what a function gave, by the outputs' names."""
    if isinstance(made, Mapping):
        for name in names:
            if name not in made:
                raise UsageError(f"{whose} returns no {name!r}{suggestion(name, map(str, made))}")
        for name in made:
            if name not in names:
                raise UsageError(f"{whose} returns {name!r}, too: outputs are {listing(names)}")
        return {name: made[name] for name in names}
    several = list(made) if isinstance(made, (tuple, list)) else [made]
    if len(several) != len(names):
        raise UsageError(
            f"{whose} returns {len(several)} results, and outputs are {listing(names)}"
        )
    return dict(zip(names, several, strict=True))


def _check_result(value: Any, name: str, whose: str) -> None:
    if isinstance(value, (int, float, np.integer, np.floating)):
        raise UsageError(f"{whose}: {name} is always {value}: there is nothing to compile")
    if not isinstance(value, Value):
        raise UsageError(f"{whose}: {name} is {shown(value)}, made of no inputs")


def _check_arrays(function: Callable[..., Any], made: Problem) -> None:
    """Refuse a function that is another one each time, by running it with numpy's arrays."""
    arrays = made.draw(TRIED, SEED)
    columns = {one.name: array[:, 0] for one, array in zip(made.inputs, arrays, strict=True)}
    try:
        found = _results(function(**columns), made.returned.members, made.name)
        values = np.stack([np.broadcast_to(np.asarray(x, dtype=np.float64), (TRIED,))
                           for x in found.values()], axis=1)  # fmt: skip
    except (BoolcompError, TypeError, ValueError, ArithmeticError, AttributeError):
        return  # it may take nothing but boolcomp's values
    exact = made.reference(*arrays)
    size = np.maximum(np.abs(exact).max(axis=0), 1e-300)
    away = np.abs(values - exact).max(axis=0) / size
    if (away > AGREED).any():
        name = made.outputs[int(np.argmax(away))].name
        raise UsageError(
            f"{made.name}: {name} of arrays is not what was recorded: does it depend on anything "
            "but its inputs, or decide by their values?"
        )


def _outputs(
    written: Written, steps: Straight, inputs: tuple[Input, ...]
) -> tuple[tuple[Output, ...], list[str]]:
    """Return the outputs with their ranges, and notes of what was found of these."""
    exact = partial(_at_states, steps)
    bounds = np.array([x.range.low for x in inputs]), np.array([x.range.high for x in inputs])
    values, most = extremes(exact, bounds, SAMPLES, BEST, FINE)
    outputs, notes = [], []
    for k, (name, word) in enumerate(written.outputs.items()):
        low, high = -float(most[1, k]), float(most[0, k])
        if not np.isfinite(values[:, k]).all():
            raise UsageError(f"{written.name}: {name} has no value at some of its inputs")
        if max(abs(low), abs(high)) > MOST_SIZE:
            raise UsageError(f"{written.name}: {name} reaches {max(-low, high):.3g}: too large")
        if high - low <= CONSTANT * max(abs(low), abs(high)):
            raise UsageError(
                f"{written.name}: {name} is always {short(high)}: there is nothing to compile"
            )
        span = word.range or _round_range(low, high)
        dust = VISIBLE * max(abs(low), abs(high))
        reached = " .. ".join(short(x if abs(x) > dust else 0.0, 4) for x in (low, high))
        if word.range is None:
            notes.append(f"{name} reaches {reached}: its range is {_range_text(span)}")
        elif span.single:
            raise UsageError(f"{written.name}: the range of {name} is a single value")
        elif low < span.low - CONSTANT * span.width or high > span.high + CONSTANT * span.width:
            notes.append(f"{name} reaches {reached}, beyond its range {_range_text(span)}")
        elif (spare := math.floor(math.log2(span.width / (high - low)))) > 0:
            bits = f"{spare} bit{'s' * (spare > 1)}"
            notes.append(f"{name} reaches {reached}: the range {_range_text(span)} wastes {bits}")
        stem = f"{name}_" if name[-1].isdigit() else name
        outputs.append(Output(name, name, span, word.unit, stem=stem))
    return tuple(outputs), notes


def _at_states(steps: Straight, states: Floats) -> Floats:
    return evaluated_steps(steps, *(states[:, [k]] for k in range(states.shape[1])))


def _round_range(low: float, high: float) -> Interval:
    """Return a round range: about zero, or on one side of it where the other is not reached."""
    size = round_above(MARGIN * max(abs(low), abs(high)))
    slack = CONSTANT * size
    return Interval(0.0 if low >= -slack else -size, 0.0 if high <= slack else size)


def _range_text(span: Interval) -> str:
    return f"{short(span.low)} .. {short(span.high)}"


def _unread(steps: Straight) -> list[str]:
    """Return a note of the inputs that nothing reads."""
    read = {k for step in steps.nodes for k in step.operands} | {x.node for x in steps.outputs}
    names = [x.name for k, x in enumerate(steps.nodes) if x.kind == "input" and k not in read]
    return [f"not used: {listing(names)}"] if names else []
