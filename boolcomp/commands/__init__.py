"""The commands of the command line, one module each."""

from __future__ import annotations

COMMANDS = {
    "robots": "List the built-in robots, or check a robot file.",
    "terms": "Print a robot's torques as sums of terms.",
    "plan": "Print ranges, widths and guard bits as in Fig. 1 of the 1988 paper, or a word graph.",
    "tables": "Write the truth table of every term as a commented PLA file.",
    "compile": "Compile a robot or function to a logic program.",
    "sweep": "Compile all combinations of robots, functions, word lengths, payloads and more.",
    "evaluate": "Evaluate torques for a file of states, by logic or by Newton-Euler.",
    "export": "Write a program for other tools: Verilog, VHDL, C, BLIF, AIGER and more.",
    "area": "Estimate a program's FPGA cells and clock frequency.",
    "build": "Build a bitstream for a board, with registers over a UART.",
    "verify": "Check a program, its word graph and its exports against each other.",
    "cycles": "Count microcontroller cycles and memory, compared with float and fixed point.",
    "show": "Write an interactive page of a program (arm, words, maps) or of a PLA file.",
    "simulate": "Simulate an arm in closed loop: how many bits does its control need?",
    "report": "Measure error and size against word length: table, pictures, page.",
    "bench": "Compare a program's throughput with that of optimised arithmetic.",
    "minimize": "Minimise PLA files.",
    "import": "Read BLIF and AIGER networks.",
    "schedule": "Schedule the tasks of four parallel-dynamics papers on machines, and run them.",
    "doctor": "List installed optional tools and what the missing ones enable.",
    "completion": "Print a shell completion script for bash, zsh or fish.",
}
