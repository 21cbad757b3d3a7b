"""Who counts where graders disagree: every pattern of three graders, from the challenge's text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.challenges.justraigs.analyses import agreed_labels, counting_graders, final_label

# Both first graders, the specialist (- none), the final label (- none), the positions of the graders that
# count by the text, and where the specialist alone counts.
PATTERNS = """
    RG  RG  -   RG  01  01
    RG  RG  RG  RG  01  2
    RG  RG  NRG RG  01  01
    RG  RG  U   RG  01  01
    NRG NRG -   NRG 01  01
    NRG NRG RG  NRG 01  01
    NRG NRG NRG NRG 01  2
    NRG NRG U   NRG 01  01
    U   U   -   U   01  01
    U   U   RG  U   01  01
    U   U   NRG U   01  01
    U   U   U   U   01  2
    RG  NRG -   -   -   -
    RG  NRG RG  RG  02  2
    RG  NRG NRG NRG 12  2
    RG  NRG U   U   2   2
    NRG RG  -   -   -   -
    NRG RG  RG  RG  12  2
    NRG RG  NRG NRG 02  2
    NRG RG  U   U   2   2
    RG  U   -   -   -   -
    RG  U   RG  RG  02  2
    RG  U   NRG NRG 2   2
    RG  U   U   U   12  2
    U   RG  -   -   -   -
    U   RG  RG  RG  12  2
    U   RG  NRG NRG 2   2
    U   RG  U   U   02  2
    NRG U   -   -   -   -
    NRG U   RG  RG  2   2
    NRG U   NRG NRG 02  2
    NRG U   U   U   12  2
    U   NRG -   -   -   -
    U   NRG RG  RG  2   2
    U   NRG NRG NRG 12  2
    U   NRG U   U   02  2
"""


@pytest.mark.parametrize(
    "pattern", PATTERNS.strip().splitlines(), ids=lambda line: "-".join(line.split()[:3])
)
def test_every_pattern_of_three_graders(pattern):
    first, second, specialist, final, by_text, alone = (
        "" if cell == "-" else cell for cell in pattern.split()
    )
    labels = (first, second, specialist)
    assert final_label(*labels) == final
    assert counting_graders(labels) == tuple(map(int, by_text))
    assert counting_graders(labels, specialist_alone=True) == tuple(map(int, alone))


def test_the_table_holds_every_pattern():
    seen = {tuple(line.split()[:3]) for line in PATTERNS.strip().splitlines()}
    assert len(seen) == 3 * 3 * 4


def test_agreed_labels_by_hand():
    first, second = (True, False, True, None, None), (True, False, False, True, None)
    assert agreed_labels([first, second]) == (True, False, None, None, None)
    assert agreed_labels([first]) == first


@given(
    st.lists(st.lists(st.sampled_from([True, False, None]), min_size=4, max_size=4), min_size=1, max_size=3)
)
def test_another_grader_never_adds_agreement(graders):
    agreed = agreed_labels(graders)
    for position, label in enumerate(agreed_labels([*graders, [True, False, None, True]])):
        assert label is None or label is agreed[position]
