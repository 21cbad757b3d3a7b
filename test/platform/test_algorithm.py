"""Algorithm phases: how jobs are laid out, and what is wrong with them."""

import json
import random
import shutil
from dataclasses import replace

import pytest

from evaluation.evaluate import Rejection, Result, check, evaluate
from evaluation.model.fault import PhaseError
from evaluation.platform.result_file import render
from evaluation.samples.writer import AlgorithmWriter, InputImage
from evaluation.summary import case_records, summarise
from test.eyes import (
    DECISIONS,
    FEATURE_SOCKET,
    INPUT,
    LIKELIHOODS,
    Eye,
    justraigs_phase,
    justraigs_submission,
)
from test.phases import FIELDS as REFUGE_FIELDS
from test.phases import loaded_phase, refuge_submission, tiny_cases

EYES = [Eye(f"E{n}", "RG" if n < 3 else "NRG", n / 10, n < 3) for n in range(6)]


@pytest.fixture
def phase(tmp_path):
    return justraigs_phase(tmp_path / "phase", EYES)


def tasks_of(result) -> str:
    assert isinstance(result, Result), result
    return render({"cases": [case["tasks"] for case in case_records(result)["cases"]]}).decode()


def faults_of(phase, folder):
    result = evaluate(phase, folder, 0)
    assert isinstance(result, Rejection), result
    assert check(phase.form, folder, 0).faults == result.faults
    return result.faults


# Layouts that mean the same.


def rename_files(jobs):
    for job in jobs:
        for item in job["outputs"]:
            item["socket"]["relative_path"] = item["socket"]["relative_path"].replace(".json", ".txt")


LAYOUTS = {
    "values inline": {"inline": True},
    "interface": {"socket_key": "interface"},
    "both keys": {"edit": lambda jobs: [add_interface(job) for job in jobs] and None},
    "jobs in another order": {"edit": lambda jobs: jobs[::-1]},
    "outputs in another order": {"edit": lambda jobs: [job["outputs"].reverse() for job in jobs] and None},
    "other outputs as well": {"edit": lambda jobs: [add_output(job) for job in jobs] and None},
    "batch name in another format": {"edit": lambda jobs: [rename_input(job) for job in jobs] and None},
    "input as a file": {"edit": lambda jobs: [file_input(job) for job in jobs] and None},
}


def add_interface(job):
    for item in (*job["inputs"], *job["outputs"]):
        item["interface"] = item["socket"]


def add_output(job):
    socket = {"slug": "metadata", "super_kind": "Value", "relative_path": "metadata.json"}
    job["outputs"].append({"value": {"a": 1}, "socket": socket})


def rename_input(job):
    image = job["inputs"][0]["image"]
    image["name"] = image["name"].replace("batch", "BATCH").replace(".tiff", ".ome.tif")


def file_input(job):
    (item,) = job["inputs"]
    item["file"], item["image"] = f"https://media/evaluation/{item['image']['name']}", None


@pytest.mark.parametrize("options", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts_that_mean_the_same(phase, tmp_path, options):
    expected = tasks_of(evaluate(phase, justraigs_submission(tmp_path / "plain", EYES), 0))
    assert tasks_of(evaluate(phase, justraigs_submission(tmp_path / "other", EYES, **options), 0)) == expected


def test_files_lie_where_relative_path_says(phase, tmp_path):
    folder = justraigs_submission(tmp_path / "s", EYES)
    expected = tasks_of(evaluate(phase, folder, 0))
    for path in folder.rglob("output/*.json"):
        path.rename(path.with_suffix(".txt"))
    path = folder / "predictions.json"
    jobs = json.loads(path.read_text())
    rename_files(jobs)
    path.write_text(json.dumps(jobs))
    assert tasks_of(evaluate(phase, folder, 0)) == expected


def test_values_go_to_their_eyes_whatever_the_order_of_a_stack(tmp_path):
    eyes = EYES.copy()
    random.Random(3).shuffle(eyes)
    phase = justraigs_phase(tmp_path / "phase", eyes, size=4)
    records = case_records(evaluate(phase, justraigs_submission(tmp_path / "s", eyes, size=4), 0))["cases"]
    assert [record["name"] for record in records] == [eye.name for eye in EYES]
    assert [record["tasks"]["referral"]["likelihood"] for record in records] == [0, 0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize("size", [1, 4])
def test_workers_give_the_same_bytes(tmp_path, size):
    phase = justraigs_phase(tmp_path / "phase", EYES, size=size)
    folder = justraigs_submission(tmp_path / "s", EYES, size=size)
    assert tasks_of(evaluate(phase, folder, 2)) == tasks_of(evaluate(phase, folder, 0))


def test_sockets_of_other_names(tmp_path):
    phase = justraigs_phase(tmp_path / "phase", EYES, tables='[sockets]\nlikelihood = "scores"\n')
    plain = justraigs_phase(tmp_path / "plain", EYES)

    def rename(jobs):
        for job in jobs:
            for item in job["outputs"]:
                if item["socket"]["slug"] == LIKELIHOODS:
                    item["socket"]["slug"] = "scores"

    expected = tasks_of(evaluate(plain, justraigs_submission(tmp_path / "a", EYES), 0))
    folder = justraigs_submission(tmp_path / "b", EYES, edit=rename)
    assert tasks_of(evaluate(phase, folder, 0)) == expected


def test_the_input_socket_chooses_among_several_images(tmp_path):
    def add_image(jobs):
        for job in jobs:
            socket = {"slug": "thumbnail", "relative_path": "images/thumbnail"}
            job["inputs"].insert(0, {"image": {"name": "thumbnail.png"}, "socket": socket})

    folder = justraigs_submission(tmp_path / "s", EYES, edit=add_image)
    named = justraigs_phase(tmp_path / "named", EYES, keys={"input_socket": INPUT})
    assert isinstance(evaluate(named, folder, 0), Result)
    faults = faults_of(justraigs_phase(tmp_path / "unnamed", EYES), folder)
    assert {fault.found for fault in faults} == {"2"}
    assert all("input_socket" in fault.expected for fault in faults)


# Faults: socket of the fault, how the first job is spoilt, and what is told of it.


def content(slug, change):
    """Return a change of the content of the first job's file of a socket."""

    def spoil(folder, jobs):
        (path,) = folder.glob(f"{jobs[0]['pk']}/output/{slug}.json")
        path.write_text(change(path.read_text()) if callable(change) else change)

    return spoil


def edited(change):
    def spoil(folder, jobs):
        change(jobs)
        (folder / "predictions.json").write_text(json.dumps(jobs))

    return spoil


def entry(slug, index, value):
    def change(text):
        values = json.loads(text)
        values[index] = value
        return json.dumps(values)

    return content(slug, change)


FAULTS = {
    "list too short": (content(LIKELIHOODS, "[0.1, 0.2]"), LIKELIHOODS, "a list of 3 values", "2 values"),
    "list too long": (
        content(DECISIONS, "[true, true, true, true]"),
        DECISIONS,
        "a list of 3 values",
        "4 values",
    ),
    "no list": (content(LIKELIHOODS, "0.5"), LIKELIHOODS, "a list of 3 values", "the number 0.5"),
    "unknown key": (
        entry(FEATURE_SOCKET, 1, {"largecup": True}),
        f"{FEATURE_SOCKET}, index 1",
        "only the keys appearance neuroretinal rim superiorly",
        "the key 'largecup'",
    ),
    "a boolean where a number belongs": (
        entry(LIKELIHOODS, 2, True),
        f"{LIKELIHOODS}, index 2",
        "a finite number",
        "true",
    ),
    "a number where a boolean belongs": (
        entry(DECISIONS, 0, 1),
        f"{DECISIONS}, index 0",
        "true or false",
        "the number 1",
    ),
    "NaN": (
        content(LIKELIHOODS, "[0.1, NaN, 0.2]"),
        f"{LIKELIHOODS}, index 1",
        "a finite number",
        "a number that is not finite",
    ),
    "infinite": (
        content(LIKELIHOODS, "[0.1, 0.2, 1e999]"),
        f"{LIKELIHOODS}, index 2",
        "a finite number",
        "a number that is not finite",
    ),
    "a text": (
        entry(LIKELIHOODS, 0, "0.5"),
        f"{LIKELIHOODS}, index 0",
        "a finite number",
        "the text '0.5'",
    ),
    "an object of the wrong type": (
        entry(FEATURE_SOCKET, 0, {"large cup": 1}),
        f"{FEATURE_SOCKET}, index 0",
        "true, false or null for 'large cup'",
        "the number 1",
    ),
    "nested too deep": (
        content(LIKELIHOODS, "[" * 99 + "]" * 99),
        LIKELIHOODS,
        "JSON of at most 64 levels",
        "deeper nesting",
    ),
    "too large": (
        content(LIKELIHOODS, lambda text: " " * (5 << 20) + text),
        LIKELIHOODS,
        "at most 4194304 bytes",
        f"{(5 << 20) + 14} bytes",
    ),
    "no JSON": (content(DECISIONS, "[true,"), DECISIONS, "JSON", "an error at column 7"),
    "a key twice": (
        content(FEATURE_SOCKET, '[{"large cup": true, "large cup": false}, null, null]'),
        FEATURE_SOCKET,
        "every key once",
        '"large cup" twice',
    ),
    "inline": (
        edited(lambda jobs: jobs[0]["outputs"][0].update(value=[1, 2, "x"])),
        f"{LIKELIHOODS}, index 2",
        "a finite number",
        "the text 'x'",
    ),
    "outside": (
        edited(lambda jobs: jobs[0]["outputs"][0]["socket"].update(relative_path="../../secret.json")),
        LIKELIHOODS,
        "a path inside the folder",
        None,
    ),
    "an output twice": (
        edited(lambda jobs: jobs[0]["outputs"].append(jobs[0]["outputs"][0])),
        LIKELIHOODS,
        "one output of a socket",
        "a second one",
    ),
    "unknown stack": (
        edited(lambda jobs: jobs[0]["inputs"][0]["image"].update(name="batch_7.tiff")),
        INPUT,
        "the name of a stack of this phase",
        "'batch_7.tiff'",
    ),
}


@pytest.mark.parametrize(("spoil", "socket", "expected", "found"), FAULTS.values(), ids=FAULTS)
def test_faults_name_job_socket_index_expected_and_found(phase, tmp_path, spoil, socket, expected, found):
    folder = justraigs_submission(tmp_path / "s", EYES)
    jobs = json.loads((folder / "predictions.json").read_text())
    jobs.sort(key=lambda job: job["inputs"][0]["image"]["name"])
    spoil(folder, jobs)
    (fault,) = faults_of(phase, folder)
    assert fault.field == f"job {jobs[0]['pk']}, socket {socket}"
    assert fault.expected.startswith(expected)
    assert found is None or fault.found == found


def test_two_jobs_for_one_stack(phase, tmp_path):
    def repeat(jobs):
        jobs[1]["inputs"] = jobs[0]["inputs"]

    (fault,) = faults_of(phase, justraigs_submission(tmp_path / "s", EYES, edit=repeat))
    assert fault.kind.value == "duplicate"
    assert fault.expected == "one job for stack batch_1.tiff"


@pytest.mark.parametrize(
    ("jobs", "place", "expected", "found"),
    [
        ({}, None, "a list of jobs", "an object"),
        ([3], "job number 1", "an object", "the number 3"),
        ([{"pk": None}], "job number 1", "a key pk", "null"),
        ([{"pk": "a", "inputs": None}], "job a, inputs", "a list", "null"),
        ([{"pk": "a", "inputs": [], "outputs": {}}], "job a, outputs", "a list", "an object"),
        ([{"pk": "a", "inputs": [{}], "outputs": []}], "job a, inputs", "a socket", "null"),
        ([{"pk": "a", "inputs": [], "outputs": []}], "job a, inputs", "one input image or file", "0"),
        (
            [{"pk": "a", "inputs": [], "outputs": [{"socket": {"slug": "x"}}]}],
            "job a, socket x, relative_path",
            "a text",
            "null",
        ),
    ],
)
def test_a_list_of_jobs_that_is_none(phase, tmp_path, jobs, place, expected, found):
    (tmp_path / "predictions.json").write_text(json.dumps(jobs))
    (fault,) = faults_of(phase, tmp_path)
    assert (fault.file, fault.field, fault.found) == ("predictions.json", place, found)
    assert fault.expected.startswith(expected)


def test_without_a_list_of_jobs_there_is_one_fault(tmp_path):
    phase = justraigs_phase(tmp_path / "phase", EYES, keys={"missing": "reject"})
    (tmp_path / "empty").mkdir()
    (fault,) = faults_of(phase, tmp_path / "empty")
    assert (fault.kind.value, fault.file) == ("missing", "predictions.json")


def test_links_are_not_followed(phase, tmp_path):
    folder = justraigs_submission(tmp_path / "s", EYES)
    path = next(folder.glob(f"*/output/{LIKELIHOODS}.json"))
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    (fault,) = faults_of(phase, folder)
    assert (fault.kind.value, fault.found) == ("forbidden", "a symbolic link")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("E1,batch_1.tiff,1,", "E1,batch_1.tiff,2,", "of its own, found that of E"),
        ("E1,batch_1.tiff,1,", "E1,batch_1.tiff,x,", "stack_index 0 to 2"),
        ("E5,batch_2.tiff,2,", "E5,batch_2.tiff,3,", "stack_index 0 to 2 and a name, found 3"),
        ("E5,batch_2.tiff,2,", "E5,,0,", "found no name"),
    ],
)
def test_a_mapping_that_does_not_hold_together_is_the_organisers_fault(phase, old, new, message):
    from evaluation.phase.manifest import scan
    from evaluation.validate import validate_phase

    path = phase.folder / "cases.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(PhaseError, match=message):
        validate_phase(phase.folder, scan(phase.folder), 0)


# A phase of another challenge, with images as outputs.


def spoilt(case, values):
    """Return values that are neither perfect nor all of one score."""
    values["segmentation"] = values["segmentation"].copy()
    values["segmentation"][: 2 + case.number] = 255
    values["fovea"] = replace(values["fovea"], x=values["fovea"].x + case.number / 4)
    return values


def refuge_jobs(folder, cases, **options):
    images = [InputImage(f"{case.name}.jpg", (case.name,)) for case in cases]
    writer = AlgorithmWriter(folder, REFUGE_FIELDS, images, "color-fundus-image", **options)
    for case in cases:
        writer.add(case.name, spoilt(case, dict(case.values)))
    writer.close()
    return folder


@pytest.fixture
def refuge(tmp_path):
    return loaded_phase(tmp_path / "refuge", 6, keys={"submission": "algorithm"})


@pytest.mark.parametrize("extension", [".mha", ".tif"])
@pytest.mark.parametrize("inline", [False, True], ids=["files", "inline"])
def test_a_refuge_phase_scores_like_its_archive(refuge, tmp_path, extension, inline):
    archive = loaded_phase(tmp_path / "archive", 6)
    expected = evaluate(archive, refuge_submission(tmp_path / "zip", 6, change=spoilt), 0)
    folder = refuge_jobs(tmp_path / "jobs", tiny_cases(6), extension=extension, inline=inline)
    found = evaluate(refuge, folder, 0)
    assert tasks_of(found) == tasks_of(expected)
    assert summarise(found, "folder").aggregates == summarise(expected, "folder").aggregates
    assert 0 < summarise(found, "folder").aggregates["segmentation"]["dice_disc"].value < 1


def test_what_is_missing_of_a_refuge_phase(refuge, tmp_path):
    folder = refuge_jobs(tmp_path / "jobs", tiny_cases(6)[:5])
    jobs = json.loads((folder / "predictions.json").read_text())
    first = jobs[0]["pk"]
    shutil.rmtree(folder / first / "output" / "images")
    (folder / jobs[1]["pk"] / "output" / "glaucoma-risk.json").write_text("null")
    (folder / jobs[2]["pk"] / "output" / "glaucoma-risk.json").unlink()
    faults = faults_of(refuge, folder)
    assert sorted((fault.field or "", fault.expected, fault.found) for fault in faults) == sorted(
        [
            ("", "a job for image V0006", "none"),
            (f"job {first}, socket optic-disc-and-cup-segmentation", "an output", "none"),
            (f"job {jobs[1]['pk']}, socket glaucoma-risk", "a value", "null"),
            (f"job {jobs[2]['pk']}, socket glaucoma-risk", "a JSON file", "no such file"),
        ]
    )


def test_an_image_output_is_one_file(refuge, tmp_path):
    folder = refuge_jobs(tmp_path / "jobs", tiny_cases(6))
    (path, *_) = sorted(folder.glob("*/output/images/*/*.mha"))
    shutil.copy(path, path.with_name("second.mha"))
    (path.with_name(".DS_Store")).write_text("ignored")
    (fault,) = faults_of(refuge, folder)
    assert (fault.expected, fault.found) == ("one image", "2 files")


def test_optional_tasks_may_be_left_out(refuge, tmp_path):
    folder = refuge_jobs(tmp_path / "jobs", tiny_cases(6))
    path = folder / "predictions.json"
    jobs = json.loads(path.read_text())
    for job in jobs:
        job["outputs"] = [item for item in job["outputs"] if item["socket"]["slug"] != "fovea-location"]
    path.write_text(json.dumps(jobs))
    result = evaluate(refuge, folder, 0)
    assert isinstance(result, Result)
    assert [task.name for task in result.tasks] == ["classification", "segmentation"]
