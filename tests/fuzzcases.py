"""What a stranger may feed: cases by seed, each of which must end in a result or in a sentence.

A case is a function of its seed and a folder that it may fill. It returns whether the input was
accepted; where it was refused with a sentence it returns False. Anything else that it raises is a
finding. `benchmarks/fuzz.py` runs many of them, the tests a few.
"""

import io
import random
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import mjcf_texts
import numpy as np
import sdf_texts
import urdf_texts
from fuzzbatches import batch_case, way_case
from fuzzing import BrokenError, damaged, seeded, sentence
from fuzzlines import line_case
from fuzzprograms import files_of, forged_program, written
from fuzzwritten import written_case
from numpy.typing import NDArray
from samples import terms_of

import boolcomp as bc
from boolcomp import cli
from boolcomp.base import DataWarning
from boolcomp.paper import PlanOptions
from boolcomp.pipeline import run_passes
from boolcomp.problem import load_urdf, parse_robot
from boolcomp.twolevel import minimise, parse, render

Files = dict[str, bytes]
Case = Callable[[int, Path], bool]

VALUES = (
    "0", "-0.0", "1", "-1", "1e5", "1e10", "1e200", "1e308", "-1e308", "1e-308", "5e-324", "1e999",
    "nan", "inf", "-inf", "9" * 400, "9" * 5000, "0x" + "f" * 5000, "true", "1979-05-27",
    "07:32:00", '"pi/0.0"', '"pi/0"', '"pi"', '"-99999999999*pi/3"', '"1_0"', '"nan"', '""',
    '"' + "x" * 99999 + '"', '"\\u0000"', "'''\nx'''", "[]", "[[1]]", "[" * 90 + "]" * 90,
    "[" * 900 + "]" * 900, "{}", "{a = 1}", "[1, 2]", "[-1e308, 1e308]", "[0, 0]",
    "[1e-300, 2e-300]", "[1, 1.0000000000001]", "[0, 0, 1e308]", "[1, 1, 1, 1, 1, 1]",
    "[1e-200, 0, 0, 1e-200, 0, 0]", "[-1e12, 1e12]", '"prismatic"', '"revolute"',
)  # fmt: skip


@cache
def robot_texts() -> tuple[str, ...]:
    return tuple(str(bc.load_robot(name)) for name in bc.robot_names())


def damaged_robot(rng: random.Random) -> str:
    """Return the text of a robot that ships, with other values, lines, joints or bytes."""
    lines = rng.choice(robot_texts()).split("\n")
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        place = rng.randrange(len(lines))
        key, equals, _ = lines[place].partition(" = ")
        if equals and rng.random() < 0.9:
            lines[place] = f"{key} = {rng.choice(VALUES)}"
        else:
            lines[place] = rng.choice((*lines, "", "[[joint]]", f"a{'.a' * 500} = 1"))
    text = "\n".join(lines)
    if rng.random() < 0.02 and "[[joint]]" in text:
        text += "\n" + text[text.index("[[joint]]") :] * rng.choice((5, 40))
    if rng.random() < 0.4:
        text = damaged(rng, text.encode()).decode("utf-8", "replace")
    return text


def robot_case(seed: int, folder: Path) -> bool:
    """Read a damaged robot file; of small arms that are accepted, make torques and terms."""
    del folder
    rng = seeded(seed)
    text = damaged_robot(rng)
    try:
        robot = parse_robot(text, "r.toml")
    except bc.BoolcompError as error:
        sentence(error)
        return False
    if parse_robot(str(robot)) != robot:
        raise BrokenError("a robot does not survive its text")
    ends = [(x.position.high, x.velocity.high, x.acceleration.high) for x in robot.links]
    if not np.isfinite(bc.inverse_dynamics(robot, *zip(*ends, strict=True))).all():
        raise BrokenError("torques are not finite")
    try:
        if robot.joints <= 3:
            str(terms_of(robot))
        if robot.joints <= 2 and rng.random() < 0.05:
            run_passes(robot, PlanOptions(bits=4), until="plan")
    except bc.BoolcompError as error:
        sentence(error)
    return True


DESCRIBED = {
    urdf_texts.ARM: ("tool0", None),
    urdf_texts.TREE: ("left fore,right hand", "right fore"),
    mjcf_texts.ARM: ("tool0", "bracket,fore", "upper"),
    sdf_texts.ARM: (None, "two", "one"),
}


def description_case(seed: int, folder: Path) -> bool:
    """Read a damaged URDF, MJCF or SDF; an arm that is accepted is one, and survives its text."""
    rng = seeded(seed)
    text = rng.choice(list(DESCRIBED))
    path = folder / "arm.urdf"
    path.write_bytes(urdf_texts.damaged(rng, text).encode(errors="surrogatepass"))
    try:
        robot = load_urdf(path, tip=rng.choice(DESCRIBED[text])).robot
    except bc.BoolcompError as error:
        sentence(error)
        return False
    if parse_robot(str(robot)) != robot:
        raise BrokenError("an arm does not survive its text")
    ends = [(x.position.high, x.velocity.high, x.acceleration.high) for x in robot.links]
    if not np.isfinite(bc.inverse_dynamics(robot, *zip(*ends, strict=True))).all():
        raise BrokenError("torques are not finite")
    return True


def program_case(seed: int, folder: Path) -> bool:
    """Read a damaged or forged program; one that is accepted runs, and survives its files."""
    written(forged_program(seeded(seed)), folder)
    try:
        program = bc.load_program(folder)
    except bc.BoolcompError as error:
        sentence(error)
        return False
    str(program)
    turning = {word.name for word in program.inputs if word.code.wraps}
    for load in program.loads:
        for value in (0.0, 1.0, -1e308):
            state = {  # an angle that is farther off is refused
                name: np.full(3, max(value, -1e6) if name in turning else value)
                for group in program.groups
                for name in group.members
            }
            arrays = [np.stack([state[n] for n in g.members], axis=1) for g in program.groups]
            found = program.evaluate(*arrays, payload=load.payload, engine="numpy")
            if not np.isfinite(found.values).all():
                raise BrokenError("outputs are not finite")
    written(files_of(program), folder)
    if bc.load_program(folder) != program:
        raise BrokenError("a program does not survive its files")
    return True


@cache
def sample_files() -> Files:
    """Return good files of states of two joints, of every kind."""
    table = np.random.default_rng(0).uniform(-1, 1, (40, 6))
    files: Files = {}
    for name, array in (("a.npy", table), ("b.npy", np.asfortranarray(table.astype("<f4")))):
        stream = io.BytesIO()
        np.save(stream, array)
        files[name] = stream.getvalue()
    for name, save in (("a.npz", np.savez), ("b.npz", np.savez_compressed)):
        stream = io.BytesIO()
        save(stream, q=table[:, :2], qd=table[:, 2:4], qdd=table[:, 4:])
        files[name] = stream.getvalue()
    head = "q1,q2,qd1,qd2,qdd1,qdd2"
    rows = [",".join(f"{x:.9g}" for x in row) for row in table]
    files["a.csv"] = "\n".join([head, *rows, ""]).encode()
    timed = [f'{k / 100},"{row}"'.replace(",", '","', 6) for k, row in enumerate(rows)]
    files["b.csv"] = "\r\n".join([f"t,{head}", *timed]).encode()
    return files


HEADER_EDITS = (
    (b"(40, 6)", b"(9999999999999, 6)"), (b"(40, 6)", b"(40L, 6L)"), (b"(40, 6)", b"(40, -6)"),
    (b"<f8", b"<f2"), (b"<f8", b"|O"), (b"<f8", b"<c16"), (b"<f8", b">i8"), (b"<f4", b"<f8"),
    (b"False", b"True"), (b"descr", b"dscr"), (b"{", b"{" * 400), (b"(40, 2)", b"(2, 40)"),
    (b"q.npy", b"x.npy"), (b"qd.npy", b"q.npy\0"), (b"NUMPY\1", b"NUMPY\3"), (b"q2", b"q1"),
    (b"0.", b"1e308"), (b"0.", b"nan"), (b"0.", b"1e999"), (b",", b";"), (b"\n", b"\n\n"),
    (b"0.", b"9" * 5000), (b",", b',"'), (b"q1", b"q" * 99999), (b"\n", b"\0"), (b"\x93", b""),
)  # fmt: skip


def sample_case(seed: int, folder: Path) -> bool:
    """Evaluate a damaged file of states by Newton-Euler, through the command."""
    rng = seeded(seed)
    name = rng.choice(list(sample_files()))
    data = sample_files()[name]
    if rng.random() < 0.5:
        old, new = rng.choice(HEADER_EDITS)
        data = data.replace(old, new, rng.choice((1, 2, 999)))
    if rng.random() < 0.7:
        data = damaged(rng, data)
    path = folder / (name if rng.random() < 0.95 else rng.choice(list(sample_files())))
    path.write_bytes(data)
    said, printed = io.StringIO(), io.StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(printed):
            cli.main(["evaluate", "machado-2r", "-i", str(path), "-o", str(folder / "t.csv")])
    except SystemExit as end:
        if end.code == 0:
            rows = (folder / "t.csv").read_text().splitlines()[1:]
            cells = [row.split(",")[-2:] for row in rows]
            if not all(np.isfinite(float(cell)) for row in cells for cell in row):
                raise BrokenError("torques are not finite") from end
            return True
        sentence(RuntimeError(said.getvalue()))
        return False
    raise BrokenError("the command did not end")


PLA_TEXT = """\
# two bits and a carry
.i 3
.o 2
.ilb a b c
.ob carry sum
.type fr
001 01
01- 0~
1-1 1-
110 10
.e
"""
LETTERS = "01-~234? \t|.#\n\r\0abcdefiloprtyx\xff"


def pla_case(seed: int, folder: Path) -> bool:
    """Read a damaged PLA text; one that is accepted renders and reads back."""
    del folder
    rng = seeded(seed)
    data = damaged(rng, PLA_TEXT.encode()) if rng.random() < 0.3 else PLA_TEXT.encode()
    if rng.random() < 0.1:
        data = rng.randbytes(rng.randrange(200))
    for _ in range(rng.randrange(6)):
        place = rng.randrange(len(data) + 1)
        letter = rng.choice(LETTERS).encode("latin-1") * rng.choice((1, 1, 1, 40))
        data = data[:place] + letter + data[place + rng.randrange(2) :]
    try:
        found = parse(data)
    except bc.BoolcompError as error:
        sentence(error)
        return False
    text = render(found)
    if render(parse(text)) != text:
        raise BrokenError(f"does not read back: {data!r}")
    return True


def random_function(rng: np.random.Generator) -> str:
    """Return the text of a random PLA of up to 8 inputs and 4 outputs."""
    inputs, outputs = int(rng.integers(0, 9)), int(rng.integers(1, 5))
    rows = [
        "".join(rng.choice(list("01-"), inputs)) + " " + "".join(rng.choice(list("01-~"), outputs))
        for _ in range(int(rng.integers(0, 40)))
    ]
    return "\n".join([f".i {inputs}", f".o {outputs}", *rows, ".e", ""])


def points(
    rows: list[tuple[str, str]], inputs: int, outputs: int, letter: str
) -> NDArray[np.bool_]:
    """Return which (point, output) pairs the rows with this letter hold, by brute force."""
    held = np.zeros((1 << inputs, outputs), dtype=bool)
    for term, values in rows:
        for point in range(1 << inputs):
            word = f"{point:0{inputs}b}" if inputs else ""
            if all(t in ("-", w) for t, w in zip(term, word, strict=True)):
                held[point] |= [value == letter for value in values]
    return held


def check(text: str, method: str) -> None:
    """Minimise a function and compare with its definition."""
    source = parse(text)
    shape = (source.inputs, source.outputs)
    rows = [
        (line.split()[0] if source.inputs else "", line.split()[-1])
        for line in text.splitlines()
        if line and not line.startswith(".")
    ]
    on, free = points(rows, *shape, "1"), points(rows, *shape, "-")
    cover = minimise(source.function(), method, 10)
    held = points(cover.cubes.rows(), *shape, "1")
    if ((held != on) & ~free).any():
        raise BrokenError(f"{method} is wrong on\n{text}")


def function_case(seed: int, folder: Path) -> bool:
    """Minimise a random function of several outputs by three methods, checked by brute force."""
    del folder
    text = random_function(np.random.default_rng(seed))
    for method in ("own", "isop", "exact"):
        check(text, method)
    return True


CASES: dict[str, Case] = {
    "robots": robot_case, "descriptions": description_case, "pla": pla_case,
    "programs": program_case, "samples": sample_case, "lines": line_case,
    "functions": function_case, "written": written_case,
    "batches": batch_case, "ways": way_case,
}  # fmt: skip


def run_case(kind: str, seed: int, folder: Path) -> bool:
    """Run a case; a warning that is not ours counts as a traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        return CASES[kind](seed, folder)
