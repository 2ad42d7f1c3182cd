"""A filter that finds itself again: when it looks elsewhere, what it finds, and that all else stays as it was."""

from types import SimpleNamespace

import numpy as np
import pytest

import kmcf
from kmcf.bayes_rule import Sample
from kmcf.filter.relocation import Relocation, obstacle

WAY = np.linspace(0.0, 30.0, 300)[:, None]


def looks(places, rng):
    """Three landmarks' strengths: no two places look alike."""
    return np.exp(-0.5 * (places - np.array([2.0, 15.0, 28.0])) ** 2 / 64.0) + 0.02 * rng.normal(size=(len(places), 3))


def filters(**settings):
    """One on the examples and one on particles."""
    rng = np.random.default_rng(0)
    seen, walk = looks(WAY, rng), kmcf.transitions.GaussianRandomWalk(0.2)
    kernels = {"observation_kernel": kmcf.kernels.Gaussian(), "state_kernel": kmcf.kernels.Gaussian(1.0)}
    shared = {
        "initial": lambda size, rng: 4.0 + rng.normal(size=(size, 1)),
        "random_state": 0,
        **kernels,
        **settings,
    }
    made = kmcf.KernelMonteCarloFilter(walk, **shared), kmcf.ParticleLikelihoodFilter(walk, n_particles=200, **shared)
    return [flt.fit(WAY, seen) for flt in made]


def walk(jump):
    """Twenty steps at 4, then ten more there, or at 24."""
    truth = np.full((30, 1), 4.0)
    truth[20:] += 20.0 * jump
    return truth, looks(truth, np.random.default_rng(1))


@pytest.mark.parametrize("which", [0, 1], ids=["examples", "particles"])
def test_it_finds_itself_again_after_a_jump(which):
    truth, seen = walk(jump=True)
    run = filters()[which].filter(seen)
    assert not run.relocated[:20].any()
    assert run.relocated[20:25].any()
    assert np.abs(run.mean - truth)[25:].max() < 1.0
    stays = filters(relocate=False)[1].filter(seen)  # particles at 4 cannot follow
    assert not stays.relocated.any()
    assert np.abs(stays.mean - truth)[25:].min() > 5.0


@pytest.mark.parametrize("which", [0, 1], ids=["examples", "particles"])
def test_where_nothing_happens_nothing_changes(which):
    _, seen = walk(jump=False)
    runs = [filters(**settings)[which].filter(seen) for settings in ({}, {"relocate": False})]
    np.testing.assert_array_equal(runs[0].mean, runs[1].mean)
    assert not runs[0].relocated.any()


def test_one_step_at_a_time_is_the_same_and_missing_ones_keep_the_doubt():
    _, seen = walk(jump=True)
    seen[21] = np.nan
    for flt in filters():
        run, belief = flt.filter(seen), flt.start()
        for t, y in enumerate(seen):
            before, belief = belief, flt.step(belief, y)
            assert belief.report.relocated == run.relocated[t]
            np.testing.assert_array_equal(belief.mean(), run.mean[t])
            if t == 21:
                assert before.report.doubt == belief.report.doubt > 0.0
        assert flt.step(before, seen[-1]).mean() == belief.mean()  # a step changes no belief


def test_a_saved_filter_does_the_same(tmp_path):
    _, seen = walk(jump=True)
    for number, flt in enumerate(filters()):
        flt.save(tmp_path / f"{number}.kmcf")
        again = kmcf.load(tmp_path / f"{number}.kmcf", initial=flt.initial)
        np.testing.assert_array_equal(again.filter(seen).mean, flt.filter(seen).mean)
        run = flt.filter(seen)
        run.save(tmp_path / "run.npz")
        np.testing.assert_array_equal(kmcf.load(tmp_path / "run.npz").relocated, run.relocated)


class Said:
    """A posterior that says how much better than all examples the prior was."""

    resembled, state_coverage = True, 1.0

    def __init__(self, contrast, **other):
        self.contrast = contrast
        vars(self).update(other)


def test_doubt_is_page_s_test():
    """Sums of log Bayes factors, no more than 2 each, that start again at zero; what says nothing does not count."""
    keeps = Relocation(WAY, 10)
    values, doubt = [], 0.0
    for contrast in (1.0, -0.5, -9.0, 0.7, 5.0, -1.0):
        doubt = keeps.doubt(doubt, Said(contrast))
        values.append(doubt)
    np.testing.assert_allclose(values, [0.0, 0.5, 2.5, 1.8, 0.0, 1.0])
    uncovered = [Said(contrast, state_coverage=0.1) for contrast in (-9.0, -1.0, 9.0)]
    for nothing in (Said(np.nan), Said(-9.0, resembled=False), *uncovered):
        assert keeps.doubt(1.0, nothing) == 1.0
    # A filter that doubts already is not calmed where no example is.
    assert [keeps.doubt(3.0, said) for said in uncovered] == [5.0, 4.0, 3.5]


def test_a_widened_prior_has_the_share_it_should():
    prior = Sample(np.full((3, 1), -1.0), np.array([2.0, -1.0, 0.0]))
    states, weights = Relocation(WAY, 400, share=0.25).widened(prior, None, np.random.default_rng(0))
    assert (states < 0).mean() == 0.75
    assert weights.sum() == pytest.approx(1.0)
    assert np.abs(states[states >= 0].mean() - 15.0) < 3.0
    objects, _ = Relocation(["a", "b"], 4, share=0.5).widened(Sample(["c"], np.ones(1)), None, np.random.default_rng(0))
    assert set(objects) <= {"a", "b", "c"}
    assert objects.count("c") >= 2


def test_several_sensors_find_themselves_again():
    truth, seen = walk(jump=True)
    rng = np.random.default_rng(0)
    parts = {"left": (WAY, looks(WAY, rng)[:, :2]), "right": (WAY, looks(WAY, rng)[:, 1:])}
    flt = kmcf.ParticleLikelihoodFilter(
        kmcf.transitions.GaussianRandomWalk(0.2), lambda size, rng: 4.0 + rng.normal(size=(size, 1)),
        observation_kernel=kmcf.kernels.Gaussian(), random_state=0, n_particles=200, relocate=True,
    ).fit(parts)  # fmt: skip
    run = flt.filter({"left": seen[:, :2], "right": seen[:, 1:]})
    assert run.relocated[20:25].any()
    assert np.abs(run.mean - truth)[25:].max() < 1.0


def test_nobody_needs_to_ask_for_it():
    _, seen = walk(jump=True)
    for asked, default in zip(filters(relocate=True), filters(), strict=True):
        assert default.relocate is None
        assert default.relocating_
        np.testing.assert_array_equal(asked.filter(seen).mean, default.filter(seen).mean)
        assert "relocating_" in default._repr_html_()


@pytest.mark.parametrize(("engine", "why"), [("literal", "the paper's algorithm"), ("local", "near the prediction")])
def test_engines_that_cannot_go_without(engine, why):
    _, seen = walk(jump=True)
    flt, _ = (one.set_params(relocate=None) for one in filters(relocate=False))
    flt.set_params(engine=engine).fit(WAY, looks(WAY, np.random.default_rng(0)))
    assert not flt.relocating_
    assert why in flt.explain(measure=False).splitlines()[-1]
    assert not flt.filter(seen).relocated.any()


def test_explain_tells_who_chose():
    assert filters(relocate=False)[0].explain(measure=False).endswith("relocate=False")
    assert filters()[1].explain(measure=False).endswith("looks for the state among all examples")


def test_kernels_that_look_for_poses_themselves_are_left_alone():
    own = SimpleNamespace(sensors_=None, engine_="exact", observation_kernel=kmcf.kernels.PlacedLandmarks())
    own.relocate = None
    assert obstacle(own) == "PlacedLandmarks looks for other poses itself"
    own.relocate = True
    assert obstacle(own) == ""


class Judged:
    """A rule whose second look is as useful as told."""

    def __init__(self, usable):
        self.usable, self.given = usable, None

    def suggested(self, _observation):
        return Sample(np.array([[7.0], [8.0]]), np.array([0.0, 1.0]))

    def correct(self, prior, _observation):
        self.given = prior
        return Said(0.0, usable=self.usable)


def test_draws_are_what_the_observation_suggests_and_a_useless_look_is_undone():
    here, doubtful = Sample(np.zeros((2, 1)), np.array([0.5, 0.5])), Said(-9.0, evidence="before")
    rule = Judged(usable=True)
    found = Relocation(WAY, 10).reconsider(2.0, here, doubtful, rule, None, np.random.default_rng(0))
    assert found.told == {"relocated": True, "evidence": "before"}
    assert found.prior.states.ravel().tolist() == [0.0] * 8 + [8.0] * 2
    kept = Relocation(WAY, 10).reconsider(2.0, here, doubtful, Judged(usable=False), None, np.random.default_rng(0))
    assert kept == (here, doubtful, {"doubt": 4.0})


def test_what_cannot_look_elsewhere_says_so():
    walk_on = kmcf.transitions.GaussianRandomWalk(1.0)
    for engine in ("literal", "local"):
        with pytest.raises(ValueError, match=f"relocate=True, but engine='{engine}'"):
            kmcf.KernelMonteCarloFilter(walk_on, engine=engine, relocate=True).fit(WAY, WAY)
    with pytest.raises(ValueError, match="relocate = 'yes'; it must be True or False or None\\."):
        filters(relocate="yes")


def test_jax_says_that_it_cannot():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(1.0), relocate=True)
        with pytest.raises(ValueError, match="relocate=True is computed by NumPy only"):
            flt.fit(jax.numpy.asarray(WAY), jax.numpy.asarray(WAY))
        walk_on = kmcf.transitions.GaussianRandomWalk(1.0)
        goes_without = kmcf.KernelMonteCarloFilter(walk_on, observation_kernel=kmcf.kernels.Gaussian())
        goes_without.fit(jax.numpy.asarray(WAY), jax.numpy.asarray(WAY))
        assert not goes_without.relocating_
        assert goes_without.explain(measure=False).endswith("compiled code does not")
