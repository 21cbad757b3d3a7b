"""The examples of a docstring as a section of its own on the documentation site; see mkdocs.yml."""

import re
from typing import Any

import griffe


class Examples(griffe.Extension):
    """Gives the first example the title that the reader of docstrings asks for."""

    def on_instance(self, *, obj: griffe.Object, **options: Any) -> None:
        """Change the docstring of an object that has been read."""
        if obj.docstring is not None:
            text = obj.docstring.value
            obj.docstring.value = re.sub(r"\n\n(?=>>> )", "\n\nExamples\n--------\n", text, count=1)
