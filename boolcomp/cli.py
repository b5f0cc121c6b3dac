"""The command line: `boolcomp` starts here. Errors become exit codes, Ctrl-C exit code 130.

The first SIGINT raises KeyboardInterrupt; later ones are ignored. A thread ends the process if
cleaning up takes too long: in a library that swallows the exception, in a long call, at the exit of
Python. Other modules are imported inside functions, so that `boolcomp --help` starts quickly and an
interrupt during imports is handled too. `commands/group.py` finds commands by name.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType


# --------------------------------------------------------------------------------------------------
# Ctrl-C on the command line: one line and exit code 130 within two seconds in every state.
# --------------------------------------------------------------------------------------------------


INTERRUPTED = 130  # as shells number the end by Ctrl-C
PATIENCE = 1.5  # seconds
SENTENCE = "boolcomp: interrupted\n"


class Interrupts:
    """The handling of SIGINT after `install`."""

    def __init__(self) -> None:
        self.heard = False
        self.reported = False
        self.before: tuple[Any, int, Any] | None = None

    def install(self) -> None:
        """Install the handler; signals can be handled in the main thread only."""
        if threading.current_thread() is not threading.main_thread():
            return
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        self.before = (
            signal.signal(signal.SIGINT, self._handle),
            signal.set_wakeup_fd(writing, warn_on_full_buffer=False),
            sys.unraisablehook,
        )
        self._pipe = (reading, writing)
        sys.unraisablehook = self._unraisable
        threading.Thread(target=self._watch, args=(reading,), daemon=True).start()

    def remove(self) -> None:
        """Restore the previous handler, for callers of the command line as a function."""
        if self.before is None or self.heard:
            return
        handler, descriptor, hook = self.before
        self.before = None
        signal.set_wakeup_fd(descriptor)
        signal.signal(signal.SIGINT, handler)
        sys.unraisablehook = hook
        os.close(self._pipe[1])  # the thread ends, and closes the other end

    def say(self) -> None:
        """Print that the command was interrupted."""
        self.reported = True
        if sys.stderr is not None:
            with contextlib.suppress(OSError):
                sys.stderr.write(SENTENCE)
                sys.stderr.flush()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self.heard:
            self.heard = True
            raise KeyboardInterrupt

    def _unraisable(self, given: Any) -> None:
        """Hide an interrupt in a callback or a destructor; the thread ends the process."""
        if not self.heard and self.before is not None:
            self.before[2](given)

    def _watch(self, reading: int) -> None:
        while True:
            found = os.read(reading, 1)
            if not found:
                os.close(reading)
                return
            if found[0] == signal.SIGINT:
                time.sleep(PATIENCE)
                self.leave()

    def leave(self) -> NoReturn:
        """End at once; children end with this process, and temporary files are removed here."""
        if not self.reported:  # not through sys.stderr, which the main thread may be using
            with contextlib.suppress(OSError):
                os.write(2, SENTENCE.encode())
        files = sys.modules.get("boolcomp.base.files")
        if files is not None:
            files.remove_unfinished()
        os._exit(INTERRUPTED)


# --------------------------------------------------------------------------------------------------
# The entry point: it handles Ctrl-C and closed descriptors.
# --------------------------------------------------------------------------------------------------


__all__ = ["COMMANDS", "main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    interrupts = Interrupts()
    try:
        interrupts.install()
        _open_standard()
        from boolcomp.commands.group import run  # noqa: PLC0415 (imports take a while)

        code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        interrupts.say()
        # If an interrupt leaves code given to exec as text (dataclasses are made so), Python ends
        # by the signal itself, even if the exception was caught. Another exec resets this.
        exec("")  # noqa: S102 (nothing is executed)
        code = INTERRUPTED
    if arguments is not None:  # called as a function: signals are the caller's again
        interrupts.remove()
    sys.exit(code)


def _open_standard() -> None:
    """Open closed standard streams, so that no file or socket gets one of their numbers."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
