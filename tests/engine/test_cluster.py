"""Dask's workers: the same numbers as here, whatever dies; nothing left, nothing let in."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import explorer
from explorer.engine import computing
from explorer.engine.computing import Computing
from explorer.engine.executors import base, dask
from explorer.engine.executors.base import DifferentCode, Executor, InPlaceExecutor, WorkerDied
from explorer.engine.executors.cluster import Cluster
from explorer.engine.executors.dask import DaskExecutor, local_cluster
from explorer.engine.executors.embedded import EmbeddedExecutor
from explorer.engine.experiments import Checkpoint
from explorer.files import is_private
from explorer.privacy.noise.bits import SystemBits
from explorer.studies.base.study import Cancelled, NoWorker
from tests.engine import jobs
from tests.engine.test_executors import complete, never, trials
from tests.engine.test_survivors import alive
from tests.waiting import time_limit, wait_until

TRIALS = 800
SECONDS = 0.005


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    """A scheduler, and two worker processes."""
    with local_cluster(2) as cluster:
        yield cluster


def reached(running: Any, **more: Any) -> Cluster:
    """Name a cluster of `local_cluster`."""
    folder = Path(running.security.tls_ca_file).parent
    return Cluster(running.scheduler_address, str(folder), **more)


@pytest.fixture(scope="module")
def pool(running: Any) -> Iterator[DaskExecutor]:
    pool = DaskExecutor(reached(running))
    yield pool
    pool.close()


@pytest.mark.parametrize(
    ("address", "url", "here"),
    [
        ("127.0.0.1:4000", "tcp://127.0.0.1:4000", True),
        ("localhost", "tcp://localhost:8786", True),
        ("tcp://[::1]:4000", "tcp://[::1]:4000", True),
        ("local:3", None, True),
    ],
)
def test_addresses_of_this_machine(address: str, url: str | None, here: bool) -> None:
    cluster = Cluster(address)
    assert cluster.here is cluster.takes_data is here
    assert cluster.processes == 3 if url is None else cluster.url == url


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://10.0.0.7:8786", "start it with certificates and give tls://"),
        ("0.0.0.0:8786", "start it with certificates and give tls://"),
        ("farm.example.org:8786", "start it with certificates and give tls://"),
        ("tls://farm.example.org:8786", r"name a folder with ca\.pem, cert\.pem, key\.pem"),
        ("ws://127.0.0.1:8786", "ws:// is not used here; give local:N"),
        ("local:many", "'local:many' is not an address of a cluster; give local:N"),
        ("local:0", "give 1 to 256 processes"),
        ("tcp://127.0.0.1:port", "is not an address of a cluster"),
        ("tcp://", "is not an address of a cluster"),
        ("", "is not an address of a cluster"),
    ],
)
def test_an_address_that_is_not_safe_is_refused_with_the_reason(address: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Cluster(address)


def test_certificates_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    with pytest.raises(ValueError, match=r"has no cert\.pem, key\.pem; name a folder with"):
        Cluster("tls://farm.example.org", str(tmp_path))
    with pytest.raises(ValueError, match="does not exist; create it"):
        Cluster("local:1", shared_folder=str(tmp_path / "none"))


def test_check_ins_go_to_other_machines_only_where_the_user_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / name).touch()
    far = Cluster("tls://farm.example.org", str(tmp_path))
    with pytest.raises(ValueError, match=r"rows may not go to tls://farm.* before you say so: ask"):
        far.check_data("rows", "ask")
    # workers of other machines may have joined a scheduler that is met here
    assert not Cluster("tls://127.0.0.1", str(tmp_path)).takes_data
    assert Cluster("tls://localhost", str(tmp_path), send_data=True).takes_data
    asked: list[Cluster] = []
    there = EmbeddedExecutor()

    def connected(cluster: Cluster, _check: object) -> Executor:
        asked.append(cluster)
        return there

    monkeypatch.setattr(computing, "connect", connected)
    places = Computing()
    try:
        places.use(far, calls_too=True)
        for choose in (places.for_tasks, places.for_answers, places.for_calls):
            assert choose(True, never) is not there
        assert asked == []
        assert places.for_tasks(False, never) is there
        said_so = Cluster(far.address, far.certificates, send_data=True)
        places.use(said_so)
        for choose in (places.for_tasks, places.for_answers):
            assert choose(True, never) is there
        assert places.for_calls(True, never) is places.worker
        assert asked == [far, said_so]
    finally:
        places.close()


@pytest.mark.full
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_other_machines_are_met_with_certificates_alone(tmp_path: Path) -> None:
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")),
        ],
        check=True,
        capture_output=True,
    )
    shutil.copy(tmp_path / "cert.pem", tmp_path / "ca.pem")
    cluster = Cluster("tls://127.0.0.1:1", str(tmp_path))
    security = dask._security(dask._import_distributed(), cluster)
    for end in ("scheduler", "worker"):
        setattr(security, f"tls_{end}_cert", security.tls_client_cert)
        setattr(security, f"tls_{end}_key", security.tls_client_key)
    with dask._import_distributed().LocalCluster(
        n_workers=1, threads_per_worker=1, security=security, dashboard_address=None
    ) as running:
        address = running.scheduler_address
        assert address.startswith("tls://")
        pool = DaskExecutor(Cluster(address, str(tmp_path)))
        try:
            assert pool.call(jobs.add, (1, 2), never) == 3
        finally:
            pool.close()


CLIENT = """
import sys
from pathlib import Path
from explorer.engine.executors.cluster import Cluster
from explorer.engine.executors.dask import DaskExecutor
from tests.engine.test_cluster import SECONDS, TRIALS
from tests.engine.test_executors import complete, trials

pool = DaskExecutor(Cluster(*sys.argv[2:]))
complete(Path(sys.argv[1]), pool, trials(TRIALS, seconds=SECONDS))
"""


@pytest.mark.full
def test_a_worker_then_the_client_killed_and_resumed_gives_the_bytes_of_a_run_here(
    running: Any, pool: DaskExecutor, tmp_path: Path
) -> None:
    file, cluster = tmp_path / "sweep.sqlite", reached(running)
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(tmp_path), cluster.address, cluster.certificates]
    )

    def rows() -> int:
        if not file.exists():
            return 0
        checkpoint = Checkpoint(file)
        try:
            return len(list(checkpoint.rows()))
        finally:
            checkpoint.close()

    try:
        assert wait_until(lambda: rows() > TRIALS // 4, 60)
        os.kill(running.workers[0].pid, signal.SIGKILL)
        assert wait_until(lambda: rows() > TRIALS // 2, 60)
    finally:
        os.kill(client.pid, signal.SIGKILL)
        client.wait()
    assert TRIALS // 2 < rows() < TRIALS
    tasks = trials(TRIALS, seconds=SECONDS)
    resumed = complete(tmp_path, pool, tasks)
    other = tmp_path / "other"
    other.mkdir()
    here = complete(other, InPlaceExecutor(), tasks)
    assert resumed == here == (TRIALS, resumed[1])


@pytest.mark.full
def test_a_task_that_kills_its_workers_is_named(
    pool: DaskExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "MAX_FAILURES", 2)  # a new worker takes seconds to start
    tasks = [*trials(3), {"kill_once": "/nowhere/dies"}, *trials(3)]
    with pytest.raises(WorkerDied, match=r": .* 2 times .* 3 to 3.*kill"):
        list(pool.map(jobs.trial, tasks, never))
    assert dict(pool.map(jobs.trial, trials(3), never)).keys() == {0, 1, 2}


@pytest.mark.full
def test_what_a_function_raises_comes_with_where_it_was_raised(pool: DaskExecutor) -> None:
    with pytest.raises(ValueError, match="told so") as caught:
        pool.call(jobs.fail, ("told so",), never)
    assert "in fail" in "".join(caught.value.__notes__)


@pytest.mark.full
def test_waiting_tasks_of_a_map_that_is_given_up_do_not_run(pool: DaskExecutor) -> None:
    began = time.monotonic()

    def soon() -> None:
        if time.monotonic() - began > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(pool.map(jobs.trial, trials(40, seconds=2.0), soon))
    assert len(list(pool.map(jobs.trial, trials(4), never))) == 4
    assert time.monotonic() - began < time_limit(12)  # 8 sent ahead would have taken 8 s, 40 40 s


@pytest.mark.full
def test_a_worker_of_another_version_is_refused_by_name(
    running: Any, pool: DaskExecutor, tmp_path: Path
) -> None:
    package = Path(explorer.__file__).parent
    copy = tmp_path / "explorer"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "files.py").open("a") as file:
        file.write("# another version\n")
    end = running.security
    ca, certificate, key = end.tls_ca_file, end.tls_client_cert, end.tls_client_key
    command = [
        *(sys.executable, "-m", "distributed.cli.dask_worker", running.scheduler_address),
        *("--tls-ca-file", ca, "--tls-cert", certificate, "--tls-key", key),
        *("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"),
    ]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    tests = Path(__file__).resolve().parents[2] / "tests"
    (tmp_path / "tests").symlink_to(tests)
    other = subprocess.Popen(
        command, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert wait_until(lambda: len(running.scheduler.workers) == 3, 60)
        wanted = r"worker tls://127\.0\.0\.1:\d+ has sources \w+ instead of \w+; install there what"
        with pytest.raises(DifferentCode, match=wanted):
            DaskExecutor(reached(running))
        # One that joins while a sweep runs is found by its first batch.
        with pytest.raises(DifferentCode, match=rf"worker {other.pid} on .* has sources"):
            list(pool.map(jobs.trial, trials(200, seconds=0.02), never))
    finally:
        other.kill()
        other.wait()
    assert wait_until(lambda: len(running.scheduler.workers) == 2)


def test_a_worker_without_the_program_is_refused_by_name() -> None:
    said = dask._difference(ModuleNotFoundError("No module named 'explorer'"))
    assert said == (
        "no privacy-explorer like this one (ModuleNotFoundError: No module named 'explorer')"
    )


def test_a_cluster_that_other_machines_reach_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with dask._import_distributed().LocalCluster(
        n_workers=0, host="127.0.0.1", dashboard_address=None
    ) as plain:
        cluster = Cluster(plain.scheduler_address)
        monkeypatch.setattr(dask, "is_loopback", lambda _: False)
        with pytest.raises(NoWorker, match=r"other machines.* with --host 127\.0\.0\.1"):
            DaskExecutor(cluster)


def test_who_has_no_certificates_is_refused(
    running: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any user of this machine reaches the port; the scheduler runs what it is sent."""
    monkeypatch.setattr(dask, "CONNECT_S", 1.0)
    assert running.scheduler_address.startswith("tls://")
    with pytest.raises(NoWorker):
        DaskExecutor(Cluster(running.scheduler_address.replace("tls://", "tcp://")))
    distributed = dask._import_distributed()
    own = dask._temporary_certificates(distributed, tmp_path)
    assert own.tls_ca_file != running.security.tls_ca_file
    with pytest.raises(NoWorker):
        DaskExecutor(Cluster(running.scheduler_address, str(tmp_path)))


@pytest.mark.full
def test_certificates_of_a_local_cluster_are_private_and_removed() -> None:
    with local_cluster(1) as cluster:
        folder = Path(cluster.security.tls_ca_file).parent
        assert is_private(folder)
        for name in ("ca.pem", "cert.pem", "key.pem"):
            assert (folder / name).stat().st_mode & 0o777 == 0o600
        # no machine but this one reaches it, so that check-ins may be sent there
        assert reached(cluster).here
        assert not Cluster("tls://127.0.0.1:1", str(folder)).here
    assert not folder.exists()


@pytest.mark.full
def test_a_folder_that_workers_do_not_see_is_refused(running: Any, tmp_path: Path) -> None:
    """What a process has open under a number means nothing to others."""
    number = os.open(tmp_path, os.O_RDONLY)
    try:
        shared = f"/proc/self/fd/{number}"
        pool = DaskExecutor(reached(running, shared_folder=shared))
        try:
            with (
                pytest.raises(NoWorker, match=r"can't read .*; name a folder"),
                pool.shared_folder(),
            ):
                pass
        finally:
            pool.close()
    finally:
        os.close(number)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_a_shared_folder_is_seen_by_all_and_removed(running: Any, tmp_path: Path) -> None:
    pool = DaskExecutor(reached(running, shared_folder=str(tmp_path)))
    try:
        with pool.shared_folder() as folder:
            assert folder.parent == tmp_path
            assert list(folder.iterdir()) == []
    finally:
        pool.close()
    assert list(tmp_path.iterdir()) == []


def test_where_nobody_answers_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "CONNECT_S", 0.3)
    with pytest.raises(NoWorker, match=r"nobody .* at 127\.0\.0\.1:1: "):
        DaskExecutor(Cluster("127.0.0.1:1"))


def test_without_dask_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(NoWorker, match=r"pip install '\.\[distributed\]'"):
        DaskExecutor(Cluster("local:1"))


@pytest.mark.full
def test_a_cluster_that_goes_is_said_to_have_gone_and_nothing_of_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(psutil.Process().children(recursive=True))
    pool = DaskExecutor(Cluster("local:1"))
    started = [p for p in psutil.Process().children(recursive=True) if p not in before]
    future = pool.submit("tests.engine.jobs:sleep", 60.0)
    threading.Timer(0.3, pool.close).start()
    with pytest.raises(Cancelled):
        pool.call(jobs.sleep, (60.0,), never)
    assert future.cancelled()
    workers = [p for p in started if "resource_tracker" not in " ".join(_words(p))]
    assert wait_until(lambda: not alive(workers), 10), alive(workers)
    assert wait_until(lambda: not list(tmp_path.iterdir()), 10), list(tmp_path.iterdir())


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


BUSY = """
import sys, time
from explorer.engine.executors.cluster import Cluster
from explorer.engine.executors.dask import DaskExecutor

if __name__ == "__main__":
    pool = DaskExecutor(Cluster("local:1"))
    pool.submit("tests.engine.jobs:hold_up", sys.argv[1])
    time.sleep(600)
"""


@pytest.mark.full
def test_workers_end_with_a_killed_client_in_the_middle_of_compiled_code(tmp_path: Path) -> None:
    sign = tmp_path / "begun"
    client = subprocess.Popen([sys.executable, "-c", BUSY, str(sign)])
    started = []
    try:
        assert wait_until(sign.exists, 60)
        started = psutil.Process(client.pid).children(recursive=True)
        assert started
    finally:
        client.kill()
        client.wait()
    assert wait_until(lambda: not alive(started), 10), alive(started)


def test_release_noise_never_goes_to_a_worker(pool: DaskExecutor) -> None:
    embedded = EmbeddedExecutor()
    try:
        for executor in (pool, embedded):
            with pytest.raises(TypeError, match="drawn once, in"):
                executor.call(jobs.words_of, (SystemBits(),), never)
    finally:
        embedded.close()


def test_system_randomness_is_used_by_listed_modules_only() -> None:
    """Nothing that runs in a worker can draw release noise by another way."""
    root = Path(explorer.__file__).parent
    users = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if path.relative_to(root).parts[0] != "release"
        for word in ("SystemBits(", "urandom", "SystemRandom", "import secrets")
        if word in path.read_text(encoding="utf-8")
    }
    # The second names half-written files; the third draws in its own process, which has no workers.
    assert users == {"privacy/noise/bits.py", "files.py", "cli/users.py"}
