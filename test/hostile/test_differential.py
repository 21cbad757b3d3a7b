"""What is accepted here, other programs read in the same way."""

import os
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .differential import CHANNEL_FILES, IMAGES, VOLUMES, WIDE_IMAGES, disagreements

FEW = 300
EXAMPLES = int(os.environ.get("EVALUATION_FUZZ_EXAMPLES", FEW))


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == FEW,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.randoms(use_true_random=False))
def test_no_other_program_reads_an_accepted_file_differently(random):
    kind, data, found, _ = disagreements(random)
    assert found == [], (kind, data)


def test_some_changed_files_of_every_format_are_accepted():
    """Else nothing would be compared."""
    accepted = {
        kind for kind, _, _, is_accepted in map(disagreements, map(Random, range(1000))) if is_accepted
    }
    kinds = {"image": IMAGES, "volume": VOLUMES, "numbers": WIDE_IMAGES, "channels": ("tif",)}
    formats = {f"{kind}.{name}" for kind, names in kinds.items() for name in names}
    assert accepted == formats
    assert CHANNEL_FILES
