"""Choosing columns by name."""

from kmcf.datasets.columns import choose


def test_names_before_patterns_and_lists():
    names = ["a,b", "a", "b*", "b1"]
    assert choose(["a,b"], names, source="f", role="state") == ["a,b"]
    assert choose(["b*"], names, source="f", role="state") == ["b*"]
    assert choose(["a,b1"], names, source="f", role="state") == ["a", "b1"]
