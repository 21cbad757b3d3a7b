"""Imports of a confined reader, which opens the files of Python and its libraries, and asks nothing by path.

Python's own finder asks for every file by its path, so that it finds nothing in such a reader. All that the
package needs is imported before (`SubmissionReader`), and a test holds that. The finder here is for libraries
that import a module when one of their functions is first called, and for challenges that are programmed at
home. It finds modules in Python, which are compiled anew, since the times of their files cannot be asked for;
a native module cannot be loaded, as no memory may become executable.
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
                        name, file, submodule_search_locations=places
                    )
        return None


def import_by_opening() -> None:
    """Let this process, which is to be confined, import modules in Python still."""
    sys.meta_path.append(OpeningFinder())
