"""Every setting of the filter is an option, of all commands that make a filter."""

import inspect
from dataclasses import fields

import pytest
from cli_cases import succeed

import kmcf
from kmcf.cli.options import EngineName, FilterOptions, ResamplingName, RuleName, SupportName

OTHERWISE = {"transition", "initial", "angles", "random_state"}
"""Settings that come from other options, or cannot be words."""


def parameters(name):
    from typer.main import get_command

    from kmcf.cli.app import app

    return {parameter.name: parameter for parameter in get_command(app).commands[name].params}


def test_every_setting_of_the_filter_has_an_option():
    settings = set(inspect.signature(kmcf.KernelMonteCarloFilter).parameters)
    settings |= set(inspect.signature(kmcf.ParticleLikelihoodFilter).parameters)
    assert {field.name for field in fields(FilterOptions)} == settings - OTHERWISE


def test_fit_and_tune_have_the_same_options_but_for_the_search():
    fit, tune = parameters("fit"), parameters("tune")
    assert set(fit) < set(tune)
    for name in set(fit) - {"out"}:
        assert fit[name].opts == tune[name].opts
        assert fit[name].help == tune[name].help
        assert fit[name].default == tune[name].default


@pytest.mark.parametrize(
    ("names", "setting", "needs"),
    [
        (RuleName, "rule", {}),
        (EngineName, "engine", {}),
        (ResamplingName, "resampling", {"engine": "exact"}),
        (SupportName, "support", {}),
    ],
)
def test_the_filter_knows_every_name(names, setting, needs):
    X = [[0.0], [1.0], [2.0]]
    for name in names:
        flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(), **{setting: name.value}, **needs)
        flt.fit(X, X)
    with pytest.raises(ValueError, match="must be one of") as error:
        flt.set_params(**{setting: "other"}).fit(X, X)
    assert all(repr(name.value) in str(error.value) for name in names)
    assert str(error.value).count("'") == 2 * (len(names) + 1)


def test_help_says_what_the_defaults_are():
    text = " ".join(succeed("tune", "--help", env={"COLUMNS": "200"}).stdout.split())
    for words in ("[default: split]", "[default: random-walk]", "[default: utf-8]", "--n-examples", "--tolerance"):
        assert words in text
