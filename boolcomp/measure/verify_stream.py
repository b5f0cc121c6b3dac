"""The proof of a wrapper with AXI4-Stream around a core that is proved alone.

The core is any function with the latency and the enable of its pipeline: equal words have equal
outputs. The wrapper is reset for one clock from any state. Schedules of tvalid and tready, with any
tdata and tlast, find differences. Then all states are visited that it reaches: registers contain
constants, bits of beats inside, or any values. That covers every schedule.
"""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.logic.equivalence import Comparison, equivalent, evaluate
from boolcomp.logic.network import CONSTANTS, FALSE, TRUE, Builder, Network, copied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.targets.stream import StreamLayout

CLOCKS, SEED = 1500, 1988  # of all schedules together
RATES = (1.0, 0.5, 0.9, 0.2)
EAGER = -1.0  # tready waits for tvalid
MOST_STATES = 1 << 11  # of a proof over all states
INSIDE = 4  # beats inside, besides one per stage
EVERY = "every schedule of stalls"
ZERO, ONE = 2 * FALSE, 2 * TRUE


class StreamWrapper(NamedTuple):
    """The logic of a wrapper between the core, registers and ports.

    Inputs are those of `stream_ports`, the outputs of the core and its valid_out, registers and
    undriven signals. Outputs are those of the ports, the inputs of the core with enable and
    valid_in, and the next values of registers.
    """

    network: Network
    layout: StreamLayout
    registers: int
    undriven: int


def stream_ports(layout: StreamLayout) -> tuple[list[str], list[str]]:
    """Return the bits of the input and output ports."""
    given, made = (
        [f"{way}_axis_tdata[{k}]" for k in range(fields[-1].end)] + [f"{way}_axis_tlast"]
        for way, fields in (("s", layout.inputs), ("m", layout.outputs))
    )
    controls = ["s_axis_tvalid", "m_axis_tready", "aresetn"]
    return [*given, *controls], [*made, "m_axis_tvalid", "s_axis_tready"]


class _WrongControlError(Exception):
    """A beat is lost or repeated, or control depends on data."""


def wrapper_compared(wrapper: StreamWrapper, wanted: Network, deadline: float) -> Comparison:
    """Prove that every beat is taken, computed by the core, and given once and in order."""
    rng, clocks, schedules, rates = random.Random(SEED), 0, 0, (1.0, 1.0)  # noqa: S311 (stalls)
    while clocks < CLOCKS or schedules < 3:
        run = _Schedule(wrapper)
        try:
            run.drive(rng, *rates)
        except _WrongControlError as error:
            return Comparison("different", "schedules of stalls", schedules, note=str(error))
        a, b = (run.builder.build(column) for column in zip(*run.compared, strict=True))
        verdict = equivalent(a, b, deadline=deadline)
        if not verdict.holds:
            words = [bit for key in run.function for bit in key]
            return run.difference(a, b, wanted, run.builder.build(words), rng)
        clocks, schedules = clocks + run.clocks, schedules + 1
        rates = rng.choice(RATES), rng.choice((*RATES, EAGER))
    try:
        states = _States(wrapper).visited()
    except _WrongControlError as error:
        note = f"{error}, in a state that may not be reached"
        return Comparison("unknown", "states after stalls", MOST_STATES, note=note)
    if states:
        return Comparison("equivalent", EVERY, states)
    return Comparison("equivalent", f"{schedules} schedules of stalls", schedules)


class _Schedule:
    """The wrapper and its core after a reset, clock by clock, over literals of any words."""

    def __init__(self, wrapper: StreamWrapper, more: int = 0) -> None:
        self.wrapper, self.layout = wrapper, wrapper.layout
        given, made = stream_ports(self.layout)
        self.tdata, self.ports = len(given) - 4, len(made)
        self.words = [
            one.low + k for one in self.layout.inputs for k in reversed(range(one.pin.port.bits))
        ]
        self.results = sum(one.pin.port.bits for one in self.layout.outputs)
        self.length = 3 * self.layout.stages + 20
        each = self.tdata + 1 + 2 * self.results + wrapper.undriven
        most = (4 * self.length + 2) * each + 2 * self.layout.stages * (self.results + 1)
        self.builder = Builder(most + wrapper.registers + more)
        self.free = map(self.builder.input, range(self.builder.inputs))
        self.state = self.anything(wrapper.registers)
        self.core = [self.anything(self.results + 1) for _ in range(self.layout.stages)]
        self.function: dict[tuple[int, ...], list[int]] = {}
        self.compared: list[tuple[int, int]] = [(ZERO, ZERO)]
        self.clocks = 0

    def anything(self, count: int) -> list[int]:
        found = list(islice(self.free, count))
        if len(found) < count:
            raise _WrongControlError("the core gets mixtures of beats")
        return found

    def value(self, words: Sequence[int]) -> list[int]:
        """Return the core's outputs of words."""
        key = tuple(words)
        if key not in self.function:
            self.function[key] = self.anything(self.results)
        return self.function[key]

    def clock(self, beat: Sequence[int], valid: int, ready: int, reset: int = 0) -> list[int]:
        """Return the output ports before a rising edge, and move."""
        self.clocks += 1
        free = self.anything(self.wrapper.undriven)
        controls = [ONE if x else ZERO for x in (valid, ready, not reset)]
        stages, count = self.layout.stages, len(self.words)

        def found(made: Sequence[int]) -> tuple[int, ...]:
            inputs = [*beat, *controls, *made, *self.state, *free]
            return copied(self.wrapper.network, self.builder, inputs)

        if stages:
            bits = found(self.core[-1])
        else:  # the core's outputs belong to the words of this clock
            bits = found(self.value(found([ZERO] * self.results)[self.ports :][:count]))
        words, rest = bits[self.ports :][:count], bits[self.ports + count :]
        if stages and reset:
            self.core = [self.anything(self.results + 1) for _ in self.core]
        elif stages and self.constant(rest[0], "enable of the core"):
            self.core = [[*self.value(words), rest[1]], *self.core[:-1]]
        self.state = list(rest[2:] if stages else rest)
        return list(bits[: self.ports])

    def constant(self, literal: int, name: str) -> bool:
        if literal >> 1 >= CONSTANTS:
            raise _WrongControlError(f"{name} depends on data or on the state before the reset")
        return (literal >> 1 == TRUE) != bool(literal & 1)

    def drive(self, rng: random.Random, push: float, pull: float) -> None:
        """Offer and take beats with these probabilities, then take all that are left."""
        self.clock(self.anything(self.tdata + 1), 0, 0, reset=1)
        beats: list[list[int]] = []
        taken = seen = 0
        waits = False
        while self.clocks < 2 * self.length or seen < len(beats):
            filling = self.clocks < self.length
            if len(beats) == taken and filling and rng.random() < push:
                beats.append(self.anything(self.tdata + 1))
            offered = len(beats) > taken
            ready = waits if pull == EAGER else not filling or rng.random() < pull
            beat = beats[taken] if offered else self.anything(self.tdata + 1)
            *made, valid, accepts = self.clock(beat, offered, ready)
            given = self.constant(valid, "m_axis_tvalid")
            waits = given and not ready
            if given:
                if seen >= taken + offered:
                    raise _WrongControlError(f"beat {seen + 1} is given before it is taken")
                self.compared += zip(self.expected(beats[seen]), made, strict=True)
                seen += ready
            taken += self.constant(accepts, "s_axis_tready") and offered
            if self.clocks >= 4 * self.length:
                raise _WrongControlError(f"{len(beats)} beats are offered, {seen} are given")

    def expected(self, beat: Sequence[int]) -> list[int]:
        """Return tdata and tlast of the outputs of a beat."""
        bits = self.value([beat[k] for k in self.words])
        tdata: list[int] = []
        for one in self.layout.outputs:
            word, bits = bits[: one.pin.port.bits], bits[one.pin.port.bits :]
            tdata += reversed(word)
            tdata += [word[0] if one.signed else ZERO] * (one.end - one.top - 1)
        return [*tdata, beat[-1]]

    def difference(
        self, a: Network, b: Network, wanted: Network, words: Network, rng: random.Random
    ) -> Comparison:
        """Find out whether outputs also differ with the program as the core."""
        for _ in range(64):
            free = [rng.getrandbits(1) for _ in range(self.builder.inputs)]
            bits = iter(evaluate(words, tuple(free)))
            for key, made in self.function.items():
                results = evaluate(wanted, tuple(islice(bits, len(key))))
                for literal, bit in zip(made, results, strict=True):
                    free[(literal >> 1) - CONSTANTS] = bit
            if evaluate(a, tuple(free)) != evaluate(b, tuple(free)):
                note = "m_axis_tdata or m_axis_tlast differs in a schedule of stalls"
                return Comparison("different", "schedules of stalls", 1, note=note)
        note = "tdata differs for other cores, not for 64 words of this one"
        return Comparison("unknown", "schedules of stalls", 1, note=note)


class StreamState(NamedTuple):
    """A state between clocks; the beats inside have the numbers 0, 1, … and are the same words."""

    registers: tuple[int, ...]
    core: tuple[tuple[int, ...], ...]
    inside: int
    offered: bool  # the next beat waits for s_axis_tready
    given: bool  # the first beat waits for m_axis_tready


class _States:
    """All states that a wrapper reaches after a reset.

    Bits of beats that left, and functions of several bits, are replaced with any value. This adds
    states and hides no difference.
    """

    def __init__(self, wrapper: StreamWrapper) -> None:
        self.most = wrapper.layout.stages + INSIDE
        sizes = sum(len(ports) for ports in stream_ports(wrapper.layout))
        self.run = run = _Schedule(wrapper, more=wrapper.registers + 4 * sizes * (self.most + 8))
        self.beats = [run.anything(run.tdata + 1) for _ in range(self.most + 1)]
        words = [[*beat, *run.value([beat[k] for k in run.words])] for beat in self.beats]
        self.known = {
            x >> 1: (k, place) for k, row in enumerate(words) for place, x in enumerate(row)
        }
        self.words, self.junk = words, run.anything(run.tdata + 1)
        self.own = run.anything(wrapper.registers)
        self.core = [run.anything(run.results + 1) for _ in range(wrapper.layout.stages)]
        self.quiet: dict[tuple[StreamState, bool], tuple[StreamState, bool]] = {}

    def abstract(self, literal: int, own: int, left: int) -> int:
        """Return a bit of a state after `left` beats have left."""
        if literal >> 1 < CONSTANTS:
            return literal
        beat, place = self.known.get(literal >> 1, (-1, 0))
        return self.words[beat - left][place] ^ literal & 1 if beat >= left else own

    def state(self, inside: int, left: int, *, offered: bool, given: bool) -> StreamState:
        registers, core = (self.run.state, self.own), (self.run.core, self.core)
        return StreamState(
            tuple(self.abstract(x, own, left) for x, own in zip(*registers, strict=True)),
            tuple(
                tuple(self.abstract(x, own, left) for x, own in zip(row, owns, strict=True))
                for row, owns in zip(*core, strict=True)
            ),
            inside - left,
            offered,
            given,
        )

    def moved(self, at: StreamState, *, offers: bool, ready: bool) -> tuple[StreamState, bool]:
        """Return the state after a clock, and whether m_axis_tvalid was 1."""
        run = self.run
        run.state, run.core = list(at.registers), [list(row) for row in at.core]
        beat = self.beats[at.inside] if offers else self.junk
        *made, valid, accepts = run.clock(beat, offers, ready)
        given = run.constant(valid, "m_axis_tvalid")
        if (given and made != run.expected(self.beats[0])) or at.given > given:
            raise _WrongControlError("a beat differs or is withdrawn")
        taken = offers and run.constant(accepts, "s_axis_tready")
        if given and not at.inside + taken:
            raise _WrongControlError("a beat is repeated")
        offered, waits = offers and not taken, given and not ready
        return self.state(at.inside + taken, given and ready, offered=offered, given=waits), given

    def visited(self) -> int:
        """Return the number of states, or 0 if they are too many."""
        self.run.clock(self.junk, 0, 0, reset=1)
        frontier = [self.state(0, 0, offered=False, given=False)]
        seen = {*frontier}
        while frontier:
            at = frontier.pop()
            if at.inside >= self.most or len(seen) > MOST_STATES or self.run.wrapper.undriven:
                return 0
            for offers in (True,) if at.offered else (False, True):
                for ready in (False, True):
                    after = self.moved(at, offers=offers, ready=ready)
                    if offers == at.offered:
                        self.quiet[at, ready] = after
                    if after[0] not in seen:
                        seen.add(after[0])
                        frontier.append(after[0])
        for at in seen:
            if not (self.ends(at, ready=False) and self.ends(at, ready=True)):
                raise _WrongControlError("a beat is not given")
        return len(seen)

    def ends(self, at: StreamState, *, ready: bool) -> bool:
        """Tell whether all beats leave, or, without tready, whether tvalid becomes 1."""
        for _ in range(len(self.quiet)):
            if not (at.inside or at.offered):
                return True
            at, given = self.quiet[at, ready]
            if given and not ready:
                return True
        return False
