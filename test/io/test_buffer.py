import os
import socket
from pathlib import Path

import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.files import ReadBuffer
from test.faults import faulted
from test.systems.features import WINDOWS, imitate

LIMIT = 100


def open_descriptors():
    """Return how many descriptors are open; unknown without /proc."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else None


@pytest.fixture(params=["folders can be opened", "only files can be opened"])
def way(request, monkeypatch):
    """Read as Linux and macOS do, and as Windows does."""
    if request.param == "only files can be opened":
        imitate(WINDOWS, monkeypatch)


@pytest.fixture
def root(way, tmp_path):
    folder = tmp_path / "input"
    (folder / "disc").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "labels.csv").write_bytes(b"secret")
    (folder / "disc" / "a.png").write_bytes(b"pixels")
    (folder / "empty.png").write_bytes(b"")
    (folder / "large.png").write_bytes(bytes(LIMIT + 1))
    (folder / "link.png").symlink_to(folder / "disc" / "a.png")
    (folder / "dangling.png").symlink_to(folder / "nowhere")
    (folder / "folder-link").symlink_to(tmp_path / "secret")
    (folder / "device.png").symlink_to("/dev/zero")
    (folder / "new\nline.png").write_bytes(b"newline")
    os.mkfifo(folder / "pipe.png")
    return folder


def test_reads_a_file_and_reuses_its_memory(root):
    (root / "b").write_bytes(b"other")
    buffer = ReadBuffer()
    first = buffer.read(root, "disc/a.png", limit_bytes=LIMIT)
    assert (bytes(first), first.readonly) == (b"pixels", True)
    second = buffer.read(str(root), "b", limit_bytes=LIMIT)
    assert bytes(second) == b"other"
    assert bytes(first) == b"others"


def test_a_larger_file_leaves_earlier_views_alone(root):
    buffer = ReadBuffer()
    first = buffer.read(root, "disc/a.png", limit_bytes=LIMIT)
    assert bytes(buffer.read(root, "large.png", limit_bytes=LIMIT + 1)) == bytes(LIMIT + 1)
    assert bytes(first) == b"pixels"


@pytest.mark.parametrize("name", ["new\nline.png", os.fsdecode(b"\xff.png")])
def test_odd_names_are_names(root, name):
    (root / name).write_bytes(b"odd")
    assert bytes(ReadBuffer().read(root, name, limit_bytes=LIMIT)) == b"odd"


def test_the_root_may_be_a_link(root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    assert bytes(ReadBuffer().read(tmp_path / "alias", "disc/a.png", limit_bytes=LIMIT)) == b"pixels"


@pytest.mark.parametrize(
    ("path", "kind", "found"),
    [
        ("link.png", FaultKind.FORBIDDEN, "a symbolic link"),
        ("dangling.png", FaultKind.FORBIDDEN, "a symbolic link"),
        ("device.png", FaultKind.FORBIDDEN, "a symbolic link"),
        ("folder-link/labels.csv", FaultKind.FORBIDDEN, "a symbolic link"),
        ("pipe.png", FaultKind.FORBIDDEN, "a named pipe"),
        ("disc", FaultKind.FORBIDDEN, "a folder"),
        ("../secret/labels.csv", FaultKind.FORBIDDEN, '"../secret/labels.csv"'),
        ("disc/../empty.png", FaultKind.FORBIDDEN, '"disc/../empty.png"'),
        ("/etc/passwd", FaultKind.FORBIDDEN, '"/etc/passwd"'),
        ("a\0b", FaultKind.FORBIDDEN, '"a\0b"'),
        ("", FaultKind.FORBIDDEN, '""'),
        ("large.png", FaultKind.TOO_LARGE, "101 bytes"),
        ("empty.png", FaultKind.UNREADABLE, "an empty file"),
        ("missing.png", FaultKind.MISSING, "no such file"),
        ("missing/a.png", FaultKind.MISSING, "no such file"),
        ("empty.png/a.png", FaultKind.UNREADABLE, "a file in place of a folder"),
        ("a" * 300, FaultKind.UNREADABLE, "a name that is too long"),
    ],
    ids=str,
)
def test_refuses(root, path, kind, found):
    before = open_descriptors()
    buffer = ReadBuffer()
    with pytest.raises(ReadError) as caught:
        buffer.read(root, path, limit_bytes=LIMIT)
    assert (caught.value.kind, caught.value.found) == (kind, found)
    buffer.close()
    assert open_descriptors() == before


def test_a_device_is_refused():
    with faulted(ReadError, "a device", kind=FaultKind.FORBIDDEN):
        ReadBuffer().read("/dev", "zero", limit_bytes=LIMIT)


def test_a_socket_is_refused(root, monkeypatch):
    monkeypatch.chdir(root)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with faulted(ReadError, "a socket", kind=FaultKind.FORBIDDEN):
            ReadBuffer().read(root, "socket", limit_bytes=LIMIT)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_unreadable(root):
    (root / "disc" / "a.png").chmod(0)
    with faulted(ReadError, "a file that may not be read", kind=FaultKind.UNREADABLE):
        ReadBuffer().read(root, "disc/a.png", limit_bytes=LIMIT)


def test_a_file_may_be_empty_where_that_means_something(tmp_path):
    (tmp_path / "boxes.txt").write_bytes(b"")
    assert bytes(ReadBuffer().read(tmp_path, "boxes.txt", limit_bytes=10, may_be_empty=True)) == b""
