"""Runs as collections and as tables."""

import numpy as np
import pytest
from any_data import planar

import kmcf
from kmcf.datasets import paper_model

MODEL = paper_model("1a")
TRAIN = MODEL.simulate(60, random_state=0)
TEST = MODEL.simulate(12, random_state=1)


def fitted(**settings):
    flt = kmcf.KernelMonteCarloFilter(
        MODEL.transition, initial=MODEL.initial, random_state=2, augment=False, **settings
    )
    return flt.fit(TRAIN.states, TRAIN.observations)


# --- a collection -----------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("engine", ["exact", "compressed"])
def test_an_interval_is_a_pair_of_quantiles(engine):
    model = paper_model("1a")
    train, test = model.simulate(150, random_state=0), model.simulate(10, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, engine=engine, random_state=0)
    run = flt.fit(train.states, train.observations).filter([*test.observations, None])
    assert run.interval.shape == (11, 2, 1)
    for t, belief in enumerate(run):
        np.testing.assert_allclose(run.interval[t, :, 0], belief.quantile([0.025, 0.975]), atol=1e-9)
    ahead = run[10]
    np.testing.assert_allclose(ahead.interval(0.5)[:, 0], np.quantile(ahead.states, [0.25, 0.75]), atol=0.05)


# --- tables -----------------------------------------------------------------------------------------------------------


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


@pytest.mark.filterwarnings("ignore::kmcf.RejectedStepWarning")  # random data: now and then weights cancel
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
