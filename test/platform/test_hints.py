import pytest

from evaluation.core.field import Files, TableColumns
from evaluation.platform.archive import hint_of_absence, hint_of_image

MASKS = Files("segmentation", (".png",))
TABLE = TableColumns(("fovea_location_results.csv",), "ImageName", ("Fovea_X", "Fovea_Y"))


@pytest.mark.parametrize(
    ("name", "hinted"), [("a.jpg", True), ("a.JPEG", True), ("a.webp", True), ("a.png", False), ("", False)]
)
def test_only_lossy_images_get_a_hint(name, hinted):
    hint = hint_of_image(name)
    assert (hint is not None) == hinted
    assert hint is None or hint.startswith("lossy compression")


@pytest.mark.parametrize(
    ("layout", "files", "named"),
    [
        (MASKS, ["results/final.zip"], "results/final.zip"),
        (TABLE, ["x.TAR.GZ", "fovea_location_result.csv"], "x.TAR.GZ"),
        (MASKS, ["Segmentations/V0001.png", "other/V0001.png"], "Segmentations/"),
        (TABLE, ["Fovea_Location_Results.xlsx"], "Fovea_Location_Results.xlsx"),
        (TABLE, ["fovea_localization_results.csv", "readme.txt"], "fovea_localization_results.csv"),
        (MASKS, ["segmentation/V1.jpg", "segmentation/V2.jpg"], "segmentation/V1.jpg and 1 more"),
        (MASKS, ["Segmentation/x/V1.png"], "expected names as segmentation/<image>.png"),
        (MASKS, ["\x1b[31msegmentation/V0001.png"], "\\x1b[31msegmentation/"),
    ],
)
def test_what_is_alike_is_named(layout, files, named):
    assert named in hint_of_absence(layout, files)


@pytest.mark.parametrize(
    ("layout", "files"),
    [
        (MASKS, []),
        (MASKS, ["V0001.png"]),
        (MASKS, ["notes/V0001.png"]),
        (TABLE, ["readme.txt"]),
        (TABLE, ["fovea_location_results.png"]),
    ],
)
def test_nothing_is_guessed_where_nothing_is_alike(layout, files):
    assert hint_of_absence(layout, files) is None
