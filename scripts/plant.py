"""Plants faults in the code, one at a time, and tells which of them the tests do not see.

    python -m scripts.plant --number 150 [--seed 1] [--rooms metrics core] [--list] [--only FAULT …]

A fault is a small change of one place: another comparison, a number one higher, two arguments exchanged, a
statement left out. It is written into a copy of the repository, so that workers and commands have it, too.
All tests run once before, to learn which of them enter its function (--entered FILE keeps that). These run
with the fault, the nearest and shortest first; the first failure ends them. Of a function that no test is
known to enter, the files of tests run that name it, the tests of its room, and the golden figures. Faults are
drawn from all rooms in proportion to their lines, by a seed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from scripts.entered import Entered, batches, function_at, noted

REPOSITORY = Path(__file__).resolve().parents[1]
_SECONDS = 1200
_MOST_SECONDS = 100.0
"""What the tests of one fault may take together, on a machine that does nothing else."""
_MOST_FILES = 12
_OTHER_COMPARISON = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OTHER_OPERATION = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SKIPPED = (ast.FunctionDef, ast.ClassDef, ast.Try, ast.Import, ast.ImportFrom, ast.Assert, ast.Match)
_OTHER_NAME = {"min": "max", "max": "min", "any": "all", "all": "any", "argmin": "argmax", "argmax": "argmin"}


@dataclass(frozen=True)
class Fault:
    """A place of the code, what is changed there, and the lines of its statement with the change."""

    path: str
    line: int
    column: int
    change: str
    function: str
    first_line: int
    last_line: int
    text: str

    @property
    def name(self) -> str:
        """The place and the change, in a word."""
        return f"{self.path}:{self.line}:{self.column}:{self.change}"


def faults_of(path: str, source: str) -> Iterator[Fault]:
    """Yield every fault that can be planted in a file."""
    tree = ast.parse(source)
    lines = source.splitlines()
    for statement, function in _statements(tree):
        for position, node in enumerate(_expressions(statement)):
            for change in _changes(node):
                changed = copy.deepcopy(statement)
                _apply(list(_expressions(changed))[position], change)
                yield _fault(path, statement, node, change, function, _text(statement, changed, lines))
        if isinstance(statement, (ast.AugAssign, ast.Expr, ast.Raise, ast.Continue, ast.Break)):
            indent = " " * statement.col_offset
            yield _fault(path, statement, statement, "left out", function, f"{indent}pass")


def _fault(path: str, statement: ast.stmt, node: ast.AST, change: str, function: str, text: str) -> Fault:
    line, column = getattr(node, "lineno", statement.lineno), getattr(node, "col_offset", 0)
    last = max(_head_end(statement), statement.lineno)
    return Fault(path, line, column, change, function, statement.lineno, last, text)


def _head_end(statement: ast.stmt) -> int:
    """Return the last line of a statement, of a compound one that before its body."""
    body = getattr(statement, "body", None)
    return body[0].lineno - 1 if body else statement.end_lineno or statement.lineno


def _text(before: ast.stmt, after: ast.stmt, lines: Sequence[str]) -> str:
    """Return the lines of a changed statement, of a compound one those before its body."""
    shown = copy.deepcopy(after)
    if hasattr(shown, "body"):
        shown.body = [ast.Pass()]
        for name in ("orelse", "finalbody", "handlers"):
            if hasattr(shown, name):
                setattr(shown, name, [])
    text = ast.unparse(ast.fix_missing_locations(shown))
    if hasattr(shown, "body"):
        text = text[: text.rindex("pass")].rstrip()
    indent = " " * before.col_offset
    if isinstance(before, ast.If) and lines[before.lineno - 1].lstrip().startswith("elif"):
        text = f"el{text}"
    return "\n".join(f"{indent}{line}" for line in text.splitlines())


def _statements(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each statement of a function that does something, with the name of its innermost function."""
    functions: dict[ast.stmt, str] = {}
    for scope in ast.walk(tree):  # from outside inwards
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions |= {node: scope.name for node in ast.walk(scope) if isinstance(node, ast.stmt)}
    for statement, function in functions.items():
        words = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not words and not isinstance(statement, _SKIPPED):
            yield statement, function


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions of a statement itself, without those of its body, types and texts."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody", "handlers") and isinstance(node, ast.stmt):
                continue
            if name in ("annotation", "returns") or isinstance(node, (ast.JoinedStr, ast.Raise)):
                continue
            parts = value if isinstance(value, list) else [value]
            waiting += [part for part in parts if isinstance(part, ast.AST)]


def _changes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _OTHER_COMPARISON:
            yield _OTHER_COMPARISON[type(operator)].__name__
        case ast.BinOp(op=operator) if type(operator) in _OTHER_OPERATION:
            yield _OTHER_OPERATION[type(operator)].__name__
        case ast.BoolOp():
            yield "Or" if isinstance(node.op, ast.And) else "And"
        case ast.UnaryOp(op=ast.Not()):
            yield "without not"
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name()):
            yield "without minus"
        case ast.Constant(value=bool()):
            yield str(not node.value)
        case ast.Constant(value=int() | float()):
            yield "one more"
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _OTHER_NAME:
            yield _OTHER_NAME[name]
        case ast.Call(args=[first, second, *_]) if not isinstance(second, ast.Starred):
            if not isinstance(first, ast.Starred) and ast.dump(first) != ast.dump(second):
                yield "exchanged"
        case ast.IfExp():
            yield "other branch"
        case ast.comprehension(ifs=[_]):
            yield "without if"


def _apply(node: ast.AST, change: str) -> None:
    match node:
        case ast.Compare():
            node.ops = [getattr(ast, change)()]
        case ast.BinOp() | ast.BoolOp():
            node.op = getattr(ast, change)()
        case ast.UnaryOp():
            node.op = ast.UAdd() if change == "without minus" else ast.Not()
            if change == "without not":
                node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant():
            node.value = node.value + 1  # type: ignore[operator]
        case ast.Call(func=function) if change in _OTHER_NAME.values():
            setattr(function, "id" if isinstance(function, ast.Name) else "attr", change)
        case ast.Call():
            node.args[:2] = node.args[1::-1]
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body
        case ast.comprehension():
            node.ifs = []


def drawn(rooms: Sequence[str], number: int, seed: int) -> list[Fault]:
    """Return so many faults of the rooms, or of all, drawn by a seed."""
    files = sorted((REPOSITORY / "evaluation").rglob("*.py"))
    found = []
    for file in files:
        path = file.relative_to(REPOSITORY).as_posix()
        if not rooms or any(f"evaluation/{room}".rstrip("/") in path for room in rooms):
            found += list(faults_of(path, file.read_text(encoding="utf-8")))
    return random.Random(seed).sample(found, min(number, len(found)))  # noqa: S311


def steps_of(fault: Fault) -> Iterator[list[str]]:
    """Yield the tests that may see a fault, the nearest first."""
    module, parent = Path(fault.path).stem, Path(fault.path).parent.as_posix().removeprefix("evaluation")
    dotted = fault.path.removesuffix(".py").replace("/", ".")
    room = REPOSITORY / f"test{parent}"
    while not room.is_dir():
        room = room.parent
    named: list[tuple[int, str]] = []
    for file in sorted((REPOSITORY / "test").rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        words = len(re.findall(rf"\b{re.escape(fault.function)}\b", text)) + 2 * (module in text)
        near = 10 * (module.rstrip("s") in file.stem) + 5 * (room in file.parents) + 10 * (dotted in text)
        if (words or near > 5) and "container" not in file.parts:
            named.append((-min(words, 9) - near, file.relative_to(REPOSITORY).as_posix()))
    first = [file for _, file in sorted(named)[:_MOST_FILES]]
    if first:
        yield first
    wing = room.name in ("test", "organiser")  # a module beside the rooms: the tests beside theirs
    tests = (room.glob if wing else room.rglob)("test_*.py")
    whole = sorted(file.relative_to(REPOSITORY).as_posix() for file in tests)
    if room.name != "test" and (rest := [file for file in whole if file not in first]):
        yield rest
    if "organiser" not in fault.path or "ranking" in fault.path:  # the golden figures end with a leaderboard
        yield ["test/golden/test_golden.py"]


def nearest_steps(fault: Fault, entered: Entered) -> Iterator[list[str]]:
    """Yield the tests that enter the function of a fault, or else those that may see it."""
    source = (REPOSITORY / fault.path).read_text(encoding="utf-8")
    tests = entered.get(f"{fault.path}:{function_at(source, fault.first_line)}")
    near = next(steps_of(fault), [])
    yield from batches(tests, near, _MOST_SECONDS) if tests else steps_of(fault)


def seen(fault: Fault, copied: Path, entered: Entered) -> str:
    """Return which test sees a fault in a copy of the repository, or that none does.

    A test sees a fault only if it fails twice with the fault and passes without it: on a busy machine, one
    that waits for other processes may fail by chance.
    """
    file = copied / fault.path
    before = file.read_text(encoding="utf-8")
    lines = before.splitlines()
    lines[fault.first_line - 1 : fault.last_line] = fault.text.splitlines()
    changed = "\n".join([*lines, ""])
    try:
        compile(changed, fault.path, "exec")
    except SyntaxError:
        return "no code"
    by_chance: list[str] = []
    try:
        for tests in nearest_steps(fault, entered):
            file.write_text(changed, encoding="utf-8")
            while failed := _failed(tests, by_chance, copied):
                same = [failed] if "::" in failed else tests
                again = _failed(same, [], copied)
                file.write_text(before, encoding="utf-8")
                if again and not _failed(same, [], copied):
                    return f"seen: {failed}"
                if failed in by_chance or "::" not in failed:
                    return f"UNSURE: {failed}"
                by_chance.append(failed)
                file.write_text(changed, encoding="utf-8")
        return "NOT SEEN"
    finally:
        file.write_text(before, encoding="utf-8")


def _failed(tests: Sequence[str], left_out: Sequence[str], copied: Path) -> str:
    """Return the first test that fails, a word where their process ends or lasts, "" if all pass."""
    options = ["-n", "0", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "pytest", *options, *(f"--deselect={test}" for test in left_out), *tests],
            cwd=copied,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "too long"
    if done.returncode in (0, 5):  # 5: no test is left
        return ""
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return failed[0] if failed else "the tests end"


def main() -> int:
    """Plant faults and print which are seen; 1 if any is not, or not for sure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="*", default=[], metavar="ROOM", help="below evaluation")
    parser.add_argument("--only", nargs="*", metavar="FAULT", help="faults by their names")
    parser.add_argument("--list", action="store_true", help="only name the faults")
    parser.add_argument("--entered", type=Path, metavar="FILE", help="which tests enter which function")
    options = parser.parse_args()
    if options.only:
        paths = {name.partition(":")[0] for name in options.only}
        sources = {path: (REPOSITORY / path).read_text(encoding="utf-8") for path in sorted(paths)}
        every = (fault for path, source in sources.items() for fault in faults_of(path, source))
        faults = [fault for fault in every if fault.name in options.only]
    else:
        faults = drawn(options.rooms, options.number, options.seed)
    if options.list:
        sys.stdout.writelines(f"{fault.name}\n" for fault in faults)
        return 0
    copies: Queue[Path] = Queue()
    processes = (os.cpu_count() or 1) + 1  # tests wait for other processes, too
    missed = unsure = 0
    with tempfile.TemporaryDirectory() as folder:

        def left_out(place: str, names: list[str]) -> set[str]:
            """Return what is made or large at the top; folders below may have the same names."""
            made = {".git", ".venv", "output", "site"} if Path(place) == REPOSITORY else set()
            return made | ({"__pycache__"} & {*names})

        if options.entered and options.entered.exists():
            entered = json.loads(options.entered.read_text(encoding="utf-8"))
        else:
            entered = noted(
                shutil.copytree(REPOSITORY, Path(folder, "noted"), ignore=left_out), processes + 1
            )
            if options.entered:
                options.entered.write_text(json.dumps(entered), encoding="utf-8")
        for number in range(processes):
            shutil.copytree(REPOSITORY, Path(folder, str(number)), ignore=left_out)
            copies.put(Path(folder, str(number)))

        def tried(fault: Fault) -> str:
            copied = copies.get()
            try:
                return seen(fault, copied, entered)
            finally:
                copies.put(copied)

        with ThreadPoolExecutor(copies.qsize()) as pool:
            waiting = {pool.submit(tried, fault): fault for fault in faults}
            for done in as_completed(waiting):
                fault, answer = waiting[done], done.result()
                missed += answer == "NOT SEEN"
                unsure += answer.startswith("UNSURE")
                sys.stdout.write(f"{fault.name}\t{answer}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{len(faults)} faults, {missed} not seen, {unsure} unsure\n")
    return int(missed + unsure > 0)


if __name__ == "__main__":
    sys.exit(main())
