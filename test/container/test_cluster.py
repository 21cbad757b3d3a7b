"""Dask workers in containers of the builder's image score submissions to the same bytes as this machine."""

import contextlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.organiser.rescoring.run import score_all
from evaluation.phase.manifest import scan, seal
from test.organiser.rescoring.teams import BEFORE, Here, results_in, tasks_of, write_teams

from .engine import HARDENED, docker

Dask = pytest.importorskip("test.organiser.parallel.dask_processes").Dask

OnCluster = pytest.importorskip("evaluation.organiser.parallel.cluster").OnCluster

pytestmark = [
    pytest.mark.container,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore"),  # of Dask: client and workers have different versions of Python
]
# Dask and what its workers import, without compiled modules but those for every version of Python.
PACKAGES = (
    *("click", "cloudpickle", "dask", "distributed", "fsspec", "jinja2", "locket", "markupsafe", "msgpack"),
    *("packaging", "partd", "psutil", "pyyaml", "sortedcontainers", "tblib", "toolz", "tornado", "zict"),
)
# As on the platform, but with the network of the scheduler.
OPTIONS = [option for option in HARDENED if not option.startswith("--network")]


@pytest.fixture
def dask_packages(tmp_path) -> Path:
    """Return a folder with Dask for workers in the image, which has none."""
    folder = tmp_path / "packages"
    for name in PACKAGES:
        for file in importlib.metadata.files(name) or ():
            is_compiled = file.suffix == ".so" and "abi3" not in file.name
            if not is_compiled and ".." not in file.parts and "__pycache__" not in file.parts:
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), target)
    return folder


@contextlib.contextmanager
def worker_in(image: str, address: str, packages: Path, shared: Path) -> Iterator[str]:
    """Run a worker in a container, hardened as on the platform; yield the container's name."""
    name = f"evaluation-worker-{os.getpid()}"
    docker(
        *("run", "--detach", "--rm", "--name", name, "--network=host", *OPTIONS),
        *("--env=PYTHONPATH=/opt/dask:/opt/evaluation", "--env=DASK_LOGGING__DISTRIBUTED=critical"),
        f"--mount=type=bind,source={packages},target=/opt/dask,readonly",
        f"--mount=type=bind,source={shared},target={shared},readonly",
        *("--entrypoint=/opt/evaluation/venv/bin/python", image, "-m", "distributed.cli.dask_worker"),
        *(address, "--nthreads=1", "--memory-limit=2GiB", "--no-dashboard", "--local-directory=/tmp/dask"),
    )
    try:
        yield name
    finally:
        subprocess.run(["docker", "rm", "--force", name], capture_output=True, check=False)


@pytest.fixture
def _own_challenges_alone(monkeypatch):
    """Keep away the challenges that other tests add, which the image does not have."""
    monkeypatch.delenv("EVALUATION_CHALLENGES", raising=False)


@pytest.mark.skipif(sys.platform != "linux", reason="shares the network of the host")
@pytest.mark.usefixtures("_own_challenges_alone")
def test_workers_in_containers_write_the_bytes_of_this_machine(
    images_of_the_package, dask_packages, tmp_path
):
    shared = tmp_path / "shared"
    phase, submissions = write_teams(shared)
    seal(phase, scan(phase))
    for path in (tmp_path, *shared.rglob("*"), shared):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for parent in list(tmp_path.parents)[:2]:
        parent.chmod(0o755)
    tasks = tasks_of(phase, submissions)
    list(score_all(tasks, tmp_path / "here", Here()))
    with (
        Dask(tmp_path / "scratch", 0) as dask,
        worker_in(images_of_the_package["builder"], dask.address, dask_packages, shared),
    ):
        engine = OnCluster(dask.address, None, lambda line: None)
        answers = {task.place: answer for task, answer in score_all(tasks, tmp_path / "there", engine)}
    assert {place: answer.kind for place, answer in answers.items()} == BEFORE, answers
    assert results_in(tmp_path / "there") == results_in(tmp_path / "here")
