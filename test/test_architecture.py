"""The floors of the package: a module imports only from its own floor and those below."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from test.phases import refuge_phase, refuge_submission
from test.repository import REPOSITORY as ROOT

PACKAGE = ROOT / "evaluation"
FLOORS = (
    ("__init__",),
    ("metrics",),
    ("core",),
    ("io",),
    ("platform", "synthesis"),
    ("phase",),
    ("workers",),
    ("challenges", "ranking", "define"),
    ("charts",),
    ("summary",),
    ("evaluate",),
    ("annotators", "organiser", "starter"),
    ("results", "isolated"),
    ("jobs", "rescoring"),
    ("library",),
    ("report",),
    ("cli",),
    ("__main__",),
)
# Heavy to import, and not needed to score.
NOT_IN_EVALUATE = (
    "pandas",
    "scipy",
    "sklearn",
    "rich",
    "matplotlib",
    "jinja2",
    "vl_convert",
    "dask",
    "distributed",
    "fsspec",
)
# Reports need an extra, which the image does not have: only one room may import it.
OF_REPORTS = {"jinja2", "markupsafe", "vl_convert"}


def floor_of(module: str) -> int:
    part = module.split(".")[1] if "." in module else "__init__"
    floors = [number for number, parts in enumerate(FLOORS) if part in parts]
    assert floors, f"{module} stands on no floor"
    return floors[0]


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def statements_of(module: str) -> list[ast.Import | ast.ImportFrom]:
    """Return the import statements of a module, also those inside functions."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


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


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_downwards(module):
    above = [name for name in imports_of(module) if floor_of(name) > floor_of(module)]
    assert above == []


def test_no_module_imports_itself_in_a_circle():
    graph = {module: set(imports_of(module)) & set(MODULES) for module in MODULES}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"circle: {' → '.join((*path[path.index(module) :], module))}"
        if module in done:
            return
        for inner in sorted(graph[module]):
            visit(inner, (*path, module))
        done.add(module)

    for module in graph:
        visit(module, ())
    assert done == set(MODULES)


def test_no_folder_is_in_a_circle():
    """Files may hang together without a circle while their folders do not."""
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        for inner in imports_of(module):
            here, there = (str(MODULES[name].parent.relative_to(ROOT)) for name in (module, inner))
            if here != there and PACKAGE not in (MODULES[module].parent, MODULES[inner].parent):
                graph.setdefault(here, set()).add(there)
    sorter = TopologicalSorter(graph)
    sorter.prepare()  # raises CycleError, which names the circle
    assert "evaluation/metrics" in sorter.get_ready()


def test_the_package_imports_nothing_until_a_name_is_used():
    program = "import sys, evaluation; print(sorted(m for m in sys.modules if m.startswith('evaluation')))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "['evaluation']\n"


def packages_of(module: str) -> set[str]:
    """Return the packages that a module imports anywhere."""
    return {
        name.partition(".")[0]
        for node in statements_of(module)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }


def test_reports_alone_need_what_they_are_made_with():
    users = {module for module in MODULES if packages_of(module) & OF_REPORTS}
    assert users
    assert all(module.startswith("evaluation.organiser.report.") for module in users)


def test_metrics_know_neither_files_nor_policy():
    # SimpleITK, which also reads files, has the distance transform.
    transforms = "evaluation.metrics.nearest"
    outside = {
        package
        for module in MODULES
        if module.startswith("evaluation.metrics") and module != transforms
        for package in packages_of(module)
    }
    assert "numpy" in outside
    assert not outside & {"os", "io", "pathlib", "csv", "json", "pydantic", "PIL", "SimpleITK", "pandas"}


@pytest.mark.parametrize("workers", [0, 1])
def test_scoring_imports_nothing_heavy(tmp_path, workers):
    phase, submission = refuge_phase(tmp_path / "phase", 24), refuge_submission(tmp_path / "submission", 24)
    arguments = ["evaluate", "--input", str(submission), "--ground-truth", str(phase)]
    arguments += ["--output", str(tmp_path / "output"), "--workers", str(workers)]
    program = (
        "import sys\nfrom evaluation.cli.main import main\n"
        f"status = main({arguments!r})\n"
        "print(status, *sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    status, *loaded = done.stdout.splitlines()[-1].split()
    assert status == "0", done.stdout
    assert (tmp_path / "output" / "metrics.json").is_file()
    assert {"evaluation", "numpy"} <= set(loaded)
    assert not set(loaded) & set(NOT_IN_EVALUATE)
    # Of the challenges only the one that is scored; images are decoded by workers alone, if there are any.
    assert workers == 0 or "SimpleITK" not in loaded
