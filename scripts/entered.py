"""Which tests enter which function of the package, in whatever process.

In a copy of the repository each function begins with a call that notes the test that runs. The tests of the
container, of the wheel and of copies without a leaf are left out: what they run is built elsewhere.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

Entered = dict[str, dict[str, float]]
"""Of a function (`path:line` of its `def`), each test that enters it and the seconds that the test takes."""

_LEFT_OUT = ("test/container", "test/test_leaves.py", "test/test_package.py")
_AT_ONCE, _LONG_SECONDS = 4, 4.0
_NOTES = "notes-of-functions"

_MODULE = """
import os
FOLDER = {folder!r}
seen, kept = set(), False

def entered(name):
    if name not in seen:
        seen.add(name)
        if not kept and (test := os.environ.get("PYTEST_CURRENT_TEST")):
            write(f"{{name}}\\t{{test.rpartition(' ')[0]}}\\n")

def write(text):
    try:
        file = os.open(f"{{FOLDER}}/{{os.getpid()}}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError:  # a process that may write no file
        return
    os.write(file, text.encode())
    os.close(file)
"""

_PLUGIN = """
import time
from evaluation import noting as _entered

began = {}

def pytest_runtest_setup(item):
    _entered.kept = True
    _entered.seen.clear()
    began[item.nodeid] = time.perf_counter()

def pytest_runtest_teardown(item):
    seconds = time.perf_counter() - began.pop(item.nodeid, time.perf_counter())
    notes = [f"{name}\\t{item.nodeid}\\n" for name in sorted(_entered.seen)]
    _entered.write("".join([*notes, f"\\t{item.nodeid}\\t{seconds:.3f}\\n"]))
"""


def noted(copied: Path, processes: int) -> Entered:
    """Run the tests in a copy of the repository, which it changes; return which enter each function."""
    folder = copied / _NOTES
    folder.mkdir()
    for file in sorted((copied / "evaluation").rglob("*.py")):
        path = file.relative_to(copied).as_posix()
        file.write_text(with_notes(path, file.read_text(encoding="utf-8")), encoding="utf-8")
    (copied / "evaluation/noting.py").write_text(_MODULE.format(folder=str(folder)), encoding="utf-8")
    (copied / "note_functions.py").write_text(_PLUGIN, encoding="utf-8")
    processes_file = copied / "evaluation/workers/processes.py"
    text = processes_file.read_text(encoding="utf-8")
    processes_file.write_text(text.replace("_VARIABLES = (", "_VARIABLES = ('PYTEST_CURRENT_TEST', ", 1))
    options = ["-q", "-p", "no:cacheprovider", "-p", "note_functions", f"--processes={processes}"]
    ignored = [f"--ignore={path}" for path in _LEFT_OUT]
    environment = {**os.environ, "PYTHONPATH": str(copied)}
    command = [sys.executable, "-m", "pytest", *options, *ignored, "test"]
    subprocess.run(command, cwd=copied, env=environment, stdout=subprocess.DEVNULL, check=False)  # noqa: S603
    return read(file.read_text(encoding="utf-8").splitlines() for file in sorted(folder.iterdir()))


def read(files: Iterable[list[str]]) -> Entered:
    """Return what the notes of all processes tell."""
    seconds: dict[str, float] = {}
    tests: dict[str, set[str]] = {}
    for lines in files:
        for name, test, *rest in (line.split("\t", 2) for line in lines):
            if rest:
                seconds[test] = float(rest[0])
            else:
                tests.setdefault(name, set()).add(test)
    return {
        name: {test: seconds[test] for test in sorted(found) if test in seconds}
        for name, found in sorted(tests.items())
    }


def with_notes(path: str, source: str) -> str:
    """Return the source of a module whose functions tell when they are entered."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for function in functions:
        first = int(ast.get_docstring(function, clean=False) is not None)
        function.body.insert(first, ast.parse(f"_entered({f'{path}:{function.lineno}'!r})").body[0])
    if functions:
        future = [
            number
            for number, node in enumerate(tree.body)
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ]
        first = future[-1] + 1 if future else int(ast.get_docstring(tree, clean=False) is not None)
        tree.body.insert(first, ast.parse("from evaluation.noting import entered as _entered").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def function_at(source: str, line: int) -> int:
    """Return the line of the innermost function that holds a line, 0 outside of all."""
    inside = [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(inside, default=0)


def batches(tests: Mapping[str, float], near: Iterable[str], seconds: float) -> Iterator[list[str]]:
    """Yield the tests of a function in batches, the short ones of near files first, and some of each file.

    ``near`` holds files whose tests come first. All batches together take about so many ``seconds``.
    """
    nearest = {file: place for place, file in enumerate(near)}
    files: dict[str, list[str]] = {}
    for test in sorted(tests, key=lambda test: (tests[test], test)):
        files.setdefault(test.partition("::")[0], []).append(test)

    def order(test: str) -> tuple[int, bool, int, float, str]:
        file = test.partition("::")[0]
        turn = files[file].index(test) // _AT_ONCE
        return turn, tests[test] > _LONG_SECONDS, nearest.get(file, len(nearest)), tests[test], test

    batch: list[str] = []
    spent, end = 0.0, _LONG_SECONDS
    for test in sorted(tests, key=order):
        if spent + tests[test] <= seconds or not spent:
            batch.append(test)
            spent += tests[test]
        if batch and spent > end:
            yield batch
            batch, end = [], 6 * end
    if batch:
        yield batch
