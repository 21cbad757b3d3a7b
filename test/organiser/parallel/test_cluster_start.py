"""Which cluster is started: what of Dask's configuration reaches jobs and pods, and what is asked of each."""

import importlib
import signal
import sys
import threading
import types
from dataclasses import dataclass, field, replace

import dask
import distributed
import psutil
import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.parallel.cluster import (
    QUEUES,
    OnCluster,
    start_cluster,
    without_interrupts,
)
from evaluation.organiser.rescoring.task import ScoringTask, environment
from test.faults import faulted

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="scores in processes"),
    pytest.mark.timeout(120),
    # What Dask leaves to the garbage collector when a cluster is closed.
    pytest.mark.filterwarnings("ignore"),
]

# How a job of each system asks for two cores, as the manual of the system has it.
ASKS = {
    "slurm": "#SBATCH --cpus-per-task=2",
    "pbs": "#PBS -l select=1:ncpus=2:mem=4096MB",
    "sge": "#$ -l h_vmem=4G",
    "lsf": "#BSUB -n 2",
    "oar": "#OAR -l /nodes=1/core=2,walltime=02:00:00",
    "htcondor": "RequestCpus = MY.DaskWorkerCores",
    "moab": "#PBS -l select=1:ncpus=2:mem=4096MB",
}


@pytest.mark.parametrize("where", QUEUES)
def test_a_job_of_each_batch_system_is_the_one_that_dask_is_configured_for(where):
    """`jobqueue.<system>` of Dask's configuration alone decides; dask-jobqueue writes the script."""
    keys = {"cores": 2, "memory": "4GiB", "processes": 1, "interface": "lo", "queue": "long"}
    keys |= {"walltime": "02:00:00", "python": "/opt/env/bin/python"}
    if where == "htcondor":
        keys = {key: keys[key] for key in ("cores", "memory", "interface", "python")} | {"disk": "1GB"}
    if where == "sge":
        keys["resource-spec"] = "h_vmem=4G"
    with without_interrupts():
        importlib.import_module("dask_jobqueue")  # which adds its part of the configuration
    configuration = {f"jobqueue.{where}.{key}": value for key, value in keys.items()}
    if where == "sge":
        nothing = {**configuration, "jobqueue.sge.resource-spec": ""}
        with dask.config.set(nothing), faulted(PhaseError, "--cluster sge"):
            start_cluster("sge", 0)
    with dask.config.set(configuration), start_cluster(where, 0) as cluster:
        script = cluster.job_script()
    assert ASKS[where] in script
    assert "/opt/env/bin/python" in script
    assert "distributed.cli.dask_worker" in script


class KubeCluster:
    """Stands in for that of dask_kubernetes.operator, which is configured through Dask."""

    def __init__(self, quiet):
        self.asked = [("quiet", quiet)]

    def scale(self, workers):
        self.asked.append(("scale", workers))

    def adapt(self):
        self.asked.append(("adapt",))


@pytest.fixture
def kubernetes(monkeypatch):
    module = types.ModuleType("dask_kubernetes.operator")
    module.KubeCluster = KubeCluster
    monkeypatch.setitem(sys.modules, "dask_kubernetes", types.ModuleType("dask_kubernetes"))
    monkeypatch.setitem(sys.modules, "dask_kubernetes.operator", module)
    return module


def test_as_many_pods_as_are_asked_for_or_as_dask_is_configured_for(kubernetes):
    assert start_cluster("kubernetes", 2).asked == [("quiet", True), ("scale", 2)]
    assert start_cluster("kubernetes", None).asked == [("quiet", True), ("adapt",)]


@pytest.mark.parametrize("error", [RuntimeError("no definitions"), OSError()])
def test_a_cluster_that_does_not_start_says_why(kubernetes, error):
    def failing(**keywords):
        raise error

    kubernetes.KubeCluster = failing
    with faulted(PhaseError, "--cluster kubernetes", str(error) or "OSError"):
        start_cluster("kubernetes", 2)


def test_threads_that_are_started_within_do_not_get_the_interrupts_of_a_terminal():
    masks = []

    def look() -> None:
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, set()))

    handler = signal.getsignal(signal.SIGINT)
    with without_interrupts():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # as dask_jobqueue does
    look()
    assert [signal.SIGINT in mask for mask in masks] == [True, False]
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_local_cluster_listens_on_this_machine_alone():
    with start_cluster("local", 1):
        here = psutil.Process()
        found = [
            connection.laddr.ip
            for process in (here, *here.children(recursive=True))
            for connection in process.net_connections(kind="inet")
            if connection.status == psutil.CONN_LISTEN
        ]
    assert found
    assert set(found) == {"127.0.0.1"}


@pytest.mark.parametrize("deaths", [1, 100])
def test_a_worker_that_dies_while_a_local_cluster_starts_is_replaced(deaths, tmp_path):
    """Each worker that starts ends at once, until so many have."""
    preload = tmp_path / "preload.py"
    preload.write_text(
        "import os, pathlib\n"
        f"number = len(os.listdir({str(tmp_path)!r}))\n"
        f"if number <= {deaths}:\n"
        f"    pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch()\n"
        "    os._exit(1)\n"
    )
    with dask.config.set({"distributed.worker.preload": [str(preload)]}):
        if deaths > 1:
            with faulted(PhaseError, "--cluster local"):
                start_cluster("local", 1)
            return
        with start_cluster("local", 1) as cluster, distributed.Client(cluster) as client:
            client.wait_for_workers(1, timeout=60)
    assert len(list(tmp_path.iterdir())) == 1 + deaths


# --- What is handed to a scheduler, and to which of its workers, with a client that only takes notes ---


TASK = ScoringTask("team", "phase", "folder", "seal", "submission", environment())


@dataclass
class Future:
    key: str
    status: str = "pending"

    def add_done_callback(self, tell) -> None:
        self.tell = tell

    def cancel(self) -> None:
        self.status = "cancelled"
        self.tell(self)


@dataclass
class Client:
    workers: list[str]
    status: str = "running"
    submitted: list[tuple[str, list[str] | None]] = field(default_factory=list)
    futures: list[Future] = field(default_factory=list)

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers, 1)

    def submit(self, *call, key, pure, workers) -> Future:
        self.submitted.append((key, workers))
        self.futures.append(Future(key))
        return self.futures[-1]


@pytest.fixture
def scheduler():
    made = OnCluster("tcp://here", None, [].append, look_seconds=0.0)
    made._client = Client(["a", "b"])
    return made


def test_a_task_for_some_workers_goes_to_these_alone_until_they_have_ended(scheduler):
    client = scheduler._client
    assert scheduler.others_than(("a",)) == ("b",)
    scheduler.give(TASK, failed_on=("a",), only_on=("b",))
    assert scheduler.has_room()
    assert client.submitted == [("team#1", ["b"])]
    client.workers.remove("b")
    assert scheduler.has_room()
    assert client.submitted == [("team#1", ["b"]), ("team#2", None)]
    assert scheduler.next() is None  # the first, which was cancelled
    client.futures[1].status = "finished"
    client.futures[1].tell(client.futures[1])
    given = scheduler.next()
    assert (given.task, given.failed_on, scheduler.is_idle()) == (TASK, ("a",), True)


def test_no_more_is_handed_over_than_there_is_room_for(scheduler):
    scheduler._client.workers = [str(number) for number in range(5)]
    while scheduler.has_room():
        scheduler.give(replace(TASK, place="one"))
    assert len(scheduler._client.submitted) == 10  # two for each thread
