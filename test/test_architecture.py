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

from evaluation.cli.main import COMMANDS
from test.phases import refuge_phase, refuge_submission
from test.repository import REPOSITORY as ROOT
from test.rooms import ALL_LEAVES, LEAVES

PACKAGE = ROOT / "evaluation"
ORGANISER = "evaluation.organiser"
# Each wing from its lowest floor upwards. The organiser's wing stands on the other one.
FLOORS = (
    ("stats",),
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
        "describe_data",
        "leaves",
        "output",
        "plan",
        "platform_export",
    ),
    ("reader_study",),
    ("audit", "phase_schema"),
    (
        "describe",
        "ranking",
        "submission_writer",
        "case_files",
        "subset",
        "validate",
    ),
    ("annotation_files", "score"),
    ("annotators", "inference", "library", "rehearsal", "rescoring"),
    ("image", "settings"),
    ("report",),
    ("report_library",),
    ("cli",),
)
# The strings outside of the organiser's wing that name its modules, besides those in `entry_points.txt`.
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

OF_REPORTS = {"jinja2", "markupsafe", "pypdf", "vl_convert"}


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


def test_no_folder_is_in_a_circle():
    """Files may hang together without a circle while their folders do not."""
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        for inner in imports_of(module):
            here, there = (str(MODULES[name].parent.relative_to(ROOT)) for name in (module, inner))
            roots = {
                MODULES[wing].parent for wing in WINGS
            }  # their modules are rooms, not the folder's content
            if here != there and roots.isdisjoint((MODULES[module].parent, MODULES[inner].parent)):
                graph.setdefault(here, set()).add(there)
    sorter = TopologicalSorter(graph)
    sorter.prepare()  # raises CycleError, which names the circle
    assert "evaluation/stats" in sorter.get_ready()


def test_a_command_imports_no_other_command():
    commands = {command.place.partition(":")[0] for command in COMMANDS.values()}
    importing: dict[str, set[str]] = {}
    for command in commands:
        reached, left = set(), [command]
        while left:
            new = set(imports_of(left.pop())) & set(MODULES) - reached
            reached |= new
            left += new
        if others := reached & commands - {command}:
            importing[command] = others
    assert importing == {}


def test_the_page_names_every_room_and_says_which_are_leaves():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    trunk, _, of_leaves = text.partition("\n### What organisers run\n")[2].partition("\n| leaf |")
    rooms = {True: set(), False: set()}  # whether a room is a leaf, by what stands there
    for place in (PACKAGE / "organiser").iterdir():
        if place.suffix == ".py" or (place / "__init__.py").is_file():
            rooms[place.name in ALL_LEAVES].add(place.name)
    link = r"\]\(\.\./evaluation/organiser/([\w.]+)\)"
    assert set(re.findall(link, trunk)) == rooms[False] - {"__init__.py"}
    named = re.findall(link, of_leaves.partition("\n## ")[0])
    assert sorted(named) == sorted(ALL_LEAVES)
    assert rooms[True] == set(LEAVES)
    for room in {room for rooms in FLOORS for room in rooms} - {"__main__"}:
        assert re.search(rf"\]\(\.\./evaluation/{room}(\.py)?\)", text), room


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


def _named_in(node: ast.expr) -> set[str]:
    """Return the names in an expression, the last part of each."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def _is_call_of(node: ast.Call, *names: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in names


def test_few_places_ask_for_the_class_of_a_kind_and_each_says_why():
    """A kind answers for itself, or has a view; `match` and `type(kind) is` would be the same question."""
    bases = {
        node.name: set[str]().union(*map(_named_in, node.bases))
        for module in MODULES
        for node in nodes_of(module)
        if isinstance(node, ast.ClassDef)
    }
    kinds = {"Kind"}
    while more := {name for name, of in bases.items() if of & kinds} - kinds:
        kinds |= more
    assert {"ColumnKind", "Number", "LabelMap", "SurvivalPrediction", "AgreedFeatures"} <= kinds
    asking, silent, compared = [], [], []
    for module in MODULES:
        lines = text_of(module).splitlines()
        for node in nodes_of(module):
            if isinstance(node, ast.MatchClass) and _named_in(node.cls) & kinds:
                compared.append(module)
            elif isinstance(node, ast.Compare):
                sides = (node.left, *node.comparators)
                of_types = any(isinstance(side, ast.Call) and _is_call_of(side, "type") for side in sides)
                if of_types and set[str]().union(*map(_named_in, sides)) & {*kinds, "kind"}:
                    compared.append(module)
            elif isinstance(node, ast.Call) and _is_call_of(node, "isinstance", "issubclass"):
                if not _named_in(node.args[1]) & kinds:
                    continue
                asking.append(place := f"{module}, line {node.lineno}")
                before, here = lines[node.lineno - 2 : node.lineno]
                if "  # " not in here and not before.lstrip().startswith("# "):
                    silent.append(place)
    assert len(asking) < 6, asking
    assert silent == []
    # `Field.is_like_its_reference`, which rooms ask.
    assert compared == ["evaluation.core.field"]


def test_reports_alone_need_what_they_are_made_with():
    users = {module for module in MODULES if packages_of(module) & OF_REPORTS}
    assert users
    rooms = ("evaluation.organiser.report.", "evaluation.organiser.paper.")
    assert all(module.startswith(rooms) for module in users)


def test_metrics_know_neither_files_nor_policy():
    transforms = "evaluation.metrics.nearest"  # SimpleITK, which also reads files, has the distance transform
    modules = [name for name in MODULES if name.startswith("evaluation.metrics") and name != transforms]
    outside = {package for module in modules for package in packages_of(module)}
    assert "numpy" in outside
    assert not outside & {"os", "io", "pathlib", "csv", "json", "pydantic", "PIL", "SimpleITK", "pandas"}
