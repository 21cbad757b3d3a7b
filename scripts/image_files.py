"""Removes what an evaluation does not need while its image is built, and fixes all file times; run as root.

    python image_files.py remove PACKAGE…    delete Debian packages' files and entries in dpkg's status
    python image_files.py times SECONDS      give every file of the image this time, in seconds since 1970

With --and-remove-itself behind it, the second deletes this file first.

Packages that are not installed are passed over: base images differ in them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_INFO = Path("/var/lib/dpkg/info")
_STATUS = Path("/var/lib/dpkg/status")
_UNTOUCHED = {"/proc", "/sys", "/dev", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}


def main(arguments: Sequence[str]) -> None:
    """Carry out one of the two commands."""
    command, *rest = arguments
    if command == "remove":
        remove(rest)
    elif command == "times":
        if "--and-remove-itself" in rest:
            Path(__file__).unlink()
        set_times(int(rest[0]))
    else:
        raise SystemExit(f"{command!r}: expected remove or times")


def remove(packages: Sequence[str]) -> None:
    """Delete the files of packages; a file that several packages list goes too."""
    for package in packages:
        for listing in [_INFO / f"{package}.list", *_INFO.glob(f"{package}:*.list")]:
            if not listing.is_file():
                continue
            for line in listing.read_text(encoding="utf-8").splitlines():
                path = Path(line)
                # /bin and /sbin are links to folders of /usr, which the listings may name.
                if path.is_symlink() and path.is_dir() and len(path.parts) == 2:
                    continue
                if path.is_symlink() or path.is_file():
                    path.unlink()
            for entry in _INFO.glob(f"{listing.stem}.*"):
                entry.unlink()
    blocks = _STATUS.read_text(encoding="utf-8").split("\n\n")
    kept = [block for block in blocks if block.partition("\n")[0].removeprefix("Package: ") not in packages]
    _STATUS.write_text("\n\n".join(kept), encoding="utf-8")
    # A copy of the status before, and links to tools that are gone.
    Path("/var/lib/dpkg/status-old").unlink(missing_ok=True)
    for folder in ("/usr/bin", "/usr/sbin", "/etc/alternatives"):
        for path in Path(folder).iterdir():
            if path.is_symlink() and not path.exists():
                path.unlink()


def set_times(seconds: int) -> None:
    """Give every file, folder and link this time.

    What has it already is not touched: the engine would copy all of a lower layer into the one that is built.
    """
    for path in everything("/"):
        if os.lstat(path).st_mtime_ns != seconds * 10**9:
            os.utime(path, (seconds, seconds), follow_symlinks=False)


def everything(folder: str) -> Iterator[str]:
    """Yield every path of the image below a folder, contents before the folders that hold them."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.path in _UNTOUCHED:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from everything(entry.path)
            yield entry.path


if __name__ == "__main__":
    main(sys.argv[1:])
