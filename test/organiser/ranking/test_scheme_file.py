import tomllib

import pytest

from evaluation.challenges.adam import RANKING as ADAM
from evaluation.challenges.cysts.rules import RANKING as CYSTS
from evaluation.challenges.edd2020.rules import Edd2020Options
from evaluation.challenges.edd2020.rules import ranking as edd2020_ranking
from evaluation.challenges.justraigs.rules import RANKING as JUSTRAIGS
from evaluation.challenges.refuge import RefugeOptions, ranking
from evaluation.organiser.ranking.results import RankingError
from evaluation.organiser.ranking.scheme_file import describe_scheme, read_scheme
from evaluation.phase.places import platform_scheme
from test.faults import faulted


def written(tmp_path, text):
    path = tmp_path / "scheme.toml"
    path.write_text(text, encoding="utf-8")
    return path


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


ONE = 'boards = [{ name = "a", terms = [{ rank = "t.a" }] }]'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("boards = [", ()),
        ('boards = [{ name = "a", terms = [{ rang = "t.a" }] }]', ("boards.0.terms.0.rang",)),
        ('boards = [{ name = "a", terms = [{}] }]', ()),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", place = "b" }] }]', ()),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", weight = -1 }] }]', ("weight",)),
        ('boards = [{ name = "a", terms = [{ rank = "t.a", weight = nan }] }]', ("weight",)),
        ('boards = [{ name = "a", terms = [{ place = "b" }] }]', ("'b'",)),
        ('boards = [{ name = "a", terms = [] }]', ("'a'",)),
        (f'overall = "b"\n{ONE}', ("'b'",)),
        ("", ("boards",)),
        (f'overall = "a"\nphases = {{ one = 1 }}\nphase_ties = {{ two = "a" }}\n{ONE}', ("'a'",)),
        (f'overall = "a"\nphases = {{ one = 1 }}\nphase_ties = {{ one = "b" }}\n{ONE}', ("'b'",)),
    ],
)
def test_faults(tmp_path, text, told):
    with faulted(RankingError, "scheme.toml", *told):
        read_scheme(written(tmp_path, text))
