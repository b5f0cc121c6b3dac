"""A scheduler or a worker of Dask's as a child of this process: `--cluster local:4`.

Not `LocalCluster`: its workers are started by `multiprocessing`, which imports the caller's main
module again. Children of ours end with their parent, whatever ends that.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boolcomp.base.processes import Channel

LOOPBACK = "127.0.0.1"


def main(channel: Channel, kind: str, folder: str) -> None:
    """Serve until the parent hangs up; say the address first.

    A worker is told its scheduler's when it has imported Dask, which takes a second: all do it at
    the same time.
    """
    import distributed  # noqa: PLC0415 (an extra)

    asyncio.run(_serve(channel, distributed, channel.receive() if kind == "worker" else "", folder))


async def _serve(channel: Channel, distributed: Any, scheduler: str, folder: str) -> None:
    if scheduler:
        server = distributed.Worker(
            scheduler, host=LOOPBACK, nthreads=1, memory_limit=0, local_directory=folder,
            dashboard=False,
        )  # fmt: skip
    else:
        server = distributed.Scheduler(host=LOOPBACK, port=0, dashboard=False)
    async with server:
        channel.send(("address", server.address))
        await server.finished()
