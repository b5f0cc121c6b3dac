"""Command lines as a stranger may type them, run as processes of their own."""

import contextlib
import importlib
import io
import os
import random
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import numpy as np
from fuzzing import LONGEST_SENTENCE, BrokenError, seeded
from small_programs import stages

from boolcomp.commands import COMMANDS

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
VALUES = (
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
        value = rng.choice(VALUES)
        if isinstance(parameter, click.Option):
            flag = rng.choice((*parameter.opts, *parameter.secondary_opts))
            line += [flag] if parameter.is_flag else [flag, value]
        elif rng.random() < 0.8:
            line[1] = value
        else:
            line.append(value)
    if rng.random() < 0.05:
        line[rng.randrange(len(line))] = rng.choice(VALUES)
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
