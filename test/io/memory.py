"""Files in memory, for the tests of kinds."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.volume import Volume
from test.io.volumes.files import Bytes


def read_image(kind, image):
    """Return the value of a file with an image (y, x)."""
    height, width = image.shape
    files = InMemory({"a.png": kind.write_file(Volume.of_image(image), ".png")})
    return kind.read(FileSource("a.png"), CaseForm("A", width, height), files)


class InMemory:
    """Files by path, with the limits that they were opened with."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.limits: list[int] = []

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        return memoryview(self._data(path, limit_bytes))

    @contextmanager
    def open(self, path: str, limit_bytes: int) -> Iterator[Bytes]:
        yield Bytes(self._data(path, limit_bytes))

    def _data(self, path: str, limit_bytes: int) -> bytes:
        self.limits.append(limit_bytes)
        if len(self.files[path]) > limit_bytes:
            raise ReadError(FaultKind.TOO_LARGE, f"at most {limit_bytes} bytes", "more")
        return self.files[path]
