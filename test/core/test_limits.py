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


def test_a_case_may_take_longer_the_larger_its_images_are():
    segmentation = fields(REFUGE, "segmentation")
    assert case_seconds(CaseForm("a", 2000, 2000), segmentation) == 34.0
    assert case_seconds(CaseForm("a", 2000, 2000), fields(EDD2020, "detection")) == 30.0


def test_the_limits_in_words():
    assert SumLimits(1_500_000_000, 10_400).in_words() == (
        "In all, a submission may take up to 1500 MB and hold up to 10400 boxes or other values."
    )
