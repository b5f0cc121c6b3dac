"""What tests of `show` share: pages of small programs, and what runs inside them, under Node."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import kept
from numpy.typing import NDArray

from boolcomp.measure import ShownProgram, program_page
from boolcomp.problem import Group, Problem, function_of, load_source, problem_of, robot_of
from boolcomp.program import Program
from boolcomp.words import InputWord

Words = NDArray[np.int64]

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="not installed: node")
SCRIPT = re.compile(r"<script>\n?(.*?)</script>", re.DOTALL)
MODEL = re.compile(r'<script type="application/json" id="model">(.*?)</script>', re.DOTALL)


def subject_of(program: Program, source: str | None = None) -> ShownProgram:
    """Return what is shown of a program of a robot or function."""
    if source is None:
        return ShownProgram(program, program.loads[0])
    loaded = load_source(source)
    if isinstance(loaded, Problem):
        return ShownProgram(program, program.loads[0], loaded)
    of = function_of(program.name, loaded.name)
    robot = robot_of(loaded)
    return ShownProgram(program, program.loads[0], problem_of(robot, of), robot, of)


@cache
def page_of(name: str, source: str | None = None) -> str:
    """Return the page of a program that is kept among the tests."""
    return program_page(subject_of(kept(name), source))


def model_of(page: str) -> dict[str, Any]:
    """Return the values that a page's script reads."""
    found = MODEL.search(page)
    assert found is not None
    model: dict[str, Any] = json.loads(found[1])
    return model


def logic_of(page: str) -> str:
    """Return the script of a page that calculates: the one that Node can run."""
    (found,) = (text for text in SCRIPT.findall(page) if "const Boolcomp = {}" in text)
    return str(found)


def in_node(page: str, script: str, folder: Path, given: Any = None) -> Any:
    """Return what a script gives that runs behind a page's own; it knows `model`, `machine`."""
    (folder / "model.json").write_text(json.dumps(model_of(page)))
    (folder / "given.json").write_text(json.dumps(given))
    (folder / "page.js").write_text(
        f"{logic_of(page)}\n"
        'const { readFileSync } = require("node:fs");\n'
        'const read = (name) => JSON.parse(readFileSync(name, "utf8"));\n'
        'const model = read("model.json"), given = read("given.json");\n'
        "const { words: byModule, exact: exactly, points: places } = Boolcomp.functions;\n"
        "const machine = Boolcomp.machine(model, byModule, exactly);\n"
        f"console.log(JSON.stringify((() => {{ {script} }})()));\n"
    )
    found = subprocess.run(
        ["node", "page.js"],  # noqa: S607 (as users start it)
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


EVIL = "\"'></script></SCRIPT><!-- <script>\u2028<img src=x onerror=alert(1)>"
MAJORITY = """\
.i 3
.o 2
.ilb a b c
.ob most odd
.type fd
11- 10
1-1 10
-11 10
000 -0
100 01
010 01
001 01
111 01
.e
"""


def poisoned(name: str) -> Program:
    """Return a program all of whose texts would run, or end something, if they were not escaped."""
    program = kept(name)
    first = program.inputs[0].name
    called = f"x{EVIL}"

    def renamed(one: str) -> str:
        return called if one == first else one

    groups = tuple(
        Group(renamed(group.name), tuple(map(renamed, group.members))) for group in program.groups
    )
    outputs = tuple(
        replace(
            one, name=f"{one.name}{EVIL}", symbol=f"{one.symbol}{EVIL}", unit=EVIL,
            terms=tuple(replace(use, text=EVIL, name=EVIL) for use in one.terms),
            rest=None,
        )
        for one in program.loads[0].outputs
    )  # fmt: skip
    meanings = tuple(EVIL for _ in program.loads[0].meanings)
    graph = program.loads[0].graph
    if graph is not None:
        words = (
            replace(one, name=renamed(one.name)) if isinstance(one, InputWord) else one
            for one in graph.nodes
        )
        graph = replace(graph, nodes=tuple(words))
    load = replace(program.loads[0], outputs=outputs, meanings=meanings, graph=graph)
    return replace(
        program, name=f"arm{EVIL}", groups=groups, loads=(load,), plural=EVIL, places=EVIL,
        inputs=tuple(replace(x, name=renamed(x.name), unit=EVIL) for x in program.inputs),
        returned=Group(EVIL, tuple(one.name for one in outputs)), stops=(),
        demand=EVIL if program.demand else "",
    )  # fmt: skip


# Words that Python and a browser draw alike, with nothing to send: a hash of their number.
DRAWN = """
const drawn = (count, bits) => Array.from({ length: count }, (_, n) => bits.map((wide, k) => {
  let x = Math.imul(n * bits.length + k + 1, 2654435761);
  x = Math.imul(x ^ (x >>> 16), 2246822519);
  return ((x ^ (x >>> 13)) >>> 0) % 2 ** wide;
}));
const all = (run, states) => {
  const found = [];
  for (let k = 0; k < states.length; k += 32) found.push(...run(states.slice(k, k + 32)));
  return found;
};
const text = (rows) => {
  const bytes = new Uint8Array(Int32Array.from(rows.flat()).buffer);
  let letters = "";
  for (let k = 0; k < bytes.length; k += 8192)
    letters += String.fromCharCode(...bytes.subarray(k, k + 8192));
  return btoa(letters);
};
const bitsOf = (model) => model.read.map((place) => model.inputs[place].code.bits);
"""


def drawn(count: int, bits: list[int]) -> Words:
    """Return the words that `DRAWN` draws, (count, inputs)."""
    x = (np.arange(count * len(bits), dtype=np.uint32) + np.uint32(1)) * np.uint32(2654435761)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(2246822519)
    x = x ^ (x >> np.uint32(13))
    wide = np.array([1 << one for one in bits], np.int64)
    return np.asarray(x.reshape(count, -1).astype(np.int64) % wide)


READY = "return typeof Boolcomp !== 'undefined' && Boolcomp.ready"


def in_page(run: str, count: int) -> str:
    """Return a script that gives what a page makes of drawn words, by gates or by words."""
    return (
        f"{DRAWN} const model = JSON.parse(document.getElementById('model').textContent);"
        f"return text(all(Boolcomp.run.{run}, drawn({count}, bitsOf(model))));"
    )
