"""Ctrl-C while the main thread is inside a long compiled loop."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING

import click

from boolcomp.errors import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Iterator

GRACE = 1.0
"""Seconds that the main thread has to end by itself."""


@contextlib.contextmanager
def prompt_interrupts() -> Iterator[None]:
    """End the process soon after Ctrl-C even where Python cannot: for work that changes no file.

    Python raises KeyboardInterrupt once a compiled loop returns, which is the clean end: children
    are stopped and files closed. A thread (compiled loops release the lock) hears of the signal at
    once, and ends the process where that has not happened after `GRACE`.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)  # noqa: FBT003 (its only argument)
    left = threading.Event()
    watcher = threading.Thread(target=_watch, args=(ours, left), daemon=True)
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(before)
        theirs.close()
        watcher.join()
        ours.close()


def _watch(ours: socket.socket, left: threading.Event) -> None:
    while heard := ours.recv(64):
        if signal.SIGINT in heard and not left.wait(GRACE):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                click.echo("boolcomp: interrupted", err=True)
            os._exit(INTERRUPTED)
