"""The program itself as an offer: its native code, called from C like every rival."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.engines import engine_name, make_engine
from boolcomp.measure.bench.lanes import lane_codes, lane_reals
from boolcomp.measure.bench.states import aligned
from boolcomp.measure.bench.tasks import NativeTask, Offer, PythonTask, address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.bench.states import BenchStates, Kind
    from boolcomp.measure.bench.tasks import BenchTask
    from boolcomp.program.program import Program

    Make = Callable[[BenchStates, int, int], BenchTask]

GROUP = 64
SAME = 1e-3  # last bits: every engine gives the same words
BYTE = 8
MOST_FORCED = 8000  # nodes: LLVM takes minutes over more with few registers


class LogicSubject:
    """A program and its engine, made when first needed; `width` forces narrower vectors."""

    def __init__(self, program: Program, width: int | None = None) -> None:
        self.program, self.width = program, width
        self.wiring = program.wiring()
        self._engine: Any = None

    @property
    def engine(self) -> Any:
        """The native engine; a `UsageError` where there is none."""
        if self._engine is None:
            self._engine = make_engine(self.wiring, engine_name("auto"))
            if self.width is not None and self._engine.name == "llvm":
                if self.width >= self._engine.width:
                    raise UsageError(f"this machine has no vectors wider than {self.width} bits")
                self._engine = type(self._engine)(self.wiring, self.width)
        if self._engine.name != "llvm":
            raise UsageError("llvmlite is not installed")
        return self._engine

    @property
    def words(self) -> Kind:
        """The type that holds all words in and out."""
        codes = [port.code for port in self.wiring.ports] + [r.code for r in self.wiring.results]
        return "int8" if all(code.bits <= BYTE for code in codes) else "int16"

    def columns(self, states: BenchStates, samples: int) -> list[NDArray[Any]]:
        """Return a column of signed codes for every port: its cell less half the cells."""
        made = []
        for port in self.wiring.ports:
            place = sum(group.size for group in states.problem.groups[: port.array]) + port.column
            cells, _ = port.code.cell(states.columns[place])
            kind = np.int8 if port.code.bits <= BYTE else np.int16
            made.append(aligned((cells - port.code.cells // 2).astype(kind), samples))
        return made

    def room(self, samples: int) -> list[NDArray[Any]]:
        """Return empty columns for the results' codes."""
        widths = [result.code.bits for result in self.wiring.results]
        kinds = [np.int8 if bits <= BYTE else np.int16 for bits in widths]
        return [aligned(np.zeros(1, kind), samples) for kind in kinds]

    def rows(self, states: BenchStates, samples: int) -> tuple[NDArray[np.float64], ...]:
        """Return so many states, an array for each group."""
        return _rows(states, samples)

    def decoded(self, codes: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return torques of columns of codes."""
        pairs = zip(self.wiring.results, codes, strict=True)
        return [r.code.centre(k.astype(np.int64) + r.code.cells // 2) for r, k in pairs]

    def expected(self, kind: Kind) -> Callable[[BenchStates, int], NDArray[Any]]:
        """Return what gives the torques by the numpy engine."""

        def torques(states: BenchStates, count: int) -> NDArray[Any]:
            real = np.float32 if kind == "float32" else np.float64
            rows = [x.astype(real) for x in _rows(states, count)]
            return self.program.torques(*rows, engine="numpy")

        return torques


def logic_offers(program: Program, label: str) -> Iterator[Offer]:
    """Yield the program with words in and out, with planes kept, and with floats in and out."""
    subject = LogicSubject(program)
    kind = subject.words

    def offer(name: str, kind: Kind, make: Make, **more: Any) -> Offer:
        return Offer(name, kind, make, SAME, expected=subject.expected(kind), **more)

    yield offer(label, kind, _codes(subject), logic=True)
    yield offer(f"{label}, planes in and out", kind, _planes(subject))
    reals: tuple[Kind, ...] = ("float32", "float64")
    for real in reals:
        yield offer(label, real, _reals(subject, real), logic=True)
    if program.graph is not None:
        yield offer(f"{label}, words in lanes", kind, lane_codes(subject))
        for real in reals:
            yield offer(f"{label}, words in lanes", real, lane_reals(subject, real))
    if sum(len(network.nodes) for network in program.networks) <= MOST_FORCED:
        for width, name in ((256, "AVX2"), (64, "64-bit words")):
            yield offer(f"{label}, forced to {name}", kind, _codes(LogicSubject(program, width)))
    yield offer(f"{label}, called from Python", "float64", _python(program), threads=False)


def _rows(states: BenchStates, count: int) -> tuple[NDArray[np.float64], ...]:
    columns = [np.resize(x, count) for x in states.columns]
    return states.problem.arrays(np.stack(columns, axis=1))


def _pointers(columns: Sequence[NDArray[Any]]) -> Any:
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))


def _tile(engine: Any) -> NDArray[Any]:
    return aligned(np.zeros(1, np.uint8), engine.layout.block_bytes * engine.blocks)


def _codes(subject: LogicSubject) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = subject.engine
        blocks = -(-count // engine.width)
        given = subject.columns(states, blocks * engine.width)
        made = subject.room(blocks * engine.width)
        return _loop(subject, "codes", (given, made, blocks, count), subject.decoded)

    return make


def _planes(subject: LogicSubject) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = subject.engine
        blocks = -(-count // engine.width)
        samples = blocks * engine.width
        given = engine.to_planes([x[:samples] for x in subject.columns(states, samples)])
        made = engine.run_planes(given)

        def decode(columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
            del columns
            return subject.decoded(engine.from_planes(made, count).columns)

        return _loop(subject, "planes", (given, made, blocks, count), decode)

    return make


def _loop(
    subject: LogicSubject,
    name: str,
    over: tuple[Any, Any, int, int],
    decode: Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]],
) -> BenchTask:
    """Return one of the engine's loops as a task: `over` are data in, out, blocks and samples."""
    given, made, blocks, count = over
    engine = subject.engine
    runner = engine._codes  # noqa: SLF001 (what is measured is the loop alone)
    tile, counts = _tile(engine), np.zeros(engine.width // GROUP, np.int64)
    mask = np.full(engine.width // 8, 255, np.uint8)
    ends = [x.ctypes.data if isinstance(x, np.ndarray) else _pointers(x) for x in (given, made)]
    addresses = [x if isinstance(x, int) else ctypes.addressof(x) for x in ends]
    arguments = [
        *addresses, 0, blocks, mask.ctypes.data, counts.ctypes.data, tile.ctypes.data,
        engine.address,
    ]  # fmt: skip
    kept = (given, made, ends, tile, counts, mask, engine)
    columns = [] if isinstance(made, np.ndarray) else [x[:count] for x in made]
    call = runner._loops[name]  # noqa: SLF001 (likewise)
    return NativeTask(address_of(call), arguments, columns, kept, decode)


def _reals(subject: LogicSubject, kind: Kind) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = subject.engine
        whole = -(-count // GROUP) * GROUP
        rows = [x.astype(kind) for x in _rows(states, whole)]
        run = engine._function(np.dtype(kind))  # noqa: SLF001 (what is measured is the loop alone)
        torques, words = np.zeros(rows[0].shape, kind), np.zeros(rows[0].shape, np.uint32)
        counts, tile = np.zeros(3, np.int64), _tile(engine)
        arguments = [
            *(x.ctypes.data for x in rows), whole // GROUP, (1 << GROUP) - 1, torques.ctypes.data,
            words.ctypes.data, tile.ctypes.data, counts.ctypes.data, engine.address,
        ]  # fmt: skip
        kept = (engine, rows, words, counts, tile)
        return NativeTask(address_of(run), arguments, list(torques[:count].T), kept)

    return make


def _python(program: Program) -> Make:
    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        rows = _rows(states, count)
        found: list[Any] = [None]

        def call() -> None:
            found[0] = program.torques(*rows)

        return PythonTask(call, lambda: list(found[0].T))

    return make
