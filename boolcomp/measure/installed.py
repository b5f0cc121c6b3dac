"""Installed packages, tools and programs, and their purposes, for `boolcomp doctor`.

Packages are the dependencies of the installation and its extras (purposes in `base.errors`);
programs are searched on PATH (purposes in this module).
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

from boolcomp.base import VERSION
from boolcomp.base.errors import BRINGS, installing, is_there, module_of
from boolcomp.base.processes import cores
from boolcomp.base.store import user_cache
from boolcomp.logic import lutmapping
from boolcomp.measure.fpga import TOOLS, find

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Piece:
    """A package, tool or program, and its purpose.

    `extra` is "" for required packages; `source` is its origin or version; `install` is the command
    that installs it.
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
        return self.kind == "package" and not self.extra


# External programs that commands use: purpose and Debian packages.
PROGRAMS = {
    "cc": ("bench: rivals in C; cycles --on host", "gcc"),
    "g++": ("verify --with-tools: Verilator's models", "g++"),
    "iverilog": ("verify --with-tools: simulation of Verilog", "iverilog"),
    "verilator": ("verify --with-tools: lint, and 10^5 vectors per second", "verilator"),
    "ghdl": ("verify --with-tools: simulation of VHDL", "ghdl"),
    "avr-gcc": ("cycles --on avr", "gcc-avr avr-libc"),
    "simavr": ("cycles --on avr", "simavr"),
    "arm-none-eabi-gcc": (
        "cycles --on cortex-m0,cortex-m3", "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    ),
    "qemu-system-arm": ("cycles --on cortex-m0,cortex-m3", "qemu-system-arm"),
    "valgrind": ("cycles --on host: instructions", "valgrind"),
    "node": ("running exported JavaScript in a shell", "nodejs"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Health:
    """All pieces, and facts of the machine."""

    machine: dict[str, Any]
    pieces: tuple[Piece, ...]

    @property
    def whole(self) -> bool:
        return all(piece.found for piece in self.pieces if piece.needed)

    @property
    def document(self) -> dict[str, Any]:
        return {
            "version": VERSION, "whole": self.whole, "machine": self.machine,
            "pieces": [asdict(piece) for piece in self.pieces],
        }  # fmt: skip


def health() -> Health:
    return Health(_machine(), (*_packages(), *_tools(), *_programs()))


def _packages() -> Iterator[Piece]:
    """Yield a piece for every package of the current version."""
    for extra, packages in BRINGS.items():
        for name, brings in packages.items():
            found, source = _package(name, needed=not extra)
            yield Piece(name, "package", extra, found, source, brings, installing(name, extra))


def _package(name: str, *, needed: bool) -> tuple[bool, str]:
    """Tell whether a package is usable, and its version or the reason why not.

    Required packages are imported, to detect broken ones. Others are only searched.
    """
    if not is_there(name):
        return False, "missing"
    try:
        version = importlib.metadata.version(name)
        if needed:
            importlib.import_module(module_of(name))
    except importlib.metadata.PackageNotFoundError:
        version = "of an unknown version"
    except Exception as error:  # noqa: BLE001 (a broken package may raise any error)
        return False, f"broken: {type(error).__name__}: {error}"[:200]
    return True, version


def _tools() -> Iterator[Piece]:
    """Yield ABC and the FPGA tools, which are programs or come in wheels."""
    found = lutmapping.find()
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
    for name, (brings, package) in PROGRAMS.items():
        found = shutil.which(name) is not None
        source = "PATH" if found else "missing"
        yield Piece(name, "program", "", found, source, brings, f"apt-get install {package}")


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
    """Return the name of the engine on this machine, and its vector width."""
    try:
        from boolcomp.engines.llvm import host, host_is_x86  # noqa: PLC0415 (may be none)

        if host_is_x86():
            return f"native, {host().width} bits wide"
    except Exception:  # noqa: BLE001 (llvmlite is missing or broken)
        return "numpy: llvmlite is missing or broken"
    return "numpy: the native engine needs x86-64"
