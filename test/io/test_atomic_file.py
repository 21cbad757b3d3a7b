"""A file is whole or absent: full disks, read-only ones, links and writers at once."""

import errno
import os
import signal
import subprocess
import sys
import tempfile

import pytest

from evaluation.core.trouble import MachineTrouble
from evaluation.io.files import scratch_folder, write_atomically
from test.failing_calls import Calls, counted


def names_in(folder):
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("step", ["write", "fsync", "rename"])
def test_a_full_disk_leaves_nothing_half_written(tmp_path, step):
    path = tmp_path / "metrics.json"
    with counted(Calls(tmp_path, step, 1, "ENOSPC")), pytest.raises(MachineTrouble) as raised:
        write_atomically(path, b"{}")
    assert raised.value.args == ("write", str(path), "space on the disk")
    assert names_in(tmp_path) == []


def test_only_what_must_outlast_the_machine_is_synced(tmp_path):
    with counted(Calls(tmp_path)) as calls:
        write_atomically(tmp_path / "first.json", b"first", synced=False)
        assert (tmp_path / "first.json").read_bytes() == b"first"
        assert calls.counts["fsync"] == 0
        write_atomically(tmp_path / "second.json", b"second")
        assert calls.counts["fsync"] == 1


def test_a_folder_that_cannot_be_written_to_is_told_as_such(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        write_atomically(tmp_path / "file" / "metrics.json", b"{}")
    with counted(Calls(tmp_path, "open", 1, "EROFS")), pytest.raises(OSError, match="metrics") as caught:
        write_atomically(tmp_path / "metrics.json", b"{}")
    assert (caught.value.errno, caught.value.filename) == (errno.EROFS, str(tmp_path / "metrics.json"))


def test_no_link_is_followed(tmp_path, monkeypatch):
    (tmp_path / "other").write_text("other")
    monkeypatch.setattr("secrets.token_hex", lambda digits: "0")
    (tmp_path / ".metrics.json.0.part").symlink_to(tmp_path / "other")
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "metrics.json", b"{}")
    assert (tmp_path / "other").read_text() == "other"
    assert names_in(tmp_path) == [".metrics.json.0.part", "other"]


KILLED = """
import os, signal, sys
from pathlib import Path
from evaluation.io.files import scratch_folder, write_atomically
folder = Path(sys.argv[1])
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
with scratch_folder("lane-", folder) as scratch:
    (scratch / "file").write_text("")
    write_atomically(folder / "metrics.json", b"half")
"""


NEXT = """
import sys
import tempfile
from pathlib import Path
from evaluation.io.files import scratch_folder, write_atomically
folder = Path(sys.argv[1])
write_atomically(folder / "metrics.json", b"whole")
with scratch_folder("lane-", folder) as scratch:
    assert scratch.is_dir()
"""


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (tmp_path / "lane-of-a-team").mkdir()
    (tmp_path / ".notes.part").write_text("")
    assert len(names_in(tmp_path)) == 4
    with scratch_folder("lane-", tmp_path) as mine:
        subprocess.run([sys.executable, "-c", NEXT, str(tmp_path)], check=True)
        assert mine.is_dir()
    assert sorted(names_in(tmp_path)) == [".notes.part", "lane-of-a-team", "metrics.json"]


def test_a_temporary_file_of_a_living_process_stays(tmp_path, monkeypatch):
    def other_process_looks(descriptor):
        subprocess.run([sys.executable, "-c", NEXT, str(tmp_path)], check=True)

    monkeypatch.setattr(os, "fsync", other_process_looks)
    write_atomically(tmp_path / "own.json", b"{}")
    assert sorted(names_in(tmp_path)) == ["metrics.json", "own.json"]


def test_a_folder_that_another_process_removes_before_it_is_locked_is_made_anew(tmp_path, monkeypatch):
    made = tempfile.mkdtemp

    def other_process_looks(*, prefix, dir):
        folder = made(prefix=prefix, dir=dir)
        if len(names_in(tmp_path)) == 1:
            subprocess.run([sys.executable, "-c", NEXT, str(tmp_path)], check=True)
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", other_process_looks)
    with scratch_folder("lane-", tmp_path) as mine:
        assert mine.is_dir()
        assert sorted(names_in(tmp_path)) == sorted([mine.name, "metrics.json"])
