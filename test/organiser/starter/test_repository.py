"""A new repository: what is written works at once, whatever the challenge is like."""

import json
import re
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

import evaluation
from evaluation.cli.main import main
from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.sources import JsonSource
from evaluation.evaluate import check
from evaluation.organiser.starter.repository import KINDS, phase_name, write_repository
from evaluation.phase.form_file import format_in_words
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.faults import faulted


@pytest.mark.parametrize("like", KINDS)
def test_the_sample_of_an_algorithm_is_a_list_of_jobs(tmp_path, like):
    folder = tmp_path / "mine"
    write_repository(folder, like, algorithm=True)
    phase = load_phase(folder / "phase", scan(folder / "phase"))
    assert phase.form.submission == "algorithm"
    assert not check(phase.form, folder / "submission", 0).faults
    words = format_in_words(phase.form)
    examples = re.findall("^- Example: `(.*)`$", words, re.MULTILINE)
    fields = [field for field in fields_of(phase.tasks) if not field.socket.is_image]
    for field, example in zip(fields, examples, strict=True):
        field.kind.read(JsonSource(json.loads(example), "example.json"), phase.form.cases[0], None)
    jobs = json.loads((folder / "submission" / "predictions.json").read_text(encoding="utf-8"))
    assert {job["inputs"][0]["image"]["name"] for job in jobs} == {case.name for case in phase.form.cases}


def test_the_same_files_each_time(tmp_path):
    contents = []
    for place in ("one", "two"):
        folder = tmp_path / place / "mine"
        write_repository(folder, "detection")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        contents.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert contents[0] == contents[1]


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with faulted(PhaseError, "one with content"):
        write_repository(tmp_path, "points")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_what_surrounds_the_phase_names_it(tmp_path):
    folder = tmp_path / "Brain Tumours 2027"
    write_repository(folder, "survival")
    assert 'name = "brain-tumours-2027"' in (folder / "phase" / "phase.toml").read_text(encoding="utf-8")
    workflow = (folder / ".github" / "workflows" / "evaluate.yml").read_text(encoding="utf-8")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for text in (workflow, readme):
        assert "pip install --requirement requirements.txt" in text
        assert not re.search(r"\$(name|title|version)\b", text)


class Installed:
    """The package as pip has installed it, with the record of PEP 610."""

    def __init__(self, record: dict | None) -> None:
        self.record = record

    def locate_file(self, path: str) -> Path:
        return Path(evaluation.__file__).parents[1] / path

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.record is None else json.dumps(self.record)


@pytest.fixture
def installed_from(monkeypatch):
    """Return a function that says where the package came from."""
    return lambda record: monkeypatch.setattr(metadata, "distribution", lambda name: Installed(record))


VERSION = evaluation.__version__
WHEEL = f"challenge_evaluation-{VERSION}-py3-none-any.whl"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (None, f"challenge-evaluation=={VERSION}"),
        (
            {"url": "https://host/e.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "challenge-evaluation @ git+https://host/e.git@c0ffee",
        ),
        (
            {"url": f"https://host/{WHEEL}", "archive_info": {}},
            f"challenge-evaluation @ https://host/{WHEEL}",
        ),
        ({"url": "file:///gone/e.whl", "archive_info": {}}, f"./{WHEEL}"),
    ],
)
def test_the_requirement_is_where_the_package_came_from(tmp_path, installed_from, record, expected):
    installed_from(record)
    write_repository(tmp_path / "mine", "classification")
    *notes, line = (tmp_path / "mine" / "requirements.txt").read_text().splitlines()
    assert line == expected
    assert bool(notes) == expected.startswith("./")  # only a wheel that is to be made needs a word


def test_the_wheel_that_the_package_came_from_goes_along(tmp_path, installed_from):
    wheel = tmp_path / WHEEL
    wheel.write_bytes(b"a wheel")
    installed_from({"url": wheel.as_uri(), "archive_info": {}})
    write_repository(tmp_path / "mine", "classification")
    assert (tmp_path / "mine" / "requirements.txt").read_text() == f"./{WHEEL}\n"
    assert (tmp_path / "mine" / WHEEL).read_bytes() == b"a wheel"


def committed(folder, *further):
    """Make a folder a repository, run further commands of git, and return its commit."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "a"], *further):
        subprocess.run([*git, *command], cwd=folder, check=True)
    return subprocess.run(
        [*git, "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True
    ).stdout.strip()


def test_a_package_that_runs_in_its_repository_has_the_address_of_that_without_a_password(
    tmp_path, installed_from
):
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "pyproject.toml").touch()
    commit = committed(clone, ["remote", "add", "origin", "https://me:secret@host/e.git"])
    installed_from({"url": clone.as_uri(), "dir_info": {"editable": True}})
    write_repository(tmp_path / "mine", "classification")
    expected = f"challenge-evaluation @ git+https://host/e.git@{commit}\n"
    assert (tmp_path / "mine" / "requirements.txt").read_text() == expected


def test_a_package_of_a_folder_without_an_address_is_installed_from_there(tmp_path, installed_from):
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "pyproject.toml").touch()
    installed_from({"url": (tmp_path / "clone").as_uri(), "dir_info": {}})
    write_repository(tmp_path / "mine", "classification")
    note, line = (tmp_path / "mine" / "requirements.txt").read_text().splitlines()
    assert line == f"challenge-evaluation @ {(tmp_path / 'clone').as_uri()}"
    assert note.startswith("# On this machine alone.")


def test_a_folder_without_a_name(tmp_path):
    assert phase_name(tmp_path / "A_b c") == "a-b-c"
    with faulted(PhaseError, "---"):
        phase_name(tmp_path / "---")


# --- The commands `new`, `build` and `export` ---


def test_new_says_what_comes_next(tmp_path, capsys):
    assert main(["new", str(tmp_path / "mine"), "--like", "regression"]) == 0
    printed = capsys.readouterr().out
    steps = re.findall(r"^```sh\n(.*?)^```", (tmp_path / "mine/README.md").read_text("utf-8"), re.M | re.S)[0]
    assert "evaluation rehearse phase" in steps
    assert printed.endswith(steps)
    assert main(["seal", str(tmp_path / "mine" / "phase")]) == 0


@pytest.mark.parametrize("arguments", [[], ["--like", "chess"], ["--like", "points", "--from", "pack.json"]])
def test_new_needs_one_known_start(tmp_path, arguments):
    with pytest.raises(SystemExit):
        main(["new", str(tmp_path / "mine"), *arguments])


@pytest.mark.parametrize("command", ["build", "export"])
def test_a_folder_without_a_phase(tmp_path, capsys, command):
    assert main([command, str(tmp_path)]) == 1
    assert "expected phase.toml or phase/phase.toml, found neither" in capsys.readouterr().err
    assert main([command, "chess"]) == 1
    assert "expected a phase folder or the name of a phase, found neither" in capsys.readouterr().err


def test_export_looks_at_the_settings_before_it_builds(tmp_path, capsys, monkeypatch):
    main(["new", str(tmp_path / "mine"), "--like", "points"])
    configuration = tmp_path / "mine" / "phase" / "phase.toml"
    text = configuration.read_text(encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    for length, expected in ((64, "docker: not installed"), (65, "score_title")):
        configuration.write_text(f'{text}\n[titles]\n"detection.f1" = "{"x" * length}"\n', encoding="utf-8")
        assert main(["export", str(tmp_path / "mine")]) == 1
        assert expected in capsys.readouterr().err
    assert main(["build", str(tmp_path / "mine")]) == 1
    assert "docker: not installed" in capsys.readouterr().err
    assert not (tmp_path / "mine" / "phase" / ".nonce").exists()
