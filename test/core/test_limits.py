from types import SimpleNamespace

from evaluation.challenges.edd2020.rules import CHALLENGE as EDD2020
from evaluation.challenges.refuge import CHALLENGE as REFUGE
from evaluation.core.challenge import fields_of
from evaluation.core.form import CaseForm
from evaluation.core.limits import SumLimits, case_seconds, limits_of


def fields(challenge, *names):
    tasks = challenge.tasks(challenge.options())
    return [field for field in fields_of(tasks) if field.name in names]


def test_the_limits_follow_from_the_form():
    cases = [CaseForm("a", 1000, 500), CaseForm("b", 1000, 500)]
    # Two files of 500,000 pixels: 8 bytes a pixel, and 64 KiB for each file, beside what is always granted.
    assert limits_of(cases, fields(REFUGE, "segmentation")) == SumLimits(
        bytes=(1 << 26) + 2 * (1 << 16) + 8_000_000, items=10_400
    )
    assert limits_of([], fields(REFUGE, "segmentation")) == SumLimits(1 << 26, 10_000)


def test_fields_of_many_values_are_granted_bytes_for_those_beyond_the_usual():
    """By hand: of two fields, one with 1,500 values more than the usual 1,000, in two of three cases."""
    many = SimpleNamespace(pixels=lambda case: 100, average_items=2500)
    few = SimpleNamespace(pixels=lambda case: 10, average_items=1)
    cases = [CaseForm("a"), CaseForm("b"), CaseForm("c")]
    fields = [
        SimpleNamespace(kind=many, cases=lambda case: case.name != "b"),
        SimpleNamespace(kind=few, cases=lambda case: True),
    ]
    assert limits_of(cases, fields) == SumLimits(
        bytes=(1 << 26) + 5 * (1 << 16) + 8 * (2 * 100 + 3 * 10) + 256 * 2 * 1500,
        items=10_000 + 2 * 2500 + 3,
    )
    assert case_seconds(CaseForm("b"), fields) == 30 + 10 / 1e6


def test_a_case_may_take_longer_the_larger_its_images_are():
    segmentation = fields(REFUGE, "segmentation")
    assert case_seconds(CaseForm("a", 2000, 2000), segmentation) == 34.0
    assert case_seconds(CaseForm("a", 2000, 2000), fields(EDD2020, "detection")) == 30.0


def test_the_limits_in_words():
    assert SumLimits(1_500_000_000, 10_400).in_words() == (
        "In all, a submission may take up to 1500 MB and hold up to 10400 boxes or other values."
    )
