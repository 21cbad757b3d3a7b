"""Annotations of COCO, YOLO, Pascal VOC, LabelMe and CVAT become references and submissions by commands."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco

from evaluation.organiser.annotation_files import formats
from test.challenges.declared.phases import declared_phase, write_table
from test.started import run

WIDTH, HEIGHT = 40, 30
BOXES = '[fields.boxes]\nkind = "boxes"\nclasses = ["cat", "dog"]\nprobability = true\n'
BOXES += '[tasks.t.metrics.box_average_precision]\nties = "order"\n'
MAP = '[fields.map]\nkind = "label_map"\ndimensions = 2\nlabels = { 1 = "cat", 2 = "dog" }\n'
MAP += 'extensions = [".png"]\n'
MAP += '[tasks.t]\nmetrics = ["dice"]\n'
POINTS = '[fields.points]\nkind = "points"\ndimensions = 2\nunit = "pixels"\nclasses = ["cat", "dog"]\n'
POINTS += "[tasks.t.metrics.point_f1]\nradius = 2\n"
TRUE = [
    ("a", "cat", 2.0, 3.0, 12.0, 13.0),
    ("a", "dog", 20.0, 5.0, 30.0, 25.0),
    ("b", "dog", 4.0, 4.0, 8.0, 9.0),
]
SIZE = {"width": WIDTH, "height": HEIGHT}


def coco_of(boxes=TRUE, **further):
    return {
        "images": [
            {"id": 7 + number, "file_name": f"train/{name}.png", **SIZE} for number, name in enumerate("abc")
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 18, "name": "dog"}],
        "annotations": [
            {
                "id": number,
                "image_id": 7 + "abc".index(image),
                "category_id": {"cat": 1, "dog": 18}[label],
                "bbox": [x1, y1, x2 - x1, y2 - y1],
                "iscrowd": 0,
                **further,
            }
            for number, (image, label, x1, y1, x2, y2) in enumerate(boxes)
        ],
    }


def boxes_of(name):
    return [box[1:] for box in TRUE if box[0] == name]


def yolo(name):
    return "".join(
        f"{['cat', 'dog'].index(label)} {(x1 + x2) / 2 / WIDTH} {(y1 + y2) / 2 / HEIGHT} "
        f"{(x2 - x1) / WIDTH} {(y2 - y1) / HEIGHT}\n"
        for label, x1, y1, x2, y2 in boxes_of(name)
    )


def pascal_voc(name):
    objects = "".join(
        f"<object><name>{label}</name><bndbox><xmin>{x1}</xmin><ymin>{y1}</ymin><xmax>{x2}</xmax>"
        f"<ymax>{y2}</ymax></bndbox></object>"
        for label, x1, y1, x2, y2 in boxes_of(name)
    )
    size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height><depth>3</depth></size>"
    return f"<annotation><filename>{name}.png</filename>{size}{objects}</annotation>"


def labelme(name, shapes=None):
    rectangles = [
        {"label": label, "points": [[x2, y1], [x1, y2]], "shape_type": "rectangle"}
        for label, x1, y1, x2, y2 in boxes_of(name)
    ]
    size = {"imageWidth": WIDTH, "imageHeight": HEIGHT}
    return json.dumps({"shapes": shapes or rectangles, "imagePath": f"..\\{name}.png", **size})


def cvat(number, name):
    boxes = "".join(
        f'<box label="{label}" xtl="{x1}" ytl="{y1}" xbr="{x2}" ybr="{y2}" z_order="0"></box>'
        for label, x1, y1, x2, y2 in boxes_of(name)
    )
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return f'<image id="{number}" name="x/{name}.png" {size}>{boxes}</image>'


FILES = {
    "COCO": {"coco.json": json.dumps(coco_of())},
    "YOLO": {
        **{f"labels/{name}.txt": yolo(name) for name in "abc"},
        "data.yaml": "path: x\nnames:\n  0: cat\n  1: dog\nnc: 2\n",
    },
    "Pascal VOC": {f"voc/{name}.xml": pascal_voc(name) for name in "abc"},
    "LabelMe": {f"labelme/{name}.json": labelme(name) for name in "abc"},
    "CVAT": {
        "cvat.xml": "<?xml version='1.0'?><annotations><version>1.1</version>"
        + "".join(cvat(number, name) for number, name in enumerate("abc"))
        + "</annotations>"
    },
}


def write(folder, name):
    """Write the annotations in a format, and return their file or folder."""
    for place, text in FILES[name].items():
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(text)
    return folder / next(iter(FILES[name])).partition("/")[0]


def new_phase(folder, tables, submission="archive"):
    phase = declared_phase(folder / "phase", tables, {"name": ["a"]}, submission=submission)
    (phase / "cases.csv").unlink()
    return phase


def images_in(folder):
    folder.mkdir()
    for name in "abc":
        Image.new("L", (WIDTH, HEIGHT)).save(folder / f"{name}.png")
    return folder


def mapped(tmp_path, tables, path, *options):
    """Return the phase whose reference the command made of annotations, and what it printed."""
    phase = new_phase(tmp_path, tables)
    done = run("cases", phase, "--boxes", path, *options)
    assert (done.returncode, done.stderr) == (0, "")
    return phase, done.stdout


def map_of(phase, name):
    return np.asarray(Image.open(phase / "map" / f"{name}.png"))


@pytest.mark.parametrize("name", FILES)
def test_boxes_of_each_format_become_the_reference(tmp_path, name):
    options = ("--images", images_in(tmp_path / "images")) if name == "YOLO" else ()
    phase, printed = mapped(tmp_path, BOXES, write(tmp_path, name), *options)
    assert f"{name}: 3 shapes, 3 of 3 cases\ncat (box) → cat: 1\ndog (box) → dog: 2\n" in printed
    assert (phase / "cases.csv").read_text() == "name,width,height\na,40,30\nb,40,30\nc,40,30\n"
    header, *rows = [line.split(",") for line in (phase / "boxes.csv").read_text().splitlines()]
    assert header == ["case", "x1", "y1", "x2", "y2", "class"]
    assert [(row[0], row[5], *map(float, row[1:5])) for row in rows] == [
        (case, label, *map(pytest.approx, corners)) for case, label, *corners in TRUE
    ]
    assert run("seal", phase).returncode == 0
    again = run("cases", phase, "--boxes", write(tmp_path, "COCO"))
    assert "boxes.csv: exists already; nothing is overwritten" in again.stderr


@pytest.mark.parametrize(
    "text",
    [
        "names:\n  0: cat\n  1: dog\n",
        "# Classes\nnames:  # by number\n  0: 'cat'\n  1: dog\nnc: 2\n",
        "path: x\nnames: ['cat', \"dog\"]\nnc: 2\n",
        "nc: 2\r\nnames:\r\n- cat\r\n- dog\r\n",
    ],
)
def test_the_classes_of_yolo_stand_anywhere_in_their_file(tmp_path, text):
    (tmp_path / "data.yaml").write_bytes(text.encode())
    assert formats._classes_of(tmp_path) == ["cat", "dog"]


def test_results_of_coco_become_a_submission_and_are_scored(tmp_path):
    names = tmp_path / "coco.json"
    names.write_text(json.dumps(coco_of(segmentation=[[0, 0, 5, 0, 5, 5]])))
    phase, printed = mapped(tmp_path, BOXES, names)
    assert "COCO: 3 shapes, 3 of 3 cases" in printed
    assert run("seal", phase).returncode == 0
    results = [{**one, "score": 0.5 + one["id"] / 10} for one in coco_of()["annotations"]]
    path = tmp_path / "results.json"
    keys = ("image_id", "category_id", "bbox", "score")
    path.write_text(json.dumps([{key: one[key] for key in keys} for one in results]))
    command = ("convert", path, "--ground-truth", phase, "--output", tmp_path / "in")
    assert "--coco FILE names the file of their images and classes" in run(*command).stderr
    done = run(*command, "--coco", names)
    assert (done.returncode, done.stderr) == (0, "")
    assert "COCO results: 3 shapes, 3 of 3 cases" in done.stdout
    scored = run("evaluate", "--input", tmp_path / "in", "--ground-truth", phase, "--output", tmp_path)
    assert (scored.returncode, scored.stderr) == (0, "")
    figures = json.loads((tmp_path / "metrics.json").read_text())["aggregates"]["t"]
    assert figures["box_average_precision"]["value"] == 1


def test_one_of_several_fields_is_chosen(tmp_path):
    more = BOXES.replace("[fields.boxes]", "[fields.more]").replace("[tasks.t.", "[tasks.more.")
    phase = new_phase(tmp_path, f'{BOXES}field = "boxes"\n{more}field = "more"\n')
    path = write(tmp_path, "COCO")
    done = run("cases", phase, "--boxes", path)
    assert "expected one field of boxes, points or labels in images, found boxes, more; see --field" in (
        done.stderr
    )
    done = run("cases", phase, "--boxes", path, "--field", "more")
    assert (done.returncode, done.stderr) == (0, "")
    assert (phase / "more.csv").exists()
    assert not (phase / "boxes.csv").exists()


def test_outlines_of_yolo_become_maps_of_labels(tmp_path):
    corners = np.array([[20, 5], [30, 5], [30, 25], [20, 25]]) / [WIDTH, HEIGHT]
    folder = tmp_path / "labels"
    folder.mkdir()
    (folder / "classes.txt").write_text("cat\ndog\n")
    (folder / "a.txt").write_text(f"1 {' '.join(map(str, corners.ravel()))}\n")
    phase, _ = mapped(tmp_path, MAP, folder, "--images", images_in(tmp_path / "images"))
    expected = np.zeros((HEIGHT, WIDTH), np.uint8)
    expected[5:25, 20:30] = 2
    np.testing.assert_array_equal(map_of(phase, "a"), expected)


def test_outlines_and_run_lengths_become_maps_of_labels(tmp_path):
    square = np.zeros((HEIGHT, WIDTH), np.uint8)
    square[3:13, 2:12] = 1
    other = np.zeros_like(square)
    other[5:25, 20:30] = 1
    compressed = coco.encode(np.asfortranarray(other))
    flat = square.ravel(order="F")
    changes = np.flatnonzero(np.diff(flat, prepend=0, append=0))
    counts = np.diff(np.concatenate([[0], changes, [flat.size]])).tolist()
    content = coco_of([TRUE[0], TRUE[1], TRUE[0]])
    for one, segmentation in zip(
        content["annotations"],
        (
            {"size": [HEIGHT, WIDTH], "counts": counts},
            {"size": [HEIGHT, WIDTH], "counts": compressed["counts"].decode()},
            [[2.0, 3.0, 12.0, 3.0, 12.0, 13.0, 2.0, 13.0]],
        ),
        strict=True,
    ):
        one["segmentation"] = segmentation
    content["annotations"][2]["image_id"] = 8
    (tmp_path / "coco.json").write_text(json.dumps(content))
    phase, printed = mapped(tmp_path, MAP, tmp_path / "coco.json")
    assert "cat (polygon) → cat: 1\ncat (run lengths) → cat: 1\ndog (run lengths) → dog: 1" in printed
    np.testing.assert_array_equal(map_of(phase, "a"), square + 2 * other)
    np.testing.assert_array_equal(map_of(phase, "b"), square)
    assert not map_of(phase, "c").any()
    assert run("seal", phase).returncode == 0


def test_masks_and_outlines_of_cvat(tmp_path):
    """A mask is given by its runs, row by row, in its box."""
    rle = ", ".join(map(str, [1, 2, 1, 3, 1]))
    mask = f'<mask label="cat" rle="{rle}" left="5" top="6" width="4" height="2"/>'
    outline = '<polygon label="dog" points="20,5;30,5;30,25;20,25"/><tag label="blurred" source="manual"/>'
    (tmp_path / "cvat.xml").write_text(
        f'<annotations><image name="a.png" width="40" height="30">{mask}{outline}</image></annotations>'
    )
    phase, printed = mapped(tmp_path, MAP, tmp_path / "cvat.xml")
    assert "CVAT: 2 shapes, 1 of 1 cases" in printed
    assert "left out, the tag blurred of whole images: 1" in printed
    expected = np.zeros((HEIGHT, WIDTH), np.uint8)
    expected[5:25, 20:30] = 2
    expected[6:8, 5:9] = [[0, 1, 1, 0], [1, 1, 1, 0]]
    np.testing.assert_array_equal(map_of(phase, "a"), expected)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("tables", [BOXES, MAP], ids=["boxes", "map"])
def test_cases_that_annotations_do_not_name_are_empty_only_if_said(tmp_path, name, tables):
    path, images = write(tmp_path, name), images_in(tmp_path / "images")
    for more in "de":
        Image.new("L", (WIDTH, HEIGHT)).save(images / f"{more}.png")
    phase = new_phase(tmp_path, tables)
    options = ("--images", images, "--boxes", path)
    if tables is MAP:  # boxes are no outlines
        options += ("--class", "cat=", "--class", "dog=")
        for file, text in FILES[name].items():
            (tmp_path / file).write_text(without_objects(text))
    told = f"expected every case in the annotations ({name}), found nothing of d, e; --empty says"
    done = run("cases", phase, *options)
    if name == "YOLO":  # which has no file for an image without objects
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert (done.returncode, told in done.stderr) == (1, True)
        assert sorted(file.name for file in phase.iterdir()) == ["phase.toml"]
        done = run("cases", phase, *options, "--empty")
        assert (done.returncode, done.stderr) == (0, "")
    assert "without annotations, so without objects: d, e" in done.stdout
    assert run("seal", phase).returncode == 0


def without_objects(text):
    """Return a file of `FILES` without its boxes."""
    if text.startswith("{"):
        content = json.loads(text)
        return json.dumps(content | {key: [] for key in ("annotations", "shapes") if key in content})
    cut = re.sub(r"<(object|box)\b.*?</\1>", "", text)
    return cut if "<" in text or "names" in text else ""


def test_folders_as_tools_export_them(tmp_path):
    """One file of COCO in its folder is read; the root of an export is answered with the folder to name."""
    (tmp_path / "coco").mkdir()
    (tmp_path / "coco" / "coco.json").write_text(json.dumps(coco_of()))
    phase, _ = mapped(tmp_path, BOXES, tmp_path / "coco")
    (phase / "boxes.csv").unlink()
    (tmp_path / "coco" / "val.json").write_text(json.dumps(coco_of()))
    assert "found COCO: name this file" in run("cases", phase, "--boxes", tmp_path / "coco").stderr
    for place in ("Annotations/a.xml", "ImageSets/Main/train.txt"):
        (tmp_path / "voc" / place).parent.mkdir(parents=True)
        (tmp_path / "voc" / place).write_text(pascal_voc("a"))
    done = run("cases", phase, "--boxes", tmp_path / "voc")
    assert f".xml in {tmp_path}/voc/Annotations/ and .txt in {tmp_path}/voc/ImageSets/Main/" in done.stderr
    assert "name the folder of the annotations alone" in done.stderr
    (tmp_path / "yolo" / "labels").mkdir(parents=True)
    (tmp_path / "yolo" / "labels" / "a.txt").write_text(yolo("a"))
    (tmp_path / "yolo" / "classes.txt").write_text("cat\ndog\n")
    (tmp_path / "yolo" / "train.txt").write_text("images/a.png\n")
    done = run("cases", phase, "--boxes", tmp_path / "yolo")
    assert "train.txt: expected a case with width and height" in done.stderr
    assert "name the folder of the annotations alone" in done.stderr


def test_points_of_labelme(tmp_path):
    shapes = [{"label": "dog", "points": [[3.5, 4.0]], "shape_type": "point"}]
    (tmp_path / "a.json").write_text(labelme("a", shapes))
    phase, _ = mapped(tmp_path, POINTS, tmp_path / "a.json")
    assert (phase / "points.csv").read_text().splitlines()[1] == "a,3.5,4.0,dog"


@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        ({"iscrowd": 1}, (), "annotations[0]: a crowd (iscrowd) has no counterpart"),
        ({"iscrowd": 1}, ("--without-crowds",), ""),
        ({"category_id": 5}, (), "category_id: expected one of the file's, found 5"),
        ({"image_id": 99}, (), "image_id: expected one of the file's, found 99"),
        ({"bbox": None, "keypoints": [3, 4, 2]}, (), "annotations[0]: expected a bbox or a segmentation"),
        ({"bbox": [1, 2, 3]}, (), "annotations[0]: expected an annotation, found a malformed one"),
        ({"bbox": [1, 2, -3, 4]}, (), "expected a width and a height, found -3 and 4"),
    ],
)
def test_what_cannot_be_mapped_is_named(tmp_path, change, options, told):
    content = coco_of()
    changed = content["annotations"][0] | change
    content["annotations"][0] = {key: value for key, value in changed.items() if value is not None}
    (tmp_path / "coco.json").write_text(json.dumps(content))
    phase = new_phase(tmp_path, BOXES)
    done = run("cases", phase, "--boxes", tmp_path / "coco.json", *options)
    assert told in done.stderr
    assert done.returncode == bool(told)
    assert (phase / "boxes.csv").exists() == (not told)
    if not told:
        assert "left out, crowds (iscrowd): 1" in done.stdout


def test_labels_are_mapped_or_left_out_as_asked(tmp_path):
    phase = new_phase(tmp_path, BOXES.replace('"cat"', '"feline"'))
    path = write(tmp_path, "COCO")
    done = run("cases", phase, "--boxes", path)
    assert "label cat (1): expected a class (feline, dog); --class cat=CLASS maps it" in done.stderr
    done = run("cases", phase, "--boxes", path, "--class", "cat=feline", "--class", "dog=")
    assert (done.returncode, done.stderr) == (0, "")
    assert "cat (box) → feline: 1\nleft out, the label dog: 2" in done.stdout


def test_shapes_images_and_sizes_that_do_not_fit(tmp_path):
    phase = new_phase(tmp_path, MAP)
    done = run("cases", phase, "--boxes", write(tmp_path, "COCO"))
    assert "expected polygon or run lengths, found a box" in done.stderr
    write_table(phase / "cases.csv", {"name": ["a", "b"], "width": [41, 40], "height": [30, 30]})
    done = run("cases", phase, "--boxes", tmp_path / "coco.json")
    assert "images that are no cases: train/c.png" in done.stderr
    assert "train/a.png: expected 41 × 30 pixels, found 40 × 30 pixels" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "x.json",
            "{}",
            "Pascal VOC, CVAT, or a folder of YOLO, found JSON of another kind",
        ),
        ("x.json", "not JSON", "found no JSON"),
        ("x.xml", "<html></html>", "found XML of html"),
        ("x.xml", '<!DOCTYPE a [<!ENTITY b "c">]><annotation/>', "a document type"),
        (
            "x.xml",
            "<annotations><track/></annotations>",
            "expected CVAT for images, found 1 tracks of a video",
        ),
    ],
)
def test_other_files_are_named(tmp_path, name, content, told):
    phase = new_phase(tmp_path, BOXES)
    (tmp_path / name).write_text(content)
    done = run("cases", phase, "--boxes", tmp_path / name)
    assert done.returncode == 1
    assert told in done.stderr
