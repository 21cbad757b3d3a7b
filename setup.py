"""Adds to a distribution what `evaluation build` makes an image of; everything else is in pyproject.toml."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithDockerfile(build_py):
    """Copies the Dockerfile and the pinned requirements of the repository into the package."""

    def run(self) -> None:
        """Build the package, then copy; an editable installation uses the files of the repository."""
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib, "evaluation", "organiser", "image", "base")
            folder.mkdir(parents=True, exist_ok=True)
            for name in ("Dockerfile", "requirements.txt"):
                shutil.copy(Path(__file__).parent / name, folder)


setup(cmdclass={"build_py": BuildWithDockerfile})
