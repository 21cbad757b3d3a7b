"""A challenge as `challenge.py` with a kind whose `read` does something more, another thing for each case."""

# ruff: noqa: PTH113, PTH114, PTH116, PTH202, PTH208, T201

import codecs
import os
import subprocess
import tempfile
import threading
import time
import warnings
from datetime import datetime
from pathlib import Path

import numpy as np

from evaluation.define import (
    CaseColumns,
    Challenge,
    Field,
    Number,
    Options,
    Reference,
    Socket,
    TableColumns,
    Task,
    mean_metric,
)

HERE = Path(__file__).parent


def quiet_file():
    try:
        return (HERE / "cases.csv").read_text()
    except OSError:
        raise ValueError("no table") from None


def packages():
    import colorsys
    import xml.dom.minidom

    return colorsys, xml.dom.minidom.parseString("<a/>")


def beside():
    import helper

    return helper.VALUE


def parts_of_packages():
    return np.fft.fft([1.0, 2.0]), np.random.default_rng(0).random(), np.polynomial.Polynomial([1])


def pipe():
    return os.pipe()


def image():
    import io

    from PIL import Image

    data = io.BytesIO()
    Image.new("L", (2, 2)).save(data, "WEBP", lossless=True)
    return Image.open(io.BytesIO(data.getvalue())).size


def image_that_is_none():
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        Image.open(io.BytesIO(b"nothing"))
    except UnidentifiedImageError:
        return
    raise AssertionError


WORKS = {
    "unique": lambda: np.unique([1, 1]),
    "median": lambda: np.median(np.ma.masked_array([1, 2])),
    "percentile": lambda: np.nanpercentile([1.0, np.nan], 50),
    "date": lambda: datetime.strptime("1 May 2024", "%d %B %Y"),
    "time": lambda: time.strptime("2024", "%Y"),
    "now": datetime.now,
    "cp1252": lambda: b"\x80".decode("cp1252"),
    "idna": lambda: "müller.de".encode("idna"),
    "shift_jis": lambda: "日本".encode("shift_jis"),
    "gb18030": lambda: codecs.lookup("gb18030"),
    "packages": packages,
    "beside": beside,
    "parts": parts_of_packages,
    "warning": lambda: warnings.warn("beware", stacklevel=1),
    "print": lambda: print("words"),
    "image": image,
    "no_image": image_that_is_none,
}
REFUSED = {
    "file": lambda: (HERE / "cases.csv").read_text(),
    "quiet_file": quiet_file,
    "exists": lambda: (HERE / "cases.csv").exists(),
    "isfile": lambda: os.path.isfile(HERE / "cases.csv"),
    "stat": lambda: os.stat("/etc"),
    "size": lambda: os.path.getsize(__file__),
    "link": lambda: os.path.islink("/etc"),
    "glob": lambda: list(HERE.glob("*.csv")),
    "list": lambda: os.listdir(HERE),
    "write": lambda: Path("written.txt").write_text("x"),
    "folder": lambda: Path("made").mkdir(),
    "remove": lambda: Path("removed").unlink(missing_ok=True),
    "process": lambda: subprocess.run(["true"], check=True),
    "shell": lambda: os.system("true"),
    "fork": os.fork,
    "thread": lambda: threading.Thread(target=print).start(),
    "temporary_file": tempfile.TemporaryFile,
    "temporary_folder": tempfile.mkdtemp,
    "socket": lambda: __import__("socket").create_connection(("127.0.0.1", 9)),
    "pipe": pipe,
    "signal": lambda: os.kill(os.getpid(), 0),
    "no_such_module": lambda: __import__("no_such_module"),
}


class OwnNumber(Number):
    """A number that takes something else to be read."""

    def read(self, source, case, files):
        value = super().read(source, case, files)
        (WORKS | REFUSED)[case.name]()
        return value


FIELD = Field(
    name="age",
    title="Age",
    kind=OwnNumber(0, 120),
    archive=TableColumns(("ages.csv",), "case", ("age",)),
    socket=Socket("age", "age.json"),
    reference=Reference(Number(0, 120), CaseColumns(("age",))),
)
TASK = Task(
    name="age",
    title="Age",
    fields=(FIELD,),
    score=lambda submitted, reference: {"error": abs(submitted["age"] - reference["age"])},
    metrics=(mean_metric("error", "Error", best=0, worst=120),),
)
CHALLENGE = Challenge(
    name="own_kind", title="Own", options=Options, tasks=lambda options: (TASK,), components=("age.error",)
)
