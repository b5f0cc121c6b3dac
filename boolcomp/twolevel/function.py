"""What is minimised (`Function`) and what comes out (`Cover`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import DataError
from boolcomp.twolevel import dense as truth
from boolcomp.twolevel import lists, verify
from boolcomp.twolevel.cubes import Cubes, pack, unpack
from boolcomp.twolevel.dense import Dense
from boolcomp.twolevel.isop import isop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bitarray import frozenbitarray
    from numpy.typing import NDArray

    from boolcomp.twolevel.clock import Clock


@dataclass(frozen=True, eq=False)
class Function:
    """A multi-output, incompletely specified function, as cubes or as truth tables or as both.

    A cover must hold every point of `on` that is not in `dc`, and no point of `off`. Where `off` is
    not given it is everything outside `on` and `dc`; where it is given, all else is a don't-care,
    and `dc` only says so again. Make one with `from_cubes`, `from_columns` or `from_dense`.
    """

    inputs: int
    outputs: int
    given_on: Cubes | None = None
    given_dc: Cubes | None = None
    given_off: Cubes | None = None
    given_table: Dense | None = None

    @classmethod
    def from_cubes(cls, on: Cubes, dc: Cubes | None = None, off: Cubes | None = None) -> Function:
        """Build a function from cubes; DataError with a witness where OFF meets ON or DC."""
        for other in (dc, off):
            if other is not None and (other.inputs, other.outputs) != (on.inputs, on.outputs):
                raise ValueError("the sets have different numbers of inputs or outputs")
        none = Cubes.empty(on.inputs, on.outputs)
        dc = none if dc is None else dc.valid()
        function = cls(on.inputs, on.outputs, on.valid(), dc, off if off is None else off.valid())
        if function.given_off is not None:
            _refuse_overlap(function.on.joined(dc), function.given_off)
        return function

    @classmethod
    def from_columns(
        cls,
        inputs: int,
        on: Sequence[frozenbitarray],
        dc: Sequence[frozenbitarray] | None = None,
    ) -> Function:
        """Build a function from one column of 2^inputs bits per output; DC wins over ON."""
        return cls.from_dense(Dense.from_columns(inputs, on, dc))

    @classmethod
    def from_dense(cls, table: Dense) -> Function:
        """Build a function from truth tables."""
        return cls(table.inputs, table.outputs, given_table=table)

    @cached_property
    def is_dense(self) -> bool:
        """Whether `dense` exists: few enough inputs and not too much work to draw."""
        if self.given_table is not None:
            return True
        if not truth.fits(self.inputs, self.outputs):
            return False
        sets = [s for s in (self.given_on, self.given_dc, self.given_off) if s is not None]
        return sum(truth.raster_work(s) for s in sets) <= truth.MOST_WORK

    @cached_property
    def dense(self) -> Dense:
        """The function as truth tables (2^inputs bits an output: ask `is_dense` first)."""
        if self.given_table is not None:
            return self.given_table
        on, dc = truth.rasterised(self.on), truth.rasterised(self.dc)
        if self.given_off is None:
            return Dense(self.inputs, self.outputs, on & ~dc, dc)
        off = truth.rasterised(self.given_off)
        empty = Dense(self.inputs, self.outputs, off & ~off, off & ~off)
        return Dense(self.inputs, self.outputs, on & ~dc, ~(on & ~dc | off) & empty.universe)

    @cached_property
    def on(self) -> Cubes:
        """Cubes of the points to cover: as given, else a cover that may also take DC points."""
        if self.given_on is not None:
            return self.given_on
        return _cubes_of(self.dense)

    @cached_property
    def dc(self) -> Cubes:
        """Cubes of don't-care points: as given, else an irredundant cover of them."""
        if self.given_dc is not None:
            return self.given_dc
        table = self.dense
        return _cubes_of(Dense(self.inputs, self.outputs, table.dc, table.dc & ~table.dc))

    def stated(self, clock: Clock | None = None) -> Function:
        """Return the function with all of its don't-cares in `dc`, also those that OFF leaves over.

        Raises `lists.GaveUpError` where the clock runs out.
        """
        if self.given_off is None:
            return self
        left = lists.complement(self.on.joined(self.given_off), clock)
        return Function.from_cubes(self.on, self.dc.joined(left))

    @cached_property
    def off(self) -> Cubes:
        """Cubes of the points where an output must be 0, derived where they were not given.

        For functions of many inputs this may take very long: `lists.complement` has a clock.
        """
        if self.given_off is not None:
            return self.given_off
        if self.is_dense:
            table = self.dense
            return _cubes_of(Dense(self.inputs, self.outputs, table.off, table.dc & ~table.dc))
        return lists.complement(self.on.joined(self.dc))


def in_phase(function: Function, phase: Sequence[bool]) -> Function:
    """Return the function with ON and OFF exchanged for every output that is False in `phase`."""
    if all(phase):
        return function
    kept = pack(np.array([phase], np.bool_))
    if function.is_dense:
        table = function.dense
        upright = np.array(phase, np.bool_)[:, None]
        on = np.where(upright, table.on, table.off)
        return Function.from_dense(Dense(table.inputs, table.outputs, on, table.dc.copy()))
    ones, zeros = function.on, function.off
    turned = _of_outputs(ones, kept).joined(_of_outputs(zeros, ~kept))
    given = function.given_off is not None
    off = _of_outputs(zeros, kept).joined(_of_outputs(ones, ~kept)) if given else None
    return Function.from_cubes(turned, function.dc, off)


def _of_outputs(cubes: Cubes, mask: NDArray[np.uint64]) -> Cubes:
    """Return cubes for the outputs of a mask alone."""
    out = cubes.out & mask
    return Cubes(cubes.inputs, cubes.outputs, cubes.zero, cubes.one, out).valid()


def _cubes_of(table: Dense) -> Cubes:
    cubes = isop(table)
    assert cubes is not None  # noqa: S101 (only a deadline makes it None)
    return cubes


def _refuse_overlap(allowed: Cubes, off: Cubes) -> None:
    witness = verify.meeting(allowed, off)
    if witness is not None:
        output, point = witness
        raise DataError(
            f"output {output} is both in the ON or DC set and in the OFF set at inputs {point!r}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """A sum of products for every output, and what is known about it.

    `proved` says that no cover has fewer products; `lower_bound` is the best bound proved on that
    number; `note` says what went wrong, or why nothing was proved; empty where there is nothing to
    say. `method` is what made the cover, which is not always what was asked for.
    """

    cubes: Cubes
    method: str
    proved: bool = False
    lower_bound: int = 0
    seconds: float = 0.0
    note: str = ""

    @property
    def products(self) -> int:
        """Number of product terms; one shared by several outputs counts once."""
        return len(self.cubes)

    @property
    def literals(self) -> int:
        """Number of input literals of all products."""
        return self.cubes.literals

    @property
    def connections(self) -> int:
        """Number of (product, output) pairs."""
        return self.cubes.connections

    @property
    def shared(self) -> int:
        """Number of products that serve more than one output."""
        return int((unpack(self.cubes.out, self.cubes.outputs).sum(axis=1) > 1).sum())

    def _repr_html_(self) -> str:
        """Return maps of its outputs, for notebooks, or its text where it has many inputs."""
        from boolcomp.twolevel.karnaugh import cover_html  # noqa: PLC0415 (which draws such values)

        return cover_html(self)

    def __repr__(self) -> str:
        bound = "minimum" if self.proved else f"at least {self.lower_bound}"
        head = (
            f"Cover({self.products} products ({bound}), {self.literals} literals, "
            f"{self.connections} connections, by {self.method})"
        )
        return "\n".join([head, *([f"  note: {self.note}"] if self.note else []), repr(self.cubes)])
