"""The proof of a wrapper with AXI4-Stream around a core that is proved alone.

The core is any function with the latency and the enable of its pipeline: equal words have equal
outputs. The wrapper is unrolled from any state over one clock of reset and schedules of tvalid and
tready, in which tdata and tlast are any words.
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
    return Comparison("equivalent", f"{schedules} schedules of stalls", schedules)


class _Schedule:
    """The wrapper and its core after a reset, clock by clock, over literals of any words."""

    def __init__(self, wrapper: StreamWrapper) -> None:
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
        self.builder = Builder(most + wrapper.registers)
        self.free = map(self.builder.input, range(self.builder.inputs))
        self.state = self.anything(wrapper.registers)
        self.core = [self.anything(self.results + 1) for _ in range(self.layout.stages)]
        self.function: dict[tuple[int, ...], list[int]] = {}
        self.compared: list[tuple[int, int]] = [(ZERO, ZERO)]
        self.clocks = 0

    def anything(self, count: int) -> list[int]:
        return list(islice(self.free, count))

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
