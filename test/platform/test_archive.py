"""How an unpacked archive is paired with the cases of a phase."""

import shutil

import pytest

from evaluation.core.fault import FaultKind
from evaluation.core.sources import CellsSource, FileSource
from evaluation.io import files
from evaluation.platform.submission import index_submission
from test.phases import loaded_phase, refuge_submission, replace_in

ALL = ("classification", "segmentation", "fovea")


@pytest.fixture
def submission(tmp_path):
    return refuge_submission(tmp_path / "submission")


def index_of(tmp_path, submission, **phase):
    phase = loaded_phase(tmp_path / "phase", **phase)
    return index_submission(submission, phase.form, phase.tasks)


def told(index):
    """Return kind, place and what was found of every fault; `test.messages` holds the words."""
    return [f"{fault.kind.value}: {fault.place}: {fault.found}" for fault in index.faults]


def test_every_value_is_found(tmp_path, submission):
    index = index_of(tmp_path, submission)
    assert index.faults == ()
    assert index.tasks == ALL
    assert [set(of_case) for of_case in index.sources] == [{"glaucoma_risk", "segmentation", "fovea"}] * 4
    assert index.sources[1] == {
        "glaucoma_risk": CellsSource(("0.902",), "classification_results.csv", 3, ("Glaucoma Risk",)),
        "segmentation": FileSource("segmentation/V0002.png"),
        "fovea": CellsSource(("4.0", "5.5"), "fovea_location_results.csv", 3, ("Fovea_X", "Fovea_Y")),
    }


def test_letter_case_does_not_matter(tmp_path, submission):
    (submission / "segmentation").rename(submission / "Segmentation")
    (submission / "Segmentation" / "V0001.png").rename(submission / "Segmentation" / "v0001.PNG")
    (submission / "classification_results.csv").rename(submission / "Classification_Results.CSV")
    replace_in(submission / "fovea_location_results.csv", "V0003", "v0003.JPG")
    replace_in(submission / "fovea_location_results.csv", "ImageName", "image name")
    index = index_of(tmp_path, submission)
    assert told(index) == []
    assert index.sources[0]["segmentation"] == FileSource("Segmentation/v0001.PNG")


def test_one_common_folder_is_stripped(tmp_path, submission):
    outer = tmp_path / "outer"
    outer.mkdir()
    submission.rename(outer / "my team")
    (outer / "__MACOSX").mkdir()
    (outer / "__MACOSX" / "._x").write_bytes(b"x")
    index = index_of(tmp_path, outer)
    assert told(index) == []
    assert index.root == str(outer / "my team")
    assert index.sources[0]["segmentation"] == FileSource("segmentation/V0001.png")


def test_a_table_may_have_its_other_name(tmp_path, submission):
    name = "fovea_localization_results.csv"
    (submission / "fovea_location_results.csv").rename(submission / name)
    index = index_of(tmp_path, submission)
    assert told(index) == []
    assert index.sources[3]["fovea"].file == name


@pytest.mark.parametrize("keys", [{}, {"tasks": ["fovea"]}, {"columns": ["fovea.distance"]}])
def test_an_optional_task_may_be_absent_unless_the_leaderboard_needs_it(tmp_path, submission, keys):
    (submission / "fovea_location_results.csv").unlink()
    index = index_of(tmp_path, submission, keys=keys)
    assert ("missing: fovea_location_results.csv: none" in told(index)) == bool(keys)
    assert ("fovea" in index.tasks) == bool(keys)
    assert keys or (told(index), index.tasks) == ([], ("classification", "segmentation"))


def test_an_optional_task_that_was_begun_must_be_complete(tmp_path):
    submission = refuge_submission(
        tmp_path / "submission",
        change=lambda case, values: {
            name: value for name, value in values.items() if name != "fovea" or case.number < 4
        },
    )
    assert told(index_of(tmp_path, submission)) == ["missing: fovea_location_results.csv, ImageName: none"]


def test_a_row_with_another_number_of_fields_is_not_missing_as_well(tmp_path, submission):
    """A decimal comma is one mistake; a row that is not there is another."""
    path = submission / "classification_results.csv"
    header, first, second, *others = path.read_text().splitlines()
    path.write_text("\n".join([header, second.replace(".9", ",9"), *others]) + "\n")
    assert first.startswith("V0001")
    assert told(index_of(tmp_path, submission)) == [
        "malformed: classification_results.csv, line 2: 3",
        "missing: classification_results.csv, FileName: none",
    ]


def _alone_in_a_zip(folder):
    shutil.make_archive(str(folder.parent / "results"), "zip", folder)
    shutil.rmtree(folder)
    folder.mkdir()
    (folder.parent / "results.zip").rename(folder / "results.zip")


def _one_level_deeper(folder):
    (folder / "x").mkdir()
    (folder / "segmentation").rename(folder / "x" / "segmentation")


def _named_otherwise(folder):
    (folder / "classification_results.csv").rename(folder / "methods.csv")


@pytest.mark.parametrize(
    ("spoil", "hint"),
    [
        (_alone_in_a_zip, "results.zip"),
        (_one_level_deeper, "x/segmentation/"),
        (_named_otherwise, None),
    ],
)
def test_hints_on_what_was_probably_meant(tmp_path, submission, spoil, hint):
    """`test_hints` tries the names one by one."""
    spoil(submission)
    index = index_of(tmp_path, submission)
    hints = {fault.hint for fault in index.faults if fault.kind is FaultKind.MISSING}
    assert hints == {None} if hint is None else all(hint in one for one in hints)
    # A fault is not said again as a note; the fovea is the task that may be left out.
    said = [notice for notice in index.notices if notice.startswith("nothing was found for: ")]
    assert [notice for notice in said if "fovea" not in notice.casefold()] == []
    # Where nothing need be there, a check says the same as a note.
    scored = index_of(tmp_path / "worst", submission, keys={"missing": "worst"})
    assert scored.faults == ()
    notes = [notice for notice in scored.notices if notice.startswith("nothing was found for: ")]
    assert notes
    assert all(hint is not None and hint in notice.partition(" (")[2] for notice in notes) == bool(hint)


def test_files_that_no_field_reads_are_named(tmp_path, submission):
    """Ten of them, wherever they lie; they are no fault. A second table of the format is one already."""
    for name in ("notes.txt", "masks/V0001.png", *(f"z/{number}" for number in range(10))):
        (submission / name).parent.mkdir(exist_ok=True)
        (submission / name).write_bytes(b"x")
    index = index_of(tmp_path, submission)
    assert index.faults == ()
    named = [notice.partition(" ")[0] for notice in index.notices]
    stray = "masks/:"  # a file that is named like an image of the phase
    assert named == [stray, "masks/V0001.png", "notes.txt", *(f"z/{number}" for number in range(8)), "2"]


@pytest.mark.parametrize("missing", ["reject", "worst"])
def test_a_listing_that_stopped_calls_nothing_missing(tmp_path, submission, monkeypatch, missing):
    monkeypatch.setattr(files, "MAX_ENTRIES", 5)  # both tables are among the first
    index = index_of(tmp_path, submission, keys={"missing": missing})
    assert [fault.kind for fault in index.faults] == [FaultKind.TOO_LARGE]
    assert index.notices == ()


def test_files_that_pair_with_no_case(tmp_path, submission):
    folder = submission / "segmentation"
    shutil.copy(folder / "V0001.png", folder / "V0009.png")
    (folder / "V0002.png").rename(folder / "V0002.jpg")
    (folder / "deeper").mkdir()
    (folder / "V0003.png").rename(folder / "deeper" / "V0003.png")
    assert told(index_of(tmp_path, submission)) == [
        "unknown: segmentation/V0002.jpg: a file of another name",
        "unknown: segmentation/V0009.png: a file of another name",
        "unknown: segmentation/deeper/V0003.png: a file of another name",
        "missing: segmentation/V0002.bmp: none",
        "missing: segmentation/V0003.bmp: none",
    ]


def test_worst_takes_an_incomplete_submission(tmp_path, submission):
    (submission / "segmentation" / "V0002.png").unlink()
    (submission / "classification_results.csv").unlink()
    index = index_of(tmp_path, submission, keys={"missing": "worst"})
    assert told(index) == []
    assert index.tasks == ALL
    assert [set(of_case) for of_case in index.sources] == [
        {"segmentation", "fovea"},
        {"fovea"},
        {"segmentation", "fovea"},
        {"segmentation", "fovea"},
    ]


INPUTS = '[{"socket": {"slug": "predictions-zip-file"}}]'
"""What the platform leaves in `inputs.json`, beside what it unpacks."""


@pytest.mark.parametrize("folder", ["segmentation", "", "anything"])
def test_a_phase_of_one_folder_takes_its_files_without_it(tmp_path, folder):
    # Of a zip whose files share a folder, the platform unpacks the files without it.
    submission = refuge_submission(tmp_path / "submission", fields=["segmentation"])
    if folder != "segmentation":
        shutil.move(submission / "segmentation", tmp_path / "files")
        shutil.rmtree(submission)
        shutil.copytree(tmp_path / "files", submission / folder)
    index = index_of(tmp_path, submission, keys={"tasks": ["segmentation"]})
    (submission / "inputs.json").write_text(INPUTS)
    beside = index_of(tmp_path / "beside", submission, keys={"tasks": ["segmentation"]})
    assert index.faults == beside.faults == ()
    assert index.sources == beside.sources
    assert [set(of_case) for of_case in index.sources] == [{"segmentation"}] * 4
    assert folder == "anything" or index.root == str(submission)


def test_a_phase_of_one_table_takes_it_bare(tmp_path):
    submission = refuge_submission(tmp_path / "submission", fields=["glaucoma_risk"])
    (submission / "classification_results.csv").rename(submission / "predictions.csv")
    for name in ("bare", "beside"):
        index = index_of(tmp_path / name, submission, keys={"tasks": ["classification"]})
        assert index.faults == ()
        assert [set(of_case) for of_case in index.sources] == [{"glaucoma_risk"}] * 4
        (submission / "inputs.json").write_text(INPUTS)


@pytest.mark.parametrize("folder", ["", "my results"])
def test_the_platforms_file_of_inputs_is_no_part_of_a_submission(tmp_path, folder):
    submission = refuge_submission(tmp_path / "submission" / folder)
    (tmp_path / "submission" / "inputs.json").write_text(INPUTS)
    index = index_of(tmp_path, tmp_path / "submission")
    assert index.faults == ()
    assert index.root == str(submission)
    assert [set(of_case) for of_case in index.sources] == [{"glaucoma_risk", "segmentation", "fovea"}] * 4


@pytest.mark.parametrize(
    ("path", "noticed"),
    [
        ("inputs.json", True),
        ("my results/inputs.json", True),  # at the top, once the platform has stripped the folder
        ("my results/segmentation/inputs.json", False),
    ],
)
def test_a_participants_file_that_the_platform_overwrites_is_noticed(tmp_path, path, noticed):
    refuge_submission(tmp_path / "submission" / "my results")
    (tmp_path / "submission" / path).write_text("{}")
    index = index_of(tmp_path, tmp_path / "submission")
    assert [notice.partition(" ")[0] for notice in index.notices] == ["inputs.json"] * noticed
