"""The words engine: native code of a word graph."""

from __future__ import annotations

import ctypes
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.engines import llvm, words_emit
from boolcomp.engines import words as engines_words
from boolcomp.engines.coding import BAD, CLIPPED, OUTSIDE
from boolcomp.engines.engine import Evaluation, not_codable
from boolcomp.engines.native.codes import Codes, code_type
from boolcomp.engines.native.lines import GROUP, LlvmLines
from boolcomp.engines.native.logic import ATTRIBUTES
from boolcomp.engines.threads import pool
from boolcomp.engines.wordwise import lanes, lower
from boolcomp.engines.wordwise.costs import operations
from boolcomp.engines.wordwise.state import States
from boolcomp.engines.wordwise.tables import Loads, Permutes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.engine import Batch
    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.wiring import Wiring
    from boolcomp.engines.wordwise.values import Straightened

LEAST_GROUPS = 64  # that are worth a thread
_POINTER, _WHOLE = ctypes.c_void_p, ctypes.c_int64
_SAMPLES: dict[np.dtype[Any], Sample] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(np.uint32): "i32",
}


class WordEngine:
    """Runs the word graph of a wiring: single samples as scalar code, groups of 64 in lanes."""

    name = "words"

    def __init__(
        self, wiring: Wiring, threads: int = 1, processor: llvm.Processor | None = None
    ) -> None:
        if wiring.logic is None:
            raise UsageError(
                "engine 'words' needs a word graph, and this program has none (paper mode has "
                "product terms, --approximate cones and free logic that is no graph's): use engine "
                "'llvm'"
            )
        if threads < 1:
            raise UsageError(f"{threads} threads: at least one is needed")
        self.wiring, self.logic, self.threads = wiring, wiring.logic, threads
        self.machine = processor or llvm.host()
        self._kept: list[llvm.NativeCode] = []
        self._singles: dict[Sample, Callable[..., None]] = {}
        self._groups: dict[Sample, Callable[..., None]] = {}

    @cached_property
    def single(self) -> Straightened:
        """The code of one sample."""
        return lower.single(self.wiring, self.logic)

    @cached_property
    def wide(self) -> Straightened:
        """The code of many samples side by side."""
        return lower.lowered(self.wiring, self.logic, lower.LANES)

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch: whole groups in lanes, the rest one by one."""
        shape = (batch.samples, len(self.wiring.results))
        values = np.empty(shape, np.float32 if batch.dtype == np.float32 else np.float64)
        words = np.empty(shape, np.uint32)
        counts = np.zeros(3, np.int64)
        sample = _SAMPLES[batch.dtype]
        groups = batch.samples // GROUP if lanes.fits(self.wiring) else 0
        if groups:
            self._run_groups(batch, values, words, counts, groups)
        if rest := batch.samples - groups * GROUP:
            rows = slice(groups * GROUP, None)
            arrays = [x[rows].ctypes.data for x in batch.arrays]
            ends = (values[rows].ctypes.data, words[rows].ctypes.data, counts.ctypes.data)
            self._samples(sample)(*arrays, rest, *ends)
        if counts[BAD]:
            raise not_codable(self.wiring, batch)
        return Evaluation(values, words, int(counts[OUTSIDE]), int(counts[CLIPPED]))

    def _run_groups(
        self,
        batch: Batch,
        values: NDArray[Any],
        words: NDArray[np.uint32],
        counts: NDArray[np.int64],
        groups: int,
    ) -> None:
        """Run whole groups, as many parts of them as there are threads side by side."""
        run = self.rows(batch.dtype)  # made once, not by every thread

        def work(start: int, end: int) -> NDArray[np.int64]:
            rows = slice(start * GROUP, end * GROUP)
            own = np.zeros(3, np.int64)
            arrays = [x[rows].ctypes.data for x in batch.arrays]
            ends = (values[rows].ctypes.data, words[rows].ctypes.data, own.ctypes.data)
            run(*arrays, end - start, *ends)
            return own

        parts = max(1, min(self.threads, groups // LEAST_GROUPS))
        cuts = [groups * k // parts for k in range(parts + 1)]
        others = [pool(self.threads - 1).submit(work, *cut) for cut in pairwise(cuts[1:])]
        counts += work(cuts[0], cuts[1])
        for job in others:
            counts += job.result()

    def run_codes(
        self, columns: Sequence[NDArray[Any]], out: Sequence[NDArray[Any]] | None = None
    ) -> Codes:
        """Return outputs as signed codes, one column each, as the llvm engine's `run_codes`."""
        kinds = [code_type(port.code.bits) for port in self.wiring.ports]
        given = [np.ascontiguousarray(x, kind) for x, kind in zip(columns, kinds, strict=True)]
        samples = len(given[0])
        made = list(out) if out is not None else [
            np.empty(samples, code_type(result.code.bits)) for result in self.wiring.results
        ]  # fmt: skip
        counts = np.zeros(3, np.int64)
        groups, rest = divmod(samples, GROUP)
        if groups:
            self.columns(pointers(given), pointers(made), groups, -1, counts.ctypes.data)
        if rest:
            few = [np.zeros(GROUP, x.dtype) for x in given]
            for padded, x in zip(few, given, strict=True):
                padded[:rest] = x[samples - rest :]
            last = [np.empty(GROUP, x.dtype) for x in made]
            mask = (1 << rest) - 1
            self.columns(pointers(few), pointers(last), 1, mask, counts.ctypes.data)
            for x, padded in zip(made, last, strict=True):
                x[samples - rest :] = padded[:rest]
        return Codes(tuple(made), int(counts[CLIPPED]))

    @cached_property
    def columns(self) -> Callable[..., None]:
        """The loop over groups of columns (see `lanes`)."""
        tables = self._tables()
        text = lanes.columns_module(self.wiring, self.wide, tables)
        return self._function(text, "columns", _POINTER, _POINTER, _WHOLE, _WHOLE, _POINTER)

    def _tables(self) -> Permutes | Loads:
        kind = Permutes if self.machine.has_permutes else Loads
        return kind(self.wide, "table")

    def rows(self, dtype: np.dtype[Any]) -> Callable[..., None]:
        """Return the loop over groups of rows of a type (see `lanes`)."""
        sample = _SAMPLES[dtype]
        if sample not in self._groups:
            text = lanes.rows_module(self.wiring, self.wide, self._tables(), sample, self.machine)
            self._groups[sample] = self._loop(text, "rows")
        return self._groups[sample]

    def _samples(self, sample: Sample) -> Callable[..., None]:
        if sample not in self._singles:
            real = "float" if sample == "float" else "double"
            tables = Loads(self.single, "table")
            functions = [
                engines_words.sample_function(self.wiring, self.single, tables, sample, real),
                engines_words.samples_function(self.wiring, sample, real),
            ]
            self._singles[sample] = self._loop(self.single_module(tables, functions), "samples")
        return self._singles[sample]

    def single_module(self, tables: Loads, functions: Sequence[str]) -> str:
        """Return a module of functions of one sample."""
        lines = [
            *words_emit.declarations(1),
            *engines_words.DECLARATIONS,
            *tables.texts(),
            *functions,
        ]
        return "\n".join([*lines, ATTRIBUTES, ""])

    @cached_property
    def code_of_state(self) -> llvm.NativeCode:
        """The code that evaluates one state: `state`, and `cells` for its words alone."""
        tables = Loads(self.single, "table")
        functions = [
            engines_words.state_function(self.wiring, self.single, tables),
            engines_words.cells_function(self.wiring, self.single, tables),
        ]
        return llvm.NativeCode(self.single_module(tables, functions), self.machine, near=True)

    @cached_property
    def state(self) -> States:
        """What evaluates one state, the fastest from Python."""
        return States(self)

    @cached_property
    def costs(self) -> tuple[int, int]:
        """The operations of one sample, and those of a group of them in lanes."""
        out = engines_words.SingleLines()
        cells = [f"%c{k}" for k in range(len(self.wiring.ports))]
        engines_words.made_lines(out, self.single, Loads(self.single, "table"), cells)
        one = operations(out.lines, self.machine)
        if not lanes.fits(self.wiring):
            return one, one * GROUP
        wide = LlvmLines()
        lanes.group_lines(
            wide, self.wiring, self.wide, self._tables(), lambda k: f"%i{k}", lambda k: f"%o{k}"
        )
        return one, operations(wide.lines, self.machine)

    def _loop(self, text: str, name: str) -> Callable[..., None]:
        arrays = (_POINTER,) * len(self.wiring.groups)
        return self._function(text, name, *arrays, _WHOLE, *(_POINTER,) * 3)

    def _function(self, text: str, name: str, *arguments: Any) -> Callable[..., None]:
        code = llvm.NativeCode(text, self.machine, near=True)
        self._kept.append(code)
        found: Callable[..., None] = code.function(name, *arguments)
        return found


def pointers(columns: Sequence[NDArray[Any]]) -> Any:
    """Return where columns are, as C takes it."""
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))
