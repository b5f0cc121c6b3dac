"""Take from an interpreter what other systems lack; `PYTHONPATH` names this folder.

Python imports the module before anything else, in workers too.
"""

import os
import sys
from typing import Any

# Not on macOS. Its `fork` exists, but a process with threads must not use it.
for name in (
    "fork", "memfd_create", "pidfd_open", "posix_fallocate", "sched_getaffinity", "sched_yield",
):  # fmt: skip
    if hasattr(os, name):
        delattr(os, name)
if hasattr(os, "fdatasync"):
    os.fdatasync = os.fsync
AWAY = ("/proc", "/dev/shm")  # noqa: S108 (the place itself)
MISSING = ("prctl", "renameat2")


def _watch(event: str, given: tuple[Any, ...]) -> None:
    path = given[0] if event in {"open", "os.listdir", "os.scandir"} else None
    if isinstance(path, str) and path.startswith(AWAY):
        raise FileNotFoundError(2, "taken away", path)
    if event == "ctypes.dlsym" and given[1] in MISSING:
        raise AttributeError(given[1])


sys.addaudithook(_watch)


def _without_vectors() -> None:
    """Let llvmlite find a processor without AVX."""
    import llvmlite.binding as llvm

    found = llvm.get_host_cpu_features()
    for one in found:
        if one.startswith(("avx", "fma", "gfni")):
            found[one] = False
    llvm.get_host_cpu_features = lambda: found
    llvm.get_host_cpu_name = lambda: "x86-64"


if os.environ.get("WITHOUT_VECTORS"):
    _without_vectors()
