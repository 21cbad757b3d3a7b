import pytest

from evaluation.core.field import CaseColumns, Field, Files, Kind, Reference, Socket
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource, JsonFileSource
from evaluation.workers.batches import Content, batches_of, parts_of


class Picture(Kind):
    def read(self, source, case, files):
        raise AssertionError

    def describe(self):
        return "a picture"

    def pixels(self, case):
        return case.width * case.height


FIELD = Field(
    "p",
    "P",
    Picture(),
    Files("p", (".png",)),
    Socket("p", "images/p"),
    Reference(Picture(), CaseColumns(("p",))),
)


def sizes(count, side, workers=2):
    cases = [CaseForm(f"C{number}", side, side) for number in range(count)]
    return [len(part) for part in parts_of(cases, [FIELD], workers)]


@pytest.mark.parametrize(
    ("count", "side", "expected"),
    [
        (0, 0, []),
        (3, 0, [1, 1, 1]),
        (160, 0, [10] * 16),  # eight batches for each of two workers
        (20_000, 0, [512] * 39 + [32]),  # at most 512 cases
        (64, 8000, [2] * 32),  # 2 × (64e6 + 2^16) pixels are below 2^27, three are not
        (3, 20_000, [1, 1, 1]),  # a case of 400e6 pixels by itself
    ],
)
def test_a_batch_has_a_share_of_the_cost_and_limits_of_its_own(count, side, expected):
    assert sizes(count, side) == expected


def test_cases_of_a_stack_stay_together_up_to_the_largest_batch():
    cases = [CaseForm(f"C{number}") for number in range(1200)]
    stacks = [{"x": JsonFileSource(f"{number}.json", "", 9, 600)} for number in range(2)]
    sources = [stacks[number % 2] for number in range(1200)]
    batches = list(batches_of("/", cases, sources, [], 2))
    assert [len(batch.positions) for batch in batches] == [512, 88, 512, 88]
    assert [{position % 2 for position in batch.positions} for batch in batches] == [{0}, {0}, {1}, {1}]


def test_content_comes_as_it_was_packed_and_shares_what_was_shared():
    shared = {"x": JsonFileSource("s.json", "here", 9, 2)}
    cases = tuple(CaseForm(name, columns={"set": name}) for name in "ABCD")
    content = Content("/root", cases, (shared, {"y": FileSource("b")}, shared, {}))
    found = Content.unpacked(content.packed())
    assert found == content
    assert found.sources[0] is found.sources[2]
