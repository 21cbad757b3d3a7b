"""What is accepted here, other programs read in the same way."""

import datetime
from random import Random

import pytest

from .differential import CHANNEL_FILES, IMAGES, VOLUMES, WIDE_IMAGES, disagreements

WEEKLY, PARTS = 200_000, 8


@pytest.mark.weekly
@pytest.mark.parametrize("part", range(PARTS))
def test_no_other_program_reads_an_accepted_file_differently(part):
    """Of each week other files; a number that is found makes its file again."""
    year, week, _ = datetime.datetime.now(tz=datetime.UTC).isocalendar()
    first = (100 * year + week) * WEEKLY
    for number in range(first + part, first + WEEKLY, PARTS):
        kind, data, found, _ = disagreements(Random(number))
        assert found == [], (number, kind, data)


def test_some_changed_files_of_every_format_are_accepted_and_read_as_others_do():
    accepted = set()
    for kind, data, found, is_accepted in map(disagreements, map(Random, range(100, 1100))):
        assert found == [], (kind, data)
        if is_accepted:
            accepted.add(kind)
    kinds = {"image": IMAGES, "volume": VOLUMES, "numbers": WIDE_IMAGES, "channels": ("tif",)}
    formats = {f"{kind}.{name}" for kind, names in kinds.items() for name in names}
    assert accepted == formats
    assert CHANNEL_FILES
