"""Windows against rows that are gathered one by one, and online against batch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kmcf
from kmcf.datasets import Recording, Window, windowed, windows
from kmcf.datasets.windowing import described_window

NAN = np.nan


def gathered(observations, k, groups, times, seconds, fill):
    """Gather every window by looking for the rows it should hold."""
    rows = []
    for t in range(len(observations)):
        own = [s for s in range(t + 1) if groups[s] == groups[t]][::-1][:k]
        parts = []
        for age in range(k):
            there = age < len(own) and not np.isnan(observations[own[age]]).all()
            if there and seconds is not None:
                there = times[t] - times[own[age]] < seconds
            nothing = np.full(observations.shape[1], NAN)
            parts.append(observations[own[age]] if there else parts[-1] if fill == "repeat" and parts else nothing)
        missing = np.isnan(observations[t]).all()
        rows.append(np.full(k * observations.shape[1], NAN) if missing else np.concatenate(parts))
    return np.array(rows)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 12),
    k=st.integers(1, 6),
    seconds=st.sampled_from([None, 0.5, 2.0, 100.0]),
    fill=st.sampled_from(["repeat", "nan"]),
)
@settings(max_examples=60, deadline=None)
def test_every_place_holds_the_right_row_in_batch_and_online(seed, n, k, seconds, fill):
    rng = np.random.default_rng(seed)
    observations = rng.normal(size=(n, 2))
    observations[rng.uniform(size=(n, 2)) < 0.3] = NAN
    groups = rng.integers(3, size=n)
    times = np.cumsum(rng.choice([0.2, 1.0, 5.0], size=n))
    expected = gathered(observations, k, groups, times, seconds, fill)
    found = windows(observations, k, groups, times=times, seconds=seconds, fill=fill)
    np.testing.assert_array_equal(found, expected)
    online = {group: Window(k, seconds, fill) for group in range(3)}
    for t in range(n):
        online[groups[t]] = online[groups[t]].after(observations[t], times[t])
        stacked = online[groups[t]].stacked
        shown = np.full(2 * k, NAN) if stacked is None else stacked
        np.testing.assert_array_equal(shown, expected[t])


def test_forms_of_observations():
    expected = [[1.0, 1.0], [2.0, 1.0], [NAN, NAN], [4.0, 4.0]]
    for given_as in ([1, 2, None, 4], np.array([1.0, 2.0, NAN, 4.0]), np.ma.masked_equal([1.0, 2.0, 9.0, 4.0], 9.0)):
        np.testing.assert_array_equal(windows(given_as, 2, fill="repeat"), expected)
    pictures = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    np.testing.assert_array_equal(windows(pictures, 2)[2], [8, 9, 10, 11, 4, 5, 6, 7])
    dates = np.array(["2026-01-01T00:00:00", "2026-01-01T00:00:01", "2026-01-01T00:01:00"], dtype="datetime64[s]")
    np.testing.assert_array_equal(
        windows([1.0, 2.0, 3.0], 2, times=dates, seconds=2.0), [[1.0, NAN], [2.0, 1.0], [3.0, NAN]]
    )


def test_jax_arrays_stay_jax_arrays():
    jnp = pytest.importorskip("jax.numpy")
    values = np.array([[1.0], [2.0], [NAN], [4.0]])
    found = windows(jnp.asarray(values), 2, fill="nan")
    assert isinstance(found, jnp.ndarray)
    np.testing.assert_array_equal(np.asarray(found), windows(values, 2, fill="nan"))


@pytest.mark.slow
def test_online_filtering_equals_batch_bit_for_bit():
    model = kmcf.datasets.paper_model("1a")
    train, test = model.simulate(80, random_state=0), model.simulate(15, random_state=1)
    flt = kmcf.KernelMonteCarloFilter(model.transition, initial=model.initial, random_state=0)
    flt.fit(train.states, kmcf.windows(train.observations, 3))
    seen = test.observations.copy()
    seen[6] = NAN
    run = flt.filter(kmcf.windows(seen, 3))
    belief, window = flt.start(), kmcf.Window(3)
    for t, y in enumerate(seen):
        window = window.after(y)
        belief = flt.step(belief, window.stacked)
        np.testing.assert_array_equal(belief.mean(), run.mean[t])


def test_online_windows_take_dates_and_outlive_the_buffer():
    buffer, dates = np.zeros(1), np.array(["2026-01-01T00:00:00", "2026-01-01T00:00:04"], dtype="datetime64[s]")
    window = Window(2, seconds=5.0)
    for value, date in zip((1.0, 2.0), dates, strict=True):
        buffer[0] = value
        window = window.after(buffer, date)
    np.testing.assert_array_equal(window.stacked, [2.0, 1.0])
    np.testing.assert_array_equal(windows([1.0, 2.0], 2, times=dates, seconds=5.0)[1], [2.0, 1.0])


def test_windows_of_recordings_use_their_times():
    walk = Recording("walk", np.array([0.0, 1.0, 9.0]), np.zeros((3, 1)), np.array([[5.0], [6.0], [7.0]]))
    (found,) = windowed([walk], Window(2, seconds=3.0))
    np.testing.assert_array_equal(found.observations, [[5.0, NAN], [6.0, 5.0], [7.0, NAN]])
    assert (found.name, len(walk.observations[0])) == ("walk", 1)


def test_windows_never_change_and_describe_themselves():
    window = Window(2, seconds=1.5, fill="repeat")
    assert window.after(3.0, 0.0).stacked.tolist() == [3.0, 3.0]
    assert window.stacked is None
    assert described_window(window.described()).described() == {"length": 2, "seconds": 1.5, "fill": "repeat"}
    assert Window.spanning(5, 0.1).length == 50
    assert Window.spanning(0.5, 2.0).length == 1
    for nonsense in (3, {"length": 0}, {"length": 2, "other": 1}, {"length": 2, "fill": []}):
        assert described_window(nonsense) is None


BAD = [
    (ValueError, "a window of 0 observations; it must be a positive integer", lambda: windows([1.0], 0)),
    (ValueError, "a window of 1.5 observations", lambda: windows([1.0], 1.5)),
    (ValueError, "a window of True observations", lambda: Window(True)),
    (ValueError, "seconds = -1; it must be a positive number", lambda: Window(2, seconds=-1)),
    (ValueError, "fill = 'zero'; it must be 'nan' or 'repeat'", lambda: Window(2, fill="zero")),
    (ValueError, "3 groups for 2 observations", lambda: windows([1.0, 2.0], 2, groups=[0, 0, 1])),
    (ValueError, "which needs times", lambda: windows([1.0, 2.0], 2, seconds=3.0)),
    (ValueError, r"times have shape \(1,\) for 2 observations", lambda: windows([1, 2], 2, times=[0.0], seconds=3.0)),
    (ValueError, r"times\[1\] is 1", lambda: windows([1, 2], 2, times=[2.0, 1.0], seconds=3.0)),
    (ValueError, "observations have 2 and 1 numbers", lambda: windows([[1.0, 2.0], [3.0]], 2)),
    (TypeError, "an observation is of type set", lambda: windows([{1}, {2}], 2)),
    (TypeError, "make a list of the last few", lambda: windows(["left", "right"], 2)),
    (TypeError, "not str", lambda: windows("left", 2)),
    (TypeError, "an observation is of type dict", lambda: Window(2).after({"a": 1})),
    (ValueError, "has 2 numbers, but those before it have 1", lambda: Window(2).after(1.0).after([1.0, 2.0])),
    (ValueError, "it needs the time of each observation", lambda: Window(2, seconds=1.0).after(1.0)),
    (ValueError, "time = 0; times must be finite and increase", lambda: Window(2, 1.0).after(1.0, 1.0).after(1.0, 0.0)),
    (ValueError, "how often observations come", lambda: Window.spanning(5.0, float("nan"))),
]


@pytest.mark.parametrize(("kind", "message", "attempt"), BAD, ids=[message for _, message, _ in BAD])
def test_bad_input(kind, message, attempt):
    with pytest.raises(kind, match=message):
        attempt()
