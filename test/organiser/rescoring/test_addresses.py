"""Folders and files by path and by address, with fsspec's memory for a file system elsewhere."""

import os
import posixpath
import subprocess
import sys
from typing import ClassVar

import fsspec
import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.rescoring.submissions import (
    entries_of,
    fetch,
    is_address,
    local_path,
    submission_digest,
)
from test.faults import faulted


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    for path in ("/b/teams/one/mask.png", "/b/teams/two.zip", "/b/teams/.hidden", "/b/teams/one/inner/x.csv"):
        system.pipe(path, path.encode())
    yield "memory://b/teams"
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_paths_and_file_addresses_are_local(tmp_path):
    assert [is_address(text) for text in ("a/b", "file:///a", "s3://b")] == [False, True, True]
    assert local_path(str(tmp_path)) == local_path(f"file://{tmp_path}") == tmp_path
    assert str(local_path("file:///a%20b")) == "/a b"
    assert local_path("s3://bucket/a") is None


def test_entries_are_the_same_by_path_and_by_address(memory, tmp_path):
    (tmp_path / "one").mkdir()
    for name in ("two.zip", ".hidden"):
        (tmp_path / name).write_bytes(b"")
    kinds = [[(e.name, e.is_folder, e.is_file) for e in entries_of(f)] for f in (str(tmp_path), memory)]
    assert kinds[0] == kinds[1] == [("one", True, False), ("two.zip", False, True)]
    assert [entry.location for entry in entries_of(memory)] == [
        "memory:///b/teams/one",
        "memory:///b/teams/two.zip",
    ]


def test_files_and_folders_are_fetched_with_their_names(memory, tmp_path):
    file = fetch(f"{memory}/two.zip", tmp_path)
    assert (file, file.read_bytes()) == (tmp_path / "two.zip", b"/b/teams/two.zip")
    folder = fetch(f"{memory}/one/", tmp_path)
    assert folder == tmp_path / "one"
    assert (folder / "inner" / "x.csv").read_bytes() == b"/b/teams/one/inner/x.csv"
    with pytest.raises(FileNotFoundError):
        fetch(f"{memory}/three", tmp_path)
    fsspec.filesystem("memory").mkdir("/b/empty")
    assert list(fetch("memory://b/empty", tmp_path).iterdir()) == []


@pytest.mark.parametrize("name", ["/".join(["x"] * 1500), "n" * 300, "a/../b", "..", "a\\b"])
def test_a_name_that_no_folder_may_have_is_refused_before_anything_is_made(memory, tmp_path, name):
    system = fsspec.filesystem("memory")
    system.store["/b/teams/one/zzz.csv"] = system.store["/b/teams/one/inner/x.csv"]
    system.store[f"/b/teams/one/{name}"] = system.store["/b/teams/one/inner/x.csv"]
    try:
        with faulted(PhaseError, "memory://b/teams/one"):
            fetch(f"{memory}/one", tmp_path)
    finally:
        del system.store[f"/b/teams/one/{name}"]
    assert not list(tmp_path.iterdir())


def test_the_digest_of_a_folder_of_any_depth(tmp_path):
    """Made and removed step by step, since the whole path is too long for a call."""
    here = os.open(tmp_path, os.O_RDONLY)
    opened = [here]
    for _ in range(1200):
        os.mkdir("deep", dir_fd=opened[-1])
        opened.append(os.open("deep", os.O_RDONLY, dir_fd=opened[-1]))
        if len(opened) > 50:
            os.close(opened.pop(0))
    for descriptor in opened:
        os.close(descriptor)
    try:
        first = submission_digest(tmp_path)
        assert first == submission_digest(tmp_path)
        (tmp_path / "a.csv").write_bytes(b"")
        assert first != submission_digest(tmp_path)
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "deep"], check=True)


class Crooked(fsspec.AbstractFileSystem):
    """A file system with any names and sizes, of which no file may be fetched."""

    protocol = "crooked"
    sizes: ClassVar[dict[str, int]] = {}

    def isfile(self, path):
        return False

    def find(self, root, detail):
        return {posixpath.join(root, path): {"size": size} for path, size in self.sizes.items()}

    def get_file(self, path, target):
        raise AssertionError(f"{path} was written to {target}")


fsspec.register_implementation("crooked", Crooked, clobber=True)


@pytest.mark.parametrize(
    ("sizes", "found"),
    [({str(number): 0 for number in range(100_001)}, "100001"), ({"a": 1 << 32, "b": 1 << 33}, str(3 << 32))],
    ids=["files", "bytes"],
)
def test_no_more_is_fetched_than_is_unpacked(tmp_path, sizes, found):
    Crooked.sizes = sizes
    with faulted(PhaseError, "crooked://bucket/folder", found):
        fetch("crooked://bucket/folder", tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["a/../../x", "a//x", "a\\..\\x", "/etc/x"])
def test_names_that_lead_out_are_refused(tmp_path, path):
    Crooked.sizes = {path: 1}
    with faulted(PhaseError, "crooked://bucket/folder", posixpath.join("bucket/folder", path)):
        fetch("crooked://bucket/folder", tmp_path)


def test_a_file_system_that_is_not_installed_is_named(monkeypatch, tmp_path):
    with faulted(PhaseError, "never://x"):
        fetch("never://x", tmp_path)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with faulted(PhaseError, "s3://bucket/teams", "cluster"):
        entries_of("s3://bucket/teams")
