"""Ctrl-C on the command line: one line and exit code 130, within two seconds, whatever goes on.

The first SIGINT raises KeyboardInterrupt, later ones nothing: what is being tidied up is not
disturbed. A thread hears of it at the same moment, and ends the process where that takes too long:
in a library that swallows the exception, in a long call, at the very end of Python.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130  # as shells number the end by Ctrl-C
PATIENCE = 1.5  # seconds
SENTENCE = "boolcomp: interrupted\n"


class Interrupts:
    """What is done about SIGINT, from `install` on."""

    def __init__(self) -> None:
        self.heard = False
        self.said = False
        self.before: tuple[Any, int, Any] | None = None

    def install(self) -> None:
        """Take over; outside of the main thread signals are somebody else's."""
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
        """Give back: for whoever calls the command line as a function."""
        if self.before is None or self.heard:
            return
        handler, descriptor, hook = self.before
        self.before = None
        signal.set_wakeup_fd(descriptor)
        signal.signal(signal.SIGINT, handler)
        sys.unraisablehook = hook
        os.close(self._pipe[1])  # the thread ends, and closes the other end

    def say(self) -> None:
        """Say that it is over."""
        self.said = True
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
        """Say nothing of an interrupt in a callback or a destructor: the thread will end it."""
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
        if not self.said:  # not by way of sys.stderr: the main thread may be in the middle of it
            with contextlib.suppress(OSError):
                os.write(2, SENTENCE.encode())
        files = sys.modules.get("boolcomp.base.files")
        if files is not None:
            files.remove_unfinished()
        os._exit(INTERRUPTED)
