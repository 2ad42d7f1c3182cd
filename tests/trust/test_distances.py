import numpy as np
import pytest

from kmcf.trust.distances import RawDistances, kernel_distance


def by_hand(rows, point, allowed):
    """Mean distance to the three nearest rows, columns divided by their mean absolute deviation from the median."""
    centre = np.median(rows, axis=0)
    scale = np.mean(np.abs(rows - centre), axis=0)
    distances = np.sqrt((((rows - point) / scale) ** 2).sum(axis=1))[allowed]
    return np.log(np.sort(distances)[:3].mean())


@pytest.mark.parametrize("columns", [1, 4, 30])
def test_distance_is_the_mean_over_the_three_nearest(columns):
    rng = np.random.default_rng(columns)
    rows, point = rng.gamma(2.0, size=(150, columns)), rng.normal(3.0, size=(1, columns))
    found = RawDistances.of(rows).logs(point)
    np.testing.assert_allclose(found, [by_hand(rows, point, slice(None))])
    np.testing.assert_allclose(RawDistances.of(rows).of_one(point)[0], found[0])


def test_left_out_examples_are_not_compared_with_those_recorded_around_them():
    rng = np.random.default_rng(0)
    rows = np.cumsum(rng.normal(size=(320, 2)), axis=0)  # neighbours in time are alike
    chosen = np.array([3, 100, 319])
    found = RawDistances.of(rows).logs_left_out(chosen)
    apart = np.abs(np.arange(320) - chosen[:, None]) > 10
    expected = [by_hand(rows, rows[i], allowed) for i, allowed in zip(chosen, apart, strict=True)]
    np.testing.assert_allclose(found, expected)


def test_constant_columns_and_gaps_do_no_harm():
    rows = np.column_stack([np.ones(50), np.linspace(0, 1, 50)])
    rows[3, 1] = np.nan
    distances = RawDistances.of(rows)
    assert np.isfinite(distances.logs(np.array([[1.0, np.nan], [np.inf, 0.5]]))).all()
    assert np.isfinite(distances.logs_left_out(np.arange(50))).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_examples_are_enough(n):
    distances = RawDistances.of(np.arange(float(n))[:, None])
    assert distances.logs(np.array([[0.5]])) == pytest.approx([distances.of_one(np.array([[0.5]]))[0]])
    assert distances.logs_left_out(np.arange(n)).shape == (n,)


def test_objects_have_no_raw_distance():
    assert RawDistances.of(["a", "b"]) is None
    assert kernel_distance(0.5) == pytest.approx(np.log(2))
