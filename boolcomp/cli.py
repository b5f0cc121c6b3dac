"""The command line's entry: nothing but Ctrl-C and closed descriptors is dealt with here.

Everything else is imported within, so that an interrupt during imports is as clean as any other,
and so that `boolcomp --help` costs nothing. The commands live in modules of their own under
`boolcomp.commands`; `commands.group` finds them.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from boolcomp.base.interrupts import INTERRUPTED, Interrupts
from boolcomp.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit; a user's mistake never shows a traceback."""
    interrupts = Interrupts()
    try:
        interrupts.install()
        _open_standard()
        from boolcomp.commands.group import run  # noqa: PLC0415 (imports take a while)

        code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        interrupts.say()
        # Python notes when an interrupt leaves code that exec was given as text (dataclasses are
        # made so), and would end by the signal itself, caught or not; text that ends well takes
        # the note back.
        exec("")  # noqa: S102 (nothing is executed)
        code = INTERRUPTED
    if arguments is not None:  # called as a function: signals are the caller's again
        interrupts.remove()
    sys.exit(code)


def _open_standard() -> None:
    """See to it that no file or socket of ours gets the number of a closed standard stream.

    Python has no stream object then, and prints nothing there.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
