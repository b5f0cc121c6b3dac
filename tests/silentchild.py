"""A scheduler and a worker of Dask that say nothing until their parent hangs up."""

import time
from typing import Any


def main(channel: Any) -> None:
    """Wait for what never comes."""
    while True:
        channel.receive()


def work(address: str, folder: str) -> None:
    del address, folder
    time.sleep(1000)
