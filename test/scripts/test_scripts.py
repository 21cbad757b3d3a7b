"""The shell scripts in a copy of the repository, with stand-ins for Docker and Python."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from test.repository import REPOSITORY

ENVIRONMENT = "scripts/environment.sh"
SCRIPTS = ("build.sh", "export.sh", "run.sh", "test.sh", "scripts/audience.sh", "scripts/platform.sh")

NO_ENGINE = 'echo "Cannot connect to the Docker daemon" >&2; exit 1'
FULL_DISK = """case $1 in
  info) ;;
  *) echo "write /var/lib/docker/tmp: no space left on device" >&2; exit 1 ;;
esac"""
ANSWERS = "exit 0"
# stands in for the environment's Python: notes what it was called with, and writes the result
PYTHON = """echo "$*" >>"$PYTHON_LOG"
case "$*" in
  *' evaluate '*) [[ -z ${REJECTED:-} ]] || { echo 'masks/a.png: is missing' >&2; exit 1; }
                  echo '{}' >"${!#}/metrics.json" ;;
  *' summary '*) echo 'the main figures' ;;
  *vl_convert*) exit "${WITHOUT_REPORTS:-0}" ;;
  *' report '*) echo '<html>' >"${!#}" ;;
esac"""


class Copy:
    """A copy of the scripts with two phases, alpha and beta, of which only alpha has a submission."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.programs = folder / "programs"
        self.python_log = folder / "python.log"
        for name in (*SCRIPTS, ENVIRONMENT):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, self.folder / name)
        for phase in ("alpha", "beta"):
            (self.folder / "ground-truth" / phase).mkdir(parents=True)
            (self.folder / "ground-truth" / phase / "phase.toml").touch()
        (self.folder / "ground-truth/not-a-phase").mkdir()
        (self.folder / "test/input/alpha").mkdir(parents=True)
        for name in ("requirements.txt", "requirements-dev.txt"):
            (self.folder / name).write_text(f"# {name}\n")

    def program(self, name: str, body: str) -> None:
        self._write(self.programs / name, body)

    def environment_is_ready(self) -> None:
        """Put a stand-in into .venv, marked as finished."""
        self._write(self.folder / ".venv/bin/python", PYTHON)
        shutil.copy(self.folder / "requirements.txt", self.folder / ".venv")

    def run(self, script: str, *arguments: str, cwd: Path | None = None, **variables: str):
        path = f"{self.programs}:{os.environ['PATH']}"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("EVALUATION_")}
        return subprocess.run(
            [self.folder / script, *arguments],
            cwd=cwd or self.folder,
            env={**environment, "PATH": path, "PYTHON_LOG": str(self.python_log), **variables},
            capture_output=True,
            text=True,
            timeout=60,
        )

    @staticmethod
    def _write(path: Path, body: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def copy(tmp_path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.parametrize("script", ["build.sh", "export.sh", "run.sh"])
def test_unknown_phase(copy, script):
    copy.program("docker", NO_ENGINE)
    for phase in ("gamma", "not-a-phase", "../alpha", " ", "-x"):
        finished = copy.run(script, phase)
        assert (finished.returncode, finished.stdout) == (1, "")
        assert "unknown phase '" in finished.stderr
        assert finished.stderr.endswith("ground-truth/ has: alpha, beta\n")


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_is_the_comment_at_the_head(copy, script):
    finished = copy.run(script, "--help")
    assert copy.run(script, "-h").stdout == finished.stdout
    assert (finished.returncode, finished.stderr) == (0, "")
    head, _, _ = (copy.folder / script).read_text().partition("\nset -e")
    assert finished.stdout == "".join(f"{line[2:]}\n" for line in head.splitlines()[1:])


@pytest.mark.parametrize("script", ["build.sh", "export.sh", "run.sh"])
def test_a_phase_is_asked_for_and_an_engine_needed(copy, script):
    copy.program("docker", NO_ENGINE)
    finished = copy.run(script, "alpha", EVALUATION_ENGINE="docker")
    assert finished.returncode == 1
    assert "no Docker engine answers (Cannot connect to the Docker daemon)" in finished.stderr
    assert "Start it" in finished.stderr
    if script != "run.sh":
        finished = copy.run(script)
        assert finished.returncode == 1
        assert finished.stderr.startswith(f"{script}: which phase? Usage: ./{script} PHASE")


@pytest.mark.parametrize(
    ("script", "phase", "command"),
    [
        ("build.sh", "alpha", "build ground-truth/alpha"),
        ("build.sh", "--base", "build --without-phase"),
        ("build.sh", "elsewhere/mine", "build {caller}/elsewhere/mine"),
        ("export.sh", "alpha", "export ground-truth/alpha --output export/alpha"),
        (
            "export.sh",
            "elsewhere/mine",
            "export {caller}/elsewhere/mine --output {caller}/elsewhere/mine/export",
        ),
    ],
)
def test_the_package_builds_and_exports_with_further_arguments_for_the_engine(
    copy, tmp_path, script, phase, command
):
    copy.program("docker", ANSWERS)
    copy.environment_is_ready()
    (tmp_path / "elsewhere/mine/phase").mkdir(parents=True)
    (tmp_path / "elsewhere/mine/phase/phase.toml").touch()
    finished = copy.run(script, phase, "--no-cache", "--label", "key=two words", cwd=tmp_path)
    assert (finished.returncode, finished.stderr) == (0, "")
    further = " --docker=--no-cache --docker=--label --docker=key=two words"
    assert copy.python_log.read_text() == f"-m evaluation {command.format(caller=tmp_path)}{further}\n"


class TestRun:
    def test_local_where_no_engine_answers(self, copy):
        copy.program("docker", NO_ENGINE)
        copy.environment_is_ready()
        finished = copy.run("run.sh", "alpha")
        assert finished.returncode == 0, finished.stderr
        assert "in the local environment .venv" in finished.stderr
        assert "installing" not in finished.stderr
        assert finished.stdout == "the main figures\n"
        assert (copy.folder / "output/alpha/metrics.json").exists()
        report = copy.folder / "output/alpha/report.html"
        assert report.exists()
        assert f"run.sh: wrote {report}, which holds labels" in finished.stderr
        # The phase in the repository stays as it is.
        sealed = next(line for line in copy.python_log.read_text().splitlines() if " seal " in line)
        assert "ground-truth" in sealed
        assert str(copy.folder) not in sealed
        assert " seal ground-truth/alpha" not in sealed

    def test_output_folder_is_relative_to_the_caller(self, copy, tmp_path):
        copy.environment_is_ready()
        caller = tmp_path / "a caller's folder"
        caller.mkdir()
        finished = copy.run("run.sh", "alpha", "new/results", cwd=caller, EVALUATION_ENGINE="local")
        assert finished.returncode == 0, finished.stderr
        assert (caller / "new/results/metrics.json").exists()

    def test_a_rejection_leaves_no_older_result_and_no_report_without_its_packages(self, copy):
        copy.environment_is_ready()
        assert copy.run("run.sh", "alpha", EVALUATION_ENGINE="local").returncode == 0
        finished = copy.run("run.sh", "alpha", EVALUATION_ENGINE="local", WITHOUT_REPORTS="1")
        assert (finished.returncode, finished.stdout) == (0, "the main figures\n")
        assert "install --quiet --quiet" in copy.python_log.read_text()
        assert finished.stderr.endswith("could not be installed\n")
        assert not (copy.folder / "output/alpha/report.html").exists()
        finished = copy.run("run.sh", "alpha", EVALUATION_ENGINE="local", REJECTED="1")
        assert finished.returncode == 1
        assert finished.stderr.endswith("masks/a.png: is missing\n")
        assert not (copy.folder / "output/alpha/metrics.json").exists()

    def test_what_it_cannot_run(self, copy):
        finished = copy.run("run.sh", "beta", EVALUATION_ENGINE="local")
        assert finished.returncode == 1
        assert finished.stderr == "run.sh: there is no submission test/input/beta/\n"
        finished = copy.run("run.sh", "alpha", EVALUATION_ENGINE="podman")
        assert finished.returncode == 1
        assert "EVALUATION_ENGINE is 'podman'" in finished.stderr
        assert copy.run("run.sh", "alpha", "out", "more").returncode == 1


class TestAudience:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["alpha"], "audience.sh: Usage: ./run.sh --audience PHASE SUBMISSION [SECONDS]"),
            (["gamma", "test/input/alpha"], "audience.sh: unknown phase 'gamma'"),
            (["alpha", "nothing.zip"], "audience.sh: there is no submission "),
            (["alpha", "test/input/alpha", "1h"], "audience.sh: the time limit is '1h'; expected seconds"),
            (["alpha", "test/input/alpha"], "audience.sh: no Docker engine answers"),
        ],
    )
    def test_what_it_needs(self, copy, arguments, message):
        copy.program("docker", NO_ENGINE)
        finished = copy.run("run.sh", "--audience", *arguments)
        assert finished.returncode == 1
        assert finished.stderr.startswith(message)

    def test_an_image_that_is_not_built(self, copy):
        copy.program("docker", FULL_DISK)
        finished = copy.run("run.sh", "--audience", "alpha", "test/input/alpha")
        assert finished.returncode == 1
        assert "no space left on device" in finished.stderr
        assert finished.stderr.endswith("audience.sh: the image of alpha could not be built\n")


class TestLocalEnvironment:
    def test_no_python_is_new_enough(self, copy):
        for name in ("python3.13", "python3.12", "python3.11", "python3"):
            copy.program(name, "exit 1")
        finished = copy.run("run.sh", "alpha", EVALUATION_ENGINE="local")
        assert finished.returncode == 1
        assert "found no Python 3.11 or later with venv" in finished.stderr
        assert not (copy.folder / ".venv").exists()

    def test_changed_requirements_are_installed_again(self, copy):
        copy.environment_is_ready()
        (copy.folder / "requirements.txt").write_text("# changed\n")
        for _ in range(2):
            assert copy.run("run.sh", "alpha", EVALUATION_ENGINE="local").returncode == 0
        installs = [line for line in copy.python_log.read_text().splitlines() if " install " in line]
        assert len(installs) == 1
        assert "--require-hashes --requirement requirements.txt" in installs[0]

    def test_an_installation_that_fails_is_not_taken_for_finished(self, copy):
        copy.environment_is_ready()
        (copy.folder / "requirements.txt").write_text("# changed\n")
        failing = copy.folder / ".venv/bin/python"
        failing.write_text(
            failing.read_text().replace("case", "[[ $* != *' install '* ]] || exit 1\ncase", 1)
        )
        for _ in range(2):
            finished = copy.run("run.sh", "alpha", EVALUATION_ENGINE="local")
            assert finished.returncode == 1
            assert "could not install requirements.txt into .venv" in finished.stderr

    def test_what_the_tests_need_includes_what_the_package_needs(self, copy):
        copy.environment_is_ready()
        finished = copy.run("test.sh", "-k", "some name")
        assert finished.returncode == 0, finished.stderr
        called = copy.python_log.read_text().splitlines()[-1]
        assert called.startswith("-m pytest ")
        assert called.endswith(" -k some name")
        copy.run("run.sh", "alpha", EVALUATION_ENGINE="local")
        installs = [line for line in copy.python_log.read_text().splitlines() if " install " in line]
        assert len(installs) == 1
        assert installs[0].endswith("--requirement requirements-dev.txt")
