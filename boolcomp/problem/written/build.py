"""From a function that a user wrote to a problem: recorded once, checked, ranges found."""

from __future__ import annotations

import inspect
import math
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
from boolcomp.problem.expressions.algebra import DOMAINS
from boolcomp.problem.expressions.fourier import Angle, Harmonics, WaveSum
from boolcomp.problem.expressions.tape import Returned, Straight, Tape
from boolcomp.problem.problem import MARGIN, Group, Output, Problem, climb, extremes
from boolcomp.problem.words import MOST_SIZE, Interval, round_above
from boolcomp.problem.written.tracing import Recorder, Value, Word, code_place, name_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.fourier import Spectra
    from boolcomp.problem.expressions.tape import Operation
    from boolcomp.problem.problem import Input

    Floats = NDArray[np.float64]
    Element: TypeAlias = WaveSum | Angle | float


# --------------------------------------------------------------------------------------------------
# Between which two numbers every step of a calculation lies, whatever its inputs: intervals.
#
# They are sound but for rounding, and often wider than what is reached: x - x spans twice what x
# does. So they acquit, and never convict.
# --------------------------------------------------------------------------------------------------


Ends: TypeAlias = tuple[float, float]
ANYTHING: Ends = (-math.inf, math.inf)
LARGEST = 700.0  # of an exponent


def enclosures(steps: Straight, inputs: Sequence[Input]) -> list[Ends]:
    """Return the ends of every step, over what the inputs reach."""
    reach = {one.name: (one.reach.low, one.reach.high) for one in inputs}
    found: list[Ends] = []
    for step in steps.nodes:
        ends = _ends(step, [found[k] for k in step.operands], reach)
        found.append(ANYTHING if any(map(math.isnan, ends)) else ends)
    return found


def _ends(step: Operation, read: Sequence[Ends], reach: Mapping[str, Ends]) -> Ends:
    if step.kind == "input":
        return reach[step.name]
    if step.kind == "constant":
        return step.value, step.value
    if step.kind in ("mul", "div"):
        if step.kind == "mul" and step.operands[0] == step.operands[1]:
            return _even(read[0], lambda x: x * x)
        return _product(read[0], read[1] if step.kind == "mul" else _inverse(read[1]))
    if step.kind in RISING:
        low, high = read[0]
        least, most = DOMAINS.get(step.kind, ANYTHING)
        return RISING[step.kind](max(low, least)), RISING[step.kind](min(high, most))
    return OTHERS[step.kind](*read)


def _product(a: Ends, b: Ends) -> Ends:
    corners = [0.0 if not x or not y else x * y for x in a for y in b]
    return min(corners), max(corners)


def _inverse(x: Ends) -> Ends:
    low, high = x
    if low <= 0 <= high:
        return ANYTHING
    return 1 / high, 1 / low


def _even(x: Ends, function: Callable[[float], float]) -> Ends:
    """Return the ends of a function that rises with the size of what it is of."""
    at = sorted(map(function, x))
    return (function(0.0) if x[0] <= 0 <= x[1] else at[0]), at[1]


def _cosine(x: Ends) -> Ends:
    low, high = x
    if not math.isfinite(low) or not math.isfinite(high) or high - low >= 2 * math.pi:
        return -1.0, 1.0
    at = sorted((math.cos(low), math.cos(high)))
    top = math.floor(high / (2 * math.pi)) >= math.ceil(low / (2 * math.pi))
    turned = (low - math.pi) / (2 * math.pi), (high - math.pi) / (2 * math.pi)
    bottom = math.floor(turned[1]) >= math.ceil(turned[0])
    return (-1.0 if bottom else at[0]), (1.0 if top else at[1])


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _within(least: float, most: float) -> Callable[..., Ends]:
    return lambda *_: (least, most)


def _clipped(x: float) -> float:
    return max(-1.0, min(1.0, x))


RISING: dict[str, Callable[[float], float]] = {
    "sqrt": lambda x: math.sqrt(max(0.0, x)),
    "exp": lambda x: math.exp(x) if x < LARGEST else math.inf,
    "log": _log,
    "atan": math.atan,
    "asin": lambda x: math.asin(_clipped(x)),
    "tanh": math.tanh,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "step": lambda x: float(x > 0),
}
OTHERS: dict[str, Callable[..., Ends]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "neg": lambda a: (-a[1], -a[0]),
    "abs": lambda a: _even(a, abs),
    "cos": _cosine,
    "sin": lambda a: _cosine((a[0] - math.pi / 2, a[1] - math.pi / 2)),
    "acos": lambda a: (math.acos(_clipped(a[1])), math.acos(_clipped(a[0]))),
    "wrap": _within(-math.pi, math.pi),
    "atan2": _within(-math.pi, math.pi),
}


# --------------------------------------------------------------------------------------------------
# Does a function have a value wherever its inputs may be? Each place where it has none is named.
#
# Intervals acquit most steps (`enclosures`). What they leave open is searched by sampling and
# climbing: a step is refused where a state is found at which it has no value. The search proves
# nothing: what it does not find is compiled.
# --------------------------------------------------------------------------------------------------


CHECK_SAMPLES, CORNERS, CHECK_SEED = 4096, 1024, 1988
CLIMB_STARTS, CLIMB_FINE = 6, 1e-7  # of climbing, and the step at which it ends
NEARLY = 1e-9  # of the size of a step: rounding
HALVINGS = 60
MOST_NAMED = 4  # inputs in a sentence
WAVES = ("sin", "cos", "wrap")
NAMES = {"sqrt": "the square root", "log": "the logarithm", "asin": "asin", "acos": "acos"}


def check_values(steps: Straight, inputs: Sequence[Input]) -> Straight:
    """Return steps that have a value everywhere; a `UsageError` names one that has none.

    Roots of what may be zero are taken of what is held at zero, and so on: rounding must not make
    them leave their domain.
    """
    check_angles(steps, inputs)
    ends = enclosures(steps, inputs)
    search = _Search(steps, inputs)
    edges: set[int] = set()
    for place, step in enumerate(steps.nodes):
        if step.kind == "div":
            _check_divisor(search, place, ends[step.operands[1]])
        elif step.kind in DOMAINS:
            if _check_domain(search, place, ends[step.operands[0]]):
                edges.add(place)
        elif step.kind == "constant" and abs(step.value) > MOST_SIZE:
            raise DataError(f"a number of it is beyond ±{MOST_SIZE:g}: {step.value:g}")
        _check_size(search, place, ends[place])
    return _held(steps, edges) if edges else steps


def check_angles(steps: Straight, inputs: Sequence[Input]) -> None:
    """Refuse an angle anywhere but in sums of whole multiples, inside sin, cos or wrap."""
    names = {one.name for one in inputs if one.angle and not one.range.single}
    angles: list[frozenset[str]] = []  # what a step is a sum of, if it is an angle
    for step in steps.nodes:
        read = [angles[k] for k in step.operands]
        found = frozenset[str]().union(*read)
        if step.kind == "input":
            found = frozenset({step.name} & names)
        elif step.kind in WAVES:
            found = frozenset()
        elif found and not _turns(steps, step.kind, step.operands, read):
            raise UsageError(_linear(found, step.task))
        angles.append(found)
    for one in steps.outputs:
        if angles[one.node]:
            raise UsageError(_linear(angles[one.node], f"{one.name}", ", as it would as an output"))


def _linear(names: frozenset[str], place: str, how: str = "") -> str:
    return (
        f"{place}: {listing(sorted(names))} is an angle: it stands in sums of whole multiples of "
        f"angles, inside sin, cos or wrap, and not alone{how}: write wrap(…), or let the input be "
        "no angle"
    )


def _turns(
    steps: Straight, kind: str, operands: Sequence[int], read: Sequence[frozenset[str]]
) -> bool:
    """Tell whether a step that reads angles is a sum of whole multiples of them."""
    others = [steps.nodes[k] for k, one in zip(operands, read, strict=True) if not one]
    known = all(one.kind == "constant" for one in others)
    if kind in ("add", "sub", "neg"):
        return known
    return kind == "mul" and len(others) == 1 and known and others[0].value % 1 == 0


@dataclass(frozen=True, slots=True)
class _Found:
    """The extreme values of a step that a search found, and the states where they are."""

    low: float
    high: float
    at_low: Floats
    at_high: Floats

    @property
    def slack(self) -> float:
        """Up to which size the step is rounding."""
        return NEARLY * max(abs(self.low), abs(self.high))


class _Search:
    """Seeks what steps reach, over what the inputs reach."""

    def __init__(self, steps: Straight, inputs: Sequence[Input]) -> None:
        self.steps, self.inputs = steps, inputs
        self.low = np.array([one.reach.low for one in inputs])
        self.high = np.array([one.reach.high for one in inputs])
        rng = np.random.default_rng(CHECK_SEED)
        drawn = rng.uniform(self.low, self.high, (CHECK_SAMPLES, len(inputs)))
        ends = np.where(rng.random((CORNERS, len(inputs))) < 0.5, self.low, self.high)
        middle = (self.low + self.high) / 2
        self.states = np.concatenate([drawn, ends, middle[None], self._zeros(middle)])
        self.values = self._values(self.states)

    def _zeros(self, middle: Floats) -> Floats:
        """Return the state nearest to zero: many a function has its hole there."""
        return np.asarray(np.clip(0 * middle, self.low, self.high)[None])

    def _values(self, states: Floats) -> list[Floats]:
        every = tuple(Returned("", k) for k in range(len(self.steps.nodes)))
        columns = [states[:, k] for k in range(len(self.inputs))]
        with np.errstate(all="ignore"):
            return Straight(self.steps.nodes, every).evaluate(columns)

    def value(self, place: int, states: Floats) -> Floats:
        """Return a step's value at states."""
        part = Straight(self.steps.nodes, (Returned("", place),))
        with np.errstate(all="ignore"):
            return part.evaluate([states[:, k] for k in range(len(self.inputs))])[0]

    def extremes(self, place: int) -> _Found:
        """Return what a step reaches, by climbing from the best of all samples."""
        values = np.nan_to_num(self.values[place], nan=0.0, posinf=MOST_SIZE, neginf=-MOST_SIZE)
        order = np.argsort(values, kind="stable")
        needed = self._needed(place)
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

    def _needed(self, place: int) -> Straight:
        """Return the steps that one needs, the inputs first as they are."""
        kept = {place}
        for k in range(place, -1, -1):
            if k in kept:
                kept.update(self.steps.nodes[k].operands)
        chosen = [k for k, x in enumerate(self.steps.nodes) if k in kept or x.kind == "input"]
        new = {k: at for at, k in enumerate(chosen)}
        nodes = tuple(
            replace(
                self.steps.nodes[k], operands=tuple(new[j] for j in self.steps.nodes[k].operands)
            )
            for k in chosen
        )
        return Straight(nodes, (Returned("", new[place]),))

    def zero(self, place: int, found: _Found) -> Floats:
        """Return a state where a step is zero, between one where it is less and one with more."""
        below, above = found.at_low, found.at_high
        if found.low > -found.slack:
            return below
        if found.high < found.slack:
            return above
        for _ in range(HALVINGS):
            middle = (below + above) / 2
            if float(self.value(place, middle[None])[0]) < 0:
                below = middle
            else:
                above = middle
        return above

    def told(self, place: int, state: Floats) -> str:
        """Return a state as a sentence ends with it: the inputs that a step depends on."""
        needed = {place}
        for k in range(place, -1, -1):
            if k in needed:
                needed.update(self.steps.nodes[k].operands)
        texts = [
            f"{one.name} = {short(float(x) + 0.0, 4)}"
            for one, x, k in zip(self.inputs, state, range(len(self.inputs)), strict=True)
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
    where = search.told(divisor, search.zero(divisor, found))
    raise UsageError(
        f"{step.task}: it divides by zero{where}: give the inputs other ranges, or keep the "
        "divisor away from zero"
    )


def _check_domain(search: _Search, place: int, ends: Ends) -> bool:
    """Refuse a function of what it has no value for; tell whether an end of its domain is near."""
    step = search.steps.nodes[place]
    least, most = DOMAINS[step.kind]
    open_end = step.kind == "log"  # of zero there is none
    if (least < ends[0] if open_end else least <= ends[0]) and ends[1] <= most:
        return False
    argument = step.operands[0]
    found = search.extremes(argument)
    slack = -found.slack if open_end else found.slack
    if least - slack < found.low and found.high < most + slack:
        return not open_end
    low = found.low <= least - slack
    worst, state = (found.low, found.at_low) if low else (found.high, found.at_high)
    worst = 0.0 if open_end and abs(worst) <= found.slack else worst
    allowed = {"sqrt": "no negative number", "log": "positive numbers"}.get(step.kind, "-1 .. 1")
    raise UsageError(
        f"{step.task}: {NAMES[step.kind]} of {short(worst, 4)}"
        f"{search.told(argument, state)}, where it has no value: it takes {allowed}"
    )


def _check_size(search: _Search, place: int, ends: Ends) -> None:
    if max(abs(ends[0]), abs(ends[1])) <= MOST_SIZE:
        return
    values = np.abs(search.values[place])
    row = int(np.argmax(np.nan_to_num(values, nan=np.inf))) if values.ndim else 0
    size = float(values.flat[row])
    if not size <= MOST_SIZE:
        what = f"grows to {size:.3g}" if math.isfinite(size) else "grows beyond all numbers"
        step = search.steps.nodes[place]
        raise UsageError(
            f"{step.task or 'a number'}: it {what}{search.told(place, search.states[row])}: "
            f"values stay within ±{MOST_SIZE:g}"
        )


def _held(steps: Straight, edges: set[int]) -> Straight:
    """Return the same steps, with arguments of functions held within their domains."""
    tape = Tape()
    wires: list[Any] = []
    for place, step in enumerate(steps.nodes):
        read = [wires[k] for k in step.operands]
        with tape.task(step.task):
            if place in edges:
                least, most = DOMAINS[step.kind]
                for end, sign in ((least, 1.0), (most, -1.0)):
                    if math.isfinite(end):
                        apart = tape.function("abs", read[0] - end)
                        read = [(read[0] + end + apart * sign) * 0.5]
            wires.append(tape.again(step, read))
    return tape.finish([(one.name, wires[one.node]) for one in steps.outputs])


# --------------------------------------------------------------------------------------------------
# Steps as sums of waves times powers, where that is what they are: then they have terms.
# --------------------------------------------------------------------------------------------------


MOST_POWER = 12  # harmonics and powers beyond are better looked up as they are calculated
MOST_PARTS = 300  # of an element


def wave_form(steps: Straight, inputs: Sequence[Input]) -> Spectra | None:
    """Return the outputs of steps as spectra; None where one is no sum of waves and powers.

    Inputs that occur in powers are axes, as angles are; others are factors.
    """
    space = Harmonics(tuple(inputs))
    made: list[Element | None] = []
    by_name = {one.name: one for one in inputs}
    for step in steps.nodes:
        if step.kind == "input":
            made.append(space.input(by_name[step.name]))
            continue
        read = [made[k] for k in step.operands]
        made.append(None if None in read else _element(space, step, read))
    elements = [made[one.node] for one in steps.outputs]
    if not all(isinstance(one, WaveSum) and one.parts for one in elements):
        return None
    powers = [0] * len(inputs)
    for one in elements:
        powers = [max(a, b) for a, b in zip(powers, _powers(space, one), strict=True)]
    axes = [x for x, most in zip(inputs, powers, strict=True) if x.angle or most > 1]
    return space.spectra(tuple(axes), elements)


def _element(space: Harmonics, step: Operation, read: Sequence[Any]) -> Element | None:
    if step.kind == "constant":
        return step.value
    try:
        if step.kind in ("sin", "cos"):
            found: Any = space.sine(read[0]) if step.kind == "sin" else space.cosine(read[0])
        elif step.kind == "neg":
            found = -read[0]
        elif step.kind in ("add", "sub", "mul"):
            found = _joined(step.kind, *read)
        else:
            return None
    except (TypeError, UsageError):  # an angle alone, or the sine of what is none
        return None
    small = not isinstance(found, WaveSum) or (
        len(found.parts) <= MOST_PARTS and max(_powers(space, found)) <= MOST_POWER
    )
    return found if small else None


def _joined(kind: str, a: Any, b: Any) -> Any:
    if kind == "mul":
        return a * b
    return a + b if kind == "add" else a - b


def _powers(space: Harmonics, element: Any) -> list[int]:
    """Return the largest harmonic or power of every input in a sum."""
    numbers = [space.numbers(key) for key in element.parts] or [(0,) * len(space.inputs)]
    return [max(map(abs, column)) for column in zip(*numbers, strict=True)]


# --------------------------------------------------------------------------------------------------
# From a function that a user wrote to a problem: recorded once, checked, ranges found.
# --------------------------------------------------------------------------------------------------


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
