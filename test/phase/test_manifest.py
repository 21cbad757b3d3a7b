import hashlib
import json
import os

import pytest

from evaluation.core.fault import PhaseError
from evaluation.phase.manifest import NONCE, has_sealed_tables, list_phase, read_manifest, scan, seal, verify
from test.faults import faulted


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "masks").mkdir()
    (tmp_path / "phase.toml").write_bytes(b"title = 'a'\n")
    (tmp_path / "cases.csv").write_bytes(b"name\nV1\n")
    (tmp_path / "masks" / "V1.png").write_bytes(b"pixels")
    seal(tmp_path, scan(tmp_path))
    return tmp_path


def problems_of(folder):
    with pytest.raises(PhaseError) as caught:
        verify(folder, read_manifest(folder))
    return list(caught.value.problems)


def test_the_manifest_holds_size_and_digest_of_every_file(folder):
    content = json.loads((folder / "manifest.json").read_text())
    assert content["files"] == {
        path: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for path, data in [
            ("cases.csv", b"name\nV1\n"),
            ("masks/V1.png", b"pixels"),
            ("phase.toml", b"title = 'a'\n"),
        ]
    }
    manifest = read_manifest(folder)
    assert manifest.digest == hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    verify(folder, manifest)


def test_the_nonce_is_random_so_that_guessed_labels_cannot_be_tested(folder, tmp_path_factory):
    first = json.loads((folder / "manifest.json").read_text())["nonce"]
    (folder / "manifest.json").unlink()
    seal(folder, scan(folder))
    second = json.loads((folder / "manifest.json").read_text())["nonce"]
    assert first != second
    assert len(bytes.fromhex(first)) == len(bytes.fromhex(second)) == 16


def test_sealing_again_changes_nothing_unless_a_file_has_changed(folder):
    before = (folder / "manifest.json").read_bytes()
    manifest = seal(folder, scan(folder))
    assert (folder / "manifest.json").read_bytes() == before
    assert manifest == read_manifest(folder)
    names = ["cases.csv", "manifest.json", "masks", "phase.toml"]
    assert sorted(entry.name for entry in folder.iterdir()) == names
    (folder / "masks" / "V1.png").write_bytes(b"others")
    changed = seal(folder, scan(folder))
    assert json.loads(before)["nonce"] != json.loads((folder / "manifest.json").read_bytes())["nonce"]
    verify(folder, changed)


@pytest.mark.parametrize("name", ["phase.toml", "cases.csv"])
def test_whether_the_tables_are_those_of_the_seal(folder, name):
    manifest = read_manifest(folder)
    (folder / "leaderboard.csv").write_bytes(b"team\n")
    assert not has_sealed_tables(folder, manifest)
    (folder / "leaderboard.csv").unlink()
    (folder / "masks" / "V1.png").write_bytes(b"others")
    assert has_sealed_tables(folder, manifest)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:-1] + b" ")
    assert not has_sealed_tables(folder, manifest)
    (folder / name).unlink()
    assert not has_sealed_tables(folder, manifest)


def test_every_difference_is_listed(folder):
    (folder / "cases.csv").write_bytes(b"name\nV2\n")
    (folder / "masks" / "V1.png").write_bytes(b"longer pixels")
    (folder / "masks" / "V2.png").write_bytes(b"")
    (folder / "phase.toml").unlink()
    assert sorted(problems_of(folder)) == [
        "cases.csv: differs from the sealed file",
        "masks/V1.png: expected 6 bytes as sealed, found 13",
        "masks/V2.png: is not in the manifest",
        "phase.toml: is missing, but is in the manifest",
    ]


def test_what_systems_leave_behind_is_no_part_of_a_phase(folder):
    (folder / ".DS_Store").write_bytes(b"x")
    (folder / "masks" / "._V1.png").write_bytes(b"x")
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "objects" / "aa").write_bytes(b"x")
    assert list(list_phase(folder)) == ["cases.csv", "masks/V1.png", "phase.toml"]
    verify(folder, read_manifest(folder))
    (folder / "masks" / "manifest.json").write_bytes(b"{}")
    assert problems_of(folder) == ["masks/manifest.json: is not in the manifest"]


def test_a_name_that_is_no_text_is_sealed_too(folder):
    (folder / os.fsdecode(b"masks/\xff.png")).write_bytes(b"x")
    seal(folder, scan(folder))
    verify(folder, read_manifest(folder))
    (folder / os.fsdecode(b"masks/\xff.png")).unlink()
    assert len(problems_of(folder)) == 1


NUMBER = "00112233445566778899aabbccddeeff"


@pytest.mark.parametrize(
    "content",
    [
        *("", "{}", '{"files": {}}', "\udcff"),
        f'{{"nonce": "{NUMBER}", "files": {{"a": 1}}}}',
        f'{{"nonce": "{NUMBER}", "files": {{"a": {{"size": "x", "sha256": ""}}}}}}',
    ],
)
def test_a_damaged_manifest_is_refused_and_replaced_by_sealing(folder, content):
    (folder / "manifest.json").write_bytes(os.fsencode(content))
    with faulted(PhaseError, "manifest.json"):
        read_manifest(folder)
    seal(folder, scan(folder))
    verify(folder, read_manifest(folder))
    assert len(json.loads((folder / "manifest.json").read_text())["nonce"]) == 32


def test_a_random_number_that_is_kept_gives_equal_seals(folder):
    first = read_manifest(folder)
    digests = []
    for number in ("0123456789abcdef" * 2, "0123456789abcdef" * 2, "f" * 32):
        (folder / "manifest.json").unlink()
        (folder / NONCE).write_text(number)
        digests.append(seal(folder, scan(folder)).digest)
    assert read_manifest(folder).files == first.files
    assert digests[0] == digests[1] != digests[2]
    assert first.digest not in digests


def test_a_random_number_that_is_none_is_refused(folder):
    (folder / "manifest.json").unlink()
    for text in ("", "0123", "g" * 32):
        (folder / NONCE).write_text(text)
        with faulted(PhaseError, ".nonce"):
            seal(folder, scan(folder))
