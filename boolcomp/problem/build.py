"""Problems from user-written functions: recorded once, checked, their ranges found."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boolcomp.base.errors import (
    BoolcompError,
    DataError,
    UsageError,
    listing,
    short,
    shown,
    spelled,
    suggestion,
)
from boolcomp.problem.algebra import ANYTHING, RULES
from boolcomp.problem.fourier import Angle, Harmonics, WaveSum
from boolcomp.problem.problem import MARGIN, Group, Problem, climb, extremes
from boolcomp.problem.tape import Recorder, Returned, Straight, Tape, Value
from boolcomp.problem.words import (
    MOST_SIZE,
    Interval,
    Output,
    Word,
    name_problem,
    round_above,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.algebra import Ends
    from boolcomp.problem.fourier import Spectra
    from boolcomp.problem.tape import Operation
    from boolcomp.problem.words import Input

    Floats = NDArray[np.float64]
    Element: TypeAlias = WaveSum | Angle | float

# --------------------------------------------------------------------------------------------------
# Checks that a function is defined for all inputs.
#
# Enclosures prove this for most steps. The others are searched by sampling and climbing: a state at
# which a step is undefined is an error. The search proves nothing: a function whose undefined
# states it does not find is compiled.
# --------------------------------------------------------------------------------------------------

CHECK_SAMPLES, CORNERS, CHECK_SEED = 4096, 1024, 1988
CLIMB_STARTS, CLIMB_FINE = 6, 1e-7  # starts of a climb, and its last step
NEARLY = 1e-9  # of the size of a step: smaller differences are rounding errors
HALVINGS = 60
MOST_NAMED = 4  # inputs in a message
WAVES = ("sin", "cos", "wrap")
NAMES = {"sqrt": "the square root", "log": "the logarithm", "asin": "asin", "acos": "acos"}


def enclosures(steps: Straight, inputs: Sequence[Input]) -> list[Ends]:
    """Return an interval that encloses every step, over the reach of the inputs."""
    return steps.enclosures({one.name: (one.reach.low, one.reach.high) for one in inputs})


def check_values(steps: Straight, inputs: Sequence[Input]) -> Straight:
    """Return steps that are defined everywhere, or raise a `UsageError` that names one.

    Arguments that reach the end of a domain, such as zero for a root, are clipped to the domain, so
    that rounding cannot leave it.
    """
    check_angles(steps, inputs)
    ends = enclosures(steps, inputs)
    search = _Search(steps, inputs)
    edges: set[int] = set()
    for place, step in enumerate(steps.nodes):
        if step.kind == "div":
            _check_divisor(search, place, ends[step.operands[1]])
        elif not step.free and RULES[step.kind].domain != ANYTHING:
            if _check_domain(search, place, ends[step.operands[0]]):
                edges.add(place)
        elif step.kind == "constant" and abs(step.value) > MOST_SIZE:
            raise DataError(f"a constant, {step.value:g}, is beyond ±{MOST_SIZE:g}")
        _check_size(search, place, ends[place])
    return _held(steps, edges) if edges else steps


def check_angles(steps: Straight, inputs: Sequence[Input]) -> None:
    """Raise if an angle occurs outside of sums of whole multiples inside sin, cos or wrap."""
    names = {one.name for one in inputs if one.angle and not one.range.single}
    angles: list[frozenset[str]] = []  # the angles of every step that is a sum of angles
    for step in steps.nodes:
        read = [angles[k] for k in step.operands]
        found = frozenset[str]().union(*read)
        if step.kind == "input":
            found = frozenset({step.name} & names)
        elif step.kind in WAVES:
            found = frozenset()
        elif found and not _turns(steps, step.kind, step.operands, read):
            raise _linear(found, step.task)
        angles.append(found)
    for one in steps.outputs:
        if angles[one.node]:
            raise _linear(angles[one.node], one.name, f" or as the output {one.name}")


def _linear(names: frozenset[str], place: str, other: str = "") -> UsageError:
    return UsageError(
        f"{listing(sorted(names))} is an angle, which may occur in sums of whole multiples of "
        f"angles inside sin, cos or wrap, and not alone{other}",
        "write wrap(…), or declare the input without angle", where=place,
    )  # fmt: skip


def _turns(
    steps: Straight, kind: str, operands: Sequence[int], read: Sequence[frozenset[str]]
) -> bool:
    """Return whether a step that reads angles is a sum of whole multiples of them."""
    others = [steps.nodes[k] for k, one in zip(operands, read, strict=True) if not one]
    known = all(one.kind == "constant" for one in others)
    if kind in ("add", "sub", "neg"):
        return known
    return kind == "mul" and len(others) == 1 and known and others[0].value % 1 == 0


@dataclass(frozen=True, slots=True)
class _Found:
    """The extreme values of a step that a search found, and their states."""

    low: float
    high: float
    at_low: Floats
    at_high: Floats

    @property
    def slack(self) -> float:
        return NEARLY * max(abs(self.low), abs(self.high))


class _Search:
    """Searches the extremes of steps over the reach of the inputs."""

    def __init__(self, steps: Straight, inputs: Sequence[Input]) -> None:
        self.steps, self.inputs = steps, inputs
        self.low = np.array([one.reach.low for one in inputs])
        self.high = np.array([one.reach.high for one in inputs])
        rng = np.random.default_rng(CHECK_SEED)
        drawn = rng.uniform(self.low, self.high, (CHECK_SAMPLES, len(inputs)))
        ends = np.where(rng.random((CORNERS, len(inputs))) < 0.5, self.low, self.high)
        middle = (self.low + self.high) / 2
        zeros = np.clip(0 * middle, self.low, self.high)
        self.states = np.concatenate([drawn, ends, middle[None], zeros[None]])
        self.values = self._values(range(len(steps.nodes)), self.states)

    def _values(self, places: Iterable[int], states: Floats) -> list[Floats]:
        """Return the values of steps at states."""
        part = Straight(self.steps.nodes, tuple(Returned("", k) for k in places))
        with np.errstate(all="ignore"):
            return part.evaluate([states[:, k] for k in range(len(self.inputs))])

    def extremes(self, place: int) -> _Found:
        """Return the extremes of a step, found by climbing from the best of all samples."""
        values = np.nan_to_num(self.values[place], nan=0.0, posinf=MOST_SIZE, neginf=-MOST_SIZE)
        order = np.argsort(values, kind="stable")
        needed = self.steps.part([Returned("", place)])
        ends = []
        for sign, rows in ((-1.0, order[:CLIMB_STARTS]), (1.0, order[-CLIMB_STARTS:])):

            def height(x: Floats, _: Any, sign: float = sign) -> Floats:
                return np.nan_to_num(sign * needed.evaluate(list(x.T))[0], nan=-np.inf)

            with np.errstate(all="ignore"):
                points, heights = climb(
                    height, self.states[rows], self.low, self.high, 0.25, CLIMB_FINE
                )
            best = int(np.argmax(heights))
            ends.append((sign * float(heights[best]), points[best]))
        return _Found(ends[0][0], ends[1][0], ends[0][1], ends[1][1])

    def zero(self, place: int, found: _Found) -> Floats:
        """Return a state where a step is zero, by bisection between its extremes."""
        below, above = found.at_low, found.at_high
        if found.low > -found.slack:
            return below
        if found.high < found.slack:
            return above
        for _ in range(HALVINGS):
            middle = (below + above) / 2
            if float(self._values([place], middle[None])[0][0]) < 0:
                below = middle
            else:
                above = middle
        return above

    def place_text(self, place: int, state: Floats) -> str:
        """Return the end of a message: the values of the inputs on which a step depends."""
        needed = self.steps.cone([place])
        texts = [
            f"{one.name} = {short(float(x) + 0.0, 4)}"
            for k, (one, x) in enumerate(zip(self.inputs, state, strict=True))
            if k in needed and not one.range.single
        ]
        more = [f"and {len(texts) - MOST_NAMED} more"] if len(texts) > MOST_NAMED else []
        return f" at {listing([*texts[:MOST_NAMED], *more])}" if texts else ""


def _check_divisor(search: _Search, place: int, ends: Ends) -> None:
    if ends[0] > 0 or ends[1] < 0:
        return
    step = search.steps.nodes[place]
    divisor = step.operands[1]
    found = search.extremes(divisor)
    if found.low > found.slack or found.high < -found.slack:
        return
    where = search.place_text(divisor, search.zero(divisor, found))
    raise UsageError(f"it divides by zero{where}", "give other ranges", where=step.task)


def _check_domain(search: _Search, place: int, ends: Ends) -> bool:
    """Raise if an argument leaves the domain; return whether it reaches an end of it."""
    step = search.steps.nodes[place]
    least, largest = RULES[step.kind].domain
    open_end = step.kind == "log"  # zero is not in its domain
    if (least < ends[0] if open_end else least <= ends[0]) and ends[1] <= largest:
        return False
    argument = step.operands[0]
    found = search.extremes(argument)
    slack = -found.slack if open_end else found.slack
    if least - slack < found.low and found.high < largest + slack:
        return not open_end
    low = found.low <= least - slack
    worst, state = (found.low, found.at_low) if low else (found.high, found.at_high)
    worst = 0.0 if open_end and abs(worst) <= found.slack else worst
    allowed = {"sqrt": "numbers from 0", "log": "positive numbers"}.get(step.kind, "-1 .. 1")
    raise UsageError(
        f"{NAMES[step.kind]} of {short(worst, 4)}{search.place_text(argument, state)}, where it "
        "has no value", f"keep its argument within {allowed}", where=step.task,
    )  # fmt: skip


def _check_size(search: _Search, place: int, ends: Ends) -> None:
    if max(abs(ends[0]), abs(ends[1])) <= MOST_SIZE:
        return
    values = np.abs(search.values[place])
    row = int(np.argmax(np.nan_to_num(values, nan=np.inf))) if values.ndim else 0
    size = float(values.flat[row])
    if not size <= MOST_SIZE:
        grows = f"grows to {size:.3g}" if math.isfinite(size) else "grows beyond all numbers"
        where = search.place_text(place, search.states[row])
        task = search.steps.nodes[place].task or "a number"
        raise UsageError(f"it {grows}{where}", f"keep values within ±{MOST_SIZE:g}", where=task)


def _held(steps: Straight, edges: set[int]) -> Straight:
    """Return the same steps, with the arguments of some clipped to their domains."""
    tape = Tape()
    wires: list[Any] = []
    for place, step in enumerate(steps.nodes):
        read = [wires[k] for k in step.operands]
        with tape.task(step.task):
            if place in edges:
                for end, sign in zip(RULES[step.kind].domain, (1.0, -1.0), strict=True):
                    if math.isfinite(end):
                        distance = tape.function("abs", read[0] - end)
                        read = [(read[0] + end + distance * sign) * 0.5]
            wires.append(tape.again(step, read))
    return tape.finish([(one.name, wires[one.node]) for one in steps.outputs])


# --------------------------------------------------------------------------------------------------
# Steps as sums of waves times powers, which have terms.
# --------------------------------------------------------------------------------------------------

MOST_POWER = 12  # larger harmonics and powers are cheaper as tables of single steps
MOST_PARTS = 300  # of an element
JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
}  # fmt: skip


def wave_form(steps: Straight, inputs: Sequence[Input]) -> Spectra | None:
    """Return the outputs of steps as spectra, or None if one is not a sum of waves and powers.

    Angles and inputs that occur in powers are axes; other inputs are factors.
    """
    space = Harmonics(tuple(inputs))
    values: list[Element | None] = []
    by_name = {one.name: one for one in inputs}
    for step in steps.nodes:
        if step.kind == "input":
            values.append(space.input(by_name[step.name]))
            continue
        read = [values[k] for k in step.operands]
        values.append(None if None in read else _element(space, step, read))
    elements = [values[one.node] for one in steps.outputs]
    if not all(isinstance(one, WaveSum) and one.parts for one in elements):
        return None
    powers = [0] * len(inputs)
    for one in elements:
        powers = [max(a, b) for a, b in zip(powers, _powers(space, one), strict=True)]
    axes = [x for x, power in zip(inputs, powers, strict=True) if x.angle or power > 1]
    return space.spectra(tuple(axes), elements)


def _element(space: Harmonics, step: Operation, read: Sequence[Any]) -> Element | None:
    if step.kind == "constant":
        return step.value
    try:
        if step.kind in ("sin", "cos"):
            found: Any = space.sine(read[0]) if step.kind == "sin" else space.cosine(read[0])
        elif step.kind == "neg":
            found = -read[0]
        elif step.kind in JOINED:
            found = JOINED[step.kind](*read)
        else:
            return None
    except (TypeError, UsageError):  # an angle alone, or a sine of anything else
        return None
    small = not isinstance(found, WaveSum) or (
        len(found.parts) <= MOST_PARTS and max(_powers(space, found)) <= MOST_POWER
    )
    return found if small else None


def _powers(space: Harmonics, element: Any) -> list[int]:
    """Return the largest harmonic or power of every input in a sum."""
    numbers = [space.numbers(key) for key in element.parts] or [(0,) * len(space.inputs)]
    return [max(map(abs, column)) for column in zip(*numbers, strict=True)]


# --------------------------------------------------------------------------------------------------
# Problems of recorded functions.
# --------------------------------------------------------------------------------------------------

SAMPLES, BEST, FINE = 20_000, 4, 1e-3  # of the search for the extremes of outputs
CONSTANT = 1e-9  # of an output's size: smaller variations are rounding errors
VISIBLE = 1e-4  # of an output's size: smaller values are printed as zero
AGREED = 1e-9  # of an output's size: largest difference of two ways to calculate it
TRIED, SEED = 64, 7  # states at which a function is called with arrays


@dataclass(frozen=True, slots=True)
class RecordedFunction:
    """A recorded function: its steps, and its words by name."""

    name: str
    steps: Straight
    inputs: Mapping[str, Word]
    outputs: Mapping[str, Word]

    def problem(self) -> Problem:
        """Check the function and return its problem."""
        inputs = tuple(word.input(name) for name, word in self.inputs.items())
        checked = check_values(self.steps, inputs)
        nodes = tuple(replace(step, task="") for step in checked.nodes)
        steps = Straight(nodes, checked.outputs)
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
            form=partial(_form, steps, inputs if wave_like else None),
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
    """Return the problem of a Python function with named arguments.

    It is called once with recorded values, and once with arrays: both must agree. `outputs` are
    names with words, or names alone whose ranges are found.
    """
    called = name or getattr(function, "__name__", "function").strip("<>")
    words = _words("inputs", inputs)
    results = _words("outputs", outputs if isinstance(outputs, Mapping) else _named(outputs))
    check_names(words, results, called)
    _check_parameters(function, words, called)
    recorder = Recorder()
    values = {one: recorder.input(one) for one in words}
    found = _results(function(**values), tuple(results), called)
    for one, value in found.items():
        _check_result(value, one, called)
    steps = recorder.finish(found.items())
    problem = RecordedFunction(called, steps, words, results).problem()
    _check_arrays(function, problem)
    return problem


def check_names(inputs: Iterable[str], outputs: Iterable[str], whose: str) -> None:
    """Raise UsageError for invalid or duplicate names."""
    seen: set[str] = set()
    for kind, names in (("input", inputs), ("output", outputs)):
        for one in names:
            if problem := name_problem(one, seen):
                raise UsageError(f"{kind} {problem}", where=whose)
            seen.add(one)


def evaluated_steps(steps: Straight, *arrays: Floats) -> Floats:
    """Return the outputs of steps, (samples, outputs), for an array (samples, 1) of each input."""
    with np.errstate(all="ignore"):  # callers check that results are finite
        columns = steps.evaluate([np.asarray(array)[:, 0] for array in arrays])
    return np.stack(columns, axis=1)


def _form(steps: Straight, inputs: tuple[Input, ...] | None) -> Spectra | Straight:
    return steps if inputs is None else wave_form(steps, inputs) or steps


def _words(kind: str, given: object) -> dict[str, Word]:
    """Return the words of inputs or outputs by name, checked."""
    example = f'{kind}={{"x": boolcomp.word(-1, 1, bits=10)}}'
    if not isinstance(given, Mapping) or not given:
        raise UsageError(f"{kind} of a function are words by name, such as {example}")
    found: dict[str, Word] = {}
    for name, word in given.items():
        found[name] = Word() if word is None and kind == "outputs" else word
        if not isinstance(found[name], Word):
            raise UsageError(f"{name} is {shown(word)}, not a word", f"give {example}", where=kind)
    return found


def _named(given: object) -> dict[str, Word]:
    if isinstance(given, str):
        return {given: Word()}
    try:
        names = list(given)  # type: ignore[call-overload]  # which raises for other types
    except TypeError:
        return {}
    if len(set(names)) < len(names):
        raise UsageError("outputs have a name twice")
    return dict.fromkeys(names, Word())


def _check_parameters(function: object, inputs: Mapping[str, Word], whose: str) -> None:
    """Raise UsageError if a function's parameters are not the inputs."""
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
            raise UsageError(f"{whose} has no parameter {name!r}", f"{hint}it has {listing(known)}")
    for p in named:
        if p.name not in inputs and p.default is p.empty:
            raise UsageError(f"{whose} needs {p.name}, too", f"inputs are {listing(inputs)}")


def _results(result: Any, names: tuple[str, ...], whose: str) -> dict[str, Any]:
    """Return the results of a function by the outputs' names."""
    if isinstance(result, Mapping):
        for name in names:
            if name not in result:
                raise UsageError(f"{whose} returns no {name!r}", suggestion(name, map(str, result)))
        for name in result:
            if name not in names:
                raise UsageError(f"{whose} returns {name!r}, too", f"outputs are {listing(names)}")
        return {name: result[name] for name in names}
    several = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(several) != len(names):
        raise UsageError(
            f"{whose} returns {len(several)} results, and outputs are {listing(names)}"
        )
    return dict(zip(names, several, strict=True))


def _check_result(value: Any, name: str, whose: str) -> None:
    if isinstance(value, (int, float, np.integer, np.floating)):
        raise UsageError(f"{name} is always {value}, so there is nothing to compile", where=whose)
    if not isinstance(value, Value):
        raise UsageError(f"{name} is {shown(value)}, which does not depend on inputs", where=whose)


def _check_arrays(function: Callable[..., Any], problem: Problem) -> None:
    """Raise UsageError if a function called with arrays differs from its record."""
    arrays = problem.draw(TRIED, SEED)
    columns = {one.name: array[:, 0] for one, array in zip(problem.inputs, arrays, strict=True)}
    try:
        found = _results(function(**columns), problem.returned.members, problem.name)
        values = np.stack([np.broadcast_to(np.asarray(x, dtype=np.float64), (TRIED,))
                           for x in found.values()], axis=1)  # fmt: skip
    except (BoolcompError, TypeError, ValueError, ArithmeticError, AttributeError):
        return  # it may accept boolcomp's values only
    exact = problem.reference(*arrays)
    size = np.maximum(np.abs(exact).max(axis=0), 1e-300)
    differences = np.abs(values - exact).max(axis=0) / size
    if (differences > AGREED).any():
        name = problem.outputs[int(np.argmax(differences))].name
        raise UsageError(
            f"{name} of arrays differs from the recorded function",
            "the function must depend on its inputs only, and must not decide by their values",
            where=problem.name,
        )


def _outputs(
    written: RecordedFunction, steps: Straight, inputs: tuple[Input, ...]
) -> tuple[tuple[Output, ...], list[str]]:
    """Return the outputs with their ranges, and notes about these."""

    def exact(states: Floats) -> Floats:
        return evaluated_steps(steps, *(states[:, [k]] for k in range(states.shape[1])))

    bounds = np.array([x.range.low for x in inputs]), np.array([x.range.high for x in inputs])
    values, largest = extremes(exact, bounds, SAMPLES, BEST, FINE)
    outputs, notes = [], []
    for k, (name, word) in enumerate(written.outputs.items()):
        low, high = -float(largest[1, k]), float(largest[0, k])
        if not np.isfinite(values[:, k]).all():
            raise UsageError(f"{name} has no value at some of its inputs", where=written.name)
        if max(abs(low), abs(high)) > MOST_SIZE:
            raise UsageError(
                f"{name} reaches {max(-low, high):.3g}, which is too large", where=written.name
            )
        if high - low <= CONSTANT * max(abs(low), abs(high)):
            raise UsageError(
                f"{name} is always {short(high)}: there is nothing to compile", where=written.name
            )
        span = word.range or _round_range(low, high)
        dust = VISIBLE * max(abs(low), abs(high))
        reached = " .. ".join(short(x if abs(x) > dust else 0.0, 4) for x in (low, high))
        if word.range is None:
            notes.append(f"{name} reaches {reached}: its range is {_range_text(span)}")
        elif span.single:
            raise UsageError(f"the range of {name} is a single value", where=written.name)
        elif low < span.low - CONSTANT * span.width or high > span.high + CONSTANT * span.width:
            notes.append(f"{name} reaches {reached}, beyond its range {_range_text(span)}")
        elif (spare := math.floor(math.log2(span.width / (high - low)))) > 0:
            bits = f"{spare} bit{'s' * (spare > 1)}"
            notes.append(f"{name} reaches {reached}: the range {_range_text(span)} wastes {bits}")
        stem = f"{name}_" if name[-1].isdigit() else name
        outputs.append(Output(name, name, span, word.unit, stem=stem))
    return tuple(outputs), notes


def _round_range(low: float, high: float) -> Interval:
    """Return a round range, about zero or on one side of it."""
    size = round_above(MARGIN * max(abs(low), abs(high)))
    slack = CONSTANT * size
    return Interval(0.0 if low >= -slack else -size, 0.0 if high <= slack else size)


def _range_text(span: Interval) -> str:
    return f"{short(span.low)} .. {short(span.high)}"


def _unread(steps: Straight) -> list[str]:
    """Return a note about unused inputs."""
    read = {k for step in steps.nodes for k in step.operands} | {x.node for x in steps.outputs}
    names = [x.name for k, x in enumerate(steps.nodes) if x.kind == "input" and k not in read]
    return [f"not used: {listing(names)}"] if names else []
