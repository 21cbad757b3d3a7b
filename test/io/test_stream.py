import os
from pathlib import Path

import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.files import FileStream, sha256_of


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


def test_a_view_is_filled_as_far_as_the_file_goes(tmp_path):
    (tmp_path / "b.bin").write_bytes(b"abc")
    with FileStream(str(tmp_path), "b.bin", 3) as stream:
        assert stream.readinto(memoryview(bytearray(10))) == 3


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("none.mha", FaultKind.MISSING),
        ("link.mha", FaultKind.FORBIDDEN),
        ("pipe.mha", FaultKind.FORBIDDEN),
        ("../outside.mha", FaultKind.FORBIDDEN),
        ("empty.mha", FaultKind.UNREADABLE),
        ("large.mha", FaultKind.TOO_LARGE),
    ],
)
def test_only_regular_files_within_limits_are_opened(tmp_path, path, kind):
    (tmp_path / "large.mha").write_bytes(b"12345")
    (tmp_path / "empty.mha").touch()
    (tmp_path / "link.mha").symlink_to(tmp_path / "large.mha")
    os.mkfifo(tmp_path / "pipe.mha")
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(ReadError) as error:
        FileStream(str(tmp_path), path, 4)
    assert error.value.kind == kind
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors


def test_sha256_of_the_standards_example():
    """FIPS 180-2, appendix B.1."""
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_of(b"abc") == sha256_of(memoryview(b"xabc")[1:]) == expected
