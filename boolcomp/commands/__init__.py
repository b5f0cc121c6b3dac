"""The commands of the command line, one module each."""

from __future__ import annotations

GROUPS = {
    "Start": {
        "compile": "Compile a robot or function to a logic program.",
        "show": "Write an interactive page of a program or of a PLA file.",
        "evaluate": "Evaluate a program, or exact torques, for a file of states.",
        "export": "Write a program as Verilog, VHDL, C, BLIF, AIGER and more.",
    },
    "Measure": {
        "report": "Measure error and size against word length.",
        "simulate": "Simulate an arm in closed loop against word length.",
        "area": "Estimate a program's FPGA cells and clock frequency.",
        "cycles": "Count microcontroller cycles and memory of a program.",
        "bench": "Compare a program's throughput with optimised arithmetic.",
    },
    "Check and ship": {
        "verify": "Check a program, its exports and its certificate.",
        "build": "Build a bitstream for an FPGA board.",
        "sweep": "Compile all combinations of robots, functions and options.",
    },
    "Inputs": {
        "robots": "List the built-in robots, or check a robot file.",
    },
    "More": {
        "graph": "Print or draw the word graph that compile chooses.",
        "paper": "Apply the 1988 method: terms, plan, tables, compile.",
        "minimize": "Minimise PLA files.",
        "import": "Read BLIF and AIGER networks.",
        "schedule": "Schedule the tasks of four parallel-dynamics papers.",
        "doctor": "List optional tools and what the missing ones enable.",
        "completion": "Print a shell completion script for bash, zsh or fish.",
    },
    "": {  # in `paper`; here they are older spellings that help does not list
        "terms": "Print a robot's torques as sums of terms.",
        "plan": "Print ranges, widths and guard bits as in Fig. 1 of the 1988 paper.",
        "tables": "Write the truth table of every term as a commented PLA file.",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
