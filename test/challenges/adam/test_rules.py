"""ADAM's rules, through the whole pipeline: expected values are the paper's, or come from hand arithmetic."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.challenges.adam import CHALLENGE, LESIONS, TITLES, AdamOptions
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.evaluate import Rejection, Result, evaluate
from evaluation.io.kinds.points import point_at
from evaluation.io.kinds.volume import Volume
from evaluation.organiser.submission_writer import ArchiveWriter, SampleCase, write_phase
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.faults import faulted

TASKS = {task.name: task for task in CHALLENGE.tasks(AdamOptions())}
STRUCTURES = tuple(TITLES)
METRIC_OF_STRUCTURE = {name: "disc." if name == "disc" else f"lesions.{name}_" for name in STRUCTURES}


def mask(*pixels, width=10, height=8):
    """Return a mask with the given pixels (y, x) as the structure."""
    image = np.full((height, width), 255, dtype=np.uint8)
    for y, x in pixels:
        image[y, x] = 0
    return Volume.of_image(image)


def everything(width=10, height=8, **values):
    """Return a value for every field: healthy and empty but for what is given."""
    empty = {name: mask(width=width, height=height) for name in STRUCTURES}
    return {"amd_risk": 0, "fovea": point_at(5, 4), **empty, **values}


@dataclass
class Image:
    reference: dict[str, Any] = field(default_factory=everything)
    prediction: dict[str, Any] = field(default_factory=everything)
    size: tuple[int, int] = (10, 8)


@dataclass
class Phase:
    """Writes a phase and a submission, and scores the one against the other."""

    folder: Path
    images: list[Image]
    tasks: tuple[str, ...] = tuple(TASKS)
    options: str = ""
    settings: str = ""

    def __post_init__(self):
        options = AdamOptions()
        fields = fields_of(task for task in CHALLENGE.tasks(options) if task.name in self.tasks)
        self.reference, self.submission = self.folder / "reference", self.folder / "submission"
        configuration = (
            f'challenge = "adam"\nname = "adam-test"\ntitle = "Test"\nsubmission = "archive"\n'
            f"tasks = {list(self.tasks)}\n{self.settings}\n[options]\n{self.options}\n"
        )
        cases = []
        for number, image in enumerate(self.images):
            size = {"width": str(image.size[0]), "height": str(image.size[1])}
            cases.append(SampleCase(f"T{number}", size, image.reference))
        write_phase(self.reference, configuration, fields, cases)
        self.submission.mkdir()
        writer = ArchiveWriter(self.submission, fields)
        for number, image in enumerate(self.images):
            writer.add(f"T{number}", image.prediction)
        writer.close()

    def load(self):
        return load_phase(self.reference, scan(self.reference))

    def evaluate(self):
        return evaluate(self.load(), self.submission, workers=0)

    def metrics(self):
        result = self.evaluate()
        assert isinstance(result, Result), result
        return {
            f"{task}.{name}": estimate.value
            for task, metrics in result.figures.aggregates.items()
            for name, estimate in metrics.items()
        }

    def faults(self):
        result = self.evaluate()
        assert isinstance(result, Rejection)
        return [str(fault) for fault in result.faults]


@pytest.mark.parametrize("structure", ["disc", "scar"])
def test_dice_where_the_reference_has_the_structure_and_f1_over_all(structure, tmp_path):
    images = [
        # 2 of 3 pixels found: Dice 2·2 / (2 + 3)
        Image(
            everything(**{structure: mask((1, 1), (1, 2), (1, 3))}),
            everything(**{structure: mask((1, 1), (1, 2))}),
        ),
        # overlooked: Dice 0
        Image(everything(**{structure: mask((6, 6))}), everything()),
        # imagined: no Dice
        Image(everything(), everything(**{structure: mask((0, 0), (7, 9))})),
        # found at another place: Dice 0, detected all the same
        Image(everything(**{structure: mask((2, 2))}), everything(**{structure: mask((5, 5))})),
        Image(),
        Image(),
    ]
    prefix = METRIC_OF_STRUCTURE[structure]
    metrics = Phase(tmp_path, images, ("disc", "lesions")).metrics()
    assert metrics[f"{prefix}dice"] == pytest.approx((0.8 + 0 + 0) / 3)
    # 2 found, 1 overlooked, 1 imagined
    assert metrics[f"{prefix}f1"] == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    others = [METRIC_OF_STRUCTURE[name] for name in STRUCTURES if name != structure]
    assert all(metrics[f"{other}f1"] == 1 and f"{other}dice" not in metrics for other in others)


def test_fovea_with_visibility(tmp_path):
    wide, narrow = (10, 8), (5, 8)
    images = [
        # neither sees it: distance 0
        Image({"fovea": point_at(0, 0)}, {"fovea": point_at(0, 0)}, wide),
        # said to be invisible: the distance to (0, 0), as the paper has it
        Image({"fovea": point_at(3, 4)}, {"fovea": point_at(0, 0)}, wide),
        # not visible and yet predicted
        Image({"fovea": point_at(0, 0)}, {"fovea": point_at(0, 6)}, narrow),
        Image({"fovea": point_at(1, 1)}, {"fovea": point_at(4, 5)}, narrow),
    ]
    metrics = Phase(tmp_path, images, ("fovea",)).metrics()
    assert metrics == {
        "fovea.distance": pytest.approx((0 + 5 + 6 + 5) / 4),
        "fovea.distance_where_visible": pytest.approx((5 + 5) / 2),
        "fovea.distance_per_width": pytest.approx((0 + 5 / 10 + 6 / 5 + 5 / 5) / 4),
        # visible: 1 right, 1 imagined, 1 overlooked; invisible: the same the other way round
        "fovea.visible_f1": pytest.approx(0.5),
        "fovea.invisible_f1": pytest.approx(0.5),
    }


@pytest.mark.parametrize(
    ("reference", "prediction", "visible_f1", "invisible_f1"),
    [
        (point_at(0, 0), point_at(0, 0), 1, 1),
        (point_at(0, 0), point_at(0, 1), 0, 0),
        (point_at(1, 0), point_at(0, 1), 1, 1),
        (point_at(1, 0), point_at(0, 0), 0, 0),
    ],
)
def test_only_both_coordinates_at_zero_say_invisible(
    reference, prediction, visible_f1, invisible_f1, tmp_path
):
    metrics = Phase(tmp_path, [Image({"fovea": reference}, {"fovea": prediction})], ("fovea",)).metrics()
    assert (metrics["fovea.visible_f1"], metrics["fovea.invisible_f1"]) == (visible_f1, invisible_f1)
    assert ("fovea.distance_where_visible" in metrics) == reference.positions.any()


def test_sealing_says_which_metrics_do_not_exist(tmp_path):
    images = [Image(everything(**{name: mask((1, 1)) for name in LESIONS if name != "other"}))]
    ranked = Phase(tmp_path / "ranked", images, ("lesions",))
    with faulted(PhaseError, "lesions.other_dice"):
        validate_phase(ranked.reference, scan(ranked.reference), workers=0)
    chosen = Phase(
        tmp_path / "chosen", images, ("lesions",), settings='platform.columns = ["lesions.drusen_dice"]'
    )
    notices = validate_phase(chosen.reference, scan(chosen.reference), workers=0).notices
    assert notices == (
        "lesions.other_dice is undefined in this phase: no case enters it",
        "other: the reference of all 1 cases is empty, without any structure",
    )


def test_a_missing_fovea_is_a_diagonal_away_and_wrongly_seen():
    task, case = TASKS["fovea"], CaseForm("T0", width=6, height=8)
    rows = [task.worst_row(case, {"fovea": point_at(*place)}) for place in ((3, 2), (0, 0))]
    assert metric_values(task.metrics, CaseTable(["T0", "T1"], rows)) == {
        "distance": 10,
        "distance_where_visible": 10,
        "distance_per_width": pytest.approx(10 / 6),
        "visible_f1": 0,
        "invisible_f1": 0,
    }


def test_the_one_folder_of_a_phase_may_have_been_stripped_by_the_platform(tmp_path):
    task = "lesions"
    perfect = everything(**{name: mask((1, 1)) for name in STRUCTURES})
    phase = Phase(tmp_path, [Image(perfect, perfect), Image()], (task,))
    expected = phase.metrics()
    outer = phase.submission / task
    for path in sorted(outer.iterdir()):
        path.rename(phase.submission / path.name)
    outer.rmdir()
    assert phase.metrics() == expected
    (stray,) = sorted(phase.submission.rglob("T1.png"))[:1]
    stray.rename(stray.with_name("T9.png"))
    found = stray.with_name("T9.png").relative_to(phase.submission).as_posix()
    expected_files = {found, f"{task}/{found.replace('T9', 'T1')}"}
    assert {fault.split(":")[0] for fault in phase.faults()} == expected_files


def test_with_tables_beside_them_no_folder_is_taken_for_stripped(tmp_path):
    phase = Phase(tmp_path, [Image(), Image()], ("disc", "fovea"), settings="optional_tasks = []")
    for path in sorted((phase.submission / "disc").iterdir()):
        path.rename(phase.submission / path.name)
    assert phase.faults() == ["disc/: expected 2 files, found none"]


def test_folders_and_tables_have_the_names_that_the_phase_gives(tmp_path):
    options = """
        classification_file = "amd.csv"
        fovea_file = "tables/fovea.csv"
        folders = { disc = "Disc_Segmentations", scar = "Lesion_Segmentations/scar" }
    """
    perfect = everything(amd_risk=1, **{name: mask((1, 1)) for name in STRUCTURES})
    images = [Image(perfect, perfect), Image()]
    phase = Phase(tmp_path, images, options=options, settings="optional_tasks = []")
    submission = phase.submission
    assert len(phase.faults()) == 2 + 2
    (submission / "classification_results.csv").rename(submission / "amd.csv")
    (submission / "tables").mkdir()
    (submission / "fovea_location_results.csv").rename(submission / "tables/fovea.csv")
    (submission / "disc").rename(submission / "Disc_Segmentations")
    assert phase.faults() == ["Lesion_Segmentations/scar/: expected 2 files, found none"]
    (submission / "Lesion_Segmentations").mkdir()
    (submission / "lesions/scar").rename(submission / "Lesion_Segmentations/scar")
    metrics = phase.metrics()
    assert all(
        metrics[f"{task.name}.{metric.name}"] == metric.best
        for task in TASKS.values()
        for metric in task.metrics
    )
    assert phase.load().form.options["folders"]["disc"] == "Disc_Segmentations"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('folders = { drusen = "Disc/drusen" }', ("options.folders", "{'drusen': 'Disc/drusen'}")),
        ('folders = { cup = "cup" }', ("options.folders.cup.[key]", "'cup'")),
        ('folders = { disc = "../disc" }', ("options.folders.disc",)),
        ('fovea_file = "fovea.xlsx"', ("options.fovea_file", "'fovea.xlsx'")),
        ('fovea_file = "Classification_Results.csv"', ("classification_file and fovea_file",)),
        ('disc_folder = "disc"', ("options.disc_folder",)),
    ],
)
def test_names_that_cannot_be_told_apart_or_leave_the_submission_are_refused(options, message, tmp_path):
    phase = Phase(tmp_path, [Image()], options=options)
    with faulted(PhaseError, *message):
        phase.load()
