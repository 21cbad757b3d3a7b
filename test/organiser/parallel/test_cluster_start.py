"""Which cluster is started: what of Dask's configuration reaches jobs and pods, and what is asked of each."""

import importlib
import signal
import sys
import threading
import types
from typing import ClassVar

import dask
import psutil
import pytest
from distributed import LocalCluster

from evaluation.core.fault import PhaseError
from evaluation.organiser.parallel.cluster import (
    QUEUES,
    OnCluster,
    start_cluster,
    without_interrupts,
)
from evaluation.organiser.rescoring.run import score_all
from test.faults import faulted
from test.organiser.rescoring.teams import BEFORE, tasks_of, write_teams

from .deadly_worker import fail_at_once

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
    with dask.config.set(configuration), start_cluster(where, 0) as cluster:
        script = cluster.job_script()
    assert ASKS[where] in script
    assert "/opt/env/bin/python" in script
    assert "distributed.cli.dask_worker" in script


class KubeCluster(LocalCluster):
    """Stands in for that of dask_kubernetes.operator, with its keywords; its workers are threads here.

    As there, what the call does not give comes from `kubernetes` of Dask's configuration.
    """

    made: ClassVar[list["KubeCluster"]] = []

    def __init__(
        self, *, name=None, namespace=None, image=None, n_workers=None, resources=None, env=None, quiet=False
    ):
        self.is_told_to_be_quiet = quiet
        self.image = image or dask.config.get("kubernetes.image")
        self.asked: list[object] = []
        KubeCluster.made.append(self)
        super().__init__(
            n_workers=n_workers or 0, threads_per_worker=1, processes=False, dashboard_address=":0"
        )

    def scale(self, n, worker_group="default"):
        self.asked.append((n, worker_group))
        super().scale(n)

    def adapt(self, minimum=None, maximum=None):
        self.asked.append("adapt")
        super().adapt(minimum=1, maximum=1)


@pytest.fixture
def kubernetes(monkeypatch):
    module = types.ModuleType("dask_kubernetes.operator")
    module.KubeCluster = KubeCluster
    monkeypatch.setitem(sys.modules, "dask_kubernetes", types.ModuleType("dask_kubernetes"))
    monkeypatch.setitem(sys.modules, "dask_kubernetes.operator", module)
    KubeCluster.made.clear()
    return module


@pytest.mark.parametrize(
    ("workers", "asked"),
    [(1, [(1, "default")]), (None, ["adapt"])],
)
def test_pods_are_those_that_dask_is_configured_for_and_end_with_the_run(
    tmp_path, kubernetes, workers, asked
):
    tasks = tasks_of(*write_teams(tmp_path))
    with dask.config.set({"kubernetes.image": "registry/evaluation:1"}):
        answers = score_all(tasks, tmp_path / "o", OnCluster("kubernetes", workers, [].append, fail_at_once))
        assert {task.place: answer.kind for task, answer in answers} == dict.fromkeys(BEFORE, "failed")
    (cluster,) = KubeCluster.made
    assert (cluster.image, cluster.asked[:1]) == ("registry/evaluation:1", asked)
    assert cluster.is_told_to_be_quiet
    assert cluster.status.name == "closed"


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


@pytest.mark.parametrize(("spec", "refused"), [(None, True), ("", True), ("h_vmem=2G", False)])
def test_jobs_of_sge_must_ask_for_memory(spec, refused, monkeypatch):
    module = types.ModuleType("dask_jobqueue")
    module.SGECluster = lambda: LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0")
    monkeypatch.setitem(sys.modules, "dask_jobqueue", module)
    with dask.config.set({"jobqueue.sge.resource-spec": spec}):
        if refused:
            with faulted(PhaseError, "--cluster sge"):
                start_cluster("sge", 0)
        else:
            start_cluster("sge", 0).close()


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
