"""A wrong name gets a sentence that leads to the right one."""

import pytest

from kmcf.support.named import did_you_mean, made_by_name


class Box:
    """Something with parameters."""

    def __init__(self, width: float = 1.0, colour: str = "red") -> None:
        self.width = width
        self.colour = colour


def nothing() -> str:
    """Take no parameters."""
    return "nothing"


MAKERS = {"box": Box, "nothing": nothing}


def test_it_is_made_with_its_parameters():
    box = made_by_name("thing", MAKERS, "box", {"width": 2.0})
    assert (box.width, box.colour) == (2.0, "red")
    assert made_by_name("thing", MAKERS, "nothing", {}) == "nothing"


@pytest.mark.parametrize(
    ("name", "parameters", "sentence"),
    [
        ("bix", {}, r"unknown thing 'bix'; did you mean 'box'\?$"),
        ("sphere", {}, r"unknown thing 'sphere'; the things are box, nothing\.$"),
        ("box", {"widht": 1.0}, r"the thing 'box' has no parameter 'widht'; did you mean 'width'\?$"),
        ("box", {"q": 1.0}, r"the thing 'box' has no parameter 'q'; it has width, colour\.$"),
        ("nothing", {"q": 1.0}, r"the thing 'nothing' has no parameter 'q'; it has none\.$"),
    ],
)
def test_wrong_names_are_errors_that_help(name, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        made_by_name("thing", MAKERS, name, parameters)


def test_wrong_types_are_errors():
    with pytest.raises(TypeError, match="the thing 'box' has width = 'wide'; it must be a number"):
        made_by_name("thing", MAKERS, "box", {"width": "wide"})


def test_what_is_not_close_gets_the_other_sentence():
    assert did_you_mean("", ["gaussian"], "none.") == "none."
