"""Imports of a confined reader, which opens the files of Python and its libraries, and asks nothing by path.

Python's own finder asks for every file by its path, so that it finds nothing in such a reader. All that the
package needs is imported before (`SubmissionReader`), and a test holds that. The finder here is for libraries
that import a module when one of their functions is first called, and for challenges that are programmed at
home. It finds modules in Python; a native module cannot be loaded, as no memory may become executable.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from evaluation.io.system_calls import file_status


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module in Python, and trusts its compiled file as Python's own loader does."""

    def path_stats(self, path: str) -> dict[str, float]:
        """Return time and size of a file. Raises `OSError`."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            status = file_status(descriptor)
        finally:
            os.close(descriptor)
        return {"mtime": status.modified_seconds, "size": status.size_bytes}

    def set_data(self, path: str, data: object, *, _mode: int = 0) -> None:
        """Write no compiled file."""


class OpeningFinder(importlib.abc.MetaPathFinder):
    """Finds modules in Python by opening files."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return where a module lies, None if nowhere."""
        for folder in sys.path if path is None else path:
            stem = f"{folder}/{name.rpartition('.')[2]}"
            for file, places in ((f"{stem}/__init__.py", [stem]), (f"{stem}.py", None)):
                with contextlib.suppress(OSError):
                    os.close(os.open(file, os.O_RDONLY | os.O_CLOEXEC))
                    return importlib.util.spec_from_file_location(
                        name, file, loader=_Loader(name, file), submodule_search_locations=places
                    )
        return None


def import_by_opening() -> None:
    """Let this process, which is to be confined, import modules in Python still."""
    sys.meta_path.append(OpeningFinder())
