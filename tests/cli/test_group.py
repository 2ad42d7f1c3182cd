"""Errors as one sentence with an exit code."""

import pytest
from cli_cases import fail

import kmcf.store
from kmcf.cli import group


def test_a_bug_is_told_as_one(monkeypatch):
    def broken(path):
        raise KeyError("what")

    monkeypatch.setattr(kmcf.store, "describe_file", broken)
    message = fail("inspect", __file__, code=3)
    assert message == "unexpected KeyError: 'what'; please report it, with what --debug shows."


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (ValueError("it is\nwrong."), group.BAD_INPUT, "it is wrong."),
        (
            FileNotFoundError(2, "No such file or directory", "a.csv"),
            group.BAD_INPUT,
            "a.csv: No such file or directory.",
        ),
        (ValueError(), group.UNEXPECTED, "unexpected ValueError: ; please report it, with what --debug shows."),
        (KeyboardInterrupt(), group.INTERRUPTED, "stopped by Ctrl-C."),
        (caused(SystemError("odd"), KeyboardInterrupt()), group.INTERRUPTED, "stopped by Ctrl-C."),
        (caused(SystemError("odd"), KeyError("a")), group.UNEXPECTED, "unexpected SystemError: odd; please report it"),
        (BrokenPipeError(), group.BROKEN_PIPE, "stopped, because nobody reads the output any more."),
    ],
    ids=repr,
)
def test_sentences_and_codes(error, code, sentence):
    found, text = group.exit_code_and_sentence(error)
    assert found == code
    assert text.startswith(sentence)
