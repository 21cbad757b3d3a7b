"""The tests of each format of grey images, found by the name of its module, with tables of files."""

import importlib
from types import ModuleType

from evaluation.core.formats import image_formats

MODULES = {
    row.extensions[0]: importlib.import_module(f"test.io.test_{row.module.rpartition('.')[2]}")
    for row in image_formats(2)
}
TESTS: dict[str, ModuleType] = {
    extension: tests for extension, tests in MODULES.items() if hasattr(tests, "READABLE")
}
"""By extension. Of a MetaImage, which is a volume as well, the tests of volumes have the files."""

READABLE = {name: files for tests in TESTS.values() for name, files in tests.READABLE.items()}
REFUSED = {name: files for tests in TESTS.values() for name, files in tests.REFUSED.items()}
