"""What a stranger may feed: cases by seed, each of which must end in a result or in a sentence.

A case is a function of its seed and a folder that it may fill. It returns whether the input was
accepted; where it was refused with a sentence it returns False. Anything else that it raises is a
finding. `benchmarks/fuzz.py` runs many of them, the tests a few.
"""

import contextlib
import importlib
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import click
import mjcf_texts
import numpy as np
import sdf_texts
import urdf_texts
from batchfiles import program, read, states, torques, write
from fuzzing import LONGEST_SENTENCE, BrokenError, damaged, seeded, sentence
from fuzzprograms import files_of, forged_program, written
from numpy.typing import NDArray
from samples import terms_of
from small_programs import stages

import boolcomp as bc
from boolcomp import cli
from boolcomp.base import DataWarning
from boolcomp.commands import COMMANDS
from boolcomp.measure import trajectory_of
from boolcomp.paper import PlanOptions
from boolcomp.pipeline import run_passes
from boolcomp.problem import load_urdf, parse_function, parse_robot
from boolcomp.terms import split
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


FORMS = ("s.npy", "s.parquet", "s.zarr", "npys")
TARGETS = ("t.npy", "t.parquet", "t.zarr", "t")
ROWS = 300
WAYS = ("point:time=", "sine:frequency=", "sine:amplitude=", "hold:at=", "circle:period=",
        "circle:radius=", "point:to=")  # fmt: skip
NUMBERS = ("0", "1", "-1", ".5", "1e-300", "5e-324", "1e300", "1e308", "nan", "inf", "pi", "",
           "1,2", "9" * 500, "x" * 5000)  # fmt: skip


class EndedError(Exception):
    """Stands for whatever ends a run."""


def _end(done: int) -> None:
    if done:
        raise EndedError


def batch_case(seed: int, folder: Path) -> bool:
    """Damage a file of states, or of a run that was ended: a sentence, or results that are right.

    Values may be damaged, too: those of .npy files are compared with the file's own.
    """
    rng = seeded(seed)
    place = folder / f"batch{seed}"
    place.mkdir()
    try:
        return _batch(rng.choice(FORMS), rng.choice(TARGETS), seed, place)
    finally:
        shutil.rmtree(place)


def _batch(form: str, target: str, seed: int, place: Path) -> bool:
    rng = seeded(seed + 1)
    source, result = write(place / form, states(ROWS, seed)), place / target
    of_run = rng.random() < 0.4
    if of_run:
        try:
            bc.evaluate_files(program(), source, result, chunk=50, engine="numpy", advance=_end)
        except EndedError:
            victim = place / f"{target}.unfinished" / "journal"
        else:
            raise BrokenError("nothing was done in chunks")
    else:
        files = [source] if source.is_file() else [x for x in source.rglob("*") if x.is_file()]
        victim = rng.choice(sorted(files))
    victim.write_bytes(damaged(rng, victim.read_bytes()))
    try:
        found = bc.evaluate_files(program(), source, result, chunk=50, engine="numpy")
    except bc.BoolcompError as error:
        sentence(error)
        if result.exists():
            raise BrokenError("something was written under the result's name") from error
        return False
    if of_run or form == "s.npy":
        table = states(ROWS, seed) if of_run else np.load(source)
        if found.samples != len(table) or not np.array_equal(read(result), torques(table)):
            raise BrokenError("the results are not those of the states")
    return True


def way_case(seed: int, folder: Path) -> bool:
    """Read a trajectory: what is accepted is finite."""
    rng = seeded(seed)
    text = rng.choice(WAYS) + rng.choice(NUMBERS)
    if rng.random() < 0.5:
        path = folder / "way.csv"
        rows = [
            f"{k / 4 if rng.random() < 0.9 else rng.choice(NUMBERS)},{k},{-k}" for k in range(5)
        ]
        data = "\n".join(["t,q1,q2", *rows, ""]).encode()
        path.write_bytes(damaged(rng, data) if rng.random() < 0.5 else data)
        text = str(path)
    try:
        found = trajectory_of(bc.load_robot("machado-2r"), text, 1.0, 100.0)
    except bc.BoolcompError as error:
        sentence(error)
        return False
    if not all(np.isfinite(one).all() for one in (found.q, found.qd, found.qdd)):
        raise BrokenError("a trajectory that is not finite")
    return True


PATIENCE = 60.0  # seconds until Ctrl-C is sent: an honest value may ask for long work
COURTESY = 20.0  # seconds that a process may then take to end
CODES = (0, 1, 2, 130)
BASES = {
    "robots": ("machado-2r",),
    "terms": ("machado-2r",),
    "plan": ("machado-2r", "--bits", "4"),
    "tables": ("machado-2r", "--bits", "4", "-o", "tables"),
    "compile": ("machado-2r", "--mode", "paper", "--bits", "4", "--minimizer", "isop",
                "-o", "made"),
    "paper": ("plan", "machado-2r", "--bits", "4"),
    "evaluate": ("program", "-i", "states.csv", "-o", "torques.csv"),
    "report": ("machado-2r", "--mode", "paper", "--bits", "4", "--extra", "0", "--samples", "1000",
               "--no-logic", "-o", "report"),
    "export": ("program", "--to", "verilog", "-o", "exported"),
    "verify": ("program",),
    "cycles": ("program", "--on", "host", "--states", "5", "--words-only"),
    "area": ("program", "--on", "lut4"),
    "build": ("program", "--board", "icebreaker", "-o", "made.bin"),
    "import": ("good.blif", "-o", "imported.aig"),
    "bench": ("program", "--seconds", ".01", "--batches", "1"),
    "show": ("program", "-o", "page.html"),
    "minimize": ("good.pla",),
    "schedule": ("machado-2r",),
    "sweep": ("good.toml", "-o", "swept", "--dry-run"),
    "simulate": ("machado-2r", "--mode", "paper", "--bits", "4", "--time", ".1", "-o", "sim.csv"),
    "doctor": (),
    "completion": ("bash",),
}  # fmt: skip
OPTION_VALUES = (
    "99999999999999999999", "-99999999999999999999", "-1", "0", "1", "2", "2.5", "nan", "inf",
    "-inf", "1e999", "1e308", "1e-308", "", " ", ",", "1,,2", "1,nan", ".5,.5", "a,b", "x" *
    100_000, b"\xff", "/dev/zero", "pipe", "folder", "missing/none", "missing.toml",
    "states.csv", "good.pla", "empty", "9" * 5000, "-", "0x10", "1_0", "4-9999", "9-4", "9999",
    "q=9", "q9=4", "q1=99999999999", "\u0663", "machado-2r", "program", "compact", "paper",
    "isop", "exact", "gray", "numpy", "terms", "t800", "boolean", "cp-misf", "zeng", "nodes",
    "huge.toml", "good.toml", "junk.toml", "zero.toml", "junk.npy", "nan.csv",
)  # fmt: skip


def prepared(folder: Path) -> None:
    """Put into a folder what command lines name."""
    if (folder / "states.csv").exists():
        return
    stages(4)[2].save(folder / "program")
    head = "q1,q2,qd1,qd2,qdd1,qdd2\n"
    (folder / "states.csv").write_text(f"{head}0,0,0,0,0,0\n1,1,1,1,1,1\n")
    (folder / "nan.csv").write_text(f"{head}0,0,0,0,0,1e308\n0,0,0,0,0,nan\n")
    (folder / "good.pla").write_text(".i 2\n.o 1\n11 1\n.e\n")
    (folder / "good.blif").write_text(".inputs a\n.outputs y\n.names a y\n0 1\n.end\n")
    (folder / "good.toml").write_text('robots = ["machado-2r"]\nbits = [4, 5]\neffort = 0\n')
    (folder / "huge.toml").write_bytes(b"#" * (1 << 20))
    (folder / "junk.toml").write_text("a = [1, 2")
    (folder / "empty").touch()
    np.save(folder / "junk.npy", np.zeros((3, 5)))
    (folder / "zero.toml").symlink_to("/dev/zero")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")


@cache
def parameters(name: str) -> tuple[click.Parameter, ...]:
    """Return a command's options and arguments."""
    command = importlib.import_module(f"boolcomp.commands.{name}").command
    if isinstance(command, click.Group):  # BASES has the spelling of all options side by side
        command = command.get_command(click.Context(command), {"paper": "plan"}.get(name, "older"))
    return tuple(command.params)


def command_line(rng: random.Random) -> list[str | bytes]:
    """Return the arguments of a command, some of them what they cannot be."""
    name = rng.choice(list(COMMANDS))
    line: list[str | bytes] = [name, *BASES[name]]
    for _ in range(rng.choice((1, 1, 2, 3))):
        parameter = rng.choice(parameters(name))
        value = rng.choice(OPTION_VALUES)
        if isinstance(parameter, click.Option):
            flag = rng.choice((*parameter.opts, *parameter.secondary_opts))
            line += [flag] if parameter.is_flag else [flag, value]
        elif rng.random() < 0.8:
            line[1] = value
        else:
            line.append(value)
    if rng.random() < 0.05:
        line[rng.randrange(len(line))] = rng.choice(OPTION_VALUES)
    return line


def line_case(seed: int, folder: Path) -> bool:
    """Run a command line; it must end with a known exit code, and with a sentence if not 0."""
    with contextlib.redirect_stdout(io.StringIO()):
        prepared(folder)
    line = command_line(seeded(seed))
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-m", "boolcomp", *line], cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=COURTESY)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise TimeoutError(f"hangs: {shortened(line)}") from None
    finally:
        process.kill()
    text = said.decode("utf-8", "replace")
    wrong = process.returncode not in CODES or "Traceback" in text or "Warning: " in text
    if wrong or (process.returncode and not 0 < len(text) < 2 * LONGEST_SENTENCE):
        raise BrokenError(f"exit code {process.returncode}: {shortened(line)}: {text[-3000:]}")
    return process.returncode == 0


def shortened(line: list[str | bytes]) -> str:
    """Return a command line for people."""
    return " ".join(repr(word[:40]) for word in line)


EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "functions"
EXPRESSIONS = (
    '"e"', '"x"', '"pi"', '"1/x"', '"x/0"', '"x**99"', '"x**-3"', '"x**x"', '"sqrt(x)"', '"log(e)"',
    '"theta"', '"2*theta"', '"sin(theta/2)"', '"sin(3*theta - 1)"', '"tan(theta)"', '"wrap(theta)"',
    '"x if x else y"', '"x < y"', '"lambda: x"', '"__import__(\'os\')"', '"x.real"', '"x[0]"',
    '"(x, y)"', '"f(x)"', '"sin"', '"sin()"', '"sin(x, y)"', '"sin(x=1)"', '"clip(x, 1, 0)"',
    '"clip(*x)"', '"exp(exp(exp(x)))"', '"1e999"', '"10**10**10"', '"9**9**9"', '"0/0"', '"1j"',
    '"True"', "\"'x'\"", '"x @ y"', '"x // y"', '"x % y"', '"~x"', '"not x"', '"x := 1"', '"x; y"',
    '"' + "(" * 300 + "x" + ")" * 300 + '"', '"' + "-" * 300 + "x" + '"', '"' + "x+" * 900 + 'x"',
    '"' + "abs(" * 60 + "x" + ")" * 60 + '"', '"' + "9" * 4000 + '"', '"' + "x" * 2500 + '"', '"é"',
    '"x # y"', '"x \\\\ y"', '"x\\ny"', '"\\u0000"', '"{x}"', '"x\' + \'y"', '"0x10 * x"',
    '"1_0 * x"',
    '""', '" "', '"*x"', '"await x"', '"f\'{x}\'"', '"where_positive(x, y, 0) * 1e11 * 1e11"',
)  # fmt: skip
LITERALS = (
    *EXPRESSIONS, "0", "1", "-1", "8", "99", "2.5", "1e13", "nan", "inf", "true", "[]", "{}",
    "[0, 1]",
    "[1, 0]", "[0, 0]", "[0, 1e-13]", "[-1e308, 1e308]", "[0, nan]", '["-pi", "pi"]', '["pi/0", 1]',
    "[0, 1, 2]", "[true, 2]", "[[0], 1]", "9" * 400, "[0, " + "9" * 400 + "]", "1979-05-27",
    '"rad"',
    "[0.5, 2]", "[-4, 4]",
)  # fmt: skip
LINES = (
    "[inputs.x]", "[inputs.y]", "[inputs.theta]", "[outputs.u]", "[let]", "[inputs]", "[joint]",
    "[[inputs]]", "range = [-1, 1]", "angle = true", "bits = 8", 'expression = "x"', 'x = "1"',
    'sin = "1"', 'pi = "3"', 'a = "b"', 'b = "a"', 'e = "2"', "unit = 3", "inputs = 3", 'u = "x"',
    f"a{'.a' * 500} = 1", "", "x y z", "[outputs.t]", "[inputs.payload]", "[inputs.'a b']",
)  # fmt: skip


@cache
def texts() -> tuple[str, ...]:
    """Return the function files that ship as examples."""
    return tuple(path.read_text() for path in sorted(EXAMPLES.glob("*.toml")))


def damaged_function(rng: random.Random) -> str:
    """Return the text of an example with other values, lines, names or bytes."""
    lines = rng.choice(texts()).split("\n")
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        place = rng.randrange(len(lines))
        key, equals, _ = lines[place].partition(" = ")
        if equals and rng.random() < 0.8:
            wanted = EXPRESSIONS if key == "expression" or rng.random() < 0.5 else LITERALS
            lines[place] = f"{key} = {rng.choice(wanted)}"
        else:
            lines.insert(place, rng.choice((*lines, *LINES)))
    text = "\n".join(lines)
    if rng.random() < 0.3:
        text = damaged(rng, text.encode()).decode("utf-8", "replace")
    return text


def written_case(seed: int, folder: Path) -> bool:
    """Read a damaged function file; one that is accepted has finite values, and terms or steps."""
    del folder
    text = damaged_function(seeded(seed))
    try:
        problem = parse_function(text, "f.toml")
    except bc.BoolcompError as error:
        sentence(error)
        if not str(error).startswith("f.toml"):
            raise BrokenError(f"a message without the file: {error}") from error
        return False
    low, high = problem.bounds()
    states = np.stack([low, high, (low + high) / 2, 0.3 * low + 0.7 * high])
    if not np.isfinite(problem.exact(states)).all():
        raise BrokenError("outputs are not finite")
    str(split(problem))
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
