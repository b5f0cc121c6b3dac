"""Many small networks through one process of ABC, with a script or several each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError
from boolcomp.logic import formats
from boolcomp.logic.synthesis import abc
from boolcomp.twolevel.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.network import Network

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
    tool: abc.Tool | None, starts: Sequence[Network], deadline: float
) -> tuple[Found, str]:
    """Return, for every network, what each script makes of it, and a sentence on what failed.

    The results are read strictly but not verified.
    """
    found: Found = [[] for _ in starts]
    if tool is None:
        return found, abc.MISSING.note
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
    tool: abc.Tool, starts: Sequence[Network], batch: list[int], deadline: float, found: Found
) -> tuple[abc.Outcome, int]:
    """Run a batch; return the outcome and how many networks have all their results."""
    commands = []
    for k in batch:
        for name, script in SCRIPTS.items():
            commands += [f"read_blif {k}.blif", *script, f"write_blif {k}.{name}.blif"]
    files = {f"{k}.blif": formats.render(starts[k]) for k in batch}
    wanted = [f"{k}.{name}.blif" for k in batch for name in SCRIPTS]
    outcome = abc.run(tool, commands, files, wanted, deadline=deadline)
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
