"""The first sentences of a submission's report: their words, numbers of cases, digits and places."""

import re
from dataclasses import replace

import pytest

import evaluation
from evaluation.challenges.declared.declarable import METRICS, name_of
from evaluation.core.aggregation import ConfidenceInterval
from evaluation.organiser.report.sentences import names_of, place_sentence, task_sentences
from evaluation.organiser.report.sources import words_in
from evaluation.phase.phase import load_phase
from evaluation.platform.result_file import LeaderboardPlace
from test.challenges.declared.phases import SCREENING, declared_phase


def test_every_metric_of_the_catalogue_has_a_phrase():
    phrases = words_in("phrases.toml")["metrics"]
    assert {name_of(metric) for metric in METRICS} == set(phrases), "phrases.toml"
    words = {"positive": "ill", "negative": "healthy", "regions": "the liver", "required": "95 %"}
    for name, phrase in phrases.items():
        assert phrase.format_map(words)[-1].isalpha(), name


@pytest.mark.parametrize("name", ["edd2020", "justraigs-phase2"])
def test_every_task_of_a_bundled_phase_has_a_sentence_with_a_phrase(bundled_phase, name):
    results = bundled_phase(name).results
    for public in (False, True):
        found = list(task_sentences(results, public))
        assert len(found) == len(results.tasks)
        assert all(" the algorithm " in sentence for sentence in found)


def changed(results, unseen=None, **interval):
    """Return results in which the AUC has other intervals, or none."""
    of_task = results.metrics.aggregates["classification"]
    found = ConfidenceInterval(**interval) if interval else None
    auc = replace(of_task["auc"], value=0.91234, confidence_interval=found, with_unseen_failures=unseen)
    tasks = {**results.metrics.aggregates, "classification": {**of_task, "auc": auc}}
    return replace(results, metrics=replace(results.metrics, aggregates=tasks))


def test_ends_are_rounded_outwards_with_the_digits_of_the_table(bundled_phase):
    results = bundled_phase("refuge-onsite").results

    def numbers(**interval):
        return re.findall(r"\d\.\d+", next(task_sentences(changed(results, **interval))))

    given = {"method": "DeLong"}
    assert numbers(lower=0.8551, upper=0.9549, half_width=0.05, **given) == ["0.9123", "0.855", "0.955"]
    assert numbers(lower=0.90501, upper=0.91901, half_width=0.007, **given) == ["0.9123", "0.905", "0.920"]
    assert next(task_sentences(changed(results))).endswith("AUC of 0.9123; no interval is published.")
    unseen = ConfidenceInterval(0.70101, 0.97, 0.1345, "logit-DeLong")
    told = next(
        task_sentences(changed(results, unseen, lower=0.8551, upper=0.9549, half_width=0.05, **given))
    )
    assert told.endswith("; if cases fail that are rarer than these show, it may be as low as 0.701.")


def test_words_of_the_phase_and_of_labels(bundled_phase, tmp_path):
    results = bundled_phase("refuge-onsite").results
    titles = {"case": "eye", "cases": "eyes", "glaucoma=1": "sick eyes", "glaucoma=0": "healthy ones"}
    config = results.phase.config.model_copy(update={"titles": titles})
    found = replace(results, phase=replace(results.phase, config=config))
    first = next(task_sentences(found))
    assert first.startswith("On 40 eyes, the algorithm separates sick eyes from healthy ones with an AUC of")
    assert names_of(found.phase).of_group("glaucoma", "1") == "sick eyes"
    assert names_of(found.phase).of_group("eye", "left_one") == "eye: left one"
    folder = declared_phase(tmp_path, SCREENING, {"name": ["A", "B"], "class": ["RG", "NRG"]})
    evaluation.seal(folder)
    classes = names_of(load_phase(folder)).classes("likelihood_has_lesion")
    assert classes == ("cases without a lesion", "cases with a lesion")


def test_a_region_of_several_labels_is_called_as_in_the_tables(bundled_phase):
    """With the label's own words it would be the cup and the rim."""
    results = bundled_phase("refuge-onsite").results
    (task,) = (task for task in results.tasks if task.name == "segmentation")
    metrics = [
        replace(metric, title="Dice, disc", structures=("cup", "rim"))
        if metric.name == "dice_disc"
        else metric
        for metric in task.metrics
    ]
    tasks = tuple(replace(task, metrics=tuple(metrics)) if one is task else one for one in results.tasks)
    told = list(task_sentences(replace(results, tasks=tasks)))
    assert "(disc 0.9389)" in told[1]


@pytest.mark.parametrize(
    ("phase", "score", "told"),
    [
        (
            "refuge-onsite",
            "segmentation.dice_disc",
            "the algorithm outlines the optic disc with a Dice coefficient of ",
        ),
        # Its value alone does not tell good submissions from useless ones: it is told as the score alone.
        ("edd2020", "detection.sigma_score_d", "“Standard deviation of mAP over the thresholds” is "),
    ],
)
def test_the_score_is_told_first_whatever_its_place_in_its_task(bundled_phase, phase, score, told):
    results = bundled_phase(phase).results
    config = results.phase.config
    config = config.model_copy(update={"platform": config.platform.model_copy(update={"score": score})})
    assert told not in " ".join(task_sentences(results))
    first = next(task_sentences(replace(results, phase=replace(results.phase, config=config))))
    assert told in first
    assert "95 % interval" in first


def test_the_place_stands_beside_the_teams_that_are_worse_or_as_good(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    places = {"fovea": LeaderboardPlace(2, 0.5, 5, 2), "overall": LeaderboardPlace(5, 0.1, 5, 0)}
    ranking = replace(results.metrics.ranking, places=places)
    told = place_sentence(replace(results, metrics=replace(results.metrics, ranking=ranking)))
    better = "0 of 4 known teams overall (place 5) and 1 of 4 in fovea (place 2, as good as 2 more)"
    assert [*told] == [f"It is better than {better}."]
