"""`python -m boolcomp`: the same as the command `boolcomp`."""

from boolcomp.cli import main

main()
