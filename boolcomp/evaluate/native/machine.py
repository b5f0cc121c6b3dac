"""From LLVM text to callable code, kept in the user's cache folder between runs.

An entry is keyed by the text, the processor and the versions, carries its own checksum, and is
made again where anything about it is wrong. A program file never brings native code along.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import llvmlite.binding as llvm

from boolcomp.files import user_cache
from boolcomp.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

MAGIC = b"boolcomp object 1\n"
MOST_ENTRIES = 256
_OPTIMISE = 2  # of the code generator; the text is straight-line code in its final order


@dataclass(frozen=True, slots=True)
class Machine:
    """A processor: its name and the features that may be used."""

    cpu: str
    features: str

    @property
    def has_ternary(self) -> bool:
        """Whether it has the AVX-512 ternary instruction."""
        return "+avx512f" in self.features.split(",")

    @property
    def has_wide(self) -> bool:
        """Whether it has 256-bit integer vectors."""
        return "+avx2" in self.features.split(",")

    @property
    def has_affine(self) -> bool:
        """Whether it transposes bits by one instruction, and bytes of two vectors by another."""
        return {"+avx512f", "+gfni", "+avx512vbmi"} <= set(self.features.split(","))

    @property
    def has_fused(self) -> bool:
        """Whether it multiplies and adds by one instruction."""
        return bool({"+avx512f", "+fma"} & set(self.features.split(",")))

    def without_ternary(self) -> Machine:
        """Return the machine as if it had no AVX-512."""
        words = self.features.split(",")
        kept = [("-" + w[1:] if w[1:].startswith(("avx512", "avx10")) else w) for w in words]
        return Machine(self.cpu, ",".join(kept))


@cache
def host() -> Machine:
    """Return this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    features = llvm.get_host_cpu_features()
    return Machine(llvm.get_host_cpu_name(), features.flatten())


def host_is_x86() -> bool:
    """Tell whether this is an x86-64 machine."""
    return str(llvm.get_default_triple()).startswith("x86_64")


def assembles() -> bool:
    """Tell whether assembly text for x86-64 with the calls of Linux may be used."""
    return host_is_x86() and "linux" in llvm.get_default_triple()


class Code:
    """Native code with its functions, alive as long as this object.

    Where making the text takes time, `content` says what it depends on, and finds it in the cache.
    """

    def __init__(
        self, text: str | Callable[[], str], machine: Machine, content: str | None = None
    ) -> None:
        host()
        self._target = _target_machine(machine)
        if content is None or isinstance(text, str):
            text = text if isinstance(text, str) else text()
            content = text
        key = _key(content, machine)
        stored = read_entry(key)
        self.cached = stored is not None
        if stored is None:
            stored = _compiled(text if isinstance(text, str) else text(), self._target)
            write_entry(key, stored)
        empty = llvm.parse_assembly("")
        self._engine = llvm.create_mcjit_compiler(empty, self._target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(stored))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return where a function begins."""
        return int(self._engine.get_function_address(name))

    def function(self, name: str, *arguments: Any) -> Any:
        """Return a function that gives up Python's lock while it runs, and returns nothing."""
        return ctypes.CFUNCTYPE(None, *arguments)(self.address(name))


def _target_machine(machine: Machine) -> Any:
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=_OPTIMISE, jit=True
    )


def _compiled(text: str, target: Any) -> bytes:
    module = llvm.parse_assembly(text)
    return bytes(target.emit_object(module))


def _key(text: str, machine: Machine) -> str:
    llvm_version = ".".join(map(str, llvm.llvm_version_info))
    parts = [
        VERSION, llvmlite.__version__, llvm_version,
        machine.cpu, machine.features, str(_OPTIMISE), text,
    ]  # fmt: skip
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def cache_folder() -> Path:
    """Return the folder of native code."""
    return user_cache("native")


def read_entry(key: str) -> bytes | None:
    """Return a stored object, or nothing where there is none that can be trusted."""
    path = cache_folder() / f"{key}.o"
    try:
        if not _ours(path.parent) or not _ours(path):
            return None
        content = path.read_bytes()
    except OSError:
        return None
    start = len(MAGIC) + 32
    code = content[start:]
    whole = MAGIC + hashlib.sha256(key.encode() + code).digest()
    return code if content[:start] == whole else None


def _ours(path: Path) -> bool:
    """Tell whether nobody but this user can have written a file or folder."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def write_entry(key: str, code: bytes) -> None:
    """Store an object, whole or not at all; without a writable folder it is not stored."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=".new")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(MAGIC + hashlib.sha256(key.encode() + code).digest() + code)
            temporary.replace(folder / f"{key}.o")
        finally:
            temporary.unlink(missing_ok=True)
        _prune(folder)


def _prune(folder: Path) -> None:
    """Remove the oldest entries beyond the most that are kept."""
    entries = sorted(folder.glob("*.o"), key=lambda path: path.stat().st_mtime)
    for path in entries[: max(0, len(entries) - MOST_ENTRIES)]:
        path.unlink(missing_ok=True)
