"""Small certified programs, and how their files are forged: all checksums are right afterwards."""

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from checker.certified import certified

import boolcomp as bc
from boolcomp.checker import stated
from boolcomp.program import HEAD, render_program, sealed

CERTIFICATE = "certificate.txt"
ROOT = Path(__file__).resolve().parent.parent.parent


def _word(table: str, unit: str, low: float, more: str = "") -> str:
    return f'\n[{table}]\nrange = [{low}, {-low}]\nbits = 4\nunit = "{unit}"\n{more}'


PRODUCT = 'name = "product"\n' + "".join([
    _word("inputs.x", "m", -1), _word("inputs.u", "V", -1),
    _word("outputs.z", "W", -2, 'expression = "x*u + 0.5*u"\n'),
    _word("outputs.y", "A", -2.5, 'expression = "x - u"\n'),
])  # fmt: skip
JOINT = """
[[joint]]
type = "revolute"
a = {a}
alpha = 0
d = 0
theta = 0
mass = 1
center_of_mass = [0, 0, 0]
inertia = [0, 0, 0]
position_range = [{low}, {high}]
velocity_range = [-1, 1]
acceleration_range = [-1, 1]
torque_range = [-20, 20]
"""
STOPPED = (
    'name = "stopped"\ngravity = [0, -9.8, 0]\n'
    + JOINT.format(a=1, low=-1, high=1)
    + JOINT.format(a=0.5, low=0.5, high=0.5)
)
ARM = (ROOT / "robots" / "machado-2r.toml").read_text("utf-8")


@dataclass
class Forged:
    """A program's files while they are changed: `program.json` as a value, the others as texts."""

    head: dict[str, Any]
    files: dict[str, str]

    def rendered(self) -> dict[str, str]:
        return {HEAD: sealed(self.head, self.files), **self.files}

    def write(self, folder: Path) -> None:
        for name, text in self.rendered().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))


Change = Callable[[Forged], None]


def _arm() -> Mapping[str, str]:
    return render_program(certified())


def _loads() -> Mapping[str, str]:
    asked: Any = {"of": "gravity", "payloads": [0, 1, 2], "effort": 0, "proof": "plain"}
    return render_program(bc.compile("machado-2r", 4, certify=True, **asked))


def _written(name: str, text: str, **asked: Any) -> Mapping[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.toml"
        path.write_text(text, "utf-8")
        made = bc.compile(path, 4, certify=True, effort=0, proof="plain", **asked)
        return render_program(made)


def _conditional() -> Mapping[str, str]:
    """Return the arm with bounds that hold while its first sum does not overflow."""
    forged = Forged(json.loads(_arm()[HEAD]), dict(_arm()))
    del forged.files[HEAD]
    heap = re.search(r"^w(\d+)\[\d+\] = heap", forged.files["graphs/0.txt"], re.MULTILINE)
    assert heap is not None
    conditioned(f"w{heap[1]}")(forged)
    restated(forged)
    return forged.rendered()


# What is forged: how it is made, and the file that it is of, as its user has it.
PROGRAMS: dict[str, tuple[Callable[[], Mapping[str, str]], str]] = {
    "arm": (_arm, ARM),
    "loads": (_loads, ARM),
    "tabled": (
        lambda: render_program(bc.compile("machado-2r", 4, mode="paper", certify=True)), ARM
    ),
    "product": (lambda: _written("product", PRODUCT, words={"u": "twos:tread"}), PRODUCT),
    "stopped": (lambda: _written("stopped", STOPPED, of="gravity"), STOPPED),
    "conditional": (_conditional, ARM),
}  # fmt: skip


@cache
def _made(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    files = dict(PROGRAMS[name][0]())
    return json.loads(files.pop(HEAD)), files


def program(name: str) -> Forged:
    """Return the files of a program, which nobody has changed."""
    head, files = _made(name)
    return Forged(deepcopy(head), dict(files))


def _place(head: Any, path: str) -> tuple[Any, Any]:
    *way, last = path.split(".")
    for key in way:
        head = head[int(key) if isinstance(head, list) else key]
    return head, int(last) if isinstance(head, list) else last


def made(path: str, new: Callable[[Any], Any]) -> Change:
    """Return what makes another value of one."""

    def change(forged: Forged) -> None:
        where, key = _place(forged.head, path)
        where[key] = new(where[key])

    return change


def put(path: str, value: Any) -> Change:
    def change(forged: Forged) -> None:
        where, key = _place(forged.head, path)
        where[key] = deepcopy(value)

    return change


def scaled(path: str, factor: float) -> Change:
    """Return what multiplies a number, or both ends of a range."""
    return made(path, lambda x: [one * factor for one in x] if isinstance(x, list) else x * factor)


def moved(path: str, step: float) -> Change:
    return made(path, lambda ends: [end + step for end in ends])


def removed(path: str) -> Change:
    def change(forged: Forged) -> None:
        where, key = _place(forged.head, path)
        del where[key]

    return change


def swapped(one: str, other: str) -> Change:
    def change(forged: Forged) -> None:
        (a, k), (b, n) = _place(forged.head, one), _place(forged.head, other)
        a[k], b[n] = b[n], a[k]

    return change


def rewritten(new: Callable[[str], str], file: str = CERTIFICATE) -> Change:
    """Return what makes another text of a file."""

    def change(forged: Forged) -> None:
        forged.files[file] = new(forged.files[file])

    return change


def matched(pattern: str, new: str, file: str = CERTIFICATE, count: int = 1) -> Change:
    """Return what replaces what a pattern matches, which must be there; `count` = 0: everywhere."""

    def change(old: str) -> str:
        found, times = re.subn(pattern, new, old, count=count, flags=re.MULTILINE)
        assert times, f"{file} has no {pattern!r}"
        return found

    return rewritten(change, file)


def text(old: str, new: str, count: int = 1) -> Change:
    """Return what replaces a text of the certificate; `count` = -1: everywhere."""
    return matched(re.escape(old), new.replace("\\", r"\\"), count=max(count, 0))


def section(name: str, new: Callable[[str], str], load: int = 0) -> Change:
    """Return what makes another text of a section, its head included, of a load's."""

    def change(old: str) -> str:
        before, *loads = re.split(r"(?m)^(?=== load)", old)
        parts = re.split(r"(?m)^(?== \w)", loads[load])
        (place,) = [k for k, part in enumerate(parts) if part.startswith(f"= {name}\n")]
        parts[place] = new(parts[place])
        loads[load] = "".join(parts)
        return before + "".join(loads)

    return rewritten(change)


def conditioned(words: str) -> Change:
    """Return what says that bounds hold while words do not overflow, as a writer does."""

    def change(forged: Forged) -> None:
        section("bound", lambda old: f"{old}while {words}\n")(forged)
        for output in forged.head["loads"][0]["outputs"]:
            output["bound"] = None

    return change


def restated(forged: Forged) -> None:
    """Make the claim of a certificate that of the forged `program.json`, as far as one can be."""
    certificate = forged.files.get(CERTIFICATE, "")
    found = re.search(r"(?ms)^= claim\n(.*?)(?=^== load)", certificate)
    if found is None:
        return
    unproved = [
        [int(word[1:]) for line in re.findall(r"(?m)^while (.*)$", load) for word in line.split()]
        for load in re.split(r"(?m)^== load", certificate)[1:]
    ]
    unproved += [[]] * (len(forged.head["loads"]) - len(unproved))
    exact = re.findall(r"(?m)^input (\w+) .* exact$", certificate.partition("== load 1")[0])
    try:
        lines = "".join(f"{one}\n" for one in stated(forged.head, unproved, exact))
    except (AttributeError, KeyError, TypeError, ValueError):
        return  # nothing can be stated of such a document
    forged.files[CERTIFICATE] = certificate[: found.start(1)] + lines + certificate[found.end(1) :]
