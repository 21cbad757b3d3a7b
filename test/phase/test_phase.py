import re
import shutil

import pytest

from evaluation.core.fault import PhaseError
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase, load_phase_to_verify
from test.faults import faulted
from test.phases import loaded_phase, refuge_phase, replace_in


def problems_of(folder):
    """Return the faults of a phase as it would be sealed now."""
    with pytest.raises(PhaseError) as caught:
        load_phase(folder, scan(folder))
    return list(caught.value.problems)


def test_the_form_of_a_phase_holds_no_label(tmp_path):
    phase = loaded_phase(tmp_path / "phase", columns={"eye": ["left"] * 4})
    form = phase.form
    assert (form.challenge, form.phase, form.submission) == ("refuge", "refuge-tiny", "archive")
    assert form.tasks == ("classification", "segmentation", "fovea")
    assert form.optional_tasks == ("fovea",)
    assert form.missing == "reject"
    assert [(case.name, case.width, case.height) for case in form.cases] == [
        (f"V000{i}", 16, 12) for i in range(1, 5)
    ]
    assert all(dict(case.columns) == {} for case in form.cases)
    # Only what decides on a submission's looks: the definition of a diameter does not.
    assert form.options == {"unlisted_labels": "error"}
    assert phase.rows[0].cells["glaucoma"] == "1"


def test_tasks_missing_and_options_come_from_the_configuration(tmp_path):
    phase = loaded_phase(
        tmp_path / "phase",
        keys={"missing": "worst", "tasks": ["segmentation"]},
        tables='[options]\nunlisted_labels = "disc"\nvertical_diameter = "extent"',
    )
    assert phase.form.tasks == ("segmentation",)
    assert phase.missing == "worst"
    assert phase.form.options == {"unlisted_labels": "disc"}
    assert phase.options.as_values()["vertical_diameter"] == "extent"
    assert set(phase.reference_paths) == {"segmentation"}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"score": "classification.accuracy"}, "platform.score: 'classification.accuracy' is not a metric"),
        ({"columns": ["segmentation.dice_cup", "segmentation.dice"]},
         "platform.columns: 'segmentation.dice' is not a metric"),
        ({"tasks": ["classification"], "score": "fovea.distance"},
         "platform.score: 'fovea.distance' is not a metric"),
        ({"tasks": ["classification", "detection"]}, "tasks: unknown 'detection' (known are"),
        ({"tasks": []}, "tasks: expected at least one of classification, segmentation, fovea, found none"),
    ],
)  # fmt: skip
def test_an_unknown_name_in_the_configuration(tmp_path, keys, problem):
    (found,) = problems_of(refuge_phase(tmp_path / "phase", keys=keys, sealed=False))
    assert found.startswith(f"phase.toml: {problem}")


def test_reference_files_must_pair_with_the_cases(tmp_path):
    folder = refuge_phase(tmp_path / "phase", sealed=False)
    masks = folder / "masks"
    (masks / "V0001.png").rename(masks / "V0009.png")
    shutil.copy(masks / "V0002.png", masks / "V0002.bmp")
    (masks / "V0003.png").rename(masks / "V0003.jpg")
    (masks / "notes.txt").write_text("seven graders")
    (masks / "old").mkdir()
    shutil.copy(masks / "V0002.png", masks / "old" / "V0002.png")
    assert sorted(problems_of(folder)) == [
        "masks/V0001.png: is missing, expected the reference of case V0001",
        "masks/V0002.png: duplicate file for case V0002, beside masks/V0002.bmp",
        "masks/V0003.png: is missing, expected the reference of case V0003, found masks/V0003.jpg (read are "
        ".png, .bmp, .tif)",
        "masks/V0009.png: matches no case of cases.csv",
        "masks/notes.txt: matches no case of cases.csv",
    ]


def test_names_with_the_extension_of_their_files_are_one_fault(tmp_path):
    folder = refuge_phase(tmp_path / "phase", sealed=False)
    table = folder / "cases.csv"
    table.write_text(re.sub(r"(V\d{4})", r"\1.png", table.read_text()))
    assert problems_of(folder) == [
        "cases.csv, name: expected names without the extension of files, found 'V0001.png' and 3 like it "
        "(evaluation cases writes them so)"
    ]


def test_a_phase_without_segmentation_needs_no_masks_and_no_size(tmp_path):
    folder = refuge_phase(tmp_path / "phase", keys={"tasks": ["classification"]}, sealed=False)
    shutil.rmtree(folder / "masks")
    (folder / "cases.csv").write_text("name,glaucoma\nV1,0\nV2,1\n")
    assert load_phase(folder, scan(folder)).reference_paths == {}


def test_sizes_are_needed_where_images_are_read(tmp_path):
    folder = refuge_phase(tmp_path / "phase", sealed=False)
    text = (folder / "cases.csv").read_text()
    (folder / "cases.csv").write_text(text.replace("V0002,16,12", "V0002,0,12"))
    assert problems_of(folder) == ["cases.csv, line 3, width: expected a size in pixels, found '0'"]
    (folder / "cases.csv").write_text(text.replace("width", "breadth"))
    (found,) = problems_of(folder)
    assert found.startswith("cases.csv: column 'width' (the size of the images of segmentation, fovea) is")


def test_all_faults_at_once(tmp_path):
    folder = refuge_phase(
        tmp_path / "phase",
        keys={"score": "classification.f1", "columns": ["auc"]},
        tables="[options]\nunlisted = 1\n[digits]\n'fovea.error' = 2\n[[subgroups]]\ncolumn = 'camera'",
        sealed=False,
    )
    replace_in(folder / "cases.csv", "fovea_y", "fovea y")
    (folder / "masks" / "V0004.png").unlink()
    found = problems_of(folder)
    assert [problem.split(";")[0] for problem in found] == [
        "phase.toml: unknown key options.unlisted",
        "phase.toml: platform.score: 'classification.f1' is not a metric of this phase",
        "phase.toml: platform.columns: 'auc' is not a metric of this phase",
        "phase.toml: digits: 'fovea.error' is not a metric of this phase",
        "cases.csv: columns 'fovea_y' (the reference of fovea",
        "masks/V0004.png: is missing, expected the reference of case V0004",
    ]


def test_faults_of_both_tables_are_told_together(tmp_path):
    folder = refuge_phase(tmp_path / "phase", keys={"challenge": "chess"}, sealed=False)
    replace_in(folder / "cases.csv", "V0002", "V0001")
    assert [problem.split(";")[0] for problem in problems_of(folder)] == [
        "phase.toml: challenge 'chess' is unknown",
        "cases.csv, lines 2, 3: duplicate case 'v0001'",
    ]


def test_a_phase_of_which_the_seal_is_verified_later_is_the_same_and_one_that_is_none_is_named(tmp_path):
    for name in ("none", "file"):
        (tmp_path / "file").write_text("")
        with faulted(PhaseError, str(tmp_path / name)):
            load_phase(tmp_path / name)
    folder = refuge_phase(tmp_path / "phase")
    phase, later = load_phase(folder), load_phase_to_verify(folder)
    assert (later.form, later.rows, later.reference) == (phase.form, phase.rows, phase.reference)
    assert (phase.seal_is_verified, later.seal_is_verified) == (True, False)
    phase.verify_seal()
    later.verify_seal()


@pytest.mark.parametrize("changed", ["mask", "label", "title"])
def test_what_differs_from_the_seal_is_told_by_both_ways_alike(changed, tmp_path):
    folder = refuge_phase(tmp_path / "phase")
    if changed == "mask":
        with next((folder / "masks").iterdir()).open("ab") as file:
            file.write(b"more")
    elif changed == "label":
        replace_in(folder / "cases.csv", ",1", ",0")
    else:
        replace_in(folder / "phase.toml", "title = ", "subtitle = ")
    with pytest.raises(PhaseError) as at_once:
        load_phase(folder)
    with pytest.raises(PhaseError) as later:
        load_phase_to_verify(folder).verify_seal()
    assert later.value.problems == at_once.value.problems
    assert len(later.value.problems) == 1
