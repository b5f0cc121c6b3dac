"""A network as look-up tables of four to six inputs, by ABC or by its own cones.

ABC's mapper, its resubstitution and its SAT-based windows (`satlut`) need about a fifth fewer
tables than its mapper alone. The output of ABC is read back and proved equivalent to the network;
an unproved result is rejected. Proved mappings are kept in the user's cache; a stored mapping is
compared with the network on random words.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from boolcomp.base import VERSION
from boolcomp.base.errors import BoolcompError, DataError, UsageError, parse_json
from boolcomp.base.files import temporary_folder
from boolcomp.base.processes import Limits, run_program
from boolcomp.base.store import DAMAGE, entry_path, installed_as, read_entry, write_entry
from boolcomp.logic import formats
from boolcomp.logic import network as luts
from boolcomp.logic.equivalence import MOST_EXHAUSTIVE, RANDOM_WORDS, SEED, equivalent
from boolcomp.logic.formats import parse_luts, simplified
from boolcomp.logic.network import CONSTANTS, LUT3, LUT6, MUX, Builder, CopyAlgebra, Network, Node
from boolcomp.logic.simulation import Planes, random_planes
from boolcomp.twolevel.cubes import Clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# --------------------------------------------------------------------------------------------------
# ABC as a supervised process, limited in time and memory. Every failure is a `RunOutcome` with a
# note: ABC missing, out of time, out of memory, crashed, or a refused command. ABC runs in its own
# process group and temporary folder; both are removed when `run` returns, also at an interrupt. All
# aliases are defined here: Debian ships none.
# --------------------------------------------------------------------------------------------------

Status = Literal["done", "missing", "timeout", "memory", "crashed", "refused"]
NAMES = ("yosys-abc", "berkeley-abc", "abc")
MEMORY = 2 << 30
LONGEST = 10**6  # seconds
_OUT_OF_TIME = 24  # SIGXCPU, which some systems do not define
MOST_OUTPUT = 1 << 20  # characters kept of the output

ALIASES = {
    "b": "balance",
    "bl": "balance -l",
    "rw": "rewrite",
    "rwz": "rewrite -z",
    "rwl": "rewrite -l",
    "rwzl": "rewrite -z -l",
    "rf": "refactor",
    "rfz": "refactor -z",
    "rfl": "refactor -l",
    "rfzl": "refactor -z -l",
    "resyn": "b; rw; rwz; b; rwz; b",
    "resyn2": "b; rw; rf; b; rw; rwz; b; rfz; rwz; b",
    "compress2rs": (
        "bl; resub -K 6 -l; rwl; resub -K 6 -N 2 -l; rfl; resub -K 8 -l; bl; resub -K 8 -N 2 -l; "
        "rwl; resub -K 10 -l; rwzl; resub -K 10 -N 2 -l; bl; resub -K 12 -l; rfzl; "
        "resub -K 12 -N 2 -l; rwzl; bl"
    ),
}


@dataclass(frozen=True, slots=True)
class AbcTool:
    """An ABC program and the place where it was found."""

    path: Path
    source: str


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The result of a run: status, a note unless it is "done", output, files.

    The files include those written before a failure; the last may be incomplete.
    """

    status: Status
    note: str = ""
    printed: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        return self.status == "done"


MISSING = RunOutcome(
    "missing", "ABC was not found: pip install 'boolcomp[abc]', or put yosys-abc on PATH"
)


def find() -> AbcTool | None:
    """Return the ABC of the pyosys wheel, else the first on PATH, else None."""
    spec = find_spec("pyosys")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).with_name("yosys-abc")
        if os.access(bundled, os.X_OK):
            return AbcTool(bundled, "the pyosys wheel")
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return AbcTool(Path(found), "PATH")
    return None


def run(
    tool: AbcTool | None,
    commands: Iterable[str],
    files: Mapping[str, str],
    expected: Iterable[str],
    *,
    deadline: float = 60.0,
    memory: int = MEMORY,
) -> RunOutcome:
    """Run commands on files in a temporary folder; return the `expected` files that were written.

    `deadline` is in seconds, `memory` in bytes of address space. Failures of ABC do not raise.
    """
    if tool is None:
        return MISSING
    if deadline <= 0:
        return RunOutcome("timeout", "no time was left for ABC")
    start = time.monotonic()
    with temporary_folder() as folder:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="ascii")
        lines = [*(f'alias {name} "{meaning}"' for name, meaning in ALIASES.items()), *commands]
        (folder / "script.abc").write_text("\n".join(lines) + "\n", encoding="ascii")
        status, note, printed = _supervise(tool, folder, min(deadline, LONGEST), memory)
        found = {
            file: (folder / file).read_text(encoding="ascii", errors="replace")
            for file in expected
            if (folder / file).is_file()
        }
    return RunOutcome(status, note, printed, found, time.monotonic() - start)


def _supervise(
    tool: AbcTool, folder: Path, deadline: float, memory: int
) -> tuple[Status, str, str]:
    """Run the script of a folder; its process group has ended when this returns."""
    command = [str(tool.path), "-s", "-q", "source -x script.abc"]
    limits = Limits(memory, math.ceil(deadline) + 2)
    ended = run_program(command, deadline, folder=folder, limits=limits)
    if ended.code is None:
        return "timeout", f"ABC was stopped after {deadline:.3g} s", ""
    printed = ended.printed[-MOST_OUTPUT:].decode("utf-8", "replace")
    return (*_status(ended.code, printed, memory), printed)


def _status(code: int, printed: str, memory: int) -> tuple[Status, str]:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    last = lines[-1][:200] if lines else "no output"
    if code in (-_OUT_OF_TIME, 128 + _OUT_OF_TIME):
        return "timeout", "ABC exceeded its processor time"
    if code and any("memory" in line.lower() or "bad_alloc" in line for line in lines[-3:]):
        return "memory", f"ABC needed more than {memory >> 20} MiB: {last}"
    if code < 0:
        return "crashed", f"ABC crashed with signal {-code}: {last}"
    if code:
        return "crashed", f"ABC ended with exit code {code}: {last}"
    refusal = next((line for line in lines if line.startswith("** cmd error")), None)
    if refusal is not None:
        return "refused", f"ABC refused a command: {refusal[:200]}"
    return "done", ""


# --------------------------------------------------------------------------------------------------
# Many small networks in one process of ABC, with several scripts each.
# --------------------------------------------------------------------------------------------------

MAP = ("if -K 3 -a", "mfs2 -a -e")
SCRIPTS: dict[str, tuple[str, ...]] = {
    "muxes": ("collapse", "muxes", "strash", "resyn2", "dch", "compress2rs", *MAP),
    "direct": ("strash", "resyn2", "dch", "compress2rs", *MAP),
    "twice": ("strash", "compress2rs", "dch", *MAP, "strash", "dch", "compress2rs", *MAP),
}
BATCH = 100
MOST_FAILURES = 3  # restarts after a crash, each without the network that caused it

Found = list[list[tuple[str, "Network"]]]


def abc_networks(
    tool: AbcTool | None, starts: Sequence[Network], deadline: float
) -> tuple[Found, str]:
    """Return the results of all scripts for every network, and notes on failures.

    The results are parsed strictly but not verified.
    """
    found: Found = [[] for _ in starts]
    if tool is None:
        return found, MISSING.note
    clock = Clock(deadline)
    # ABC cannot process networks without nodes.
    waiting = [k for k, start in enumerate(starts) if start.nodes]
    notes: dict[str, None] = {}
    failures = 0
    while waiting and failures <= MOST_FAILURES:
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        outcome, done = _batch(tool, starts, batch, clock.left, found)
        if outcome.done:
            continue
        notes[outcome.note] = None
        failures += 1
        if outcome.status == "timeout":
            break
        # The first network without all results failed.
        waiting = batch[done + 1 :] + waiting
    return found, "; ".join(notes)


def _batch(
    tool: AbcTool, starts: Sequence[Network], batch: list[int], deadline: float, found: Found
) -> tuple[RunOutcome, int]:
    """Run a batch; return the outcome and the number of networks with all results."""
    commands = []
    for k in batch:
        for name, script in SCRIPTS.items():
            commands += [f"read_blif {k}.blif", *script, f"write_blif {k}.{name}.blif"]
    files = {f"{k}.blif": formats.render(starts[k]) for k in batch}
    expected = [f"{k}.{name}.blif" for k in batch for name in SCRIPTS]
    outcome = run(tool, commands, files, expected, deadline=deadline)
    done = 0
    for k in batch:
        got = [(name, outcome.files.get(f"{k}.{name}.blif")) for name in SCRIPTS]
        found[k] += [(f"ABC {name}", net) for name, text in got if (net := read(text, starts[k]))]
        if any(text is None for _, text in got):
            break
        done += 1
    return outcome, done


def read(text: str | None, like: Network) -> Network | None:
    """Return the network of a BLIF text of LUT3 nodes with the ports of another, else None."""
    if text is None:
        return None
    try:
        network = formats.read_netlist(text, widest=LUT3).network
    except DataError:
        return None
    same = (network.inputs, len(network.outputs)) == (like.inputs, len(like.outputs))
    return network if same and _names_kept(text, like) else None


def _names_kept(text: str, like: Network) -> bool:
    """Tell whether the inputs are in their original order."""
    line = re.sub(r"\\\n", " ", text)
    head = re.search(r"^\.inputs(.*)$", line, re.MULTILINE)
    names = head[1].split() if head else []
    return names == [f"i{k}" for k in range(like.inputs)]


# --------------------------------------------------------------------------------------------------
# A network cut into cones of few inputs: nodes absorb operands of which they are the only user.
# --------------------------------------------------------------------------------------------------


def cones(network: Network, inputs: int) -> dict[int, tuple[int, ...]]:
    """Return the leaves of every cone by its root, in the order of signals."""
    first = CONSTANTS + network.inputs
    readers = [0] * (first + len(network.nodes))
    for node in network.nodes:
        for k in node.operands:
            readers[k] += 1
    for k in network.outputs:
        readers[k] += 1
    roots = [True] * len(readers)
    found: dict[int, tuple[int, ...]] = {}
    for signal in range(len(readers) - 1, first - 1, -1):
        if roots[signal]:
            found[signal], inside = _absorbed(network, signal, readers, inputs)
            for k in inside:
                roots[k] = False
    return dict(reversed(found.items()))


def _absorbed(
    network: Network, root: int, readers: list[int], inputs: int
) -> tuple[tuple[int, ...], list[int]]:
    """Return the leaves of a root, and the nodes in one table with it, nearest first."""
    first = CONSTANTS + network.inputs
    leaves = list(network.nodes[root - first].operands)
    inside: list[int] = []
    place = 0
    while place < len(leaves):
        leaf = leaves[place]
        if leaf >= first and readers[leaf] == 1:
            more = [k for k in network.nodes[leaf - first].operands if k not in leaves]
            if len(leaves) - 1 + len(more) <= inputs:
                leaves[place : place + 1] = more
                inside.append(leaf)
                continue
        place += 1
    return tuple(leaves), inside


def cone_luts(network: Network, inputs: int) -> Network:
    """Return the cones of a network as look-up tables."""
    first = CONSTANTS + network.inputs
    places = list(range(first))
    found: list[Node] = []
    roots = cones(network, inputs)
    for signal in range(first, first + len(network.nodes)):
        places.append(-1)
        if signal not in roots:
            continue
        leaves = roots[signal]
        made = simplified(_table(network, signal, leaves), [places[k] for k in leaves])
        if isinstance(made, int):
            places[signal] = made
        else:
            places[signal] = first + len(found)
            found.append(made)
    return Network(network.inputs, tuple(found), tuple(places[k] for k in network.outputs), LUT6)


def _table(network: Network, root: int, leaves: tuple[int, ...]) -> int:
    """Return the table of a root over its leaves."""
    count = len(leaves)
    planes = Planes((1 << max(8, 1 << count)) - 1)
    known = {leaf: luts.letter(place, count) for place, leaf in enumerate(leaves)}

    def value(signal: int) -> int:
        if signal not in known:
            lut, operands = network.nodes[signal - CONSTANTS - network.inputs]
            known[signal] = planes.node(lut, tuple(value(k) for k in operands))
        return known[signal]

    return value(root)


class _Decomposition(CopyAlgebra):
    """The algebra that decomposes tables by multiplexers down to three operands."""

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        if len(operands) <= LUT3:
            return self.builder.node(lut, *operands)
        half = 1 << (len(operands) - 1)
        tables = lut >> half, lut & ((1 << half) - 1)
        one, zero = (self.node(table, operands[1:]) for table in tables)
        return self.builder.node(MUX, operands[0], one, zero)


def in_lut3(network: Network) -> Network:
    """Return the LUT3 network of a network of wider tables."""
    builder = Builder(network.inputs)
    literals = [builder.input(k) for k in range(network.inputs)]
    return builder.build(network.fold(_Decomposition(builder), literals))


# --------------------------------------------------------------------------------------------------
# The mapping: the best of the results of ABC and the cones.
# --------------------------------------------------------------------------------------------------

Goal = Literal["area", "depth"]
ABC, CONES = "ABC, proved equivalent", "cones of nodes, equivalent by construction"
WORTH_KEEPING = 200  # nodes; smaller networks are mapped in less than a second
SECONDS = 600.0  # a mapping takes 1 (2R) to 20 (PUMA 560); a result cut off depends on the machine
# Restructured for delay (`if -g`), a network has fewer levels and more tables.
_STARTS: dict[Goal, tuple[str, ...]] = {
    "area": ("strash; dch",),
    "depth": ("strash; dch", "strash; if -g -K 6; strash; dch -f"),
}
_SAT = "&get -mn; &satlut{depth} -N {window} -C 2000 -I 10000; &put"
_WINDOWS = (48, 100)  # nodes in a window of the SAT solver, run by run


@dataclass(frozen=True, slots=True)
class MappedTables:
    """A network's tables, the method that found them, and a note on failures."""

    luts: Network
    method: str
    note: str = ""


def mapped(
    network: Network,
    inputs: int,
    goal: Goal = "area",
    deadline: float = SECONDS,
    stages: int = 1,
    *,
    quick: bool = False,
) -> MappedTables:
    """Return look-up tables of at most `inputs` inputs that are proved equivalent to the network.

    The goal "area" minimises tables; "depth" first minimises the depth of the deepest of `stages`
    stages, for pipelines. `quick` omits large SAT-based windows, which take most of the time.
    """
    if not LUT3 <= inputs <= LUT6:
        raise UsageError(f"tables have {LUT3} to {LUT6} inputs, not {inputs}")
    tool = find()
    if tool is None or not network.nodes:
        note = MISSING.note if network.nodes else ""
        return MappedTables(cone_luts(network, inputs), CONES, note)
    text = formats.render(network)
    parts = (VERSION, installed_as(tool.path), text, f"{inputs} {goal} {stages}")
    path = entry_path("mappings", ".json", parts)
    worth = not quick and len(network.nodes) >= WORTH_KEEPING
    found = _kept(path, network) if worth else None
    if found is None:
        found = _mapped(tool, network, inputs, goal, deadline, stages=stages, quick=quick)
        if worth and not found.note:
            document = {"method": found.method, "nodes": found.luts.nodes,
                        "outputs": found.luts.outputs}  # fmt: skip
            write_entry(path, json.dumps(document).encode())
    return found


def _kept(path: Path, network: Network) -> MappedTables | None:
    """Return the stored mapping of a network, if it is readable and equal on random words."""
    content = read_entry(path)
    if content is None:
        return None
    try:
        document = parse_json(content.decode(), str(path))
        nodes = tuple(Node(lut, tuple(operands)) for lut, operands in document["nodes"])
        luts = Network(network.inputs, nodes, tuple(document["outputs"]), LUT6)
        if len(luts.outputs) == len(network.outputs) and _alike(network, in_lut3(luts)):
            return MappedTables(luts, str(document["method"]))
    except DAMAGE:
        pass
    return None


def _mapped(
    tool: AbcTool, network: Network, inputs: int, goal: Goal, deadline: float, *, stages: int,
    quick: bool,
) -> MappedTables:  # fmt: skip
    own, note = MappedTables(cone_luts(network, inputs), CONES), ""
    given = {"a.blif": formats.render(network)}
    candidates = [own]
    for start in _STARTS[goal]:
        commands, files = _script(start, inputs, goal, _WINDOWS[:1] if quick else _WINDOWS)
        outcome = run(tool, commands, given, files, deadline=deadline)
        note = outcome.note or note
        candidates += _read(outcome, network)
    candidates.sort(key=lambda one: _cost(one.luts, goal, stages))  # stable: the first of equals
    for best in candidates:
        if best is own:
            return MappedTables(best.luts, best.method, note)
        if _proved(tool, network, best.luts, deadline):
            return MappedTables(best.luts, best.method, note)
        note = "the result of ABC was rejected: its equivalence is not proved"
    return own


def _proved(tool: AbcTool, network: Network, luts: Network, deadline: float) -> bool:
    """Tell whether tables are equivalent to the network: by simulation of random words, then `cec`.

    `cec` reads the tables that were parsed, written anew, not ABC's own state. `sweep_miter` takes
    ten times as long; networks of few inputs are compared at all words instead.
    """
    alike = _alike(network, in_lut3(luts))
    if network.inputs <= MOST_EXHAUSTIVE or not alike:
        return alike
    outputs = [f"o{k}" for k in range(len(network.outputs))]
    inputs = [f"i{k}" for k in range(network.inputs)]
    files = {
        "a.blif": formats.render(network),
        "b.blif": formats.render_logic(luts, "network", inputs, outputs),
    }
    outcome = run(tool, ["cec a.blif b.blif"], files, (), deadline=deadline)
    return outcome.done and "Networks are equivalent" in outcome.printed


def _alike(network: Network, made: Network) -> bool:
    """Tell whether two networks are equal on random words, or on all words of few inputs."""
    if network.inputs <= MOST_EXHAUSTIVE:
        return equivalent(network, made).holds
    words = random_planes(network.inputs, RANDOM_WORDS, SEED)
    planes = Planes(~words[0] | words[0])
    pairs = zip(network.fold(planes, words), made.fold(planes, words), strict=True)
    return all((x == y).all() for x, y in pairs)


def _script(
    start: str, inputs: int, goal: Goal, windows: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Return commands, and the files that they write in order."""
    fewest = " -a" if goal == "area" else ""
    depth = "" if goal == "area" else " -d"
    commands = ["read_blif a.blif", *start.split("; "), f"if -K {inputs}{fewest}"]
    steps = [f"mfs2{fewest} -e"]
    for turn, window in enumerate(windows):
        steps += [f"mfs2{fewest} -e"] * bool(turn)
        steps.append(_SAT.format(depth=depth, window=window))
    files = [f"made{k}.blif" for k in range(len(steps))]
    for step, file in zip(steps, files, strict=True):
        commands += [step, f"write_blif {file}"]
    return commands, files


def _read(outcome: RunOutcome, network: Network) -> Iterator[MappedTables]:
    """Yield the readable results of ABC; the last file may be incomplete."""
    for file, text in reversed(list(outcome.files.items())):
        try:
            luts = parse_luts(text, file)
        except BoolcompError:
            continue
        if (luts.inputs, len(luts.outputs)) == (network.inputs, len(network.outputs)):
            yield MappedTables(luts, ABC)


def _cost(luts: Network, goal: Goal, stages: int) -> tuple[int, int]:
    size, depth = len(luts.nodes), luts.depth
    return (size, depth) if goal == "area" else (-(-depth // stages), size)
