"""LLVM text to callable code, with a cache in the user's folder, and a writer of LLVM functions.

A cache entry is keyed by the text, the processor and the versions, has a checksum, and is replaced
if it is invalid. Program files contain no native code.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import llvmlite
import llvmlite.binding as llvm

from boolcomp.base import VERSION
from boolcomp.base.store import native_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


_OPTIMISE = 2  # of the code generator; the text is in its final order


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor: its name and its usable features."""

    cpu: str
    features: str

    @property
    def has_ternary(self) -> bool:
        return "+avx512f" in self.features.split(",")

    @property
    def has_wide(self) -> bool:
        return "+avx2" in self.features.split(",")

    @property
    def has_affine(self) -> bool:
        return {"+avx512f", "+gfni", "+avx512vbmi"} <= set(self.features.split(","))

    @property
    def width(self) -> int:
        return 512 if self.has_ternary else 256 if self.has_wide else 64

    @property
    def has_permutes(self) -> bool:
        return {"+avx512f", "+avx512bw", "+avx512vbmi"} <= set(self.features.split(","))

    @property
    def has_fused(self) -> bool:
        return bool({"+avx512f", "+fma"} & set(self.features.split(",")))

    def without_ternary(self) -> Processor:
        """Return the processor without AVX-512."""
        words = self.features.split(",")
        kept = [("-" + w[1:] if w[1:].startswith(("avx512", "avx10")) else w) for w in words]
        return Processor(self.cpu, ",".join(kept))


@cache
def host() -> Processor:
    """Return the processor of this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    features = llvm.get_host_cpu_features()
    return Processor(llvm.get_host_cpu_name(), features.flatten())


def host_is_x86() -> bool:
    return str(llvm.get_default_triple()).startswith("x86_64")


def assembles() -> bool:
    return host_is_x86() and "linux" in llvm.get_default_triple()


class NativeCode:
    """Native code and its functions, which are valid while this object exists.

    If the text takes time to generate, `content` is all that it depends on, and the key of the
    cache. With `near`, constants are placed next to the code, without the ten-byte addresses that
    they need elsewhere.
    """

    def __init__(
        self,
        text: str | Callable[[], str],
        machine: Processor,
        content: str | None = None,
        *,
        near: bool = False,
    ) -> None:
        host()
        near = near and assembles()
        self._target = _target_machine(machine)
        if content is None or isinstance(text, str):
            text = text if isinstance(text, str) else text()
            content = text
        self.cached = True

        def make() -> bytes:
            self.cached = False
            whole = text if isinstance(text, str) else text()
            source = _with_constants(whole, machine) if near else whole
            return bytes(self._target.emit_object(llvm.parse_assembly(source)))

        parts = [*_parts(content, machine), *(["near"] if near else [])]
        stored = native_code("native", ".o", parts, make)
        empty = llvm.parse_assembly("")
        self._engine = llvm.create_mcjit_compiler(empty, self._target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(stored))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        return int(self._engine.get_function_address(name))

    def function(self, name: str, *arguments: Any) -> Any:
        return ctypes.CFUNCTYPE(None, *arguments)(self.address(name))


def _target_machine(machine: Processor, **model: str) -> Any:
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=_OPTIMISE, jit=not model, **model
    )


def _with_constants(text: str, machine: Processor) -> str:
    """Return a module in assembly with its constants in the section of the code.

    Within one section there are no relocations, and no distance is too large.
    """
    target = _target_machine(machine, reloc="pic", codemodel="small")
    assembly = target.emit_assembly(llvm.parse_assembly(text))
    lines = []
    for line in assembly.splitlines():
        words = line.split()
        if words[:1] == [".section"] and words[1].startswith(".rodata"):
            lines.append(".text")
        elif words and not words[0].startswith((".cfi", "#", ".file", ".ident")):
            lines.append(line.strip())
    quoted = (line.replace("\\", "\\5C").replace('"', "\\22") for line in lines)
    return "".join(f'module asm "{line}"\n' for line in quoted if line)


def _parts(text: str, machine: Processor) -> list[str]:
    llvm_version = ".".join(map(str, llvm.llvm_version_info))
    return [
        VERSION, llvmlite.__version__, llvm_version,
        machine.cpu, machine.features, str(_OPTIMISE), text,
    ]  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Function bodies in LLVM's language.
# --------------------------------------------------------------------------------------------------

Sample = Literal["double", "float", "i32"]
BYTES: dict[Sample, int] = {"double": 8, "float": 4, "i32": 4}
GROUP = 64  # samples


class LlvmLines:
    """The body of a function; every value gets a new name."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def emit(self, operation: str) -> str:
        """Add an operation; return the name of its value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {operation}")
        return name

    def function(self, head: str) -> str:
        """Return the text of an internal function with this body."""
        head = f"define internal void @{head} #0 {{"
        return "\n".join([head, *self.lines, "ret void", "}"])

    def do(self, operation: str) -> None:
        self.lines.append(operation)

    def at(self, base: str, offset: int) -> str:
        return self.emit(f"getelementptr i8, ptr {base}, i64 {offset}")

    def load(self, kind: str, base: str, offset: int) -> str:
        return self.emit(f"load {kind}, ptr {self.at(base, offset)}, align 1")

    def store(self, kind: str, value: str, base: str, offset: int) -> None:
        self.do(f"store {kind} {value}, ptr {self.at(base, offset)}, align 1")

    def add_to(self, counter: int, amount: str) -> None:
        """Add an amount to one of the counts."""
        pointer = self.at("%counts", 8 * counter)
        before = self.emit(f"load i64, ptr {pointer}, align 8")
        after = self.emit(f"add i64 {before}, {amount}")
        self.do(f"store i64 {after}, ptr {pointer}, align 8")

    def gathered(
        self, sources: Sequence[str], lanes: int, kind: str, places: Sequence[tuple[int, int]]
    ) -> str:
        """Return the vector whose lanes are (source, lane) of vectors of `lanes` lanes."""
        used = sorted({source for source, _ in places})
        parts: list[tuple[str, set[int]]] = []
        for a, b in zip(used[::2], [*used[1::2], used[0]], strict=False):
            mask = ("undef" if s not in (a, b) else lane + lanes * (s == b != a)
                    for s, lane in places)  # fmt: skip
            vector = f"<{lanes} x {kind}>"
            pair = f"{vector} {sources[a]}, {vector} {sources[b]}"
            parts.append((self.emit(f"shufflevector {pair}, {shuffle_mask(mask)}"), {a, b}))
        vector = f"<{len(places)} x {kind}>"
        while len(parts) > 1:
            merged = []
            for (x, those), (y, others) in zip(parts[::2], parts[1::2], strict=False):
                mask = (k if s in those else k + len(places) if s in others else "undef"
                        for k, (s, _) in enumerate(places))  # fmt: skip
                name = self.emit(f"shufflevector {vector} {x}, {vector} {y}, {shuffle_mask(mask)}")
                merged.append((name, those | others))
            parts = merged + parts[len(parts) & ~1 :]
        return parts[0][0]


def shuffle_mask(places: Iterable[int | str]) -> str:
    """Return a mask of a shuffle; places are lanes or `undef`."""
    names = [f"i32 {place}" for place in places]
    return f"<{len(names)} x i32> <{', '.join(names)}>"


def vector_of(kind: str, values: Iterable[float]) -> str:
    return f"<{', '.join(f'{kind} {_number(kind, value)}' for value in values)}>"


def splat(kind: str, lanes: int, value: float) -> str:
    return vector_of(kind, [value] * lanes)


def _number(kind: str, value: float) -> str:
    if kind in ("double", "float"):  # LLVM writes a float as a double
        return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"
    bits = int(kind[1:])
    return str(int(value) - (1 << bits) if int(value) >> bits - 1 == 1 else int(value))
