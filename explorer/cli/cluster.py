"""Options for computing on a cluster, and the command `cluster`, which runs a local one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from explorer.engine.executors.base import Executor
    from explorer.engine.executors.cluster import Cluster

MAX_LOCAL = 256
SEND_DATA_HINT = "add --send-data"
OPTIONS = (
    click.option(
        "--cluster",
        "address",
        metavar="ADDRESS",
        help="Run sweeps, experiments, trainings and parts of large files on a Dask cluster: its "
        "scheduler's address, or local:N for N processes of this run.",
    ),
    click.option(
        "--certificates",
        type=click.Path(exists=True, file_okay=False),
        metavar="FOLDER",
        help="Folder with ca.pem, cert.pem and key.pem of a cluster on other machines.",
    ),
    click.option(
        "--shared-folder",
        type=click.Path(exists=True, file_okay=False),
        metavar="FOLDER",
        help="Folder that all machines of the cluster see under the same path; it will contain "
        "check-ins, so restrict who can read it.",
    ),
    click.option(
        "--send-data",
        is_flag=True,
        help="Permit sending check-ins and counts of them to the cluster's machines.",
    ),
)


workers_option = click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=min(os.cpu_count() or 1, 256),
    show_default="one a core",
    metavar="K",
    help="Number of worker processes; results do not depend on it.",
)


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the cluster options to a command, which receives a `cluster` or None."""

    @wraps(command)
    def with_cluster(
        *args: Any,
        address: str | None,
        certificates: str | None,
        shared_folder: str | None,
        send_data: bool,
        **rest: Any,
    ) -> Any:
        from explorer.engine.executors.cluster import Cluster

        cluster = None
        if address is not None:
            try:
                cluster = Cluster(address, certificates or "", shared_folder or "", send_data)
            except ValueError as error:
                raise click.BadParameter(str(error), param_hint="--cluster") from None
        elif certificates or shared_folder or send_data:
            raise click.UsageError("name the cluster: --cluster ADDRESS")
        return command(*args, cluster=cluster, **rest)

    decorated: Callable[..., Any] = with_cluster
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated


def check_data(cluster: Cluster | None) -> None:
    """Raise BadParameter if check-ins would be sent to other machines without permission."""
    if cluster is not None:
        try:
            cluster.check_data("check-ins and what is counted of them", SEND_DATA_HINT)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--cluster") from None


def many_workers(
    stack: ExitStack, cluster: Cluster | None, processes: int, quiet: bool
) -> Executor:
    """Return the executor of a cluster, or one of local processes; it closes with the stack.

    For commands with an option ``--workers``, which excludes a cluster.
    """
    from explorer.engine.computing import connect
    from explorer.engine.executors.embedded import EmbeddedExecutor

    given = click.get_current_context().get_parameter_source("workers")
    if cluster is not None and given is ParameterSource.COMMANDLINE:
        raise click.BadParameter("choose --cluster or --workers", param_hint="--workers")
    if cluster is None:
        executor: Executor = EmbeddedExecutor(processes)
    else:
        executor = connect(cluster, lambda: None)
    stack.callback(executor.close)
    if cluster is not None and not quiet:
        click.echo(executor.state(), err=True)
    return executor


@click.command("cluster")
@click.option(
    "--local",
    "processes",
    type=click.IntRange(1, MAX_LOCAL),
    required=True,
    metavar="N",
    help="Number of worker processes.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    help="Port of the scheduler.",
)
def cluster_command(processes: int, port: int) -> None:
    """Run a Dask cluster on this machine, for trials.

    Its address is printed to standard output, followed by the option with the folder of its
    certificates, which only you can read, so that no other user of this machine can use the
    cluster. Ctrl+C ends it with all its processes and removes the folder.
    """
    from explorer.engine.executors.dask import local_cluster

    with local_cluster(processes, port) as cluster:
        folder = Path(cluster.security.tls_ca_file).parent
        click.echo(cluster.scheduler_address)
        click.echo(f"--certificates {folder}")
        click.echo(
            f"use it with --cluster {cluster.scheduler_address} --certificates {folder}, or in "
            "Preferences; Ctrl+C ends it",
            err=True,
        )
        threading.Event().wait()
