"""A file is whole or absent: full disks, read-only ones, links and writers at once."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.io.files import write_atomically


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
    with pytest.raises(OSError, match="No space left on device"):
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
from evaluation.io.files import write_atomically
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, {resource.getrlimit(resource.RLIMIT_FSIZE)[1]}))
try:
    write_atomically(Path(sys.argv[1]) / "metrics.json", b"x" * 1_000_000)
except OSError as error:
    print(error.strerror)
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "File too large\n"
    assert names_in(tmp_path) == []


def test_a_folder_that_cannot_be_written_to_is_told_as_such(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        write_atomically(tmp_path / "file" / "metrics.json", b"{}")

    def read_only(self, *arguments, **named):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "open", read_only)
    monkeypatch.setattr(Path, "unlink", read_only)
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
