"""A clock as the goal of a pipeline: its spelling, and the stages that reach it on a device."""

from __future__ import annotations

import re
from dataclasses import dataclass

from boolcomp.base.errors import UsageError, short, shown
from boolcomp.targets.delays import delays_of
from boolcomp.targets.stages import MOST_STAGES, Readers, StagePlan

LEAST, MOST = 1e-3, 1e4  # MHz
PLAIN = 1e5  # a number without unit is in MHz below, else in Hz
_FREQUENCIES = {"hz": 1e-6, "khz": 1e-3, "mhz": 1.0, "ghz": 1e3}
_PERIODS = {"ps": 1e6, "ns": 1e3, "us": 1.0}


def megahertz(given: object) -> float:
    """Read a clock, a frequency or a period: `150MHz`, `150e6`, `6.67ns`, 150 (MHz)."""
    text = str(given).strip().lower()
    found = re.fullmatch(r"([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?) *([a-z]*)", text)
    value, unit = (float(found[1]), found[2]) if found else (0.0, "")
    unit = unit or ("hz" if value >= PLAIN else "mhz")
    if unit in _PERIODS and value:
        value = _PERIODS[unit] / value
    else:
        value *= _FREQUENCIES.get(unit, 0)
    if not LEAST <= value <= MOST:
        raise UsageError(
            f"{shown(given)} is not a clock", "give a frequency or a period: 150MHz, 6.67ns"
        )
    return value


@dataclass(frozen=True, slots=True)
class ClockGoal:
    """A clock in MHz on a device; stages are planned for a clock `margin` times as fast."""

    clock: float
    device: str
    margin: float = 1.0

    def plan(self, readers: Readers, cells: int, levels: int = 1) -> tuple[StagePlan, float]:
        """Return the least number of stages for the clock, and the estimated clock in MHz.

        Delays of readers are in parts of the delay of a look-up table: `levels` of them are one; 1
        is for designs of look-up tables only. `cells` is the size of the design. Raise a UsageError
        if the clock cannot be reached.
        """
        delays = delays_of(self.device, cells, tables=levels == 1)

        def clock(longest: int) -> float:
            return 1e6 / (delays.overhead + longest * delays.level / levels)

        room = int((1e6 / (self.clock * self.margin) - delays.overhead) * levels / delays.level)
        best = StagePlan(readers, MOST_STAGES).longest
        if room < best:
            raise UsageError(
                f"{short(self.clock, 4)} MHz is not reached on {delays.about}",
                f"the best reachable clock is about {clock(best) / self.margin:.0f} MHz",
            )
        return StagePlan.within(readers, room), clock(room)

    def note(self, estimate: float) -> str:
        """Return the comment on a plan of an estimated clock."""
        where = f"{short(self.clock, 4)} MHz on {delays_of(self.device).about}"
        return f"stages for {where}: {estimate:.0f} MHz estimated before place and route"


@dataclass(frozen=True, slots=True)
class Timing:
    """A pipeline for a clock in MHz: stages, registers, tables (0: not known), MHz reached.

    `reached` is estimated by delays, or by nextpnr if the pipeline is `placed`.
    """

    clock: float
    stages: int
    flip_flops: int
    luts: int
    reached: float
    placed: bool = False

    @property
    def document(self) -> dict[str, float | None]:
        """The figures by the names of `boolcomp area`."""
        estimate = ("estimated_mhz", "fmax_mhz")[self.placed]
        return {
            "clock_mhz": self.clock, "stages": self.stages, "luts": self.luts or None,
            "ff": self.flip_flops, "latency_ns": 1e3 * self.stages / self.clock,
            estimate: self.reached,
        }  # fmt: skip

    def __str__(self) -> str:
        luts = f"{self.luts} look-up tables, " if self.luts else ""
        how = "nextpnr" if self.placed else "estimated before place and route"
        return (
            f"{self.stages} stages, {1e3 * self.stages / self.clock:.1f} ns at "
            f"{short(self.clock, 4)} MHz; {luts}{self.flip_flops} flip-flops\n"
            f"maximum clock {self.reached:.0f} MHz ({how})"
        )


class TimedFiles(dict[str, "str | bytes"]):
    """Files of an export, and the pipeline in them if it is planned for a clock."""

    timing: Timing | None = None
