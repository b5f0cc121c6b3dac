"""What is installed here, and what each missing piece would bring: `boolcomp doctor`.

Packages are those that the installation itself asks for, with its extras; programs are those that
commands look for on PATH. What packages bring is said in `common.packages`, what programs bring
here, and nowhere else.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import shutil
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import BRINGS, installing, is_there, module_of
from boolcomp.base.processes import cores
from boolcomp.base.store import user_cache
from boolcomp.base.version import VERSION
from boolcomp.logic.synthesis import abc
from boolcomp.measure.fpga import TOOLS, find

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Piece:
    """A package, a program or a property of this machine, and what it is for.

    `extra` is "" for what every installation needs; `source` says where it was found, or which
    version it has; `install` is how it would come here.
    """

    name: str
    kind: str
    extra: str
    found: bool
    source: str
    brings: str
    install: str

    @property
    def needed(self) -> bool:
        """Whether boolcomp is not whole without it."""
        return self.kind == "package" and not self.extra


@dataclass(frozen=True, slots=True)
class Program:
    """A program of others that commands look for, in Debian's package."""

    name: str
    brings: str
    package: str


PROGRAMS = (
    Program("cc", "bench: rivals in C; cycles --on host", "gcc"),
    Program("g++", "verify --with-tools: Verilator's models", "g++"),
    Program("iverilog", "verify --with-tools: simulation of Verilog", "iverilog"),
    Program("verilator", "verify --with-tools: lint, and 10^5 vectors a second", "verilator"),
    Program("ghdl", "verify --with-tools: simulation of VHDL", "ghdl"),
    Program("avr-gcc", "cycles --on avr", "gcc-avr avr-libc"),
    Program("simavr", "cycles --on avr", "simavr"),
    Program("arm-none-eabi-gcc", "cycles --on cortex-m0,cortex-m3",
            "gcc-arm-none-eabi libnewlib-arm-none-eabi"),
    Program("qemu-system-arm", "cycles --on cortex-m0,cortex-m3", "qemu-system-arm"),
    Program("valgrind", "cycles --on host: instructions", "valgrind"),
    Program("node", "a look at exported JavaScript from a shell", "nodejs"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Health:
    """All pieces, the machine, and the folder where results are kept."""

    machine: dict[str, Any]
    pieces: tuple[Piece, ...]

    @property
    def whole(self) -> bool:
        """Whether all that every installation needs is there, and can be imported."""
        return all(piece.found for piece in self.pieces if piece.needed)

    @property
    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "version": VERSION, "whole": self.whole, "machine": self.machine,
            "pieces": [asdict(piece) for piece in self.pieces],
        }  # fmt: skip


def health() -> Health:
    """Look at this installation and machine."""
    return Health(_machine(), (*_packages(), *_tools(), *_programs()))


def _packages() -> Iterator[Piece]:
    """Yield a piece for every package; not those that an older installation was asked for."""
    for extra, packages in BRINGS.items():
        for name, brings in packages.items():
            found, source = _package(name, needed=not extra)
            yield Piece(name, "package", extra, found, source, brings, installing(name, extra))


def _package(name: str, *, needed: bool) -> tuple[bool, str]:
    """Tell whether a package is there, and its version or what is wrong.

    What is needed is imported: a broken one is as good as none. Others are only looked for.
    """
    if not is_there(name):
        return False, "missing"
    try:
        version = importlib.metadata.version(name)
        if needed:
            importlib.import_module(module_of(name))
    except importlib.metadata.PackageNotFoundError:
        version = "of an unknown version"
    except Exception as error:  # noqa: BLE001 (whatever a broken package raises is its illness)
        return False, f"broken: {type(error).__name__}: {error}"[:200]
    return True, version


def _tools() -> Iterator[Piece]:
    """Yield ABC and the FPGA tools, which are programs or come in wheels."""
    found = abc.find()
    yield Piece(
        "abc", "tool", "abc", found is not None, found.source if found else "missing",
        "smaller networks and LUT counts", installing("pyosys"),
    )  # fmt: skip
    for name in TOOLS:
        tool = find(name)
        extra = "abc" if name == "yosys" else "hardware"
        brings = "area, verify --with-tools" if name == "yosys" else "area, build"
        yield Piece(
            name, "tool", extra, tool is not None, tool.source if tool else "missing", brings,
            installing(name, extra),
        )  # fmt: skip


def _programs() -> Iterator[Piece]:
    for one in PROGRAMS:
        path = shutil.which(one.name)
        yield Piece(
            one.name, "program", "", path is not None, "PATH" if path else "missing", one.brings,
            f"apt-get install {one.package}",
        )  # fmt: skip


def _machine() -> dict[str, Any]:
    folder = user_cache("health").parent
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": cores(),
        "engine": _engine(),
        "cache": str(folder),
        "cache_writable": os.access(folder, os.W_OK),
        "environment": sys.prefix,
    }


def _engine() -> str:
    """Say which engine evaluates here, and how wide it is."""
    try:
        from boolcomp.engines.llvm import host, host_is_x86  # noqa: PLC0415 (may be none)

        if host_is_x86():
            return f"native, {host().width} bits wide"
    except Exception:  # noqa: BLE001 (without it, or where it is broken, numpy takes over)
        return "numpy: llvmlite is missing or broken"
    return "numpy: the native engine needs x86-64"
