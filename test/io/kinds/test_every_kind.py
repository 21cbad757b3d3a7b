"""Every kind in every layout that it has: what is written reads back, also in another process."""

import numpy as np
import pytest

from evaluation.core.field import Kind
from evaluation.core.sources import CellsSource, FileSource, JsonSource, RowsSource
from evaluation.io.handover import decode, encode
from test.io.memory import InMemory
from test.workers.kinds.situations import KINDS, cells_of, layout_of
from test.workers.situations import case_of

CASE = case_of("case")


def packed(kind, value) -> bytes:
    return b"".join(encode(kind.pack(value)))


def has(kind, method) -> bool:
    return getattr(type(kind), method) is not getattr(Kind, method)


def sources(name, value):
    """Yield the value in each layout, with the files that hold it."""
    kind = KINDS[name]
    if has(kind, "write_file"):
        for extension in layout_of(name, "files").extensions:
            try:
                data = kind.write_file(value, extension)
            except ValueError:  # no file of this format holds such values
                continue
            yield FileSource(f"a{extension}"), InMemory({f"a{extension}": data})
    if has(kind, "write_cells") and not kind.columns:
        yield CellsSource(kind.write_cells(value), "a.csv", 2, cells_of(kind)), None
    if has(kind, "write_rows"):
        rows = tuple(enumerate(kind.write_rows(value), start=2))
        yield RowsSource(rows, "a.csv", kind.columns), None
    if has(kind, "write_json") and kind.socket_kind is not None:
        yield JsonSource(kind.write_json(value), "a.json"), None


def contents(name, value):
    """Return a value as it is written in each layout, by which two can be compared."""
    kind = KINDS[name]
    return [
        list(files.files.values()) if files is not None else source
        for source, files in sources(name, kind.writable(value, CASE))
    ]


def test_a_layout_that_a_kind_has_not_is_an_error_of_the_code():
    for name, source in {"number": FileSource("a.png"), "label_map_2d": JsonSource(1, "a.json")}.items():
        with pytest.raises(TypeError):
            KINDS[name].read(source, CASE, InMemory({}))
    with pytest.raises(TypeError):
        KINDS["number"].write_file(1.0, ".png")


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if has(kind, "example")])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_reads_back_and_passes_between_processes(name, seed):
    kind = KINDS[name]
    value = kind.example(CASE, np.random.default_rng(seed))
    found = [kind.read(source, CASE, files) for source, files in sources(name, kind.writable(value, CASE))]
    (expected,) = {packed(kind, again) for again in found}
    received = kind.unpack(decode(expected), CASE)
    assert packed(kind, received) == expected
    if name != "points":  # no diameter of a prediction is handed over
        assert contents(name, received) == contents(name, found[0])
    if not has(kind, "write_file"):  # an image is cropped where it is read
        assert packed(kind, value) == expected
