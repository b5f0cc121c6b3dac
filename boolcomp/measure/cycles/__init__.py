"""What a program costs on microcontrollers and on this machine, beside what else does its work.

A `Design` is C and what it must give; a board builds it, runs it in a simulator and compares every
word that it makes.
"""
