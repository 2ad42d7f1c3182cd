"""Running the laboratory's commands in this process."""

from typer.testing import CliRunner

from kmcf.cli.app import app


def invoke(*words, columns=160):
    """Run ``kmcf`` with these words on a wide terminal."""
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": str(columns)})


def succeed(*words, **settings):
    """Run a command that must not fail."""
    result = invoke(*words, **settings)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result
