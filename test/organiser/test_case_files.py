"""Case tables made from the files of a phase: equal to the sample's own, and what they keep."""

import shutil

import numpy as np
import pytest
import SimpleITK
import tifffile

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import write_volume
from evaluation.organiser.case_files import table_from_files
from test.challenges.declared.phases import declared_phase
from test.faults import faulted
from test.started import run

write_repository = pytest.importorskip("evaluation.organiser.starter.repository").write_repository


@pytest.fixture(scope="module")
def repositories(tmp_path_factory):
    root = tmp_path_factory.mktemp("repositories")
    for kind in ("ct-segmentation", "segmentation", "classification", "detection"):
        write_repository(root / kind, kind, False)
    return root


@pytest.fixture
def phase(repositories, tmp_path):
    def copied(kind):
        return shutil.copytree(repositories / kind / "phase", tmp_path / kind)

    return copied


@pytest.mark.parametrize("kind", ["ct-segmentation", "segmentation"])
def test_the_table_of_a_sample_is_made_again_from_its_files(phase, kind):
    folder = phase(kind)
    expected = (folder / "cases.csv").read_bytes()
    (folder / "cases.csv").unlink()
    done = run("cases", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "12 cases, 12 of them new\nfilled: width (12), height (12)" in done.stdout
    assert (folder / "cases.csv").read_bytes() == expected


def test_a_table_of_labels_is_taken_over(phase, tmp_path):
    folder = phase("classification")
    expected = (folder / "cases.csv").read_bytes()
    (folder / "cases.csv").rename(tmp_path / "labels.csv")
    table_from_files(folder, labels=tmp_path / "labels.csv").write()
    assert (folder / "cases.csv").read_bytes() == expected
    (tmp_path / "labels.csv").write_bytes(expected.replace(b",", b";").replace(b"name", b"Name"))
    table_from_files(folder, labels=tmp_path / "labels.csv").write()
    assert (folder / "cases.csv").read_bytes() == expected


@pytest.mark.parametrize(
    ("data", "options", "told"),
    [
        ("Fall;Klasse\nMünster;1\nb;0,5\n".encode("cp1252"), ("--key", "Fall"), ""),
        ("case;Klasse\r\nMünster;1\r\nb;0,5\r\n".encode("utf-8-sig"), (), ""),
        (
            "Fall;Klasse\nMünster;1\n".encode("cp1252"),
            (),
            "expected the column name or case, found Fall, Klasse",
        ),
        (b"Fall,Klasse\nb,1\n", ("--key", "fell"), "expected the column fell, found Fall, Klasse"),
        (b'[{"name": "b", "Klasse": 1}]', (), "expected a table (csv), found JSON"),
        (b"name,Klasse\nb,0\n", (), "labels.csv: nothing of the images Münster"),
    ],
)
def test_tables_as_spreadsheets_write_them(tmp_path, data, options, told):
    from PIL import Image

    tables = '[fields.number]\nkind = "number"\nminimum = 0\nmaximum = 9\n'
    tables += '[tasks.t]\nmetrics = ["mean_absolute_error"]\n'
    phase = declared_phase(tmp_path / "phase", tables, {"name": ["x"]})
    (phase / "cases.csv").unlink()
    (tmp_path / "labels.csv").write_bytes(data)
    (tmp_path / "images").mkdir()
    for name in ("Münster", "b"):
        Image.new("L", (31, 17)).save(tmp_path / "images" / f"{name}.png")
    done = run("cases", phase, "--images", tmp_path / "images", "--labels", tmp_path / "labels.csv", *options)
    assert told in done.stderr
    assert done.returncode == bool(told)
    if not told:
        assert done.stderr == ""
        lines = (phase / "cases.csv").read_text(encoding="utf-8").splitlines()
        assert lines[0] == "name,width,height,Klasse,number"
        assert set(lines[1:]) == {"Münster,31,17,1,", "b,31,17,0.5,"}


def test_cases_of_a_table_of_rows_are_found_and_their_images_measured(phase, tmp_path):
    from PIL import Image

    folder = phase("detection")
    names = [line.partition(",")[0] for line in (folder / "cases.csv").read_text().splitlines()[1:]]
    (folder / "cases.csv").unlink()
    (tmp_path / "images").mkdir()
    Image.new("RGB", (31, 17)).save(tmp_path / "images" / f"{names[0]}.jpg")
    table = table_from_files(folder, images=tmp_path / "images")
    assert table.rows[names[0]] == {"name": names[0], "width": "31", "height": "17"}


def test_filled_cells_and_other_columns_stay_and_differences_are_told(phase):
    folder = phase("ct-segmentation")
    (folder / "cases.csv").write_text("Name;age;width\ncase02.nii.gz;3,5;64.0\ncase01;;65\n")
    kept = run("cases", folder)
    assert "2 cases, 0 of them new" in kept.stdout
    assert "without a row, which --add writes: case03, " in kept.stdout
    (folder / "cases.csv").write_text("Name;age;width\ncase02.nii.gz;3,5;64.0\ncase01;;65\n")
    done = run("cases", folder, "--add")
    assert done.returncode == 1
    assert "differs: cases.csv, case01, width: 65, found 64 in labels/case01." in done.stderr
    assert "written without the extension of files: 1 names" in done.stdout
    assert "still empty: age (11)" in done.stdout
    header, first, second = (folder / "cases.csv").read_text().splitlines()[:3]
    assert header == "name,age,width,height,depth,spacing_mm,origin_mm,direction"
    assert first == "case02,3.5,64.0,48,12,0.9 0.9 2.5,0 0 0,1 0 0 0 1 0 0 0 1"
    assert second == "case01,,65,48,12,0.9 0.9 2.5,0 0 0,1 0 0 0 1 0 0 0 1"


def test_image_and_reference_that_disagree(phase, tmp_path):
    """The image's own header is taken; a difference within the rounding of headers is none."""
    folder = phase("ct-segmentation")
    (folder / "cases.csv").unlink()
    images = tmp_path / "images"
    images.mkdir()
    for name, spacing in (("case01", 0.8), ("case02", 0.90001)):
        geometry = Geometry((12, 48, 64), (spacing, 0.9, 2.5), (0.0, 0.0, 0.0))
        data = write_volume(np.zeros((12, 48, 64), np.uint8), geometry, ".nii.gz")
        (images / f"{name}.nii.gz").write_bytes(data)
    (images / "case13.nii.gz").write_bytes(data)
    table = table_from_files(folder, images=images)
    difference, lacking = table.differing
    assert lacking == "labels/: nothing of the images case13"
    assert difference.startswith("labels/case01.")
    assert "spacing_mm 0.9 0.9 2.5, found 0.8" in difference
    assert [float(cell) for cell in table.rows["case01"]["spacing_mm"].split()] == pytest.approx(
        [0.8, 0.9, 2.5]
    )


@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        ('"label_map"\nlabels = { 1 = "a" }', "dice"),
        ('"instance_map"\nlabels = { 1 = "a" }', "panoptic_quality"),
        ('"probability_map"', "dice_at_threshold"),
        ('"image"\nminimum = 0\nmaximum = 9', "image_mean_absolute_error"),
        ('"detection_map"', "lesion_average_precision"),
    ],
)
@pytest.mark.parametrize("axes", [2, 3])
def test_an_image_of_one_plane_in_a_metaimage_has_its_size_and_spacing(tmp_path, kind, metric, axes):
    tables = f"[fields.map]\nkind = {kind}\ndimensions = 2\nhas_spacing = true\n[tasks.t]\nmetrics = "
    phase = declared_phase(tmp_path / "phase", f'{tables}["{metric}"]\n', {"name": ["a"]})
    (phase / "cases.csv").unlink()
    (phase / "map").mkdir()
    image = SimpleITK.GetImageFromArray(np.ones((1, 4, 5)[3 - axes :], np.uint8))
    image.SetSpacing((0.25, 0.5, 1.0)[:axes])
    SimpleITK.WriteImage(image, phase / "map/a.mha")
    done = run("cases", phase)
    assert (done.returncode, done.stderr) == (0, "")
    header, row = (phase / "cases.csv").read_text().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True)) == {
        "name": "a",
        "width": "5",
        "height": "4",
        "spacing_mm": "0.25 0.5",
    }
    if kind.startswith('"label_map"'):
        assert run("seal", phase).returncode == 0


def test_files_that_cannot_be_read_are_named_and_the_other_rows_are_filled(phase):
    folder = phase("ct-segmentation")
    (folder / "cases.csv").unlink()
    broken, other = sorted((folder / "labels").iterdir())[:2]
    broken.write_bytes(b"no volume")
    table = table_from_files(folder)
    assert [text.partition(":")[0] for text in table.differing] == [f"labels/{broken.name}"]
    rows = {name: row.get("width") for name, row in table.rows.items()}
    assert [rows.pop(broken.name.partition(".")[0]), *{bool(width) for width in rows.values()}] == [
        None,
        True,
    ]
    assert other.name.partition(".")[0] in rows


def test_a_volume_of_more_voxels_than_fit_in_memory_has_a_row(tmp_path, phase):
    folder = phase("ct-segmentation")
    (folder / "cases.csv").unlink()
    path = sorted((folder / "labels").iterdir())[0]
    path.write_bytes(path.read_bytes().replace(b"DimSize = 64 48 12", b"DimSize = 2000 1999 1998"))
    row = table_from_files(folder).rows[path.name.partition(".")[0]]
    assert [row[side] for side in ("width", "height", "depth")] == ["2000", "1999", "1998"]


def test_a_phase_without_files(phase, tmp_path):
    folder = phase("classification")
    (folder / "cases.csv").unlink()
    with faulted(PhaseError, "classification", "none"):
        table_from_files(folder)
    with faulted(PhaseError, "none"):
        table_from_files(folder, images=tmp_path / "none")


def test_a_tilted_reference_is_refused_with_its_angle(tmp_path):
    """`cases` names the file and the angle, and so do `seal` and `describe` for a table made by hand."""
    field = '[fields.map]\nkind = "label_map"\nlabels = { 1 = "a" }\n'
    tables = f'{field}\n[tasks.t]\nmetrics = ["dice"]\n'
    direction = "1 0 0 0 1 0.34202014 0 0 0.93969262"
    columns = {"name": ["a"], "width": [5], "height": [4], "depth": [3], "direction": [direction]}
    columns |= {"spacing_mm": ["1 1 2"], "origin_mm": ["0 0 0"]}
    phase = declared_phase(tmp_path / "phase", tables, columns)
    (phase / "map").mkdir()
    image = SimpleITK.GetImageFromArray(np.ones((3, 4, 5), np.uint8))
    image.SetDirection([float(number) for number in direction.split()])
    SimpleITK.WriteImage(image, phase / "map/a.mha")
    for command in ("seal", "describe", "cases"):
        if command == "cases":
            (phase / "cases.csv").unlink()
        done = run(command, phase)
        assert done.returncode == 1
        assert "y and z at 70°" in done.stdout + done.stderr
        assert "Resample" in done.stdout + done.stderr


FIELD = """
[fields.organs]
kind = "label_map"
dimensions = 2
has_spacing = true
labels = { 1 = "a" }

[tasks.s.metrics.dice]
"""


def test_an_image_s_spacing_is_that_of_its_header_or_is_asked_for(tmp_path):
    folder = declared_phase(tmp_path / "phase", FIELD, {"name": "abcd"})
    (folder / "organs").mkdir()
    image = SimpleITK.GetImageFromArray(np.zeros((6, 9), np.uint8))
    image.SetSpacing((0.5, 0.25))
    SimpleITK.WriteImage(image, folder / "organs" / "a.mha")
    plain = np.zeros((6, 9), np.uint8)
    for name, options in {
        "b": {"resolution": (20_000, 40_000), "resolutionunit": "CENTIMETER"},
        "c": {"resolution": (72, 72), "resolutionunit": "INCH"},  # of a screen
        "d": {},
    }.items():
        tifffile.imwrite(folder / "organs" / f"{name}.tif", plain, photometric="minisblack", **options)
    table_from_files(folder).write()
    lines = (folder / "cases.csv").read_text().splitlines()
    assert lines == [
        "name,width,height,spacing_mm",
        "a,9,6,0.5 0.25",
        "b,9,6,0.0005 0.00025",
        "c,9,6,",
        "d,9,6,",
    ]
    with pytest.raises(PhaseError) as error:
        evaluation.seal(folder)
    told = [problem for problem in error.value.problems if "spacing_mm" in problem]
    assert len(told) == 2
    text = (folder / "cases.csv").read_text().replace("6,\n", "6,1 1\n")
    (folder / "cases.csv").write_text(text)
    evaluation.seal(folder)
