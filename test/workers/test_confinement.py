"""What a reader can reach: the submission and what Python imports, and nothing else."""

import subprocess
import sys

import pytest

from evaluation.workers import confinement
from evaluation.workers.confinement import landlock_version, missing_confinement
from test.repository import REPOSITORY

needs_landlock = pytest.mark.skipif(landlock_version() == 0, reason="this kernel offers no Landlock")

TRIES = {
    "read its files": ("open(folder + '/inside.txt').read()", None, 1),
    "list its folder": ("os.listdir(folder)", None, 1),
    "import a library": ("import PIL.Image, SimpleITK, tifffile", None, 1),
    "decode in memory": ("os.memfd_create('x')", None, 1),
    "be silent": ("open('/dev/null', 'w')", None, 1),
    "read what lies beside it": ("open(folder + '/../labels.csv').read()", "PermissionError", 1),
    "follow a link out": ("open(folder + '/link').read()", "PermissionError", 1),
    "list what lies beside it": ("os.listdir(folder + '/..')", "PermissionError", 1),
    "read bundled phases": ("os.listdir(repository + '/ground-truth')", "PermissionError", 1),
    "write into its folder": ("open(folder + '/new', 'w')", "PermissionError", 1),
    "truncate": ("os.truncate(folder + '/inside.txt', 0)", "PermissionError", 3),
    "write elsewhere": ("open(folder + '/../new.txt', 'w')", "PermissionError", 1),
    "remove": ("os.remove(folder + '/inside.txt')", "PermissionError", 1),
    "execute": ("os.execv(sys.executable, [sys.executable])", "PermissionError", 1),
    "look at its parent": ("open(f'/proc/{os.getppid()}/environ')", "PermissionError", 1),
    "connect": ("socket.create_connection(('127.0.0.1', 9))", "PermissionError", 4),
    "listen": ("socket.create_server(('127.0.0.1', 0))", "PermissionError", 4),
    "signal its parent": ("os.kill(os.getppid(), 0)", "PermissionError", 6),
}


@needs_landlock
@pytest.mark.parametrize("name", TRIES)
def test_what_a_confined_process_can_do(name, tmp_path):
    code, error, version = TRIES[name]
    if landlock_version() < version:
        pytest.skip(f"Landlock is of version {landlock_version()} here")
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "inside.txt").write_text("inside")
    (tmp_path / "labels.csv").write_text("labels")
    (folder / "link").symlink_to(tmp_path / "labels.csv")
    program = (
        "import os, socket, sys\n"
        "from evaluation.workers.confinement import confine\n"
        "folder, repository = sys.argv[1:]\n"
        "confine(folder)\n"
        f"try: {code}\n"
        "except OSError as error: print(type(error).__name__)\n"
        "else: print(None)\n"
    )
    command = [sys.executable, "-c", program, str(folder), str(REPOSITORY)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=True)
    assert done.stdout.strip() == str(error)


@pytest.mark.parametrize(
    ("version", "told"),
    [(0, "Readers are not confined"), (3, "the network and signals"), (4, "Readers keep signals"), (6, None)],
)
def test_what_is_missing_is_told_in_one_line(version, told, monkeypatch):
    monkeypatch.setattr(confinement, "landlock_version", lambda: version)
    missing = missing_confinement()
    assert missing is None if told is None else told in missing
    assert missing is None or "\n" not in missing


def test_without_landlock_nothing_happens(monkeypatch, tmp_path):
    monkeypatch.setattr(confinement, "landlock_version", lambda: 0)
    confinement.confine(str(tmp_path))
    assert (REPOSITORY / "pyproject.toml").read_text()
