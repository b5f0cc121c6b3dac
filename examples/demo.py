"""Run the main commands on two robots that ship, and print the figures of each.

    python examples/demo.py

Programs, a page and pictures are written to out/.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boolcomp as bc
from boolcomp.base.errors import short, short_above, table

ARM = "boolcomp compile machado-2r --bits 8 -o out/2r"
PAGE = "boolcomp show out/2r -o out/2r.html"
TABLES = "boolcomp paper compile machado-2r --bits 8 -o out/2r-paper"
PUMA = "boolcomp compile puma560 --bits 8 --accuracy rms=.505 -o out/puma560"
REPORT = "boolcomp report machado-2r --bits 4,6,8 --samples 100000 -o out/report"


def run(command: str) -> str:
    """Run a command of boolcomp, or an example, and return its standard output."""
    name, *rest = shlex.split(command)
    place = ["-m", name] if name == "boolcomp" else [str(Path(__file__).with_name(name))]
    done = subprocess.run(
        [sys.executable, *place, *rest], check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout


def section(title: str, *commands: str) -> None:
    print(f"\n== {title}", *(f"$ {command}" for command in commands), sep="\n", flush=True)


def arm_table(name: str) -> str:
    """Return the ranges of a robot's joints."""
    header = ("joint", "position", "speed", "acceleration", "torque")
    rows = [
        (
            str(k), f"{link.position} {link.unit}", f"{link.velocity} {link.unit}/s",
            f"{link.acceleration} {link.unit}/s²", f"{link.torque} {link.torque_unit}",
        )
        for k, link in enumerate(bc.load_robot(name).links, 1)
    ]  # fmt: skip
    return table(header, rows)


def program_table(*folders: str) -> str:
    """Return size and errors of programs that `boolcomp compile` saved, with a row per output."""
    rows = []
    for folder in folders:
        program = bc.load_program(folder)
        network = program.network()
        size = (folder, str(len(network.nodes)), str(network.depth))
        for output in program.outputs:
            lsb, errors = output.code.step, program.errors[output.name]
            found = "-" if errors.worst_found is None else f"{errors.worst_found / lsb:.2f}"
            proved = short_above(output.bound / lsb, 3)
            cells = (output.symbol, f"{short(lsb)} {output.unit}", f"{errors.rms / lsb:.2f}")
            rows.append((*size, *cells, found, proved))
            size = ("", "", "")
    errors_in = ("rms/LSB", "largest found/LSB", "proved limit/LSB")
    return table(("program", "LUT3", "depth", "torque", "LSB", *errors_in), rows, left=(0, 3))


def tour() -> None:
    """Print the sections; the two longest commands run in parallel with the others."""
    section("The arm: two joints, with the ranges of its words", "boolcomp robots machado-2r")
    print(arm_table("machado-2r"))
    section("Its program: torques of 8 bits by LUT3 (Boolean functions of three bits)", ARM)
    run(ARM)
    print(program_table("out/2r"))
    print("LSB: step of an output word. No state in range has an error above the proved limit.")
    with ThreadPoolExecutor() as pool:
        others = [pool.submit(run, command) for command in (TABLES, PUMA)]
        follow = "trajectory.py out/2r machado-2r"
        section("Its torques: by logic, and exact by Newton-Euler", f"python examples/{follow}")
        print(run(follow), end="")
        section("Its page: move the arm, and compare its torques with exact ones", PAGE)
        run(PAGE)
        section("The same torques by truth tables, as in 1988; the PUMA 560", TABLES, PUMA)
        for one in others:
            one.result()
        print(program_table("out/2r-paper", "out/puma560"))
    section("How many bits? Size and errors of 4, 6 and 8 bits as charts", REPORT)
    run(REPORT)
    print("\n== Look at")
    print("out/2r.html                  the arm, its torques and its logic: open it in a browser")
    print("out/trajectory/torques.png   torques along a trajectory, and their errors")
    print("out/report/report.html       size and errors against bits")


def main() -> None:
    """Run the demonstration; a failed command ends it with the command's messages and code."""
    print("The commands are in .venv/bin and print more than is shown here.")
    try:
        tour()
    except subprocess.CalledProcessError as error:
        print(error.stderr, end="", file=sys.stderr)
        sys.exit(error.returncode)
    except KeyboardInterrupt:  # the commands have received it too
        sys.exit(130)


if __name__ == "__main__":
    main()
