"""Files below an untrusted folder, with and without descriptors of folders."""

import os
import socket
import stat
from pathlib import Path

import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.files import FileStream, OpenFolder, ReadBuffer, list_below, read_into, sha256_of
from test.failing_calls import Calls, counted
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
def test_odd_names_are_names_and_the_root_may_be_a_link(root, name, tmp_path):
    (root / name).write_bytes(b"odd")
    (tmp_path / "alias").symlink_to(root)
    assert bytes(ReadBuffer().read(tmp_path / "alias", name, limit_bytes=LIMIT)) == b"odd"


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


def test_a_device_and_a_socket_are_refused(root, monkeypatch):
    with faulted(ReadError, "a device", kind=FaultKind.FORBIDDEN):
        ReadBuffer().read("/dev", "zero", limit_bytes=LIMIT)
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


@pytest.fixture(params=["descriptors of folders", "paths"])
def root_d(request, monkeypatch, tmp_path):
    if request.param == "paths":
        imitate(WINDOWS, monkeypatch)
    (tmp_path / "in" / "job" / "output").mkdir(parents=True)
    (tmp_path / "in" / "job" / "output" / "a.png").write_bytes(b"a\r\n\x1ab")
    (tmp_path / "in" / "job" / "output" / "link").symlink_to("a.png")
    (tmp_path / "in" / "link").symlink_to("job")
    return str(tmp_path / "in")


def test_a_folder_is_listed_with_what_its_entries_are(root_d):
    found = {name: stat.S_IFMT(mode) for name, mode in list_below(root_d, "job/output")}
    assert found == {"a.png": stat.S_IFREG, "link": stat.S_IFLNK}
    assert [name for name, _ in list_below(root_d, "job")] == ["output"]


@pytest.mark.parametrize("path", ["link", "link/output", "..", "job/../job"])
def test_no_folder_is_listed_through_a_link_or_out_of_the_root(root_d, path):
    with pytest.raises(ReadError):
        list_below(root_d, path)


def test_every_byte_is_read_as_it_is(root_d):
    descriptor = OpenFolder().open_below(root_d, "job/output/a.png")
    try:
        buffer = bytearray(9)
        assert read_into(descriptor, memoryview(buffer)[:3]) == 3
        assert read_into(descriptor, memoryview(buffer)[3:]) == 2
        assert read_into(descriptor, memoryview(buffer)[5:]) == 0
    finally:
        os.close(descriptor)
    assert bytes(buffer[:5]) == b"a\r\n\x1ab"


def test_a_file_that_is_replaced_while_it_is_opened_is_refused(tmp_path, monkeypatch):
    imitate(WINDOWS, monkeypatch)
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "labels").write_bytes(b"labels")

    class Replacing(Calls):
        def __call__(self, kind, path=None):
            if kind == "open" and path == str(tmp_path / "a"):
                (tmp_path / "labels").replace(path)

    with (
        counted(Replacing(tmp_path)),
        faulted(ReadError, "one that was replaced while it was opened"),
    ):
        OpenFolder().open_below(str(tmp_path), "a")


@pytest.mark.parametrize("path", ["..\\labels", "C:labels", "a.png:labels"])
def test_windows_has_further_ways_out(tmp_path, monkeypatch, path):
    imitate(WINDOWS, monkeypatch)
    (tmp_path / path).write_bytes(b"labels")
    with faulted(ReadError, path, kind=FaultKind.FORBIDDEN):
        OpenFolder().open_below(str(tmp_path), path)


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="folders have no descriptors here")
def test_a_folder_stays_open_and_is_not_exchanged_for_a_link(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for name in ("1", "2"):
            (tmp_path / folder / name).write_text(folder + name)
    opened = OpenFolder()

    def content(path: str) -> str:
        with os.fdopen(opened.open_below(str(tmp_path), path)) as file:
            return file.read()

    assert content("a/1") == "a1"
    (tmp_path / "a").rename(tmp_path / "moved")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    assert content("a/2") == "a2"
    assert content("b/1") == "b1"
    with pytest.raises(ReadError):
        content("a/2")
    opened.close()
    opened.close()


def test_pieces_make_up_the_file_and_are_observed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.bin").write_bytes(bytes(range(100)))
    observed = bytearray()
    with FileStream(str(tmp_path), "a/b.bin", 100, observed.extend) as stream:
        assert stream.size == 100
        assert stream.read(3) == b"\0\1\2"
        piece = bytearray(40)
        assert stream.readinto(memoryview(piece)) == 40
        assert piece == bytes(range(3, 43))
        stream.drain()
        assert stream.read(1) == b""
    assert observed == bytes(range(100))


def test_parts_are_read_from_anywhere_without_moving(tmp_path):
    content = os.urandom(1000)
    (tmp_path / "a").write_bytes(content)
    with FileStream(str(tmp_path), "a", 1000) as stream:
        assert (len(stream), stream.read(10)) == (1000, content[:10])
        for part in (slice(0, 4), slice(990, 2000), slice(5, 5), slice(2000, 3000), slice(7, 900)):
            assert bytes(stream[part]) == content[part]
        assert stream.read(1000) == content[10:]


def test_sha256_of_the_standards_example():
    """FIPS 180-2, appendix B.1."""
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_of(b"abc") == sha256_of(memoryview(b"xabc")[1:]) == expected
