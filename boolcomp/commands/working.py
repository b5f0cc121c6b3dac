"""The options that say where work is done: --processes and --cluster."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from boolcomp.common.errors import UsageError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.common.workers import Workers

MOST_PROCESSES = 256


def cluster_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --cluster, and hand it on as what `executor` takes, or None.

    Who gives --processes too, if a command has that, is told that they are two ways.
    """

    @click.option(
        "--cluster",
        help="Dask does the work: tcp://host:8786, a scheduler file, or local:4 (workers here).",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, cluster: str | None, **more: Any) -> Any:
        if cluster is not None:
            from boolcomp.base.workers import way

            said = click.get_current_context().get_parameter_source("processes")
            if said is click.core.ParameterSource.COMMANDLINE:
                raise UsageError(
                    "--processes are of this machine, --cluster is another way: give one"
                )
            way(cluster)
        return function(*args, cluster=cluster, **more)

    return wrapped


def work_options(usual: str = "2") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --processes and --cluster, handed on as `workers`: None where none of them was given.

    `usual` is what is said of that.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--processes", type=int, help=f"That work side by side [default: {usual}]")
        @cluster_option
        @functools.wraps(function)
        def wrapped(*args: Any, processes: int | None, cluster: str | None, **more: Any) -> Any:
            return function(*args, workers=_workers(processes, cluster), **more)

        return wrapped

    return decorate


def _workers(processes: int | None, cluster: str | None) -> Workers | None:
    if processes is not None and not 1 <= processes <= MOST_PROCESSES:
        raise UsageError(f"--processes must be 1 to {MOST_PROCESSES}, not {shown(processes)}")
    if processes is None and cluster is None:
        return None
    from boolcomp.common.workers import Workers

    return Workers.of(processes, cluster)
