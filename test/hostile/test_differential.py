"""What is accepted here, other programs read in the same way."""

import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .differential import CHANNEL_FILES, IMAGES, VOLUMES, WIDE_IMAGES, disagreements

EXAMPLES = int(os.environ.get("EVALUATION_FUZZ_EXAMPLES", "5000"))


@pytest.mark.weekly
@settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_no_other_program_reads_an_accepted_file_differently(random):
    kind, data, found, _ = disagreements(random)
    assert found == [], (kind, data)


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
