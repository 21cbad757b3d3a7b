"""Which test checks which metric's figures against which independent implementation, its oracle.

A metric's card names its oracle. A test that computes the expected figures with it says so:

    @checked(dice="sklearn.metrics.f1_score")
    def test_figures(...): ...

While such a test runs, it must score each of these metrics and call each of these oracles itself;
otherwise it fails. `test/challenges/declared/test_oracles.py` fails for a card whose oracle no test calls.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar
from unittest import mock

from evaluation.challenges.declared.declarable import card_of, name_of
from evaluation.challenges.declared.tables import MetricTable

BY_HAND = "by hand"
"""The oracle of figures that a test computes with arithmetic of its own, as its card says."""

# Names of libraries in cards, and their packages.
LIBRARIES = {
    "scikit-learn": "sklearn",
    "SciPy": "scipy",
    "NumPy": "numpy",
    "SimpleITK": "SimpleITK",
    "pycocotools": "pycocotools",
    "google-deepmind/surface-distance": "surface_distance",
    "grand-challenge-metrics": "grand_challenge_metrics",
    "lifelines": "lifelines",
    "pingouin": "pingouin",
    "scikit-image": "skimage",
}
_NAMED = re.compile(r"(?:, | and )`(\w+)`|" + "|".join(map(re.escape, (BY_HAND, *LIBRARIES))))
_TESTS = Path(__file__).parent
_Test = TypeVar("_Test", bound=Callable[..., Any])

# The oracles with recorded values that the running test has read, and metrics that its commands score.
_read: set[str] = set()
_by_command: set[str] = set()


class Recorded(dict[Any, Any]):
    """Values from an oracle that is no dependency of the tests; reading one counts as a call."""

    def __init__(self, oracle: str, values: dict[Any, Any]) -> None:
        super().__init__(values)
        self.oracle = oracle

    def __getitem__(self, key: Any) -> Any:
        _read.add(self.oracle)
        return super().__getitem__(key)


def scored_by_command(configuration: Path) -> None:
    """Note the metrics of a `phase.toml` as scored: a command has done so in another process."""
    tasks = tomllib.loads(configuration.read_text(encoding="utf-8"))["tasks"].values()
    for name, metric in (pair for task in tasks for pair in task["metrics"].items()):
        _by_command.add(metric.get("metric", name))


def checked(**oracles: str | tuple[str, ...]) -> Callable[[_Test], _Test]:
    """Say that a test checks metrics, by name, against oracles: paths of callables, or `BY_HAND`."""
    by_metric = {metric: (named,) if isinstance(named, str) else named for metric, named in oracles.items()}
    called = {path for paths in by_metric.values() for path in paths} - {BY_HAND}

    def decorate(test: _Test) -> _Test:
        @functools.wraps(test)
        def run(*arguments: Any, **options: Any) -> None:
            with _watched(called) as (scored, calls):
                test(*arguments, **options)
            unscored, uncalled = sorted(by_metric.keys() - scored), sorted(called - calls)
            assert not unscored, f"the test does not score {', '.join(unscored)}"
            assert not uncalled, f"the test does not call {', '.join(uncalled)}"

        run.checks = by_metric  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]

    return decorate


def registered() -> dict[str, set[str]]:
    """Return the oracles of the tests of each metric, by its name."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(_TESTS.rglob("test_*.py")):
        if "@checked(" in path.read_text(encoding="utf-8"):
            module = importlib.import_module(
                ".".join(("test", *path.relative_to(_TESTS).with_suffix("").parts))
            )
            for test in vars(module).values():
                for metric, oracles in getattr(test, "checks", {}).items():
                    found[metric].update(oracles)
    return dict(found)


def oracles_of(card: str) -> list[tuple[str, str | None]]:
    """Return the package and the callable of each oracle that a card names, in order.

    The callable is None where the card names a library alone; arithmetic is (`BY_HAND`, None).
    """
    _, _, text = card.partition("Oracle:")
    found: list[tuple[str, str | None]] = []
    for match in _NAMED.finditer(" ".join(text.partition("Source:")[0].split())):
        name = match[1]
        if name is None:
            found.append((LIBRARIES.get(match[0], match[0]), None))
        elif found:
            package, first = found[-1]
            found[-1:] = [(package, name)] if first is None else [(package, first), (package, name)]
    return found


def unchecked(metric: type[MetricTable], tested: Collection[str]) -> list[str]:
    """Return the oracles that a metric's card names and that none of the tests' oracles is."""
    named = oracles_of(card_of(metric))
    return [
        ", ".join(filter(None, oracle))
        for oracle in named
        if not any(_is_oracle(path, *oracle) for path in tested)
    ] or ([] if named else ["none that is known"])


def _is_oracle(path: str, package: str, name: str | None) -> bool:
    return path.partition(".")[0] == package and name in {None, path.rpartition(".")[2]}


@contextmanager
def _watched(paths: Collection[str]) -> Iterator[tuple[set[str], set[str]]]:
    """Collect the metrics whose figures are computed, and the oracles that tests call themselves."""
    scored: set[str] = set()
    calls: set[str] = set()
    codes: dict[Any, str] = {}
    _read.clear()
    _by_command.clear()
    with ExitStack() as stack:
        for path in paths:
            if (found := _callable(path)) is None:
                continue
            function = inspect.unwrap(found.__init__ if inspect.isclass(found) else found)
            if hasattr(function, "__code__") and inspect.isfunction(function):
                codes[function.__code__] = path
            elif inspect.isbuiltin(function):
                codes[function] = path
            else:  # a compiled function whose calls Python does not tell
                owner, name = path.rsplit(".", 1)
                spy = functools.partial(_spy, function, path, calls)
                stack.enter_context(mock.patch.object(importlib.import_module(owner), name, spy))

        def note(frame: FrameType, event: str, argument: Any) -> None:
            if event == "call":
                caller, called = frame.f_back, frame.f_code
                # Where mutmut has changed it, a part of a longer name.
                if "measure" in frame.f_code.co_name and isinstance(frame.f_locals.get("self"), MetricTable):
                    scored.add(name_of(type(frame.f_locals["self"])))
            elif event == "c_call" and inspect.isbuiltin(argument):
                caller, called = frame, argument
            else:
                return
            if called in codes and _from_a_test(caller, codes[called].partition(".")[0]):
                calls.add(codes[called])

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            yield scored, calls
        finally:
            sys.setprofile(before)
            calls |= _read
            scored |= _by_command


def _spy(function: Callable[..., Any], path: str, calls: set[str], *arguments: Any, **options: Any) -> Any:
    if _from_a_test(sys._getframe(1), path.partition(".")[0]):
        calls.add(path)
    return function(*arguments, **options)


def _callable(path: str) -> Any:
    """Return the callable of that path, None if its package is not installed: its values are recorded."""
    owner, name = path.rsplit(".", 1)
    if importlib.util.find_spec(path.partition(".")[0]) is None:
        return None
    return getattr(importlib.import_module(owner), name)


def _from_a_test(frame: FrameType | None, package: str) -> bool:
    """Tell whether the first frame outside of a package is a test's: the code under test may call it too."""
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
        frame = frame.f_back
    return frame is not None and Path(frame.f_code.co_filename).is_relative_to(_TESTS)
