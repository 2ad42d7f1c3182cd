"""Batches: every sequence as if it were alone, whatever the lengths, gaps, controls and devices."""

import ast
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from jax_cases import TEST, fitted
from xla_flags import XLA_FLAGS

import kmcf


def alone(flt, sequence, stream):
    belief, beliefs = flt.start(stream), []
    for y in sequence:
        belief = flt.step(belief, y)
        beliefs.append(belief)
    return beliefs


def test_a_batch_equals_its_sequences(flt, batch, runs):
    assert runs.mean.shape == (3, 8, 1)
    assert runs.interval.shape == (3, 8, 2, 1)
    assert len(runs) == 3
    for b, sequence in enumerate(batch):
        expected = alone(flt, sequence, b)
        np.testing.assert_allclose(runs.mean[b], [belief.mean() for belief in expected], atol=1e-11)
        np.testing.assert_allclose(runs.ess[b], [belief.ess for belief in expected], rtol=1e-8)
        np.testing.assert_allclose(runs.negative_mass[b], [belief.negative_mass for belief in expected], atol=1e-8)
        np.testing.assert_allclose(runs.mode[b], [belief.mode() for belief in expected], atol=1e-9)
        np.testing.assert_allclose(runs.interval[b], [belief.interval() for belief in expected], atol=1e-8)
        for t in (1, 3, 7):
            assert repr(runs[b][t]) == repr(expected[t])
            np.testing.assert_allclose(runs[b][t].states, expected[t].states, atol=1e-11)
            np.testing.assert_allclose(runs[b][t].weights, expected[t].weights, atol=1e-10)
    assert runs.missing.sum() == 3
    assert "3 × 8 steps, 3 missing" in repr(runs)
    assert len(runs[-1].to_dataframe()) == 8
    assert runs.to_xarray().sizes["sequence"] == 3


def test_sequences_of_different_lengths(flt, batch, runs):
    many = flt.filter_many([batch[0], batch[1][:5], [*batch[2][:2], None]])
    assert [len(run) for run in many] == [8, 5, 3]
    np.testing.assert_allclose(many[0].mean, runs.mean[0], atol=1e-11)
    np.testing.assert_allclose(many[1].mean, runs.mean[1, :5], atol=1e-11)
    np.testing.assert_allclose(many[1].interval, runs.interval[1, :5], atol=1e-10)
    assert many[2].missing.tolist() == [False, False, True]
    assert flt.filter_many([]) == []


def test_controls_of_each_sequence():
    def transition(states, control, key):
        return states + control["step"] + 0.0 * jax.random.normal(key, states.shape)

    flt = fitted(transition=transition, n_particles=20)
    controls = [[{"step": 1.0 + b}] * 4 for b in range(2)]
    runs = flt.filter(jnp.full((2, 4, 1), jnp.nan), controls)
    moved = runs.mean - runs.mean[:, :1]
    np.testing.assert_allclose(moved[0, :, 0], [0.0, 1.0, 2.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(moved[1, :, 0], [0.0, 2.0, 4.0, 6.0], atol=1e-12)


@pytest.mark.slow
def test_two_devices_share_a_batch(flt, batch, runs):
    if len(jax.devices()) < 2:
        pytest.skip("JAX sees one device only")
    sharded = flt.filter(jnp.asarray(batch), mesh=Mesh(np.array(jax.devices()[:2]).reshape(2, 1), ("a", "b")))
    np.testing.assert_allclose(sharded.mean, runs.mean, atol=1e-11)
    np.testing.assert_allclose(sharded.ess, runs.ess, rtol=1e-8)
    np.testing.assert_array_equal(sharded.mode, runs.mode)


SCRIPT = """
    import sys
    import jax
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(sys.argv[1], num_processes=2, process_id=int(sys.argv[2]))
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh
    sys.path.append(sys.argv[3])
    from jax_cases import TEST, fitted

    devices = np.array(jax.devices())
    assert len(devices) == 4
    flt = fitted()
    run = flt.filter(TEST.observations[:24].reshape(3, 8, 1), mesh=Mesh(devices.reshape(2, 2), ("a", "b")))
    print(repr([run.mean.tolist(), run.ess.tolist(), run.mode.tolist()]))
"""


@pytest.mark.slow
def test_two_hosts_with_two_devices_each_share_a_batch(flt):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    folder = str(Path(__file__).parent.parent / "cases")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SCRIPT), address, str(number), folder],
            env={**os.environ, "XLA_FLAGS": XLA_FLAGS, "JAX_PLATFORMS": "cpu"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    expected = flt.filter(TEST.observations[:24].reshape(3, 8, 1))
    for process in processes:
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        mean, ess, mode = ast.literal_eval(output.strip().splitlines()[-1])
        np.testing.assert_allclose(mean, expected.mean, atol=1e-11)
        np.testing.assert_allclose(ess, expected.ess, rtol=1e-8)
        np.testing.assert_array_equal(mode, expected.mode)


def test_runs_are_reproducible(flt, batch, runs):
    np.testing.assert_array_equal(flt.filter(jnp.asarray(batch)).mean, runs.mean)
    assert isinstance(runs, kmcf.FilterRun)
    with pytest.raises(LookupError, match="keep_beliefs"):
        _ = flt.filter(jnp.asarray(batch), keep_beliefs=False)[0][0]
