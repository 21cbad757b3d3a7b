"""A stand-in for s3:// with folders as buckets; workers load it by DASK_DISTRIBUTED__WORKER__PRELOAD.

Each file that is read is noted, with the process that reads it.
"""

import os
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem

ROOT = os.environ.get("STAND_IN_ROOT", "/nowhere")


class StandIn(LocalFileSystem):
    protocol = "s3"
    cachable = False

    @classmethod
    def _strip_protocol(cls, path):
        text = os.fspath(path)
        if text.startswith("s3://"):
            text = f"{os.environ['STAND_IN_ROOT']}/{text.removeprefix('s3://')}"
        return LocalFileSystem._strip_protocol(text)

    def unstrip_protocol(self, name):
        return f"s3:/{name.removeprefix(os.environ['STAND_IN_ROOT'])}"

    def get_file(self, path, target, **options):
        with Path(f"{os.environ['STAND_IN_ROOT']}/../read").open("a") as notes:
            notes.write(f"{os.getpid()} {Path(path).name}\n")
        super().get_file(path, target, **options)


fsspec.register_implementation("s3", StandIn, clobber=True)
