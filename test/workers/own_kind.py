"""A challenge as `challenge.py` with a kind whose `read` does something more, another thing for each case."""

# ruff: noqa: PTH113, PTH114, PTH208

import os
import subprocess
import tempfile
import threading
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


def pipe():
    return os.pipe()


WORKS = {
    "unique": lambda: np.unique([1, 1]),
    "date": lambda: datetime.strptime("1 May 2024", "%d %B %Y"),
    "now": datetime.now,
    "cp1252": lambda: b"\x80".decode("cp1252"),
    "packages": packages,
}
REFUSED = {
    "file": lambda: (HERE / "cases.csv").read_text(),
    "quiet_file": quiet_file,
    "isfile": lambda: os.path.isfile(HERE / "cases.csv"),
    "link": lambda: os.path.islink("/etc"),
    "list": lambda: os.listdir(HERE),
    "write": lambda: Path("written.txt").write_text("x"),
    "remove": lambda: Path("removed").unlink(missing_ok=True),
    "process": lambda: subprocess.run(["true"], check=True),
    "fork": os.fork,
    "thread": lambda: threading.Thread(target=print).start(),
    "temporary_file": tempfile.TemporaryFile,
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
