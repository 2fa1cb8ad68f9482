"""Executor on a Dask cluster, local or remote. Uses Dask's futures only.

A worker that ends costs the tasks it had, which the scheduler gives to others.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import platform
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from explorer.checkins.cache import scratch
from explorer.engine.executors.base import (
    INSTALL_THE_SAME,
    DifferentCode,
    Executor,
    WorkerDied,
    check_code,
    code_here,
    differences,
    outcome,
)
from explorer.engine.executors.cluster import CERTIFICATES, ONLY_HERE, Cluster, is_loopback
from explorer.engine.executors.embedded import worker_environment
from explorer.files import write_whole
from explorer.parent_watchdog import ParentPipe, exit_with_parent
from explorer.shutdown import interrupts_held
from explorer.studies.base.study import Cancelled, NoWorker

MISSING = "a cluster needs Dask and cryptography; install them with: pip install '.[distributed]'"
CONNECT_S = 10.0
NO_WORKER_S = 30.0
"""Time without any worker after which waiting jobs are given up."""
LOOK_S = 1.0
"""Seconds between two counts of the workers."""
LIFELINE_VARIABLE = "PRIVACY_EXPLORER_LIFELINE"
"""Names to a worker process the pipe that closes when the process that started it ends."""
Check = Callable[[], None]
_ONE_AT_A_TIME = threading.Lock()


class DaskExecutor(Executor):
    """Runs functions on a cluster's workers, whose code is checked first.

    Parameters
    ----------
    cluster : Cluster
    check : callable
        Called before and after long steps; may raise to stop.

    Raises
    ------
    NoWorker
        If Dask is not installed, nobody answers at the address, no worker is there, or the
        cluster can be reached from other machines without certificates.
    DifferentCode
        If workers have other code or libraries; each is named.
    """

    def __init__(self, cluster: Cluster, check: Check = lambda: None) -> None:
        self.cluster = cluster
        self._lock = threading.Lock()
        self._jobs: dict[Future[Any], Future[bytes]] = {}
        self._closed = False
        self._looked = self._seen = -np.inf
        self._stack = ExitStack()
        check()
        try:
            self._client = self._stack.enter_context(_connect(cluster))
            check()
            self._pool = self._client.get_executor(pure=False, retries=0)
            self._state = self._inspect()
            self._workers = self._count()
            check()
        except BaseException:
            self._stack.close()
            raise

    @property
    def workers(self) -> int:
        """Number of jobs that can run now, at least 1."""
        self.check_workers()
        return max(1, self._workers)

    def submit(self, function: str, *args: Any) -> Future[Any]:
        """Submit ``function(*args)`` (see `Executor.submit`)."""
        if self._closed:
            raise Cancelled
        self._check_connection()
        # Pickled here: a worker compares the code before it unpacks anything.
        job = self._pool.submit(run_pickled, function, pickle.dumps(args, 5), code_here())
        future: Future[Any] = Future()
        self._jobs[future] = job
        job.add_done_callback(partial(self._finish, future))
        return future

    def cancel(self, future: Future[Any]) -> None:
        """Cancel a future; a running job continues and its result is discarded."""
        future.cancel()
        job = self._jobs.get(future)
        if job is not None:
            job.cancel()

    def close(self) -> None:
        """Disconnect from the cluster; one started by this program ends at once."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._stack.close()

    def check_workers(self) -> None:
        """Raise `NoWorker` if the cluster has gone or has had no workers for too long."""
        now = time.monotonic()
        if now - self._looked < LOOK_S or self._closed:
            return
        self._check_connection()
        self._workers = self._count()
        if now - self._seen > NO_WORKER_S:
            raise NoWorker(f"{self.cluster.address} has no worker any more; {_start_one(self)}")

    @contextmanager
    def shared_folder(self) -> Iterator[Path]:
        """Yield a folder that all workers see."""
        shared = self.cluster.shared_folder
        with tempfile.TemporaryDirectory(dir=shared) if shared else scratch() as made:
            token = Path(made) / "seen"
            token.write_text(platform.node())
            readable = self._client.run(can_read, str(token), on_error="return")
            blind = [_short_name(address) for address, sees in readable.items() if sees is not True]
            if blind:
                raise NoWorker(
                    f"{', '.join(blind)} can't read {made}; name a folder that all machines of the "
                    "cluster see under the same name as the shared folder"
                )
            token.unlink()
            yield Path(made)

    def state(self) -> str:
        """Return the description of the cluster at connection."""
        return self._state

    def _finish(self, future: Future[Any], job: Future[bytes]) -> None:
        """Set the result of a job's future (in the client's thread)."""
        self._jobs.pop(future, None)
        if job.cancelled():
            future.cancel()
        if not future.set_running_or_notify_cancel():
            return
        failed = job.exception()
        value, error = (None, _job_error(failed)) if failed else pickle.loads(job.result())
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def _check_connection(self) -> None:
        if self._client.status != "running" and not self._closed:
            raise NoWorker(
                f"the cluster at {self.cluster.address} does not answer any more; what was found "
                "is kept: start it again, then ask again"
            )

    def _count(self) -> int:
        """Return the number of jobs that the present workers run at the same time."""
        self._looked = time.monotonic()
        try:
            workers = len(self._client.nthreads())
        except (OSError, TimeoutError):  # it has gone at this moment
            return 0
        if workers:
            self._seen = self._looked
        return workers

    def _inspect(self) -> str:
        """Check every worker and return a description of all."""
        info = self._client.scheduler_info()
        if not self.cluster.encrypted:
            open_ones = [a for a in (info["address"], *info["workers"]) if not is_loopback(a)]
            if open_ones:
                raise NoWorker(
                    f"{', '.join(open_ones)} can be reached from other machines, and runs whatever "
                    "anybody there sends: start scheduler and workers with --host 127.0.0.1, or "
                    "with certificates"
                )
        reports = self._client.run(report, on_error="return")
        if not reports:
            raise NoWorker(f"{self.cluster.address} has no worker; {_start_one(self)}")
        refused = [
            f"{_short_name(address)} has {problem}"
            for address, result in reports.items()
            if (problem := _difference(result))
        ]
        if refused:
            raise DifferentCode(f"{'; '.join(refused)}; {INSTALL_THE_SAME}")
        machines = {result["node"] for result in reports.values()}
        state = (
            f"{self.cluster.address}: {len(reports)} worker{'s' * (len(reports) > 1)} on "
            f"{len(machines)} machine{'s' * (len(machines) > 1)}, with the code of this program"
        )
        others = [
            _short_name(address)
            for address, result in reports.items()
            if result["instructions"] != instructions()
        ]
        if others:
            state += (
                f"; {', '.join(others)} computes with other instructions of the processor, so "
                "last digits may differ from what this machine finds"
            )
        if self.cluster.shared_with_others:
            state += f"; other users can read the shared folder {self.cluster.shared_folder}"
        return state


def _import_distributed() -> Any:
    """Import Dask lazily: it is slow to import and optional."""
    try:
        import dask
        import distributed
    except ImportError as error:
        raise NoWorker(MISSING) from error
    dask.config.set(
        {
            # A map's counts are a few megabytes, and wanted there.
            "distributed.admin.large-graph-warning-threshold": "1 TB",
            # A local worker that ends while its successor starts would be given up for good.
            "distributed.deploy.lost-worker-timeout": "1 day",
            # Pages about tasks, which require no certificates.
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
        }
    )
    return distributed


@contextmanager
def _connect(cluster: Cluster) -> Iterator[Any]:
    """Yield a client of a cluster, starting a local one if requested."""
    distributed = _import_distributed()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if cluster.processes is not None:
            started = stack.enter_context(local_cluster(cluster.processes))
            target, security = started.scheduler_address, started.security
        else:
            target, security = cluster.url, _security(distributed, cluster)
        try:
            client = distributed.Client(
                target, security=security, timeout=CONNECT_S, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise NoWorker(
                f"nobody answers at {cluster.address}: start a cluster there "
                "(privacy-explorer cluster --local N tries one out), or mend the address"
            ) from error
        try:
            yield client
        finally:
            with suppress(OSError, TimeoutError):
                client.close(timeout=2)


@contextmanager
def local_cluster(processes: int, port: int = 0) -> Iterator[Any]:
    """Yield a Dask cluster on this machine, with single-threaded worker processes.

    Nothing of it is left afterwards, nor if this process is killed. A worker that ends is replaced.
    Other users of this machine reach its port as well, and a scheduler runs what it is sent: so it
    accepts only clients with its certificates. They lie in a private folder,
    ``security.tls_ca_file`` being one of the files, and are removed at the end.

    Raises
    ------
    NoWorker
        If Dask is not installed.
    OSError
        If the port is taken.
    """
    distributed = _import_distributed()
    with ParentPipe() as lifeline, scratch() as folder, scratch() as certificates:
        security = _temporary_certificates(distributed, certificates)
        start = partial(
            distributed.LocalCluster,
            n_workers=processes,
            threads_per_worker=1,
            host="127.0.0.1",
            scheduler_port=port,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={
                "allowed_failures": 0,  # failures are counted by `run_batch`'s caller
                "local_directory": str(folder),
            },
            silence_logs=logging.CRITICAL,
            local_directory=str(folder),
            preload=[__name__],
            env={LIFELINE_VARIABLE: lifeline.path, **worker_environment()},
            protocol="tls://",
            security=security,
        )
        cluster = _in_thread(start)
        try:
            address = cluster.scheduler_address
            (certificates / ONLY_HERE).write_text(address)
            yield cluster
        finally:
            cluster.sync(_kill_workers, cluster)
            cluster.close()


def _temporary_certificates(distributed: Any, folder: Path) -> Any:
    """Write fresh certificates for all ends of a cluster into a folder, and return them."""
    try:
        security = distributed.Security.temporary()
    except ImportError as error:  # cryptography
        raise NoWorker(MISSING) from error
    texts = security.tls_ca_file, security.tls_client_cert, security.tls_client_key
    paths = [folder / name for name in CERTIFICATES]
    for path, text in zip(paths, texts, strict=True):
        write_whole(path, text.encode(), private=True)
    ca, certificate, key = map(str, paths)
    ends = ("client", "scheduler", "worker")
    files = {f"tls_{end}_cert": certificate for end in ends}
    files |= {f"tls_{end}_key": key for end in ends}
    return distributed.Security(require_encryption=True, tls_ca_file=ca, **files)


def _in_thread(start: Callable[[], Any]) -> Any:
    """Run a function in a thread, so that the calling thread can be interrupted.

    An interrupt within Dask's own code would leave a traceback and processes behind.
    """
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(start())
        except BaseException as error:  # raised again below
            outcome.set_exception(error)

    with interrupts_held():
        threading.Thread(target=run, daemon=True, name="cluster").start()
    return outcome.result()


async def _kill_workers(cluster: Any) -> None:
    """End a local cluster's processes without waiting for their tasks."""
    for nanny in cluster.workers.values():
        nanny.close_gracefully()  # so that it starts no other in its place
        if nanny.pid:
            os.kill(nanny.pid, signal.SIGKILL)


def dask_setup(_worker: object) -> None:
    """Make a worker of `local_cluster` exit with the process that started it.

    Dask calls this by its name when the process starts.
    """
    exit_with_parent(os.environ[LIFELINE_VARIABLE])


def run_pickled(function: str, args: bytes, code: dict[str, str]) -> bytes:
    """Call `outcome`, or raise `DifferentCode` (in a worker).

    One job at a time in a process, which may have been started with several threads: what tasks
    keep for those that follow is not made for them.
    """
    check_code(code)
    with _ONE_AT_A_TIME:
        return outcome(function, io.BytesIO(args))


def report() -> dict[str, Any]:
    """Return this worker's machine, CPU features and code versions."""
    return {"node": platform.node(), "instructions": instructions(), "code": code_here()}


def instructions() -> str:
    """Return the CPU features that numpy's functions use: last digits depend on them."""
    introspect = getattr(np.lib, "introspect", None)
    if introspect is None:  # before numpy 2.1
        return ""
    features = introspect.opt_func_info("^(exp|log|sin|add|multiply)$", "float64")
    return ", ".join(
        sorted({str(how["current"]) for of in features.values() for how in of.values()})
    )


def can_read(path: str) -> bool:
    """Return whether a file is visible to this worker."""
    return Path(path).is_file()


def _security(distributed: Any, cluster: Cluster) -> Any:
    if not cluster.encrypted:
        return None
    ca, certificate, key = (str(Path(cluster.certificates) / name) for name in CERTIFICATES)
    return distributed.Security(
        require_encryption=True, tls_ca_file=ca, tls_client_cert=certificate, tls_client_key=key
    )


def _difference(answer: Any) -> str:
    """Return the differences in a worker's report, or why there is no report."""
    if isinstance(answer, dict):
        return differences(answer["code"], code_here())
    return f"no privacy-explorer like this one ({type(answer).__name__}: {answer})"


def _job_error(failed: BaseException) -> Exception:
    """Return the error of a job without result."""
    from distributed.scheduler import KilledWorker

    if isinstance(failed, KilledWorker):
        return WorkerDied(
            "the workers ended before they answered (out of memory, or killed)",
            times=failed.allowed_failures + 1,
        )
    if isinstance(failed, DifferentCode):
        return failed
    return DifferentCode(f"a worker can't run what is sent there ({failed}); {INSTALL_THE_SAME}")


def _short_name(address: str) -> str:
    return f"worker {address}"


def _start_one(executor: DaskExecutor) -> str:
    return f"start one with: dask worker {executor.cluster.address} --nthreads 1"
