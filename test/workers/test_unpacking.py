"""Zips and bare tables as participants upload them."""

import errno
import gzip
import os
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.outcome import Died
from evaluation.io.handover import encode
from evaluation.workers import unpacking as unpack_module
from evaluation.workers.unpacking import unpack, unpacked
from scripts.platform_runtime import members
from test.systems.features import IGNORING_CASE, WINDOWS, imitate


def zip_of(path: Path, entries: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("names", "unpacked_names"),
    [
        (["a.csv", "masks/1.png"], ["a.csv", "masks/1.png"]),
        (["team/a.csv", "team/masks/1.png"], ["a.csv", "masks/1.png"]),
        (["my/team/a.csv", "my/team/masks/1.png"], ["a.csv", "masks/1.png"]),
        # All files share the folder, which the platform strips although the format wants it.
        (["masks/1.png", "masks/2.png"], ["1.png", "2.png"]),
        (["results/a.csv"], ["a.csv"]),
        (["a.csv"], ["a.csv"]),
        (["team/a.csv", "team/b.csv", "__MACOSX/team/._a.csv", "team/.DS_Store"], ["a.csv", "b.csv"]),
        (["team/a.csv", "team/b.csv", "desktop.ini"], ["a.csv", "b.csv"]),
        (["ab/1.png", "ac/1.png"], ["ab/1.png", "ac/1.png"]),
        (["./a.csv", "./masks//1.png"], ["a.csv", "masks/1.png"]),
        (["./team/a.csv", "team/./masks/1.png"], ["a.csv", "masks/1.png"]),
        (["a//b.csv"], ["b.csv"]),
        # What all share is stripped first, however deep it is.
        (["/".join([*"x" * 990, "a.csv"])], ["a.csv"]),
        (["/".join([*"abcdefgh", "1.png"]), "a.csv"], ["a/b/c/d/e/f/g/h/1.png", "a.csv"]),
    ],
)
def test_common_folders_are_stripped_and_leftovers_skipped(names, unpacked_names, tmp_path):
    archive = zip_of(tmp_path / "submission.zip", {name: name.encode() for name in names})
    with unpacked(archive) as folder:
        assert list(files_below(folder)) == unpacked_names
    assert not folder.exists()


@pytest.mark.parametrize(
    "names", [["a/b/file", "a/ab/file"], ["a/f", "ab/f"], ["ab/f", "ab/b/a/f", "ab/b/f"], ["f", "a/f"]]
)
def test_destinations_are_the_platforms(names, tmp_path):
    with unpacked(zip_of(tmp_path / "s.zip", dict.fromkeys(names, b""))) as folder:
        assert set(files_below(folder)) == {path for _, path in members(names)}


def test_a_bare_table_arrives_under_the_platforms_name(tmp_path):
    table = tmp_path / "My Results.CSV"
    table.write_bytes(b"a,b\n1,2\n")
    with unpacked(table) as folder:
        assert files_below(folder) == {"predictions.csv": b"a,b\n1,2\n"}


def test_a_folder_stands_for_itself(tmp_path):
    with unpacked(tmp_path) as folder:
        assert folder == tmp_path
    assert tmp_path.exists()


def fault_of(archive: Path, **arguments):
    with pytest.raises(FormFault) as raised, unpacked(archive, **arguments):
        pass
    return raised.value.faults


@pytest.mark.parametrize("name", ["../out.csv", "a/../../out.csv", "/etc/passwd", "a/.."])
def test_paths_that_lead_out(name, tmp_path):
    archive = zip_of(tmp_path / "s.zip", {"fine.csv": b"", name: b"x"})
    (fault,) = fault_of(archive)
    assert (fault.kind, fault.file) == (FaultKind.FORBIDDEN, name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.zip"]


def deep(levels: int) -> str:
    return "/".join([*"x" * levels, "1.png"])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (deep(9), "9"),
        (deep(20_000), "20000"),
        (f"masks/{'n' * 256}", "256 bytes"),
        (f"{'ü' * 128}/1.png", "256 bytes"),
    ],
    ids=lambda part: part[-24:],
)
def test_a_path_that_no_folder_may_have_is_a_fault_before_anything_is_written(name, found, tmp_path):
    archive = zip_of(tmp_path / "s.zip", {"a.csv": b"x", name: b"x"})
    (fault,) = fault_of(archive)
    assert (fault.kind, fault.found) == (FaultKind.TOO_LARGE, found)
    assert (fault.file[:50], fault.file[-5:]) == (name[:50], name[-5:])


def test_links(tmp_path):
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, kind in (("link", stat.S_IFLNK), ("pipe", stat.S_IFIFO), ("file", stat.S_IFREG)):
            info = zipfile.ZipInfo(name)
            info.external_attr = (kind | 0o644) << 16
            archive.writestr(info, "/etc/passwd")
    assert [(fault.file, fault.found) for fault in fault_of(path)] == [
        ("link", "a symbolic link"),
        ("pipe", "something else"),
    ]


def test_a_bomb_by_its_own_account(tmp_path):
    archive = zip_of(tmp_path / "s.zip", {"a": bytes(600_000), "b": bytes(600_000)})
    assert archive.stat().st_size < 5_000
    (fault,) = fault_of(archive, max_bytes=1_000_000)
    assert (fault.kind, fault.found) == (FaultKind.TOO_LARGE, "1200000 bytes")


def test_a_bomb_that_lies_about_its_size(tmp_path):
    archive = zip_of(tmp_path / "s.zip", {"a": bytes(5_000_000)})
    data = archive.read_bytes()
    assert data.count(struct.pack("<I", 5_000_000)) == 2
    archive.write_bytes(data.replace(struct.pack("<I", 5_000_000), struct.pack("<I", 1_000)))
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(FormFault):
        unpack(archive, out, max_bytes=1_000_000)
    assert sum(len(content) for content in files_below(out).values()) <= 1_000


@pytest.mark.parametrize("others", [{}, {"c": b""}])
def test_a_name_is_a_file_or_a_folder(tmp_path, others):
    (fault,) = fault_of(zip_of(tmp_path / "s.zip", {"a": b"1", "a/b": b"2", **others}))
    assert (fault.kind, fault.file, fault.found) == (FaultKind.UNREADABLE, "a", "both")


def flipped(data: bytes, *places: int) -> bytes:
    """Return data in which the last bit of some bytes is another one."""
    changed = bytearray(data)
    for place in places:
        changed[place] ^= 1
    return bytes(changed)


def test_what_is_no_whole_zip(tmp_path):
    whole = zip_of(tmp_path / "whole.zip", {"a": os.urandom(1000)}).read_bytes()
    # The flags of the file's own header and of the archive's directory say that it is encrypted.
    encrypted = flipped(whole, 6, whole.index(b"PK\x01\x02") + 8)
    archive = tmp_path / "submission.rar"
    for data, file, found in (
        (b"no zip at all", "submission.rar", "another file"),
        (b"", "submission.rar", "another file"),
        (whole[:-30], "submission.rar", "cannot be unpacked"),
        (gzip.compress(b"a" * 1000), "submission.rar", "a gzip archive"),
        (encrypted, "a", "an encrypted one"),
        (flipped(whole, 500), "submission.rar", "cannot be unpacked"),
    ):
        archive.write_bytes(data)
        (fault,) = fault_of(archive)
        assert (fault.kind, fault.file) == (FaultKind.UNREADABLE, file)
        assert found in fault.found


@pytest.mark.parametrize("names", [[], ["__MACOSX/a.csv", ".DS_Store"], ["folder/"]])
def test_a_zip_without_files(names, tmp_path):
    archive = zip_of(tmp_path / "s.zip", dict.fromkeys(names, b""))
    (fault,) = fault_of(archive)
    assert fault.kind == FaultKind.MISSING


@pytest.mark.parametrize(
    "name",
    ["nul", "COM1.png", "lpt9.csv", "a.png.", "a ", "a:b.png", "a|b.png", "b\\a.png", "what?.png", "aux"],
)
def test_names_that_windows_cannot_store_are_told(name, tmp_path, monkeypatch):
    imitate(WINDOWS, monkeypatch)
    archive = zip_of(tmp_path / "s.zip", {f"masks/{name}": b"", "masks/console.png": b"", "a/com.png": b""})
    with pytest.raises(FormFault) as caught, unpacked(archive):
        pass
    assert [(fault.kind, fault.file) for fault in caught.value.faults] == [
        (FaultKind.UNREADABLE, f"masks/{name}")
    ]


def test_names_that_differ_in_letter_case_alone_are_told_where_they_would_be_one_file(tmp_path, monkeypatch):
    entries = {
        "masks/a.png": b"1",
        "masks/A.PNG": b"2",
        "masks/b.png": b"3",
        "Masks/e\u0301": b"",
        "masks/\xc9": b"",
    }
    archive = zip_of(tmp_path / "s.zip", entries)
    with unpacked(archive) as folder:
        assert len(files_below(folder)) == 5
    imitate(IGNORING_CASE, monkeypatch)
    with pytest.raises(FormFault) as caught, unpacked(archive):
        pass
    assert [(fault.kind, fault.file, fault.found) for fault in caught.value.faults] == [
        (FaultKind.DUPLICATE, "masks/A.PNG", "one like masks/a.png"),
        (FaultKind.DUPLICATE, "masks/\xc9", "one like Masks/e\u0301"),
    ]


def test_this_process_parses_no_zip(tmp_path, monkeypatch):
    archive = zip_of(tmp_path / "s.zip", {"a/1": bytes(9_000_000), "b": b"", "c": b"x" * 5})
    expected = {"a/1": bytes(9_000_000), "b": b"", "c": b"x" * 5}
    with unpacked(archive, workers=1) as folder:  # whose processes are started now
        assert files_below(folder) == expected
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with unpacked(archive, workers=1) as folder:
        assert files_below(folder) == expected
    with pytest.raises(TypeError), unpacked(archive, workers=0):
        pass


@pytest.mark.parametrize(
    "path", ["../out", "a/../b", "/etc/passwd", "a//b", "", ".", "a/.", "a\0b", "x/" * 9 + "x", "x" * 256]
)
def test_a_path_that_a_reader_forged_is_refused(path):
    with pytest.raises(FormFault):
        unpack_module._paths(["fine", path], "s.zip")


@pytest.mark.parametrize(
    "pieces",
    [
        [[[2, b"x"]]],
        [[[-1, b"x"]]],
        [[["0", b"x"]]],
        [[[0, b"x"], [1, b"y"], [0, b"z"]]],
        [[[0, b"123"]], [[0, b"456"]]],
        [[[0]]],
        [["x"]],
    ],
)
def test_content_that_a_reader_forged_is_refused(pieces, tmp_path):
    packed = [
        [[part[0], np.frombuffer(part[1], np.uint8)] if len(part) == 2 else part for part in piece]
        for piece in pieces
    ]
    with pytest.raises(ValueError):  # noqa: PT011 - of several places
        unpack_module._write(iter([*packed, []]), [tmp_path / "a", tmp_path / "b"], max_bytes=5)


def test_a_zip_that_kills_its_reader_is_at_fault(tmp_path):
    died = Died("crashed with SIGSEGV")
    with pytest.raises(FormFault) as caught:
        unpack_module._content(died, "s.zip")
    assert [(fault.file, fault.kind) for fault in caught.value.faults] == [("s.zip", FaultKind.UNREADABLE)]


def test_the_machines_trouble_is_not_the_zips(tmp_path):
    with pytest.raises(OSError, match="No space left"):
        unpack_module._content(memoryview(b"".join(encode([[[], []], errno.ENOSPC, []]))), "s.zip")
