"""Hides from the tests of this folder the modules that a confined reader has not imported."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import FrameType, ModuleType

import pytest

from test.repository import REPOSITORY

# Prints what a reader has imported that knows every kind and format: a real one has that, or less.
_READER = """
import importlib, pkgutil, sys
import evaluation.io, evaluation.workers.server, evaluation.workers.worker
from evaluation.core.field import Kind
from evaluation.workers.reader import ReaderSetup
from evaluation.workers.submission_reader import LATE
for found in pkgutil.walk_packages(evaluation.io.__path__, "evaluation.io."):
    importlib.import_module(found.name)
kinds = [kind for kind in Kind.__subclasses__()]
for kind in kinds:
    kinds += kind.__subclasses__()
formats = ReaderSetup.decoders(ReaderSetup(None, ""), ())
for module in (*LATE, *formats, *(late for kind in kinds for late in kind.late_modules)):
    importlib.import_module(module)
print("\\n".join(sys.modules))
"""
_LIBRARIES = sys.stdlib_module_names | {"numpy", "PIL", "SimpleITK"}
_PACKAGE = f"{REPOSITORY / 'evaluation'}{os.sep}"
_TESTS = f"{REPOSITORY / 'test'}{os.sep}"


def _package_asks() -> bool:
    """Tell whether the package imports, and no test or other library that makes an input for one."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_PACKAGE):
            return not frame.f_code.co_name.startswith(("write", "_write"))
        if file.startswith(_TESTS) and file != __file__:
            return False
        frame = frame.f_back
    return False


class _Hidden(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives hidden modules to tests, and to the package none."""

    def __init__(self, modules: dict[str, ModuleType], of_readers: frozenset[str]) -> None:
        self._modules, self._of_readers = modules, of_readers
        self._specs = {name: module.__spec__ for name, module in modules.items()}
        self.asked: list[str] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name in self._of_readers:
            return None
        if name.partition(".")[0] in _LIBRARIES and _package_asks():
            self.asked.append(name)
            raise ModuleNotFoundError(f"No module named {name!r} in a confined reader", name=name)
        return importlib.machinery.ModuleSpec(name, self) if name in self._modules else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        if (name := module.__name__) in self._specs:
            module.__spec__ = self._specs[name]


@pytest.fixture(scope="session")
def of_readers() -> frozenset[str]:
    """The names of the modules that a reader of every kind and format has imported."""
    done = subprocess.run([sys.executable, "-c", _READER], capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())


@pytest.fixture(autouse=True)
def only_what_readers_have(of_readers: frozenset[str]) -> Iterator[None]:
    """Fail where the package imports a library's module that no confined reader could import."""
    hidden = {
        name: module
        for name, module in sys.modules.items()
        if name.partition(".")[0] in _LIBRARIES and name not in of_readers and module.__spec__ is not None
    }
    finder = _Hidden(hidden, of_readers)
    for name in hidden:
        del sys.modules[name]
        parent, _, attribute = name.rpartition(".")
        with suppress(KeyError, AttributeError):
            delattr(sys.modules[parent], attribute)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.modules.update(hidden)  # all of them first: a package may come after its parts
        for name, module in hidden.items():
            parent, _, attribute = name.rpartition(".")
            if parent in sys.modules:
                setattr(sys.modules[parent], attribute, module)
    assert not finder.asked, f"a confined reader cannot import {', '.join(finder.asked)}"


@pytest.fixture
def counts_as_large(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function by which any image is read as large ones are, of which a true one takes minutes."""

    def patch(*limits: str) -> None:
        for name in limits:
            monkeypatch.setattr(f"evaluation.{name}", -1)

    return patch
