"""The tests of each format of grey images, found by the name of its module, with tables of files."""

import importlib
from types import ModuleType

from evaluation.core.formats import image_formats

TESTS: dict[str, ModuleType] = {}
"""By extension. Of a MetaImage, which is a volume as well, the tests of volumes have the files."""
for row in image_formats(2):
    tests = importlib.import_module(f"test.io.test_{row.module.rpartition('.')[2]}")
    if hasattr(tests, "READABLE"):
        TESTS[row.extensions[0]] = tests

READABLE = {name: files for tests in TESTS.values() for name, files in tests.READABLE.items()}
REFUSED = {name: files for tests in TESTS.values() for name, files in tests.REFUSED.items()}
