"""Algorithm phases: how jobs are laid out, and what is wrong with them."""

import json
import random
import shutil
from dataclasses import replace

import pytest

from evaluation.core.fault import PhaseError
from evaluation.evaluate import Rejection, Result, check, evaluate
from evaluation.io.kinds.points import point_at
from evaluation.io.kinds.volume import Volume
from evaluation.organiser.settings import metrics_of_empty_submission, platform_settings
from evaluation.organiser.submission_writer import AlgorithmWriter, InputImage
from evaluation.phase.form_file import format_in_words, read_form, write_form
from evaluation.phase.scores import case_records
from evaluation.platform.algorithm import index_algorithm
from evaluation.platform.result_file import render
from test.eyes import (
    INPUT,
    LIKELIHOODS,
    Eye,
    justraigs_phase,
    justraigs_submission,
)
from test.faults import faulted
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
    return tuple(result.faults)


# Layouts that mean the same.


def each_job(change):
    """Return the options of a submission whose jobs are changed one by one."""

    def edit(jobs):
        for job in jobs:
            change(job)

    return {"edit": edit}


LAYOUTS = {
    "values inline": {"inline": True},
    "interface alone, as before December 2025": {"socket_keys": ("interface",)},
    "only what is needed of a job": {"edit": lambda jobs: [strip_job(job) for job in jobs]},
    "jobs in another order": {"edit": lambda jobs: jobs[::-1]},
    "outputs in another order": each_job(lambda job: job["outputs"].reverse()),
    "other outputs as well": each_job(lambda job: add_output(job)),
    "batch name in another format": each_job(lambda job: rename_input(job)),
    "input as a signed URL": each_job(
        lambda job: file_input(job, "https://media/a%20b/{}?Expires=1&Key=a/b.png#x/y")
    ),
    "input as an escaped URL": each_job(lambda job: file_input(job, "https://media/{}", is_escaped=True)),
    "another image in front": {"edit": lambda jobs: added_input("thumbnail.png")(jobs)},
}


def strip_job(job):
    def stripped(value):
        keys = ("slug", "relative_path")
        socket = {key: value["socket"][key] for key in keys}
        return {"socket": socket, **{key: value[key] for key in ("value", "image")}}

    values = {name: [stripped(value) for value in job[name]] for name in ("inputs", "outputs")}
    return {"pk": job["pk"], **values}


def add_output(job):
    socket = {"slug": "metadata", "super_kind": "Value", "relative_path": "metadata.json"}
    job["outputs"].append({"value": {"a": 1}, "socket": socket})


def rename_input(job):
    image = job["inputs"][0]["image"]
    image["name"] = image["name"].replace("batch", "BATCH").replace(".tiff", ".ome.tif")


def file_input(job, place, is_escaped=False):
    (item,) = job["inputs"]
    name = item["image"]["name"]
    name = "".join(f"%{ord(character):02X}" for character in name) if is_escaped else name
    item["file"], item["image"] = place.format(name), None


@pytest.mark.parametrize("options", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts_that_mean_the_same(phase, tmp_path, options):
    expected = tasks_of(evaluate(phase, justraigs_submission(tmp_path / "plain", EYES), 0))
    assert tasks_of(evaluate(phase, justraigs_submission(tmp_path / "other", EYES, **options), 0)) == expected


def test_values_go_to_their_eyes_whatever_the_order_of_a_stack(tmp_path):
    eyes = EYES.copy()
    random.Random(3).shuffle(eyes)
    phase = justraigs_phase(tmp_path / "phase", eyes, size=4)
    records = case_records(evaluate(phase, justraigs_submission(tmp_path / "s", eyes, size=4), 0))["cases"]
    assert [record["name"] for record in records] == [eye.name for eye in EYES]
    assert [record["tasks"]["referral"]["likelihood"] for record in records] == [0, 0.1, 0.2, 0.3, 0.4, 0.5]


def test_sockets_of_other_names(tmp_path):
    phase = justraigs_phase(tmp_path / "phase", EYES, tables='[platform.sockets]\nlikelihood = "scores"\n')
    plain = justraigs_phase(tmp_path / "plain", EYES)

    def rename(jobs):
        for job in jobs:
            for item in job["outputs"]:
                if item["socket"]["slug"] == LIKELIHOODS:
                    item["socket"]["slug"] = "scores"

    expected = tasks_of(evaluate(plain, justraigs_submission(tmp_path / "a", EYES), 0))
    folder = justraigs_submission(tmp_path / "b", EYES, edit=rename)
    assert tasks_of(evaluate(phase, folder, 0)) == expected


def added_input(name, slug="thumbnail"):
    """Return an edit that gives every job another input image in front."""

    def edit(jobs):
        for job in jobs:
            socket = {"slug": slug, "relative_path": f"images/{slug}"}
            job["inputs"].insert(0, {"image": {"name": name}, "socket": socket})

    return edit


def test_the_input_socket_chooses_among_images_that_are_named_like_cases(tmp_path):
    folder = justraigs_submission(tmp_path / "s", EYES, edit=added_input("batch_1.png"))
    named = justraigs_phase(tmp_path / "named", EYES, keys={"input_socket": INPUT})
    assert isinstance(evaluate(named, folder, 0), Result)
    # One job's two inputs are the same case, the other's are two.
    (fault,) = faults_of(justraigs_phase(tmp_path / "unnamed", EYES), folder)
    assert fault.found == "2"
    assert "input_socket" in fault.expected


def test_jobs_with_different_sets_of_inputs(tmp_path):
    def differ(jobs):
        added_input("prior.mha", "prior")(jobs[:1])
        jobs[1]["inputs"][0]["socket"]["slug"] = "another-camera"

    folder = justraigs_submission(tmp_path / "s", EYES, edit=differ)
    by_name = justraigs_phase(tmp_path / "by name", EYES)
    both = justraigs_phase(tmp_path / "both", EYES, keys={"input_socket": [INPUT, "another-camera"]})
    assert tasks_of(evaluate(by_name, folder, 0)) == tasks_of(evaluate(both, folder, 0))
    one = justraigs_phase(tmp_path / "one", EYES, keys={"input_socket": INPUT, "missing": "reject"})
    faults = faults_of(one, folder)
    assert f"expected one input image or file of socket {INPUT}, found 0" in str(faults[0])


def test_a_stack_whose_first_eye_lacks_a_field(tmp_path):
    phase = justraigs_phase(tmp_path / "phase", EYES, keys={"missing": "reject"})
    folder = justraigs_submission(tmp_path / "s", EYES)

    def lacking(field):
        return replace(field, cases=lambda case: case.name != "E0") if field.name == "features" else field

    tasks = [replace(task, fields=tuple(map(lacking, task.fields))) for task in phase.tasks]
    index = index_algorithm(folder, phase.form, tasks)
    assert not index.faults
    whole = index_algorithm(folder, phase.form, phase.tasks).sources
    assert index.sources[0].keys() == whole[0].keys() - {"features"}
    assert index.sources[1:] == whole[1:]


# Run times.

DURATIONS = {
    "of days": ({"exec_duration": "P1DT01H00M00S"}, 90_000),
    "invoked": ({"exec_duration": None, "invoke_duration": "PT3S"}, 3),
    "no duration": ({"exec_duration": "soon", "invoke_duration": []}, None),
    "negative": ({"exec_duration": "-P1DT00H00M00S"}, None),
    "to the microsecond": ({"exec_duration": "P0DT00H22M17.123456S"}, 1337.123456),
    "of years": ({"exec_duration": "P1Y", "invoke_duration": "PT4S"}, 4),
    "too long to be one": ({"exec_duration": "P99999DT00H00M00S"}, None),
    "with a line end": ({"exec_duration": "PT3S\n"}, None),
    "in other digits": ({"exec_duration": "PT٣S"}, None),
}


def with_durations(fields):
    def edit(jobs):
        for job in jobs:
            job.pop("exec_duration"), job.pop("invoke_duration")
            job.update(fields)

    return edit


@pytest.mark.parametrize(("fields", "seconds"), DURATIONS.values(), ids=DURATIONS)
def test_run_times_are_in_the_organisers_file(phase, tmp_path, fields, seconds):
    folder = justraigs_submission(tmp_path / "s", EYES, size=3, edit=with_durations(fields))
    result = evaluate(phase, folder, 0)
    assert isinstance(result, Result), result
    # Three eyes share a job.
    expected = None if seconds is None else pytest.approx(seconds / 3)
    assert [case["run_seconds"] for case in case_records(result)["cases"]] == [expected] * 6


RUN_TIME = "[run_time]\nlimit_seconds = 10\ntarget_seconds = 4\npenalty_per_second = 0.5\n"


def test_run_times_as_a_metric(tmp_path):
    def edit(jobs):
        with_durations({"exec_duration": "PT12S"})(jobs[:1])  # three eyes of 4 s each
        with_durations({"exec_duration": "PT18S"})(jobs[1:2])  # three of 6 s
        with_durations({"exec_duration": "PT99S"})(jobs[2:3])  # three of 33 s, above the limit
        del jobs[3]  # three of nothing, which count the limit

    eyes = [Eye(f"E{n:02d}", "RG" if n < 6 else "NRG", n / 12, n < 6) for n in range(12)]
    phase = justraigs_phase(tmp_path / "phase", eyes, tables=RUN_TIME)
    folder = justraigs_submission(tmp_path / "s", eyes, edit=edit)
    assert not check(phase.form, folder, 0).faults
    values = {
        name: estimate.value
        for name, estimate in evaluate(phase, folder, 0).figures.aggregates["run_time"].items()
    }
    assert values == pytest.approx(
        {"seconds": (4 + 6 + 10 + 10) / 4, "slow": 3 / 4, "penalty": (0 + 1 + 3 + 3) / 4}
    )
    plain = justraigs_phase(tmp_path / "plain", eyes)
    assert "run_time" not in evaluate(plain, folder, 0).figures.aggregates
    limit = justraigs_phase(tmp_path / "limit", eyes, tables="[run_time]\nlimit_seconds = 10\n")
    (seconds,) = evaluate(limit, folder, 0).figures.aggregates["run_time"].values()
    assert seconds.value == 7.5


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ("[run_time]\n", ("run_time.limit_seconds",)),
        ("[run_time]\nlimit_seconds = 0.0\n", ("run_time.limit_seconds", "0.0")),
        ("[run_time]\nlimit_seconds = 9.0\ntarget_seconds = 9.0\n", ("run_time", "'target_seconds': 9.0")),
        (
            "[run_time]\nlimit_seconds = 9.0\npenalty_per_second = 1.0\n",
            ("run_time", "'penalty_per_second': 1.0"),
        ),
    ],
)
def test_run_times_that_mean_nothing(tmp_path, tables, problem):
    with faulted(PhaseError, *problem):
        justraigs_phase(tmp_path / "phase", EYES, tables=tables)
    with faulted(PhaseError, "run_time", "'archive'"):
        loaded_phase(tmp_path / "archive", tables=RUN_TIME)


def test_a_phase_with_run_times_is_set_up(tmp_path):
    phase = justraigs_phase(tmp_path / "phase", EYES, tables=RUN_TIME, keys={"columns": ["run_time.seconds"]})
    assert "counts 10 s." in format_in_words(phase.form)
    (tmp_path / "form.json").write_bytes(write_form(phase.form))
    assert read_form(tmp_path / "form.json") == phase.form
    settings = platform_settings(phase, metrics_of_empty_submission(phase, 0))
    column, *_ = settings["extra_results_columns"]
    assert (column["path"], column["order"]) == ("aggregates.run_time.seconds.value", "asc")


FAULTS = {
    f"{LIKELIHOODS}, index 2": (lambda job: job["outputs"][0].update(value=[1, 2, "x"]), "the text 'x'"),
    LIKELIHOODS: (lambda job: job["outputs"].append(job["outputs"][0]), "a second one"),
    INPUT: (lambda job: job["inputs"][0]["image"].update(name="batch_7.tiff"), "'batch_7.tiff'"),
}
"""What `test.hostile` spoils in no submission: by socket the change of a job, and what is found."""


@pytest.mark.parametrize("socket", FAULTS)
def test_faults_name_job_socket_index_and_found(phase, tmp_path, socket):
    change, found = FAULTS[socket]
    folder = justraigs_submission(tmp_path / "s", EYES)
    jobs = json.loads((folder / "predictions.json").read_text())
    jobs.sort(key=lambda job: job["inputs"][0]["image"]["name"])
    change(jobs[0])
    (folder / "predictions.json").write_text(json.dumps(jobs))
    (fault,) = faults_of(phase, folder)
    slug, _, index = socket.partition(", ")
    assert fault.place.count(jobs[0]["pk"]) == fault.place.count(slug) == 1
    assert fault.place.endswith(index)
    assert fault.found == found


@pytest.mark.parametrize(
    ("job", "place", "found"),
    [
        (3, "job number 1", "the number 3"),
        ({"pk": None}, "job number 1", "null"),
        ({"pk": "a", "inputs": None}, "job a, inputs", "null"),
        ({"pk": "a", "inputs": [{}], "outputs": []}, "job a, inputs", "null"),
        ({"pk": "a", "inputs": [], "outputs": []}, "job a, inputs", "0"),
        (
            {"pk": "a", "inputs": [], "outputs": [{"socket": {"slug": "x"}}]},
            "job a, socket x, relative_path",
            "null",
        ),
    ],
)
def test_a_list_of_jobs_that_is_none(phase, tmp_path, job, place, found):
    (tmp_path / "predictions.json").write_text(json.dumps([job]))
    (fault,) = faults_of(phase, tmp_path)
    assert (fault.file, fault.field, fault.found) == ("predictions.json", place, found)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("E1,batch_1.tiff,1,", "E1,batch_1.tiff,2,", ("case E2", "that of E1")),
        ("E1,batch_1.tiff,1,", "E1,batch_1.tiff,x,", ("stack 'batch_1' of 3 cases", "x")),
        ("E5,batch_2.tiff,2,", "E5,batch_2.tiff,3,", ("stack 'batch_2' of 3 cases", "3")),
        ("E5,batch_2.tiff,2,", "E5,,0,", ("stack '' of 1 cases", "no name")),
    ],
)
def test_a_mapping_that_does_not_hold_together_is_the_organisers_fault(phase, old, new, message):
    from evaluation.organiser.validate import validate_phase
    from evaluation.phase.manifest import scan

    path = phase.folder / "cases.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with faulted(PhaseError, *message):
        validate_phase(phase.folder, scan(phase.folder), 0)


# A phase of another challenge, with images as outputs.


def spoilt(case, values):
    """Return values that are neither perfect nor all of one score."""
    mask = values["segmentation"].values[0].copy()
    mask[: 2 + case.number] = 255
    x, y = values["fovea"].positions[0]
    return values | {"segmentation": Volume.of_image(mask), "fovea": point_at(x + case.number / 4, y)}


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


@pytest.mark.parametrize(("extension", "inline"), [(".mha", False), (".tif", True)])
def test_a_refuge_phase_scores_like_its_archive(refuge, tmp_path, extension, inline):
    archive = loaded_phase(tmp_path / "archive", 6)
    expected = evaluate(archive, refuge_submission(tmp_path / "zip", 6, change=spoilt), 0)
    folder = refuge_jobs(tmp_path / "jobs", tiny_cases(6), extension=extension, inline=inline)
    found = evaluate(refuge, folder, 0)
    assert tasks_of(found) == tasks_of(expected)
    assert found.figures.aggregates == expected.figures.aggregates
    assert 0 < found.figures.aggregates["segmentation"]["dice_disc"].value < 1


def test_what_is_missing_of_a_refuge_phase(refuge, tmp_path):
    folder = refuge_jobs(tmp_path / "jobs", tiny_cases(6)[:5])
    jobs = json.loads((folder / "predictions.json").read_text())
    first = jobs[0]["pk"]
    shutil.rmtree(folder / first / "output" / "images")
    (folder / jobs[1]["pk"] / "output" / "glaucoma-risk.json").write_text("null")
    (folder / jobs[2]["pk"] / "output" / "glaucoma-risk.json").unlink()
    faults = faults_of(refuge, folder)
    second, third = (f"{job['pk']}/output/glaucoma-risk.json" for job in jobs[1:3])
    listed = "predictions.json"
    expected = [
        (listed, "a job for image V0006", "none"),
        (f"{listed}, job {first}, socket optic-disc-and-cup-segmentation", "an output", "none"),
        (second, "a value", "null"),
        (third, "a JSON file", "no such file"),
    ]
    found = ((fault.place, fault.expected, fault.found) for fault in faults)
    assert sorted(found) == sorted(expected)


UNTOLD = {
    "one under another name": ({0: "X1"}, [], ["'X1'"]),
    "two under other names": ({0: "X1", 4: "X2"}, [], ["'X1'", "'X2'"]),
    "one under another name, one left out": ({0: "X1"}, [3], ["'X1'", "none"]),
    "a second one for an image": ({0: "V0002"}, [], ["a second one"]),
    "an entry that is no job, two left out": ({2: None}, [0, 1], ["none", "none", "null"]),
    "one too many": ({}, [], ["'X9'"]),
}


@pytest.mark.parametrize(("names", "left_out", "found"), UNTOLD.values(), ids=UNTOLD)
def test_a_job_that_is_lost_is_counted_once(refuge, tmp_path, names, left_out, found):
    folder = refuge_jobs(tmp_path / "jobs", tiny_cases(6))
    jobs = json.loads((folder / "predictions.json").read_text())
    jobs.sort(key=lambda job: job["inputs"][0]["image"]["name"])
    if not names:
        jobs.append({**json.loads(json.dumps(jobs[0])), "pk": "other"})
        names = {6: "X9"}
    for number, name in names.items():
        jobs[number]["inputs"][0]["image"]["name"] = name
        if name is None:
            jobs[number]["pk"] = None
    kept = [job for number, job in enumerate(jobs) if number not in left_out]
    (folder / "predictions.json").write_text(json.dumps(kept))
    faults = faults_of(refuge, folder)
    assert sorted(fault.found.partition(" beside")[0] for fault in faults) == sorted(found)
    absent = [f"V000{number + 1}" for number in sorted({*names, *left_out}) if number < 6]
    named = " ".join(f"{fault.hint} {fault.expected}" for fault in faults)
    assert all(image in named for image in absent), named


def test_an_image_output_is_one_file(refuge, tmp_path):
    folder = refuge_jobs(tmp_path / "jobs", tiny_cases(6))
    (path, *_) = sorted(folder.glob("*/output/images/*/*.mha"))
    shutil.copy(path, path.with_name("second.mha"))
    (path.with_name(".DS_Store")).write_text("ignored")
    (fault,) = faults_of(refuge, folder)
    assert (fault.expected, fault.found) == ("one image", "2 files")
