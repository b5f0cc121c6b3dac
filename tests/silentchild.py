"""A child of `Worker` that says nothing until its parent hangs up."""

from typing import Any


def main(channel: Any, kind: str, folder: str) -> None:
    """Wait for what never comes."""
    del kind, folder
    while True:
        channel.receive()
