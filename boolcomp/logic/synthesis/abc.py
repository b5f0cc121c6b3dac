"""A network as look-up tables of four to six inputs: by ABC, else by cones of our own.

ABC's mapper, its resubstitution and its SAT-based windows (`satlut`) find about a fifth fewer
tables than its mapper alone. Whatever it writes is read back and proved equivalent to the
network; what is not proved is not taken.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.base.errors import BoolcompError, DataError, UsageError
from boolcomp.base.files import temporary_folder
from boolcomp.base.processes import Limits, run_program
from boolcomp.logic import formats, lutnetwork
from boolcomp.logic.equivalence import MOST_EXHAUSTIVE, RANDOM_WORDS, SEED, equivalent
from boolcomp.logic.lutnetwork import MOST_INPUTS, LutNetwork, parse_luts, simplified
from boolcomp.logic.network import CONSTANTS
from boolcomp.logic.simulation import Planes, random_planes
from boolcomp.twolevel.cubes import Clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from boolcomp.logic.network import Network, Node


# --------------------------------------------------------------------------------------------------
# ABC as a supervised process: found, limited in time and memory, and never the cause of a crash.
#
# Whatever goes wrong is an `Outcome` with a sentence: ABC missing, out of time, out of memory,
# dead, or refusing a command. It runs in a process group and a temporary folder of its own; both
# are gone when `run` returns, also when it is interrupted. All aliases are ours: Debian ships none.
# --------------------------------------------------------------------------------------------------


Status = Literal["done", "missing", "timeout", "memory", "crashed", "refused"]
NAMES = ("yosys-abc", "berkeley-abc", "abc")
MEMORY = 2 << 30
LONGEST = 10**6  # seconds
_OUT_OF_TIME = 24  # SIGXCPU; not every system has the name
MOST_OUTPUT = 1 << 20  # characters kept of what ABC prints

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
class Tool:
    """An ABC program and where it was found."""

    path: Path
    source: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left: its status, a sentence where it is not "done", what was printed, files.

    Files that ABC had written before it failed are there too; the last may be cut off.
    """

    status: Status
    note: str = ""
    printed: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        """Whether ABC ran every command."""
        return self.status == "done"


MISSING = Outcome(
    "missing", "ABC was not found: pip install 'boolcomp[abc]', or put yosys-abc on PATH"
)


def find() -> Tool | None:
    """Return the ABC of the pyosys wheel, else the first on PATH, else None."""
    spec = find_spec("pyosys")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).with_name("yosys-abc")
        if os.access(bundled, os.X_OK):
            return Tool(bundled, "the pyosys wheel")
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return Tool(Path(found), "PATH")
    return None


def script_of(commands: Iterable[str]) -> str:
    """Return a script that defines our aliases and runs commands, one a line."""
    lines = [f'alias {name} "{meaning}"' for name, meaning in ALIASES.items()]
    return "\n".join([*lines, *commands]) + "\n"


def run(
    tool: Tool | None,
    commands: Iterable[str],
    files: Mapping[str, str],
    wanted: Iterable[str],
    *,
    deadline: float = 60.0,
    memory: int = MEMORY,
) -> Outcome:
    """Run commands on files in a temporary folder; return the wanted files that were written.

    `deadline` is in seconds, `memory` in bytes of address space. Never raises for what ABC does.
    """
    if tool is None:
        return MISSING
    if deadline <= 0:
        return Outcome("timeout", "no time was left for ABC")
    start = time.monotonic()
    with temporary_folder() as folder:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="ascii")
        (folder / "script.abc").write_text(script_of(commands), encoding="ascii")
        status, note, printed = _supervise(tool, folder, min(deadline, LONGEST), memory)
        found = {
            file: (folder / file).read_text(encoding="ascii", errors="replace")
            for file in wanted
            if (folder / file).is_file()
        }
    return Outcome(status, note, printed, found, time.monotonic() - start)


def _supervise(tool: Tool, folder: Path, deadline: float, memory: int) -> tuple[Status, str, str]:
    """Run the script of a folder; no process of the group is left when this returns."""
    command = [str(tool.path), "-s", "-q", "source -x script.abc"]
    limits = Limits(memory, math.ceil(deadline) + 2)
    ended = run_program(command, deadline, folder=folder, limits=limits)
    if ended.code is None:
        return "timeout", f"ABC was stopped after {deadline:.3g} s", ""
    printed = ended.printed[-MOST_OUTPUT:].decode("utf-8", "replace")
    return (*_judged(ended.code, printed, memory), printed)


def _judged(code: int, printed: str, memory: int) -> tuple[Status, str]:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    last = lines[-1][:200] if lines else "it said nothing"
    if code in (-_OUT_OF_TIME, 128 + _OUT_OF_TIME):
        return "timeout", "ABC used up its processor time"
    if code and any("memory" in line.lower() or "bad_alloc" in line for line in lines[-3:]):
        return "memory", f"ABC needed more than {memory >> 20} MiB: {last}"
    if code < 0:
        return "crashed", f"ABC died by signal {-code}: {last}"
    if code:
        return "crashed", f"ABC ended with exit code {code}: {last}"
    refusal = next((line for line in lines if line.startswith("** cmd error")), None)
    if refusal is not None:
        return "refused", f"ABC refused a command: {refusal[:200]}"
    return "done", ""


# --------------------------------------------------------------------------------------------------
# Many small networks through one process of ABC, with a script or several each.
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
    tool: Tool | None, starts: Sequence[Network], deadline: float
) -> tuple[Found, str]:
    """Return, for every network, what each script makes of it, and a sentence on what failed.

    The results are read strictly but not verified.
    """
    found: Found = [[] for _ in starts]
    if tool is None:
        return found, MISSING.note
    clock = Clock(deadline)
    # ABC has no use for networks without inputs or without nodes.
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
        # The first without results is the one that failed.
        waiting = batch[done + 1 :] + waiting
    return found, "; ".join(notes)


def _batch(
    tool: Tool, starts: Sequence[Network], batch: list[int], deadline: float, found: Found
) -> tuple[Outcome, int]:
    """Run a batch; return the outcome and how many networks have all their results."""
    commands = []
    for k in batch:
        for name, script in SCRIPTS.items():
            commands += [f"read_blif {k}.blif", *script, f"write_blif {k}.{name}.blif"]
    files = {f"{k}.blif": formats.render(starts[k]) for k in batch}
    wanted = [f"{k}.{name}.blif" for k in batch for name in SCRIPTS]
    outcome = run(tool, commands, files, wanted, deadline=deadline)
    done = 0
    for k in batch:
        got = [(name, outcome.files.get(f"{k}.{name}.blif")) for name in SCRIPTS]
        found[k] += [(f"ABC {name}", net) for name, text in got if (net := read(text, starts[k]))]
        if any(text is None for _, text in got):
            break
        done += 1
    return outcome, done


def read(text: str | None, like: Network) -> Network | None:
    """Return what ABC wrote if it is a network of three-input nodes with the shape of another."""
    if text is None:
        return None
    try:
        network = formats.clean(formats.parse_blif(text))
    except DataError:
        return None
    same = (network.inputs, len(network.outputs)) == (like.inputs, len(like.outputs))
    return network if same and _names_kept(text, like) else None


def _names_kept(text: str, like: Network) -> bool:
    """Tell whether the inputs still stand in their order."""
    line = re.sub(r"\\\n", " ", text)
    head = re.search(r"^\.inputs(.*)$", line, re.MULTILINE)
    names = head[1].split() if head else []
    return names == [f"i{k}" for k in range(like.inputs)]


# --------------------------------------------------------------------------------------------------
# A network cut into cones of few inputs: nodes absorb those that only they read.
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
    """Return the leaves of a root, and the nodes that fit into one table with it, nearest first."""
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


def cone_luts(network: Network, inputs: int) -> LutNetwork:
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
    return LutNetwork(network.inputs, tuple(found), tuple(places[k] for k in network.outputs))


def _table(network: Network, root: int, leaves: tuple[int, ...]) -> int:
    """Return the table of a root over its leaves."""
    count = len(leaves)
    planes = Planes((1 << lutnetwork.width(count)) - 1)
    known = {leaf: lutnetwork.row(count, place) for place, leaf in enumerate(leaves)}

    def value(signal: int) -> int:
        if signal not in known:
            lut, operands = network.nodes[signal - CONSTANTS - network.inputs]
            known[signal] = planes.node(lut, tuple(value(k) for k in operands))
        return known[signal]

    return value(root)


# --------------------------------------------------------------------------------------------------
# A network as look-up tables of four to six inputs: by ABC, else by cones of our own.
# --------------------------------------------------------------------------------------------------


Goal = Literal["area", "depth"]
ABC, CONES = "ABC, proved equivalent", "cones of nodes, equivalent by construction"
GOALS: tuple[Goal, ...] = get_args(Goal)
LEAST_INPUTS = 3
SECONDS = 600.0  # a mapping takes 1 (2R) to 20 (PUMA 560); what is cut off depends on the machine
# Restructured for delay (`if -g`) a network has fewer levels and more tables: stages may want it.
_STARTS: dict[Goal, tuple[str, ...]] = {
    "area": ("strash; dch",),
    "depth": ("strash; dch", "strash; if -g -K 6; strash; dch -f"),
}
_SAT = "&get -mn; &satlut{depth} -N {window} -C 2000 -I 10000; &put"
_WINDOWS = (48, 100)  # nodes in a window of the SAT solver, run by run


@dataclass(frozen=True, slots=True)
class MappedTables:
    """A network's tables, by what they were found, and what went wrong on the way."""

    luts: LutNetwork
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
    """Return look-up tables of at most so many inputs that are proved to be the network.

    The goal "area" is few tables; "depth" few tables among those whose deepest of so many stages
    is least deep, which is what a pipeline wants. `quick` leaves out large SAT-based windows, which
    take most of the time.
    """
    if not LEAST_INPUTS <= inputs <= MOST_INPUTS:
        raise UsageError(f"tables have {LEAST_INPUTS} to {MOST_INPUTS} inputs, not {inputs}")
    own = MappedTables(cone_luts(network, inputs), CONES)
    if not network.nodes:
        return own
    best, note = own, ""
    tool = find()
    if tool is None:
        return MappedTables(own.luts, own.method, MISSING.note)
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
        note = "what ABC made was not taken: it is not proved to be the network"
    return own


def _proved(tool: Tool, network: Network, luts: LutNetwork, deadline: float) -> bool:
    """Tell whether tables are the network: random words by our own simulation, then ABC's `cec`.

    What is proved is what we read, written anew, not what ABC had in memory. Our own sweeping
    takes ten times as long here; networks of few inputs are compared at all words instead.
    """
    made = luts.network()
    if network.inputs <= MOST_EXHAUSTIVE:
        return equivalent(network, made).holds
    words = random_planes(network.inputs, RANDOM_WORDS, SEED)
    planes = Planes(~words[0] | words[0])
    pairs = zip(network.fold(planes, words), made.fold(planes, words), strict=True)
    if any((x != y).any() for x, y in pairs):
        return False
    outputs = [f"o{k}" for k in range(len(network.outputs))]
    inputs = [f"i{k}" for k in range(network.inputs)]
    files = {
        "a.blif": formats.render(network),
        "b.blif": formats.render_logic(luts, "network", inputs, outputs),
    }
    outcome = run(tool, ["cec a.blif b.blif"], files, (), deadline=deadline)
    return outcome.done and "Networks are equivalent" in outcome.printed


def _script(
    start: str, inputs: int, goal: Goal, windows: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Return commands, and the files that they leave one after the other."""
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


def _read(outcome: Outcome, network: Network) -> Iterator[MappedTables]:
    """Yield what ABC wrote as far as it can be read; the last file may be cut off."""
    for file, text in reversed(list(outcome.files.items())):
        try:
            luts = parse_luts(text, file)
        except BoolcompError:
            continue
        if (luts.inputs, len(luts.outputs)) == (network.inputs, len(network.outputs)):
            yield MappedTables(luts, ABC)


def _cost(luts: LutNetwork, goal: Goal, stages: int) -> tuple[int, int]:
    size, depth = len(luts.nodes), luts.depth
    return (size, depth) if goal == "area" else (-(-depth // stages), size)
