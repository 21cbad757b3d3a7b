"""Multi-organ CT from its folder alone, against scikit-learn, surface-distance and SciPy's ranks."""

import numpy as np
import pytest
import SimpleITK
from scipy.stats import rankdata
from sklearn.metrics import f1_score
from surface_distance import metrics as oracle

import evaluation
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.examples.samples import lines_of, write_sample

ORGANS = {1: "liver", 2: "spleen", 3: "kidneys", 4: "pancreas", 5: "aorta"}
TOLERANCES_MM = {1: 3, 2: 2, 3: 2, 4: 3, 5: 2}
pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("multi-organ-ct"), "multi-organ-ct")
    evaluation.seal(folder / "phase")
    return folder


def pairs(sample, submission):
    """Yield reference and prediction, arrays (z, y, x), and the spacing of each scan."""
    for path in sorted((sample / "phase" / "organs").iterdir()):
        images = [SimpleITK.ReadImage(str(path)), SimpleITK.ReadImage(str(submission / "organs" / path.name))]
        yield *map(SimpleITK.GetArrayFromImage, images), images[0].GetSpacing()[::-1]


def figures_of(reference, prediction, spacing_mm, label):
    true, found = reference == label, prediction == label
    if not true.any() or not found.any():
        return [float(true.any() == found.any())] * 2
    distances = oracle.compute_surface_distances(true, found, spacing_mm)
    surface_dice = oracle.compute_surface_dice_at_tolerance(distances, TOLERANCES_MM[label])
    return f1_score(true.ravel(), found.ravel()), surface_dice


def expected_figures(sample, submission):
    """Return Dice and surface Dice, shape (2, scans, organs)."""
    rows = [[figures_of(*pair, label) for label in ORGANS] for pair in pairs(sample, submission)]
    return np.array(rows).transpose(2, 0, 1)


def test_the_figures_are_those_of_an_independent_computation(sample):
    expected = {}
    for metric, figures in zip(
        ("dice", "surface_dice"), expected_figures(sample, sample / "submission"), strict=True
    ):
        expected[metric] = figures.mean()
        expected |= {f"{metric}_{organ}": figures[:, i].mean() for i, organ in enumerate(ORGANS.values())}
    result = evaluation.evaluate(sample / "phase", sample / "submission", workers=0).to_dict()
    found = {name: entry["value"] for name, entry in result["aggregates"]["segmentation"].items()}
    assert found == pytest.approx(expected, abs=5e-5)
    assert all(0.3 < value < 0.99 for value in found.values())


def test_an_organ_that_a_scan_lacks_counts_fully_or_not_at_all(sample):
    cases = evaluation.evaluate(sample / "phase", sample / "submission", workers=0).cases("segmentation")
    for metric in ("dice", "surface_dice"):
        assert cases[f"{metric}_pancreas"].tolist()[:2] == [1, 0]


def write_copy(source, target, change):
    """Write a submission whose label maps, by number of the scan, are changed ones of another folder."""
    target.mkdir(parents=True)
    for number, path in enumerate(sorted(source.iterdir())):
        image = SimpleITK.ReadImage(str(path))
        changed = SimpleITK.GetImageFromArray(change(number, SimpleITK.GetArrayFromImage(image)))
        changed.CopyInformation(image)
        SimpleITK.WriteImage(changed, str(target / path.name))


def test_teams_are_ranked_in_every_scan(sample, tmp_path):
    teams = {
        "usual": sample / "submission",
        "shifted": tmp_path / "shifted",
        "one_lost": tmp_path / "one_lost",
    }
    write_copy(
        sample / "submission" / "organs",
        teams["shifted"] / "organs",
        lambda number, values: np.roll(values, number % 3 - 1, axis=2),
    )
    # The best one in every scan but the last, where it has nothing: no longer the best on average.
    write_copy(
        sample / "phase" / "organs",
        teams["one_lost"] / "organs",
        lambda number, values: values * np.uint8(number < 5),
    )
    for team, submission in teams.items():
        evaluation.evaluate(sample / "phase", submission, workers=0).write(tmp_path / "results" / team)

    # Shape (teams, metrics, scans).
    figures = np.stack([expected_figures(sample, submission).mean(axis=2) for submission in teams.values()])
    assert figures.mean(axis=2)[:, 0].argmax() == 0
    ranks = rankdata(-figures.round(12), axis=0, method="min").mean(axis=2)
    scores = rankdata(ranks, axis=0, method="min").mean(axis=1)
    assert scores.argmin() == 2
    found = evaluation.rank(tmp_path / "results").teams().loc[list(teams), "overall score"]
    assert found.astype(float).tolist() == pytest.approx(scores.tolist())


def test_the_phase_can_be_rehearsed_and_checked(sample):
    assert rehearse(load_phase(sample / "phase")).problems == ()
    assert evaluation.check(sample / "phase", sample / "submission", workers=0).passed


def test_what_an_organiser_writes():
    assert lines_of("multi-organ-ct") <= 60
