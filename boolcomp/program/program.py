"""A program: the logic of all torques of a robot, for one tip load or several.

It holds the code of every input word at the finest width that any term reads (a coarser word is
its leading bits), every distinct network once, and for every torque which networks make its terms
and how their cells are added (`sums`). Terms that the plan leaves out contribute nothing.

In compact mode there are no terms: one network makes all torques of a load.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from boolcomp.common.errors import SaturationWarning, UsageError, listing
from boolcomp.common.text import number
from boolcomp.program.joining import joined, wire
from boolcomp.program.parts import ARRAYS, Input, Load, Slice, TermUse, Torque, Whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.codes import Code
    from boolcomp.engines import Engine, EngineName, Evaluation
    from boolcomp.engines.wiring import Wiring
    from boolcomp.logic.network import Network
    from boolcomp.problem.robot import Stops

__all__ = [
    "ARRAYS",
    "MODES",
    "Input",
    "Load",
    "Mode",
    "Program",
    "Slice",
    "TermUse",
    "Torque",
    "Whole",
    "family_of",
    "program_of_network",
]

Mode = Literal["paper", "compact"]
MODES: tuple[Mode, ...] = get_args(Mode)
STEP_SLACK = 1e-9  # relative: steps that differ by less are one step


@dataclass(frozen=True, slots=True, repr=False)
class Program:
    """The logic of all torques of a robot. Immutable; engines are made when first needed."""

    robot: str
    bits: int
    mode: Mode
    inputs: tuple[Input, ...]
    networks: tuple[Network, ...]
    loads: tuple[Load, ...]
    stops: tuple[Stops, ...] = ()
    _engines: dict[tuple[float, str, int], Engine] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        self.check()

    def __reduce__(self) -> tuple[Any, ...]:
        # Engines hold native code of this process: another one makes its own.
        return (
            Program,
            (
                self.robot,
                self.bits,
                self.mode,
                self.inputs,
                self.networks,
                self.loads,
                self.stops,
            ),
        )

    def check(self) -> None:
        """Raise a `ValueError` where the parts do not fit together."""
        payloads = [load.payload for load in self.loads]
        if not payloads or len(set(payloads)) != len(payloads):
            raise ValueError("a program has one load or several that differ")
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r}: modes are {listing(MODES)}")
        names = [word.name for word in self.inputs]
        if len(set(names)) != len(names) or len({len(x.torques) for x in self.loads}) != 1:
            raise ValueError("input words are repeated, or loads differ in joints")
        if any(w.kind not in ARRAYS or not 1 <= w.joint <= self.joints for w in self.inputs):
            raise ValueError("an input word belongs to no joint")
        if any(not (0 <= x.array < 3 and 0 <= x.column < self.joints) for x in self.stops):
            raise ValueError("stops belong to no joint")
        self._check_loads()

    def _check_loads(self) -> None:
        for load in self.loads:
            for joint, torque in enumerate(load.torques, 1):
                if torque.joint != joint:
                    raise ValueError("the torques are not in the order of the joints")
                for term in torque.terms:
                    self._check_term(torque, term)
            if load.whole is not None:
                self._check_whole(load, load.whole)

    def _check_whole(self, load: Load, whole: Whole) -> None:
        if any(torque.terms for torque in load.torques):
            raise ValueError("a load has terms, or one network for all, not both")
        wide = sum(torque.code.bits + 1 for torque in load.torques)
        self._check_use("all torques", whole.network, whole.words, wide)
        if any(torque.code.kind != "natural" for torque in load.torques):
            raise ValueError("one network for all torques makes natural words")

    def _check_use(self, name: str, place: int, words: Sequence[Slice], outputs: int) -> None:
        if not 0 <= place < len(self.networks):
            raise ValueError(f"{name} has no network")
        network = self.networks[place]
        for word in words:
            known = 0 <= word.input < len(self.inputs)
            if not known or not 0 <= word.dropped <= word.bits <= self.inputs[word.input].code.bits:
                raise ValueError(f"{name} reads bits that no input word has")
        width = sum(word.bits - word.dropped for word in words)
        if (network.inputs, len(network.outputs)) != (width, outputs):
            raise ValueError(f"the network of {name} does not fit its words")

    def _check_term(self, torque: Torque, term: TermUse) -> None:
        self._check_use(term.name, term.network, term.words, term.code.bits)
        centred = term.code.range.low == -term.code.range.high
        if not centred or abs(term.code.step / torque.step - 1) > STEP_SLACK:
            raise ValueError(f"{term.name} is not aligned with its torque")

    @property
    def joints(self) -> int:
        """The number of torques."""
        return len(self.loads[0].torques)

    @property
    def payloads(self) -> tuple[float, ...]:
        """The tip loads (kg) it was compiled for."""
        return tuple(load.payload for load in self.loads)

    @property
    def bound(self) -> tuple[float, ...]:
        """The proven error of every torque in N·m (N where the joint slides), over all loads.

        It holds while no input and no torque saturates. Infinite where none is known, as in
        compact mode, whose errors are sampled.
        """
        return tuple(max(load.torques[k].bound for load in self.loads) for k in range(self.joints))

    def load(self, payload: float | None = None) -> Load:
        """Return the torques with a payload; the first load where none is named."""
        for load in self.loads:
            if payload is None or load.payload == payload:
                return load
        known = listing(number(p) for p in self.payloads)
        raise UsageError(f"no payload {payload}: this program has {known} kg")

    def wiring(self, payload: float | None = None) -> Wiring:
        """Return what an engine runs."""
        wiring = wire(self.inputs, self.networks, self.load(payload))
        return replace(wiring, stops=self.stops)

    def network(self, payload: float | None = None) -> Network:
        """Return all logic of a load as one network, sums and all (see `joined`)."""
        return joined(self.wiring(payload))

    def torques(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        payload: float | None = None,
        engine: EngineName = "auto",
        threads: int = 1,
    ) -> NDArray[Any]:
        """Return the torques, in the shape of `q`: (joints,), (samples, joints), or a scalar.

        In N·m (N where the joint slides). Angles over a whole turn wrap, other values outside their
        range saturate; that, and what lies beyond stops, is a `SaturationWarning`. See `evaluate`.
        """
        found = self.evaluate(q, qd, qdd, payload=payload, engine=engine, threads=threads)
        if found.doubt:
            text = f"{self.robot}: {found.doubt}: {self._meaning(found)}"
            warnings.warn(text, SaturationWarning, stacklevel=2)
        return found.torques

    __call__ = torques

    def _meaning(self, found: Evaluation) -> str:
        """Say what it means for torques that values were beyond words or stops."""
        if (
            found.saturated_inputs
            or found.saturated_outputs
            or any(s.range.single for s in self.stops)
        ):
            return "their torques are not what they seem"
        return "further out than 2 % of a turn (with word_range: at all) the logic is free"

    def evaluate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        payload: float | None = None,
        engine: EngineName = "auto",
        threads: int = 1,
    ) -> Evaluation:
        """Return torques, their code words, and how many values saturated or lay beyond stops.

        Torques are float32 where all three arrays are, else float64. More `threads` share a large
        batch, in the native engine. Shapes that do not fit the
        robot are a `UsageError`, NaN and infinities a `DataError`.
        """
        from boolcomp.engines import evaluate  # noqa: PLC0415 (engines load when used)

        return evaluate(self.engine(payload, engine, threads), (q, qd, qdd), coded=False)

    def evaluate_words(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        payload: float | None = None,
        engine: EngineName = "auto",
    ) -> Evaluation:
        """Do what `evaluate` does, for integer code words (as an encoder may give them).

        A word is in the code of its `Input`; one that does not fit is a `DataError`.
        """
        from boolcomp.engines import evaluate  # noqa: PLC0415 (engines load when used)

        return evaluate(self.engine(payload, engine), (q, qd, qdd), coded=True)

    def engine(
        self, payload: float | None = None, name: EngineName = "auto", threads: int = 1
    ) -> Engine:
        """Return what runs the program with a payload, made when first asked for.

        The native one also takes columns of code words and bit-planes: `run_codes`, `run_planes`.
        """
        from boolcomp.engines import make_engine  # noqa: PLC0415 (engines load when used)

        key = (self.load(payload).payload, name, threads)
        if key not in self._engines:
            self._engines[key] = make_engine(self.wiring(payload), name, threads)
        return self._engines[key]

    def save(self, folder: str | Path) -> None:
        """Write the program to a directory, whole or not at all."""
        from boolcomp.program.programfile import save_program  # noqa: PLC0415 (it imports this module)

        save_program(self, folder)

    def __repr__(self) -> str:
        nodes = sum(len(network.nodes) for network in self.networks)
        made = f"{nodes} nodes" if self.mode == "compact" else f"{nodes} nodes before the adders"
        loads = listing(map(number, self.payloads))
        head = f"{self.robot}: {self.bits} bits, {self.mode} mode"
        return f"<program {head}, {made}, loads of {loads} kg>"

    def __str__(self) -> str:
        lines = [f"program {self.robot}: {self.bits} bits, {self.mode} mode"]
        lines += [f"  input {word}" for word in self.inputs]
        lines += [f"  {one}" for one in self.stops]
        lines += [f"  network {k}: {network!r}" for k, network in enumerate(self.networks)]
        for load in self.loads:
            lines.append(f"  payload {number(load.payload)} kg")
            lines += [f"    {_text(torque, load.whole)}" for torque in load.torques]
        return "\n".join(lines)


def _text(torque: Torque, whole: Whole | None) -> str:
    if whole is not None:
        return f"T{torque.joint} {torque.code} = network {whole.network}"
    terms = " + ".join(f"{term.name}(network {term.network})" for term in torque.terms)
    return f"T{torque.joint} {torque.code}, {torque.guard_bits} guard bits = {terms}"


def program_of_network(
    robot: str,
    bits: int,
    inputs: Sequence[Input],
    codes: Sequence[Code],
    network: Network,
    payload: float = 0.0,
    *,
    stops: tuple[Stops, ...] = (),
) -> Program:
    """Return the program of one network that reads whole input words and makes all torques.

    `codes` are those of the torques' words, `bits` what the user asked for: a word may be wider.
    """
    order = sorted(inputs, key=lambda word: (ARRAYS.index(word.kind), word.joint))
    words = tuple(Slice(order.index(word), word.code.bits, 0) for word in inputs)
    torques = tuple(Torque(joint, code, 0, ()) for joint, code in enumerate(codes, 1))
    load = Load(payload, torques, Whole(0, words))
    return Program(robot, bits, "compact", tuple(order), (network,), (load,), stops)


def family_of(programs: Iterable[Program]) -> Program:
    """Return one program with the loads of several of the same robot; equal networks once."""
    members = list(programs)
    heads = {(p.robot, p.bits, p.mode, p.joints, p.stops) for p in members}
    if len(heads) != 1:
        raise UsageError("a family is made of programs of one robot, word length and mode")
    finest: dict[tuple[int, int], Input] = {}
    for word in (word for program in members for word in program.inputs):
        key = (ARRAYS.index(word.kind), word.joint)
        known = finest.setdefault(key, word)
        if known.code.prefix(1) != word.code.prefix(1):
            raise UsageError(f"the programs of a family differ in the range or code of {word.name}")
        if known.code.bits < word.code.bits:
            finest[key] = word
    inputs = tuple(finest[key] for key in sorted(finest))
    networks: dict[Network, int] = {}
    loads: list[Load] = []
    for program in members:
        for network in program.networks:
            networks.setdefault(network, len(networks))
        loads += _moved(program, {word.name: k for k, word in enumerate(inputs)}, networks)
    first = members[0]
    return Program(
        first.robot, first.bits, first.mode, inputs, tuple(networks), tuple(loads), first.stops
    )


def _moved(
    program: Program, places: dict[str, int], networks: dict[Network, int]
) -> Iterator[Load]:
    """Yield a program's loads with input words and networks renumbered."""
    at = [networks[network] for network in program.networks]
    to = [places[word.name] for word in program.inputs]

    def term(use: TermUse) -> TermUse:
        words = tuple(replace(word, input=to[word.input]) for word in use.words)
        return replace(use, network=at[use.network], words=words)

    for load in program.loads:
        torques = tuple(replace(t, terms=tuple(map(term, t.terms))) for t in load.torques)
        whole = load.whole
        if whole is not None:
            words = tuple(replace(word, input=to[word.input]) for word in whole.words)
            whole = Whole(at[whole.network], words)
        yield replace(load, torques=torques, whole=whole)
