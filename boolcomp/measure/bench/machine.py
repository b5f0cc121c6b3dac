"""Names the machine, and measures its clock."""

from __future__ import annotations

from pathlib import Path

from boolcomp.base.processes import cores
from boolcomp.measure.bench.build import COMPILERS, compiler, processor
from boolcomp.measure.bench.rows import Host
from boolcomp.measure.bench.tasks import loops

CHAIN = 400_000  # a tenth of a millisecond: short enough to run undisturbed now and then
CHAINS = 200
TELLING = ("avx2", "fma", "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "gfni")


def this_machine() -> Host:
    """Return what figures must be read beside."""
    name, flags = processor()
    found = (compiler(each) for each in COMPILERS)
    return Host(
        name,
        caches(),
        tuple(flag for flag in TELLING if flag in flags),
        tuple(f"{x.name}: {x.version}" for x in found if x is not None),
        gigahertz(),
        cores(),
    )


def gigahertz() -> float:
    """Return cycles a nanosecond: a chain of dependent additions takes a cycle each."""
    chain = loops()[1]
    return max(CHAIN / float(chain(CHAIN)) / 1e9 for _ in range(CHAINS))


def caches() -> tuple[str, ...]:
    """Return the first core's caches: `L1 data 48K`; nothing where the system does not tell."""
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            parts = [(folder / x).read_text().strip() for x in ("level", "type", "size")]
        except OSError:
            continue
        level, kind, size = parts
        found.append(f"L{level}{'' if kind == 'Unified' else f' {kind.lower()}'} {size}")
    return tuple(found)
