"""`python -m boolcomp`: the same as the command `boolcomp`."""

import sys
from pathlib import Path

if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).parents[1]:
    del sys.path[0]  # the current folder: no module of ours is there

from boolcomp.cli import main

main()
