"""Files below an untrusted folder, with and without descriptors of folders; see also test_buffer."""

import os
import stat

import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.files import OpenFolder, list_below, read_into
from test.failing_calls import Calls, counted
from test.faults import faulted
from test.systems.features import WINDOWS, imitate


@pytest.fixture(params=["descriptors of folders", "paths"])
def root(request, monkeypatch, tmp_path):
    if request.param == "paths":
        imitate(WINDOWS, monkeypatch)
    (tmp_path / "in" / "job" / "output").mkdir(parents=True)
    (tmp_path / "in" / "job" / "output" / "a.png").write_bytes(b"a\r\n\x1ab")
    (tmp_path / "in" / "job" / "output" / "link").symlink_to("a.png")
    (tmp_path / "in" / "link").symlink_to("job")
    return str(tmp_path / "in")


def test_a_folder_is_listed_with_what_its_entries_are(root):
    found = {name: stat.S_IFMT(mode) for name, mode in list_below(root, "job/output")}
    assert found == {"a.png": stat.S_IFREG, "link": stat.S_IFLNK}
    assert [name for name, _ in list_below(root, "job")] == ["output"]


@pytest.mark.parametrize("path", ["link", "link/output", "..", "job/../job"])
def test_no_folder_is_listed_through_a_link_or_out_of_the_root(root, path):
    with pytest.raises(ReadError):
        list_below(root, path)


def test_what_is_no_folder_is_not_listed(root):
    with pytest.raises(NotADirectoryError):
        list_below(root, "job/output/a.png")
    with pytest.raises(FileNotFoundError):
        list_below(root, "job/outputs")


def test_every_byte_is_read_as_it_is(root):
    descriptor = OpenFolder().open_below(root, "job/output/a.png")
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
