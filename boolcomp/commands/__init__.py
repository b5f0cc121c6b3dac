"""The commands, one module each, one per stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.commands.options import numbers as numbers
    from boolcomp.commands.output import error_table as error_table
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "options": "numbers",
            "output": "error_table",
        },
    )

COMMANDS = {
    "robots": "List the robots that ship, or check one of your own.",
    "terms": "Print a robot's torques as sums of terms.",
    "plan": "Print the paper's Fig. 1 for a robot: ranges, widths, guard bits.",
    "tables": "Write the truth table of every term as a commented PLA file.",
    "compile": "Compile a robot to a program of logic.",
    "sweep": "Compile many programs: robots, functions, bits, loads and more, all with all.",
    "evaluate": "Evaluate torques for a file of states, by logic or by Newton-Euler.",
    "export": "Write a program for other tools: Verilog, VHDL, C, BLIF, AIGER and more.",
    "area": "What a program takes of FPGAs, and its clock there.",
    "build": "A bitstream for a board, with registers over a UART.",
    "verify": "Check a program, its word graph and its exports against each other.",
    "cycles": "Count what a program takes on microcontrollers, beside float and fixed point.",
    "show": "A program as one interactive page: arm, words, maps; or a PLA file.",
    "simulate": "Simulate an arm in closed loop: how many bits does its control need?",
    "report": "Measure error versus bits against Newton-Euler: table, pictures, page.",
    "bench": "Measure a program against the best arithmetic, side by side.",
    "minimize": "Minimise anybody's PLA files.",
    "import": "Read networks of others: BLIF, AIGER.",
    "schedule": "Schedule the four parallel-dynamics papers' tasks on machines, and run them.",
    "doctor": "Say what is installed, and what each missing piece would bring.",
    "completion": "Print what bash, zsh or fish must read to complete commands.",
}
