"""A file is whole or absent: full disks, read-only ones, links and writers at once."""

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.core.trouble import MachineTrouble
from evaluation.io import files
from evaluation.io.files import scratch_folder, write_atomically


def names_in(folder):
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch, step):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(MachineTrouble, match=r"write .*metrics\.json: .* short of space on the disk"):
        write_atomically(tmp_path / "metrics.json", b"{}")
    assert names_in(tmp_path) == []


def test_only_what_must_outlast_the_machine_is_synced(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    write_atomically(tmp_path / "first.json", b"first", synced=False)
    assert (tmp_path / "first.json").read_bytes() == b"first"
    assert synced == []
    write_atomically(tmp_path / "second.json", b"second")
    assert len(synced) == 1


def test_a_real_limit_on_size_leaves_nothing_half_written(tmp_path):
    # RLIMIT_FSIZE is what a full disk looks like without one: the write itself falls short.
    program = f"""
import resource, signal, sys
from pathlib import Path
from evaluation.core.trouble import MachineTrouble
from evaluation.io.files import write_atomically
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, {resource.getrlimit(resource.RLIMIT_FSIZE)[1]}))
try:
    write_atomically(Path(sys.argv[1]) / "metrics.json", b"x" * 1_000_000)
except MachineTrouble as error:
    print(error.lack)
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "permitted size of files\n"
    assert names_in(tmp_path) == []


def test_a_folder_that_cannot_be_written_to_is_told_as_such(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        write_atomically(tmp_path / "file" / "metrics.json", b"{}")

    def read_only(path, *arguments, **named):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(OSError, match="Read-only file system") as caught:
        write_atomically(tmp_path / "metrics.json", b"{}")
    assert caught.value.filename == str(tmp_path / "metrics.json")


def test_no_link_is_followed(tmp_path, monkeypatch):
    (tmp_path / "other").write_text("other")
    monkeypatch.setattr("secrets.token_hex", lambda digits: "0")
    (tmp_path / ".metrics.json.0.part").symlink_to(tmp_path / "other")
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "metrics.json", b"{}")
    assert (tmp_path / "other").read_text() == "other"
    assert names_in(tmp_path) == [".metrics.json.0.part", "other"]


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    program = """
import sys
from pathlib import Path
from evaluation.io.files import write_atomically
for _ in range(200):
    write_atomically(Path(sys.argv[1]), sys.argv[2].encode() * 100_000)
"""
    path = tmp_path / "new" / "metrics.json"
    writers = [subprocess.Popen([sys.executable, "-c", program, path, letter]) for letter in "abc"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            data = path.read_bytes()
            assert len(data) == 100_000
            seen |= set(data)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert len(set(path.read_bytes())) == 1
    assert seen <= set(b"abc")
    assert names_in(path.parent) == ["metrics.json"]


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


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_swept", set())
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (tmp_path / "lane-of-a-team").mkdir()
    (tmp_path / ".notes.part").write_text("")
    assert len(names_in(tmp_path)) == 4
    with scratch_folder("lane-", tmp_path) as mine:
        monkeypatch.setattr(files, "_swept", set())  # as another process would begin
        write_atomically(tmp_path / "metrics.json", b"whole")
        with scratch_folder("lane-", tmp_path) as other:
            assert mine.is_dir()
            assert other.is_dir()
    assert sorted(names_in(tmp_path)) == [".notes.part", "lane-of-a-team", "metrics.json"]


def test_a_temporary_file_of_a_living_process_stays(tmp_path, monkeypatch):
    def other_process_looks(descriptor):
        monkeypatch.setattr(files, "_swept", set())
        files.remove_abandoned(tmp_path)

    monkeypatch.setattr(os, "fsync", other_process_looks)
    write_atomically(tmp_path / "metrics.json", b"{}")
    assert names_in(tmp_path) == ["metrics.json"]
