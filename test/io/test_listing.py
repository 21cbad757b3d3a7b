import os

import pytest

from evaluation.core.fault import Fault, FaultKind
from evaluation.io import files as module
from evaluation.io.files import Listing, list_files, strip_common_folder


def put(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"x")


def test_lists_files_in_order_and_skips_what_systems_leave_behind(tmp_path):
    put(
        tmp_path,
        "b/2",
        "b/10",
        "a.csv",
        "b-c",
        "__MACOSX/b/._2",
        "b/.DS_Store",
        "desktop.ini",
        "b/Thumbs.db",
        "._a.csv",
    )
    (tmp_path / "nothing in it").mkdir()
    assert list_files(tmp_path) == Listing(str(tmp_path), ("a.csv", "b-c", "b/10", "b/2"))


def test_the_root_may_be_a_link(tmp_path):
    put(tmp_path, "real/a")
    (tmp_path / "input").symlink_to(tmp_path / "real")
    assert list_files(tmp_path / "input") == Listing(str(tmp_path / "real"), ("a",))


def test_what_is_no_file_is_a_fault_and_not_followed(tmp_path):
    put(tmp_path, "a/file")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "file")
    os.mkfifo(tmp_path / "pipe")
    found = list_files(tmp_path)
    assert found.files == ("a/file",)
    assert [(fault.kind, fault.file, fault.found) for fault in found.faults] == [
        (FaultKind.FORBIDDEN, "a/loop", "a symbolic link"),
        (FaultKind.FORBIDDEN, "link", "a symbolic link"),
        (FaultKind.FORBIDDEN, "pipe", "a named pipe"),
    ]


def test_eight_levels_of_folders_are_the_most(tmp_path):
    put(tmp_path, "1/2/3/4/5/6/7/8/file")
    assert list_files(tmp_path).files == ("1/2/3/4/5/6/7/8/file",)
    put(tmp_path, "1/2/3/4/5/6/7/8/9/file")
    found = list_files(tmp_path)
    assert found.files == ()
    assert [(fault.kind, fault.file) for fault in found.faults] == [
        (FaultKind.TOO_LARGE, "1/2/3/4/5/6/7/8/9")
    ]


@pytest.mark.parametrize(("limit", "files"), [(5, 3), (4, 0), (1, 0)])
def test_too_many_entries_are_one_fault(tmp_path, monkeypatch, limit, files):
    monkeypatch.setattr(module, "MAX_ENTRIES", limit)
    put(tmp_path, "a/1", "a/2", "b/3")  # five entries with the folders
    found = list_files(tmp_path)
    assert len(found.files) == files
    assert [fault.kind for fault in found.faults] == ([] if files else [FaultKind.TOO_LARGE])


def test_a_missing_root_is_unreadable(tmp_path):
    (fault,) = list_files(tmp_path / "nowhere").faults
    assert (fault.kind, fault.file) == (FaultKind.UNREADABLE, ".")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_a_folder_without_permission_is_a_fault(tmp_path):
    put(tmp_path, "a", "closed/b")
    (tmp_path / "closed").chmod(0)
    found = list_files(tmp_path)
    (tmp_path / "closed").chmod(0o700)
    assert found.files == ("a",)
    assert [(fault.kind, fault.file) for fault in found.faults] == [(FaultKind.UNREADABLE, "closed")]


LINK = Fault(FaultKind.FORBIDDEN, "team/link", "a regular file", "a symbolic link")


@pytest.mark.parametrize(
    ("files", "faults", "stripped"),
    [
        (("team/disc/a", "team/b.csv"), (LINK,), ("disc/a", "b.csv")),
        (("team/team/a",), (), ("team/a",)),
        (("team/a", "b"), (), None),
        (("team/a", "other/b"), (), None),
        (("Segmentation/a", "Segmentation/b"), (), None),
        (("team/a",), (Fault(FaultKind.FORBIDDEN, "link", "", ""),), None),
        ((), (LINK,), None),
        (("b.csv",), (), None),
    ],
)
def test_strips_only_a_folder_that_holds_everything(files, faults, stripped):
    listing = Listing("/input", files, faults)
    found = strip_common_folder(listing, {"segmentation"})
    if stripped is None:
        assert found == listing
    else:
        assert (found.root, found.files) == ("/input/team", stripped)
        assert [fault.file for fault in found.faults] == [
            fault.file.removeprefix("team/") for fault in faults
        ]
