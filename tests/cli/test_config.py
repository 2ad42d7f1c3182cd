"""Options from a TOML file."""

import json

import numpy as np
import pytest
from cli_cases import FIT, TEST, TRAIN, by_hand, fail, invoke, succeed, write_csv, write_training

import kmcf

EVERYTHING = """
state = ["x", "y"]                  # for every command that knows it
observation = "d*"

[fit]
files = {files}
time = "t"
engine = "exact"
n-particles = 60
observation_kernel = "matern:nu=2.5"
out = {out}

[filter]
model = {out}
gaps = "fill"

[tune]
trials = 3
"""


@pytest.fixture
def config(tmp_path):
    files, out = [str(path) for path in write_training(tmp_path)], str(tmp_path / "model.kmcf")
    (tmp_path / "kmcf.toml").write_text(EVERYTHING.format(files=json.dumps(files), out=json.dumps(out)))
    return tmp_path / "kmcf.toml"


def test_one_file_holds_all_options(config, tmp_path):
    succeed("fit", "--config", config)
    kernel = kmcf.kernels.Matern(nu=2.5)
    expected = by_hand(TRAIN, engine="exact", n_particles=60, observation_kernel=kernel)
    run = kmcf.load(tmp_path / "model.kmcf").filter(TEST[1])
    np.testing.assert_array_equal(run.mean, expected.filter(TEST[1]).mean)


def test_the_command_line_comes_first(config, tmp_path):
    succeed("fit", "--config", config, "--engine", "lowrank", "-y", "d0,d1", "-o", tmp_path / "other.kmcf")
    loaded = kmcf.load(tmp_path / "other.kmcf")
    assert loaded.engine_ == "lowrank"
    assert loaded.n_particles == 60
    assert loaded.reader_.shape == (2,)
    assert not (tmp_path / "model.kmcf").exists()


def test_sections_of_other_commands_do_not_matter(config, tmp_path):
    succeed("fit", "--config", config)
    times = np.array([0.0, 0.5, 1.5, 2.0])
    path = write_csv(tmp_path / "test.csv", TEST[0][:4], TEST[1][:4], t=times)
    model = tmp_path / "model.kmcf"
    assert len(succeed("filter", model, path, "--config", config).stdout.splitlines()) == 6  # header, 4 rows, 1 filled
    assert len(succeed("filter", model, path).stdout.splitlines()) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[fit]\nenginee = 'exact'", "kmcf fit has no option 'enginee'; did you mean 'engine'?"),
        ("[fitt]\nengine = 'exact'", "there is no command 'fitt'; did you mean 'fit'?"),
        ("[tune]\ntrails = 3", "kmcf tune has no option 'trails'; did you mean 'trials'?"),
        ("stat = 'x'", "no command has the option 'stat'; did you mean 'state'?"),
        ("[fit]\nconfig = 'a'", "kmcf fit has no option 'config'"),
        ("[fit", "is not written in TOML"),
    ],
)
def test_what_nobody_knows(text, message, tmp_path):
    (tmp_path / "kmcf.toml").write_text(text)
    assert message in fail("fit", *write_training(tmp_path), *FIT, "--config", tmp_path / "kmcf.toml")


def test_values_of_the_wrong_kind_and_missing_files(tmp_path):
    (tmp_path / "kmcf.toml").write_text("[fit]\nengine = 'fast'")
    assert invoke("fit", *write_training(tmp_path), *FIT, "--config", tmp_path / "kmcf.toml").exit_code == 2
    assert "there is no file" in fail("fit", *write_training(tmp_path), *FIT, "--config", tmp_path / "none.toml")
