"""The commands `new`, `build` and `export`: what they print, and what is wrong with their arguments."""

import re

import pytest

from evaluation.cli.main import main


def test_new_says_what_comes_next(tmp_path, capsys):
    assert main(["new", str(tmp_path / "mine"), "--like", "regression"]) == 0
    printed = capsys.readouterr().out
    steps = re.findall(r"^```sh\n(.*?)^```", (tmp_path / "mine/README.md").read_text("utf-8"), re.M | re.S)[0]
    assert "evaluation rehearse phase" in steps
    assert printed.endswith(steps)
    assert main(["seal", str(tmp_path / "mine" / "phase")]) == 0


@pytest.mark.parametrize("arguments", [[], ["--like", "chess"], ["--like", "points", "--from", "pack.json"]])
def test_new_needs_one_known_start(tmp_path, arguments):
    with pytest.raises(SystemExit):
        main(["new", str(tmp_path / "mine"), *arguments])


@pytest.mark.parametrize("command", ["build", "export"])
def test_a_folder_without_a_phase(tmp_path, capsys, command):
    assert main([command, str(tmp_path)]) == 1
    assert "expected phase.toml or phase/phase.toml, found neither" in capsys.readouterr().err
    assert main([command, "chess"]) == 1
    assert "expected a phase folder or the name of a phase, found neither" in capsys.readouterr().err


def test_export_looks_at_the_settings_before_it_builds(tmp_path, capsys, monkeypatch):
    main(["new", str(tmp_path / "mine"), "--like", "points"])
    configuration = tmp_path / "mine" / "phase" / "phase.toml"
    text = configuration.read_text(encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    for length, expected in ((64, "docker: not installed"), (65, "score_title")):
        configuration.write_text(f'{text}\n[titles]\n"detection.f1" = "{"x" * length}"\n', encoding="utf-8")
        assert main(["export", str(tmp_path / "mine")]) == 1
        assert expected in capsys.readouterr().err
    assert main(["build", str(tmp_path / "mine")]) == 1
    assert "docker: not installed" in capsys.readouterr().err
    assert not (tmp_path / "mine" / "phase" / ".nonce").exists()
