"""A program: the logic of all outputs of a problem, for one tip load or several.

It holds the code of every input word at the finest width that any term reads (a coarser word is
its leading bits), every distinct network once, and of every output the networks of its terms and
how their cells are added (`sums`). Terms that are left out contribute nothing.

In compact mode there are no terms: one network makes all outputs of a load. It reads and makes
natural words; other codes, and zeros at rest, are put on where a program is wired (`joining`).
"""

from __future__ import annotations

import warnings
from dataclasses import astuple, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from boolcomp.base.errors import mass_text
from boolcomp.common.errors import DataWarning, SaturationWarning, UsageError, listing
from boolcomp.engines import make_engine
from boolcomp.engines.engine import evaluate
from boolcomp.engines.wiring import Stop
from boolcomp.problem.degrees import Angles
from boolcomp.problem.problem import stopped
from boolcomp.problem.shapes import gathered
from boolcomp.program.checks import check_program
from boolcomp.program.htmltable import html_of
from boolcomp.program.joining import joined, wire
from boolcomp.program.library import Chosen, alone, between, choose, masses
from boolcomp.program.parts import (
    CodedInput,
    CodedOutput,
    JointNetwork,
    KnownErrors,
    Load,
    Slice,
)  # fmt: skip
from boolcomp.program.writing import save_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.codes import Answer, Code
    from boolcomp.engines import EngineName
    from boolcomp.engines.engine import Engine, Evaluation
    from boolcomp.engines.wiring import Wiring
    from boolcomp.logic.network import Network
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.problem import Group, Problem
    from boolcomp.words.graph import WordGraph

Mode = Literal["paper", "compact"]
MODES: tuple[Mode, ...] = get_args(Mode)
WHOSE = "this program"


@dataclass(frozen=True, slots=True, repr=False)
class Program:
    """The logic of all outputs of a problem. Immutable; engines are made when first needed.

    States are an array for each of the `groups`, of words that are read and others; results are
    the group `returned`. `plural` is what a user calls the outputs ("torques"), `places` what
    inputs belong to ("joints"), `demand` what was asked for in compact mode. A
    `certificate` is a text for the checker (`boolcomp.checker`), which nothing else reads. Where
    outputs are affine in the mass at the tip, `per_kilogram` says how much one kilogram changes
    each at most, in its unit: then there is an answer for masses between loads (`library`).
    """

    name: str
    bits: int
    mode: Mode
    groups: tuple[Group, ...]
    returned: Group
    inputs: tuple[CodedInput, ...]
    networks: tuple[Network, ...]
    loads: tuple[Load, ...]
    stops: tuple[Stop, ...] = ()
    plural: str = "outputs"
    places: str = "inputs"
    demand: str = ""
    certificate: str = ""
    per_kilogram: tuple[float, ...] = ()
    _engines: dict[tuple[float | None, str, int], Engine] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    _asked: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    _angles: Angles = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r}: modes are {listing(MODES)}")
        check_program(self)
        object.__setattr__(self, "_angles", Angles(self.groups, self.angles))

    def __reduce__(self) -> tuple[Any, ...]:
        # Engines hold native code of this process: another one makes its own.
        return Program, tuple(getattr(self, one.name) for one in fields(self) if one.init)

    @property
    def outputs(self) -> tuple[CodedOutput, ...]:
        """The outputs, with the first load."""
        return self.loads[0].outputs

    @property
    def payloads(self) -> tuple[float, ...]:
        """The tip loads (kg) it was compiled for."""
        return tuple(load.payload for load in self.loads)

    @property
    def graph(self) -> WordGraph | None:
        """The word graph, with the first load; None in paper mode and where it is not known."""
        return self.loads[0].graph

    @property
    def asked(self) -> dict[str, str]:
        """What was asked for in compact mode, by name, as `demand` writes it."""
        return {name: value for name, _, value in (x.partition("=") for x in self.demand.split())}

    @property
    def errors(self) -> dict[str, KnownErrors]:
        """The errors that were measured, by output, the largest over all loads; none unmeasured.

        The codes of the outputs say what one LSB is: `output.code.step`.
        """
        known = {}
        for outputs in zip(*(load.outputs for load in self.loads), strict=True):
            found = [output.errors for output in outputs if output.errors is not None]
            if len(found) == len(self.loads):
                each = zip(*map(astuple, found), strict=True)
                known[outputs[0].name] = KnownErrors(*map(_most, each))
        return known

    @property
    def sampled_max(self) -> tuple[float | None, ...]:
        """The largest error of random states of every output in its unit, over all loads.

        None where none was measured. It says what happened: see `worst_found` and `bound`.
        """
        known = (self.errors.get(output.name) for output in self.outputs)
        return tuple(None if found is None else found.sampled_max for found in known)

    @property
    def worst_found(self) -> tuple[float | None, ...]:
        """The largest error of every output that a search found, in its unit, over all loads.

        None where nobody sought it. Errors may be larger: only `bound` is proved.
        """
        known = (self.errors.get(output.name) for output in self.outputs)
        return tuple(None if found is None else found.worst_found for found in known)

    @property
    def bound(self) -> tuple[float, ...]:
        """The proven error of every output in its unit, over all loads.

        It holds for inputs in range; an output beyond its word counts as the nearest that it can
        say. Infinite where none is known. It is of what words stand for: the type of answers adds
        its `rounding`.
        """
        return tuple(max(load.outputs[k].bound for load in self.loads) for k in self._places)

    @property
    def useful_bound(self) -> tuple[float, ...]:
        """The same, but infinite where a bound is wider than the word of its output."""
        found = ((load.outputs[k].useful_bound for load in self.loads) for k in self._places)
        return tuple(map(max, found))

    @property
    def _places(self) -> range:
        return range(self.returned.size)

    def rounding(self, answer: Answer = "float64") -> tuple[float, ...]:
        """Return by how much answers of a type may be off beyond `bound`, in outputs' units.

        `answer` is "float64", "float32" (the type of answers to float32 inputs), or "csv" for the
        nine digits of a text.
        """
        return tuple(
            max(load.outputs[k].code.rounding(answer) for load in self.loads)
            for k in range(self.returned.size)
        )

    def load(self, payload: float | None = None) -> Load:
        """Return the outputs with a payload; the first load where none is named."""
        for load in self.loads:
            if payload is None or load.payload == payload:
                return load
        raise UsageError(f"no payload {payload}: {WHOSE} has {masses(self.payloads)} kg")

    def chosen(self, payload: float | None = None, *, interpolate: bool = False) -> Chosen:
        """Return what stands for a mass at the tip (see `library`), and by how much it errs."""
        if payload is None:
            return alone(self.load())
        return choose(self.loads, self.per_kilogram, payload, interpolate=interpolate)

    def wiring(self, payload: float | None = None) -> Wiring:
        """Return what an engine runs."""
        wiring = wire(self.groups, self.inputs, self.networks, self.load(payload))
        return replace(wiring, stops=self.stops, places=self.places)

    def network(self, payload: float | None = None) -> Network:
        """Return all logic of a load as one network, sums and codes and all (see `joined`)."""
        return joined(self.wiring(payload))

    def __call__(
        self,
        *arrays: ArrayLike,
        payload: float | None = None,
        interpolate: bool = False,
        engine: EngineName = "auto",
        threads: int = 1,
        **named: ArrayLike,
    ) -> NDArray[Any]:
        """Return the outputs at one state or many: (outputs,) or (samples, outputs), or a scalar.

        Arrays are given in the order of the groups or by their names, such as `q=...`: (members,),
        (samples, members), or a number for all; or every input by its own name, such as `q1=...`:
        numbers, or samples. Angles over a whole turn wrap, other values outside their range
        saturate; that, and what lies beyond stops, is a `SaturationWarning`. Angles that look like
        degrees are asked about once, by a `DataWarning`. A program with several
        loads is told which by `payload` (kg): the nearest is taken, or with `interpolate` what lies
        between two. See `evaluate`.
        """
        given = gathered(self.groups, arrays, named, WHOSE)
        found = self._found(given, payload, interpolate, engine, threads)
        if not self._asked and (found.values.ndim > 1 or not self._angles.near(given)):
            self._ask_degrees(given, found)
        if doubt := found.doubt(self.plural, self.places):
            text = f"{self.name}: {doubt}: {self._meaning(found)}"
            warnings.warn(text, SaturationWarning, stacklevel=2)
        return found.values

    torques = __call__  # as programs of robots are read

    @property
    def angles(self) -> dict[str, Interval | None]:
        """The angles among the inputs with their stops; None of those that turn all the way."""
        stops = {one.name: one.range for one in self.stops}
        return {
            one.name: stops.get(one.name, None if one.code.wraps else one.code.range)
            for one in self.inputs
            if one.unit == "rad"
        }

    def _ask_degrees(self, given: Sequence[ArrayLike], found: Evaluation) -> None:
        """Warn, once, of angles that look like degrees; of one state, only beyond two turns."""
        seen = self._angles.seen(given, found.values.size // len(self.outputs))
        if found.values.ndim < 2:
            seen = seen._replace(outside=0)
        if question := seen.question:
            self._asked.append(question)
            warnings.warn(f"{self.name}: {question}", DataWarning, stacklevel=3)

    def _meaning(self, found: Evaluation) -> str:
        """Say what it means for outputs that values were beyond words or stops."""
        if (
            found.saturated_inputs
            or found.saturated_outputs
            or any(s.range.single for s in self.stops)
        ):
            return f"their {self.plural} are not what they seem"
        return "further out than 2 % of a turn (with word_range: at all) the logic is free"

    def evaluate(
        self,
        *arrays: ArrayLike,
        payload: float | None = None,
        interpolate: bool = False,
        engine: EngineName = "auto",
        threads: int = 1,
        **named: ArrayLike,
    ) -> Evaluation:
        """Return outputs, their code words, and how many values saturated or lay beyond stops.

        Outputs are float32 where all arrays are, else float64. More `threads` share a large batch,
        in the native engine. Shapes and names that do not fit are a `UsageError`, NaN and
        infinities a `DataError`. Of a mass between two loads `chosen` says what errors are at most.
        """
        given = gathered(self.groups, arrays, named, WHOSE)
        return self._found(given, payload, interpolate, engine, threads)

    def _found(
        self,
        given: list[ArrayLike],
        payload: float | None,
        interpolate: bool,  # noqa: FBT001 (of this class alone)
        engine: EngineName,
        threads: int,
    ) -> Evaluation:
        """Return what `evaluate` does of an array for every group."""
        if interpolate:
            chosen = self.chosen(payload, interpolate=True)
            each = [
                evaluate(self.engine(load.payload, engine, threads), given, coded=False)
                for load in chosen.loads
            ]
            return between(each, chosen.weights)
        runs = self.engine(payload, engine, threads)
        state: Any = getattr(runs, "state", None)  # of engines that take single states apart
        if state is not None and (found := state(given)) is not None:
            return cast("Evaluation", found)
        return evaluate(runs, given, coded=False)

    def evaluate_words(
        self,
        *arrays: ArrayLike,
        payload: float | None = None,
        engine: EngineName = "auto",
        **named: ArrayLike,
    ) -> Evaluation:
        """Do what `evaluate` does, for integer code words (as an encoder may give them).

        A word is in the code of its `CodedInput`; one that does not fit is a `DataError`.
        """
        given = gathered(self.groups, arrays, named, WHOSE)
        return evaluate(self.engine(payload, engine), given, coded=True)

    def engine(
        self, payload: float | None = None, name: EngineName = "auto", threads: int = 1
    ) -> Engine:
        """Return what runs the program with the load nearest to a mass, made when first asked for.

        The native one also takes columns of code words and bit-planes: `run_codes`, `run_planes`.
        """
        if payload is None and (None, name, threads) in self._engines:
            return self._engines[
                None, name, threads
            ]  # as it mostly is: single states feel all else
        if payload is None and len(self.loads) > 1:
            known = masses(self.payloads)
            raise UsageError(f"{WHOSE} has loads of {known} kg: say which with payload=")
        load = self.chosen(payload).loads[0].payload
        key = (load, name, threads)
        if key not in self._engines:
            self._engines[key] = make_engine(self.wiring(load), name, threads)
        if payload is None:
            self._engines[None, name, threads] = self._engines[key]
        return self._engines[key]

    def save(self, folder: str | Path) -> None:
        """Write the program to a directory, whole or not at all."""
        save_program(self, folder)

    def __repr__(self) -> str:
        nodes = sum(len(network.nodes) for network in self.networks)
        made = f"{nodes} nodes" if self.mode == "compact" else f"{nodes} nodes before the adders"
        loads = masses(self.payloads)
        head = f"{self.name}: {self.bits} bits, {self.mode} mode"
        return f"<program {head}, {made}, loads of {loads} kg>"

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        return html_of(self)

    def __str__(self) -> str:
        lines = [f"program {self.name}: {self.bits} bits, {self.mode} mode"]
        lines += [f"  input {word}" for word in self.inputs]
        lines += [f"  {one}" for one in self.stops]
        lines += [f"  network {k}: {network!r}" for k, network in enumerate(self.networks)]
        for load in self.loads:
            lines.append(f"  payload {mass_text(load.payload)} kg")
            lines += [f"    {_text(output, load.joint)}" for output in load.outputs]
        return "\n".join(lines)


def _most(values: Sequence[float | None]) -> Any:
    """Return the largest of an error of all loads; None where one of them is not known."""
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _text(output: CodedOutput, joint: JointNetwork | None) -> str:
    if joint is not None:
        return f"{output.symbol} {output.code} = network {joint.network}"
    terms = " + ".join(f"{term.name}(network {term.network})" for term in output.terms)
    return f"{output.symbol} {output.code}, {output.guard_bits} guard bits = {terms}"


def program_of_problem(
    problem: Problem,
    bits: int,
    mode: Mode,
    codes: Mapping[str, Code],
    networks: Sequence[Network],
    loads: Sequence[Load],
) -> Program:
    """Return a problem's program; `codes` are those of the input words, by name.

    `bits` are what the user asked for: a word may be wider.
    """
    return Program(
        problem.name, bits, mode, problem.groups, problem.returned,
        tuple(CodedInput(x.name, codes[x.name], x.unit) for x in problem.inputs if x.name in codes),
        tuple(networks), tuple(loads), tuple(Stop(x.name, x.range) for x in stopped(problem)),
        problem.plural, problem.places,
    )  # fmt: skip


def program_of_network(
    problem: Problem,
    bits: int,
    inputs: Mapping[str, Code],
    codes: Sequence[Code],
    network: Network,
    payload: float = 0.0,
) -> Program:
    """Return the program of one network that reads whole input words and makes all outputs.

    `inputs` are the codes of its input words by name, in its order, `codes` those of the outputs.
    """
    order = [one.name for one in problem.inputs if one.name in inputs]
    words = tuple(Slice(order.index(name), code.bits, 0) for name, code in inputs.items())
    outputs = tuple(
        CodedOutput(one.name, one.symbol, one.unit, code)
        for one, code in zip(problem.outputs, codes, strict=True)
    )
    load = Load(payload, outputs, JointNetwork(0, words))
    return program_of_problem(problem, bits, "compact", inputs, (network,), (load,))
