"""What an ensemble gains, against SciPy and figures that are computed again from the masks."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from evaluation.core.fault import PhaseError
from evaluation.io.grey_images import read_grey
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.ensemble import (
    Ensemble,
    EnsembleGain,
    ensemble_gain,
    write_agreement,
    write_ensemble,
    write_gain,
)
from evaluation.organiser.ranking.pair_tests import TestChoice
from evaluation.phase.phase import Phase
from test.phases import loaded_phase, refuge_submission

CASES = 24
MEMBERS = "abc"


def noisy(seed: int):
    """Likelihoods and masks whose errors grow with the number of the case, and so does disagreement."""
    rng = np.random.default_rng(seed)

    def change(case, values):
        spread = case.number / CASES
        mask = np.array(values["segmentation"], copy=True)
        flipped = rng.random(mask.shape) < 0.3 * spread
        mask[flipped] = np.where(mask[flipped] == 255, 128, 255)
        risk = values["glaucoma_risk"] + 0.2 * spread * rng.normal()
        return {**values, "segmentation": mask, "glaucoma_risk": risk}

    return change


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Phase, Path, Ensemble, EnsembleGain]:
    folder = tmp_path_factory.mktemp("gain")
    phase = loaded_phase(folder / "phase", CASES)
    members = {
        name: refuge_submission(folder / name, CASES, change=noisy(seed)) for seed, name in enumerate(MEMBERS)
    }
    written = write_ensemble(phase.form, phase.tasks, members, folder / "ensemble", CombinationRules())
    found = ensemble_gain(
        phase, ("ensemble", folder / "ensemble"), members, written.disagreement, 0, TestChoice(1)
    )
    return phase, folder, written, found


def discs(folder: Path) -> dict[str, np.ndarray]:
    masks = sorted((folder / "segmentation").iterdir())
    return {path.stem: read_grey(memoryview(path.read_bytes()), path.name, None) != 255 for path in masks}


def dice(one: np.ndarray, other: np.ndarray) -> float:
    return 2 * (one & other).sum() / (one.sum() + other.sum())


def risks(folder: Path) -> np.ndarray:
    with (folder / "classification_results.csv").open(encoding="utf-8", newline="") as file:
        return np.array([float(row["Glaucoma Risk"]) for row in csv.DictReader(file)])


def true_discs(folder: Path) -> dict[str, np.ndarray]:
    masks = sorted((folder / "phase" / "masks").iterdir())
    return {path.stem: read_grey(memoryview(path.read_bytes()), path.name, None) != 255 for path in masks}


def test_the_gain_over_every_member(made):
    phase, folder, _, found = made
    truth = true_discs(folder)
    means = {
        name: np.mean([dice(mask, truth[case]) for case, mask in discs(folder / name).items()])
        for name in (*MEMBERS, "ensemble")
    }
    gains = {gain.member: gain for gain in found.gains if gain.metric == "segmentation.dice_disc"}
    assert tuple(gains) == tuple(MEMBERS)
    for name, gain in gains.items():
        assert gain.gain == pytest.approx(means["ensemble"] - means[name])
        assert gain.gain > 0
        assert gain.favours == "ensemble"
        assert gain.p_value <= gain.p_holm <= 3 * gain.p_value + 1e-12
    labels = np.array([float(row.cells["glaucoma"]) for row in phase.rows])
    areas = {gain.member: gain for gain in found.gains if gain.metric == "classification.auc"}
    for name, gain in areas.items():
        assert gain.member_value == pytest.approx(roc_auc_score(labels, risks(folder / name)))
        assert gain.ensemble_value == pytest.approx(roc_auc_score(labels, risks(folder / "ensemble")))
    for gain in made[3].gains:
        if gain.metric == "segmentation.vertical_cup_to_disc_ratio_error":
            assert gain.gain == pytest.approx(gain.member_value - gain.ensemble_value)


def test_gain_and_disagreement_by_case(made):
    _, folder, _, found = made
    truth, of_all = true_discs(folder), {name: discs(folder / name) for name in (*MEMBERS, "ensemble")}
    gains, distances = [], []
    by_case = {gain.case: gain for gain in found.cases if gain.metric == "segmentation.dice_disc"}
    for case, true in truth.items():
        a, b, c = (of_all[name][case] for name in MEMBERS)
        mean = np.mean([dice(one, true) for one in (a, b, c)])
        gains.append(dice(of_all["ensemble"][case], true) - mean)
        distances.append(np.mean([1 - dice(a, b), 1 - dice(a, c), 1 - dice(b, c)]))
        assert by_case[case].members_mean == pytest.approx(mean)
        assert by_case[case].gain == pytest.approx(gains[-1])
    (row,) = (
        one
        for one in found.by_disagreement
        if (one.metric, one.disagreement) == ("segmentation.dice_disc", "1 − optic disc Dice")
    )
    assert row.cases == CASES
    assert row.spearman == pytest.approx(spearmanr(distances, gains).statistic)
    order = np.argsort(distances)
    thirds = [np.mean(np.array(gains)[part]) for part in (order[:8], order[8:16], order[16:])]
    assert (row.lowest_third, row.middle_third, row.highest_third) == pytest.approx(tuple(thirds))
    assert row.highest_third > row.lowest_third


def test_the_agreement_needs_no_label(made, tmp_path):
    _, folder, written, _ = made
    write_agreement(tmp_path, written)
    with (tmp_path / "agreement.csv").open(encoding="utf-8", newline="") as file:
        rows = {
            (row["measure"], row["submission_1"], row["submission_2"]): row for row in csv.DictReader(file)
        }
    a, b = discs(folder / "a"), discs(folder / "b")
    expected = np.mean([dice(a[case], b[case]) for case in a])
    assert float(rows["mean optic disc Dice", "a", "b"]["value"]) == pytest.approx(expected)
    scaled = [(risk - risk.min()) / (risk.max() - risk.min()) for risk in (risks(folder / n) for n in "ab")]
    bias = float(rows["mean difference", "a", "b"]["value"])
    assert bias == pytest.approx(np.mean(scaled[0] - scaled[1]))
    with (tmp_path / "disagreement.csv").open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row["measure"] == "1 − optic disc Dice"]
    assert [float(row["mean"]) for row in found] == sorted(
        (float(row["mean"]) for row in found), reverse=True
    )


def test_the_files_and_a_rejected_member(made, tmp_path):
    write_gain(tmp_path, made[3])
    for name, rows in (
        ("gain.csv", made[3].gains),
        ("gain-cases.csv", made[3].cases),
        ("gain-disagreement.csv", made[3].by_disagreement),
    ):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            assert len(list(csv.DictReader(file))) == len(rows) > 0
    phase, folder, _, _ = made
    with pytest.raises(PhaseError) as error:
        ensemble_gain(phase, ("e", folder / "ensemble"), {"empty": tmp_path}, [], 0, TestChoice(1))
    assert all(problem.startswith("empty: ") for problem in error.value.problems)
