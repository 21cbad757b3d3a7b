import tomllib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.challenges.adam import RANKING as ADAM
from evaluation.challenges.cysts.rules import RANKING as CYSTS
from evaluation.challenges.edd2020.rules import Edd2020Options
from evaluation.challenges.edd2020.rules import ranking as edd2020_ranking
from evaluation.challenges.justraigs.rules import RANKING as JUSTRAIGS
from evaluation.challenges.refuge import RefugeOptions, ranking
from evaluation.organiser.ranking.results import RankingError
from evaluation.organiser.ranking.scheme_file import describe_scheme, exact_text, read_scheme
from evaluation.phase.places import platform_scheme

REFUGE = """
overall = "overall"
phases = { offline = 0.3, onsite = 0.7 }

[[boards]]
name = "classification"
terms = [{ rank = "classification.auc" }]

[[boards]]
name = "segmentation"
terms = [
  { rank = "segmentation.dice_cup", weight = 0.35 },
  { rank = "segmentation.dice_disc", weight = 0.25 },
  { rank = "segmentation.vertical_cup_to_disc_ratio_error", weight = 0.40 },
]

[[boards]]
name = "overall"
terms = [{ place = "classification", weight = 0.4 }, { place = "segmentation", weight = 0.6 }]
"""


def written(tmp_path, text):
    path = tmp_path / "scheme.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_scheme_of_refuge_as_a_file(tmp_path):
    assert read_scheme(written(tmp_path, REFUGE)) == ranking(RefugeOptions())


@pytest.mark.parametrize(
    "scheme",
    [
        ADAM,
        CYSTS,
        JUSTRAIGS,
        edd2020_ranking(Edd2020Options()),
        platform_scheme("median", ("t.a", "t.b")),
        ranking(RefugeOptions()),
    ],
)
def test_a_described_scheme_is_the_file(tmp_path, scheme):
    def toml(value) -> str:
        if isinstance(value, dict):
            pairs = (f"{key} = {toml(item)}" for key, item in value.items() if item is not None)
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(toml, value)) + "]"
        if isinstance(value, bool):
            return str(value).lower()
        return value if isinstance(value, str) and value.replace(".", "").isdigit() else f'"{value}"'

    described = describe_scheme(scheme)
    lines = [f"{key} = {toml(value)}" for key, value in described.items() if value is not None]
    tomllib.loads("\n".join(lines))
    assert read_scheme(written(tmp_path, "\n".join(lines))) == scheme


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("boards = [", "scheme.toml: "),
        ('boards = [{ name = "a", terms = [{ rang = "t.a" }] }]', "unknown key boards.0.terms.0.rang"),
        ('boards = [{ name = "a", terms = [{}] }]', "expected one of rank, place and score"),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", place = "b" }] }]', "expected one of rank, place"),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", weight = -1 }] }]', "greater than or equal to 0"),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", weight = nan }] }]', "weight"),
        ('boards = [{ name = "a", terms = [{ place = "b" }] }]', "uses 'b', which is none before it"),
        ('boards = [{ name = "a", terms = [] }]', "leaderboard 'a' has no terms"),
        ('overall = "b"\nboards = [{ name = "a", terms = [{ rank = "t.a" }] }]', "'b' is no leaderboard"),
        ("", "boards is missing"),
        (
            'overall = "a"\nphases = { one = 1 }\nphase_ties = { two = "a" }\n'
            'boards = [{ name = "a", terms = [{ rank = "t.a" }] }]',
            "phase_ties: expected a phase and a",
        ),
        (
            'overall = "a"\nphases = { one = 1 }\nphase_ties = { one = "b" }\n'
            'boards = [{ name = "a", terms = [{ rank = "t.a" }] }]',
            "found one = 'b'",
        ),
    ],
)
def test_faults(tmp_path, text, problem):
    with pytest.raises(RankingError) as error:
        read_scheme(written(tmp_path, text))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction("1.75"), "1.75"),
        (Fraction("0.40"), "0.4"),
        (Fraction(11), "11"),
        (Fraction(7, 3), "7/3"),
        (Fraction(1, 10**7), "1E-7"),
        (Fraction(0), "0"),
    ],
)
def test_exact_text(value, text):
    assert exact_text(value) == text


@given(st.fractions(min_value=0, max_value=1000, max_denominator=4000))
def test_exact_text_keeps_the_value(value):
    assert Fraction(exact_text(value)) == value
