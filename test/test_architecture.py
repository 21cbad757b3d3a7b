"""The wings and floors of the package: a module imports only from its own floor and those below."""

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from test.phases import refuge_phase, refuge_submission
from test.repository import REPOSITORY as ROOT
from test.rooms import LEAVES

PACKAGE = ROOT / "evaluation"
ORGANISER = "evaluation.organiser"
# Each wing from its lowest floor upwards. The organiser's wing stands on the other one.
FLOORS = (
    ("metrics",),
    ("core",),
    ("io",),
    ("platform",),
    ("phase",),
    ("workers",),
    ("challenges", "define"),
    ("charts",),
    ("summary",),
    ("codabench", "evaluate", "isolated"),
    ("library",),
    ("jobs",),
    ("cli",),
    ("__main__",),
)
FLOORS_OF_THE_ORGANISER = (
    ("views",),
    (
        "audience",
        "charts",
        "describe_data",
        "justraigs_tables",
        "leaves",
        "output",
        "plan",
        "platform_export",
    ),
    ("reader_study",),
    ("audit", "further_analysis", "schema_pages", "synthesis"),
    (
        "describe",
        "ranking",
        "submission_writer",
        "case_files",
        "subset",
        "validate",
    ),
    ("annotation_files",),
    ("annotators", "describe_tables", "inference", "library", "rehearsal", "rescoring"),
    ("image", "settings"),
    ("report",),
    ("report_library",),
    ("cli",),
)
# The strings outside of the organiser's wing that name its modules, besides those in `cli/commands.toml`.
FOUND_BY_NAME = {
    "evaluation": {
        "evaluation.organiser.inference",
        "evaluation.organiser.library",
        "evaluation.organiser.report_library",
    },
    "evaluation.cli.common": {
        "evaluation.organiser"
    },  # tells the message for an image, which has no such wing
    "evaluation.cli.evaluate_command": {"evaluation.organiser.cli.evaluate_each"},
}


def place_of(module: str) -> tuple[bool, str]:
    """Return whether a module is in the organiser's wing, and its room."""
    _, *parts = module.split(".")
    of_the_organiser = parts[0] == "organiser"
    return of_the_organiser, parts[of_the_organiser]


def floor_of(module: str) -> int:
    of_the_organiser, room = place_of(module)
    floors = (*FLOORS_OF_THE_ORGANISER, LEAVES) if of_the_organiser else FLOORS
    found = [number for number, rooms in enumerate(floors) if room in rooms]
    assert len(found) == 1, f"{module} stands on {len(found)} floors"
    return found[0] + (len(FLOORS) if of_the_organiser else 0)


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
WINGS = ("evaluation", ORGANISER)
STANDING = [module for module in MODULES if module not in WINGS]


@cache
def text_of(module: str) -> str:
    return MODULES[module].read_text(encoding="utf-8")


@cache
def nodes_of(module: str) -> list[ast.AST]:
    """Return everything that a module is made of, parsed once for all tests."""
    return list(ast.walk(ast.parse(text_of(module))))


@cache
def statements_of(module: str) -> list[ast.Import | ast.ImportFrom]:
    """Return the import statements of a module, also those inside functions."""
    return [node for node in nodes_of(module) if isinstance(node, ast.Import | ast.ImportFrom)]


def imports_of(module: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports anywhere, inside functions too."""
    if module == "evaluation":
        return  # it names modules for type checkers; a test below holds that it imports none
    for node in statements_of(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "evaluation")
        else:
            assert node.level == 0, f"{module} has a relative import"
            if node.module and node.module.split(".")[0] == "evaluation":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if inner in MODULES else node.module


def test_imports_go_downwards():
    """The rooms of `test.rooms` stand above all others of their wing, and do not import each other."""
    inner = ((module, name) for module in STANDING for name in imports_of(module) if name not in WINGS)
    leaves = {(True, leaf) for leaf in LEAVES}
    wrong = [
        (module, name)
        for module, name in inner
        if floor_of(name) > floor_of(module) or place_of(name) in leaves - {place_of(module)}
    ]
    assert wrong == []


def test_every_room_of_the_floors_exists():
    named = {(False, room) for rooms in FLOORS for room in rooms}
    named |= {(True, room) for rooms in (*FLOORS_OF_THE_ORGANISER, LEAVES) for room in rooms}
    assert named == {place_of(module) for module in STANDING}


def test_no_module_imports_itself_in_a_circle():
    graph = {module: set(imports_of(module)) & set(MODULES) for module in MODULES}
    for module, names in FOUND_BY_NAME.items():
        if module != "evaluation":  # hands on functions of both wings, all of which know its version
            graph[module] |= names & set(MODULES)
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_the_package_imports_nothing_until_a_name_is_used():
    program = "import sys, evaluation; print(sorted(m for m in sys.modules if m.startswith('evaluation')))"
    assert python(ROOT, "-c", program).stdout == "['evaluation']\n"


def test_nothing_outside_of_the_organisers_wing_names_it():
    """By name either; it stands above the other one, so that no import goes there."""
    outside = [module for module in STANDING if not place_of(module)[0]]
    named: dict[str, set[str]] = {}
    for module in ("evaluation", *outside):
        for node in nodes_of(module):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            # The plain word "organiser" names an audience.
            if re.fullmatch(r"evaluation\.organiser[\w.:{}]*|organiser\.[\w.:{}]*", text):
                named.setdefault(module, set()).add(text)
    assert named == FOUND_BY_NAME


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """Return a folder with what an image has of the package: all but the organiser's wing."""
    folder = tmp_path_factory.mktemp("image")
    ignored = shutil.ignore_patterns("__pycache__", "organiser")
    shutil.copytree(PACKAGE, folder / "evaluation", ignore=ignored)
    assert not (folder / "evaluation" / "organiser").exists()
    refuge_phase(folder / "ground-truth" / "refuge-tiny", 4)
    refuge_submission(folder / "submission", 4)
    return folder


def python(folder, *arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_an_image_checks_and_scores_without_the_organisers_wing(image, tmp_path):
    form = tmp_path / "form.json"
    given = ("--input", "submission", "--ground-truth", "ground-truth/refuge-tiny")
    for line in (
        ("form", "ground-truth/refuge-tiny", "--output", form),
        ("check", "--form", form, "submission"),
        ("evaluate", *given, "--workers", 2, "--output", tmp_path),
    ):
        done = python(image, "-m", "evaluation", *line)
        assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "metrics.json").read_text())["aggregates"]["segmentation"]
    assert figures["dice_cup"]["value"] == 1
    summary = python(image, "-m", "evaluation", "summary", tmp_path / "metrics.json")
    assert summary.returncode == 0, summary.stderr
    assert summary.stdout.startswith("refuge-tiny: 4 of 4 cases scored")
    done = python(image, "-m", "evaluation", "seal", "ground-truth/refuge-tiny")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("seal is an organiser's command; ")


def packages_of(module: str) -> set[str]:
    """Return the packages that a module imports anywhere."""
    return {
        name.partition(".")[0]
        for node in statements_of(module)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }


def test_metrics_know_neither_files_nor_policy():
    transforms = "evaluation.metrics.nearest"  # SimpleITK, which also reads files, has the distance transform
    modules = [name for name in MODULES if name.startswith("evaluation.metrics") and name != transforms]
    outside = {package for module in modules for package in packages_of(module)}
    assert "numpy" in outside
    assert not outside & {"os", "io", "pathlib", "csv", "json", "pydantic", "PIL", "SimpleITK", "pandas"}
