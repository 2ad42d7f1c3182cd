"""Beliefs and runs as results: decoding, angles, tables, progress."""

import numpy as np
import pytest

import kmcf
from kmcf.datasets import paper_model
from kmcf.kernels import Circular, Gaussian

MODEL = paper_model("1a")
TRAIN = MODEL.simulate(60, random_state=0)
TEST = MODEL.simulate(12, random_state=1)


def fitted(**settings):
    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=2, **settings)
    return flt.fit(TRAIN.states, TRAIN.observations)


def planar(n=60, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    Y = X + 0.2 * rng.normal(size=X.shape)
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s + 0.2 * rng.normal(size=s.shape), random_state=0, **settings)
    return flt.fit(X, Y)


# --- decoding (Section 4.4), by hand from weights and states ----------------------------------------------------------


def test_summaries_follow_from_weights_and_states():
    run = planar().filter(np.array([[0.1, 0.2], [0.4, -0.3], [np.nan, np.nan]]))
    for t, belief in enumerate(run):
        w, X = belief.weights, belief.states
        mean = sum(w[i] * X[i] for i in range(len(w)))
        centred = sum(w[i] * np.outer(X[i] - mean, X[i] - mean) for i in range(len(w)))
        moment = sum(w[i] * np.outer(X[i], X[i]) for i in range(len(w)))
        np.testing.assert_allclose(run.mean[t], mean, atol=1e-12)
        np.testing.assert_allclose(run.covariance[t], centred, atol=1e-12)
        np.testing.assert_allclose(belief.second_moment(), moment, atol=1e-12)
        np.testing.assert_array_equal(run.mode[t], X[np.argmax(w)])
        assert run.ess[t] == pytest.approx(1.0 / sum(w**2))
        assert run.negative_mass[t] == pytest.approx(-sum(w[w < 0]))
        assert belief.probability(lambda x: x[:, 0] > 0.2) == pytest.approx(sum(w[X[:, 0] > 0.2]))
        assert belief.expectation(lambda x: x[:, 0] ** 3) == pytest.approx(sum(w * X[:, 0] ** 3))


def test_projected_covariances_are_positive_semidefinite():
    run = planar().filter(np.random.default_rng(3).normal(size=(40, 2)))
    for t, belief in enumerate(run):
        projected = belief.covariance(psd=True)
        assert np.linalg.eigvalsh(projected).min() > -1e-12
        values, vectors = np.linalg.eigh(run.covariance[t])
        np.testing.assert_allclose(projected, vectors @ np.diag(np.clip(values, 0, None)) @ vectors.T, atol=1e-12)


def test_a_belief_tells_where_it_stands():
    flt = fitted()
    belief = flt.step(flt.start(stream=4), TEST.observations[0])
    assert (belief.time, belief.stream, len(belief)) == (1, 4, 60)
    assert "time=1" in repr(belief)
    assert "missing" in repr(flt.step(belief, None))


def test_quantiles_density_and_samples_of_a_filtered_belief():
    """One well-placed observation: the belief is nearly Gaussian with Kalman's moments N(y v, v), v = p/(p+1)."""
    rng = np.random.default_rng(0)
    X = MODEL.initial(1000, rng)
    flt = kmcf.KernelMonteCarloFilter(MODEL.transition, initial=MODEL.initial, random_state=0)
    flt.fit(X, MODEL.observe(X, rng))
    belief = flt.step(flt.start(), 1.0)
    p = 1 / 0.19
    mean, sd = p / (p + 1.0), np.sqrt(p / (p + 1.0))
    assert abs(belief.quantile(0.5) - mean) < 0.25
    low, high = belief.quantile([0.1, 0.9])
    assert abs((high - low) - 2 * 1.2816 * sd) < 0.7
    grid = np.linspace(-8, 8, 801)
    density = belief.density(grid)
    assert abs(np.trapezoid(density, grid) - 1.0) < 0.02
    assert abs(grid[np.argmax(density)] - mean) < 0.5
    assert abs(belief.mode(method="density")[0] - mean) < 0.5
    assert abs(belief.preimage()[0] - mean) < 0.5
    sample = belief.sample(300)
    assert abs(sample.mean() - belief.mean()[0]) < 0.05
    assert np.isin(sample, belief.states).all()


# --- angles -----------------------------------------------------------------------------------------------------------


def compass(turns=0.0, **settings):
    """Headings all around, seen as noisy points on the circle; a slow drift to the left."""
    rng = np.random.default_rng(0)
    heading = rng.uniform(-np.pi, np.pi, size=(120, 1))
    Y = np.hstack([np.cos(heading), np.sin(heading)]) + 0.1 * rng.normal(size=(120, 2))
    flt = kmcf.KernelMonteCarloFilter(
        lambda s, u, rng: s + 0.1 + 0.05 * rng.normal(size=s.shape), angles=(0,), random_state=0, **settings
    )
    return flt.fit(heading + turns, Y)


def wrapped(difference):
    return (np.asarray(difference) + np.pi) % (2 * np.pi) - np.pi


def facing(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


def test_means_modes_and_variances_across_the_seam():
    truth = np.pi - 0.35 + 0.1 * np.arange(8)  # crosses +pi on the way
    run = compass().filter(facing(truth))
    assert np.abs(wrapped(run.mean[:, 0] - truth)).max() < 0.15
    assert np.abs(wrapped(run.mode[:, 0] - truth)).max() < 0.3
    assert (np.abs(run.mean) <= np.pi + 1e-12).all()
    assert (run.covariance[:, 0, 0] < 0.1).all()  # a straight mean of +-pi would give pi squared
    for t, belief in enumerate(run):
        w, a = belief.weights, belief.states[:, 0]
        mean = np.arctan2(sum(w * np.sin(a)), sum(w * np.cos(a)))
        assert abs(wrapped(run.mean[t, 0] - mean)) < 1e-12
        assert run.covariance[t, 0, 0] == pytest.approx(sum(w * wrapped(a - mean) ** 2), abs=1e-12)


def test_whole_turns_change_nothing():
    ys = facing(np.pi - 0.2 + 0.1 * np.arange(6))
    rng = np.random.default_rng(1)
    chosen = {"initial": lambda size, rng: rng.uniform(-np.pi, np.pi, size=(size, 1)), "engine": "exact"}
    plain = compass(**chosen).filter(ys)
    turns = 2.0 * np.pi * rng.integers(-3, 4, size=(120, 1))
    turned = compass(turns, **chosen).filter(ys)
    assert np.abs(wrapped(turned.mean - plain.mean)).max() < 1e-6
    np.testing.assert_allclose(turned.covariance, plain.covariance, atol=1e-6)


def test_forecasts_go_around_the_circle():
    flt = compass()
    belief = flt.step(flt.start(), facing([0.0])[0])
    ahead = flt.forecast(belief, 70)  # a little more than one turn
    expected = belief.mean()[0] + 0.1 * np.arange(1, 71)
    assert np.abs(wrapped(ahead.mean[:, 0] - expected)).max() < 0.2
    assert (ahead.covariance[:, 0, 0] < 0.5).all()


def test_density_and_quantiles_across_the_seam():
    flt = compass(state_kernel=Circular(0.3))
    belief = flt.step(flt.start(), facing([np.pi])[0])
    grid = np.linspace(0, 2 * np.pi, 721)
    density = belief.density(grid)
    assert abs(grid[np.argmax(density)] - np.pi) < 0.15
    assert abs(wrapped(belief.mode(method="density")[0] - np.pi)) < 0.15
    low, high = belief.quantile([0.25, 0.75])
    assert 0 < high - low < 0.6
    assert abs(wrapped((low + high) / 2 - np.pi)) < 0.15


def test_an_angle_beside_a_straight_coordinate():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=150), rng.uniform(-np.pi, np.pi, size=150)])
    Y = np.column_stack([X[:, 0], np.cos(X[:, 1]), np.sin(X[:, 1])]) + 0.05 * rng.normal(size=(150, 3))
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, angles=[1], random_state=0).fit(X, Y)
    run = flt.filter(np.array([[0.5, -1.0, 0.0]] * 3))
    assert abs(run.mean[-1, 0] - 0.5) < 0.2
    assert abs(wrapped(run.mean[-1, 1] - np.pi)) < 0.2
    assert run.angles == (1,)


# --- the run as a table -----------------------------------------------------------------------------------------------


def test_a_dataframe_has_a_row_per_step():
    pytest.importorskip("pandas")
    observations = np.random.default_rng(1).normal(size=(7, 2))
    observations[3] = np.nan
    run = planar().filter(observations)
    table = run.to_dataframe()
    assert table.index.name == "time"
    np.testing.assert_array_equal(table.index, np.arange(1, 8))
    for j in range(2):
        np.testing.assert_array_equal(table[f"mean_{j}"], run.mean[:, j])
        np.testing.assert_array_equal(table[f"mode_{j}"], run.mode[:, j])
        variances = run.covariance[:, j, j]
        np.testing.assert_allclose(table[f"sd_{j}"] ** 2, np.where(variances >= 0, variances, np.nan), atol=1e-12)
        np.testing.assert_array_equal(table[f"lower_{j}"], run.interval[:, 0, j])
        np.testing.assert_array_equal(table[f"upper_{j}"], run.interval[:, 1, j])
    for name in ("ess", "weight_sum", "negative_mass", "herding_loss", "coverage", "rejected", "missing"):
        np.testing.assert_array_equal(table[name], getattr(run, name))
    assert table["missing"].tolist() == [False] * 3 + [True] + [False] * 3


def test_a_batch_becomes_a_dataframe_with_two_levels():
    pytest.importorskip("pandas")
    batch = np.random.default_rng(1).normal(size=(3, 4, 2))
    run = planar().filter(batch)
    table = run.to_dataframe()
    assert list(table.index.names) == ["sequence", "time"]
    assert len(table) == 12
    np.testing.assert_array_equal(table.loc[2]["mean_1"], run.mean[2, :, 1])


def test_a_dataframe_of_object_states_has_their_modes():
    pytest.importorskip("pandas")
    flt = kmcf.KernelMonteCarloFilter(
        lambda s, u, rng: s,
        state_kernel=lambda A, B: np.array([[float(a == b) for b in B] for a in A]),
        random_state=0,
    ).fit(["up", "down"] * 10, [1.0, -1.0] * 10)
    run = flt.filter([1.0, 1.0])
    table = run.to_dataframe()
    assert table["mode"].tolist() == ["up", "up"]
    assert "mean_0" not in table


def test_an_xarray_has_named_dimensions():
    pytest.importorskip("xarray")
    run = planar().filter(np.random.default_rng(1).normal(size=(5, 2)))
    data = run.to_xarray()
    assert data["mean"].dims == ("time", "state")
    assert data["covariance"].dims == ("time", "row", "column")
    np.testing.assert_array_equal(data["mean"].values, run.mean)
    np.testing.assert_array_equal(data["covariance"].values, run.covariance)
    np.testing.assert_array_equal(data["time"].values, np.arange(1, 6))
    np.testing.assert_array_equal(data.sel(time=3)["ess"].item(), run.ess[2])


def test_an_xarray_of_a_batch_and_of_matrix_states():
    pytest.importorskip("xarray")
    run = planar().filter(np.random.default_rng(1).normal(size=(3, 5, 2)))
    data = run.to_xarray()
    assert data["mean"].dims == ("sequence", "time", "state")
    assert data["rejected"].shape == (3, 5)
    np.testing.assert_array_equal(data["mean"].values, run.mean)
    X = np.random.default_rng(0).normal(size=(20, 2, 3))
    flt = kmcf.KernelMonteCarloFilter(lambda s, u, rng: s, random_state=0).fit(X, X)
    matrices = flt.filter(X[:4]).to_xarray()
    assert matrices["mean"].shape == (4, 2, 3)
    assert matrices["covariance"].shape == (4, 6, 6)


# --- the run as a collection ------------------------------------------------------------------------------------------


def test_a_run_is_a_sequence_of_beliefs():
    run = fitted().filter(TEST.observations)
    assert len(run) == 12
    assert [belief.time for belief in run] == list(range(1, 13))
    assert run[-1] is run.beliefs[-1]
    assert run[np.int64(3)] is run[3]
    assert "12 steps" in repr(run)
    with pytest.raises(IndexError):
        run[12]
    with pytest.raises(TypeError, match="indexed by one step number"):
        run[1:3]


def test_a_batch_is_a_sequence_of_runs():
    run = fitted().filter(np.stack([TEST.observations] * 2))
    assert "2 × 12 steps" in repr(run)
    assert isinstance(run[0], kmcf.FilterRun)
    with pytest.raises(TypeError, match=r"batch of runs.*run\[b\].beliefs"):
        _ = run.beliefs


def test_the_herding_loss_is_the_distance_of_the_points_to_the_belief():
    flt = fitted(n_resample=6, resample_threshold=0, state_kernel=Gaussian(1.0))
    belief = flt.step(flt.start(), 0.7)
    points = belief.states[belief.resampled]

    def k(A, B):
        return np.exp(-0.5 * (A - B.T) ** 2)

    w = belief.weights
    square = (
        w @ k(belief.states, belief.states) @ w - 2 * (k(points, belief.states) @ w).mean() + k(points, points).mean()
    )
    assert belief.report.herding_loss == pytest.approx(np.sqrt(square), rel=1e-6)
    more = fitted(n_resample=50, resample_threshold=0, state_kernel=Gaussian(1.0))
    assert more.step(more.start(), 0.7).report.herding_loss < belief.report.herding_loss


# --- progress ---------------------------------------------------------------------------------------------------------


def test_the_progress_bar_counts_the_steps(capsys):
    pytest.importorskip("tqdm")
    flt = fitted()
    quiet = flt.filter(TEST.observations)
    assert capsys.readouterr().err == ""
    shown = flt.filter(TEST.observations, progress=True)
    assert "12/12" in capsys.readouterr().err
    np.testing.assert_array_equal(quiet.mean, shown.mean)
    flt.filter_many([TEST.observations, TEST.observations[:5]], progress=True)
    assert "17/17" in capsys.readouterr().err
    flt.filter(np.stack([TEST.observations] * 2), progress=True)
    assert "24/24" in capsys.readouterr().err
