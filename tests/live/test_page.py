"""The page in a real browser: it changes as observations arrive, can be replayed, and says when not to believe it."""

import httpx
import numpy as np
import pytest
from browser import Browser, needs_browser
from live_cases import plane_model, plane_walk, walk_model
from live_server import serving

from kmcf.datasets import Recording
from kmcf.live.frames import Axes, examples_of, frame
from kmcf.live.history import STRIDE, FollowedObjects, RecordedHistory, histories_of
from kmcf.live.page import Watched
from kmcf.live.server import desk_for
from kmcf.live.service import Service

MODEL, _ = plane_model("plane")
STATES, SEEN = plane_walk(40, 1)
SEEN[-1] = 500.0
RECORDING = Recording("walk", 0.5 * np.arange(40), STATES, SEEN)
STEP = "Number(document.body.dataset.step || 0)"


def page_for(model, recordings=()):
    """Return a service with a page."""
    watched = Watched(model, Axes.of(model), histories_of(model, recordings), FollowedObjects())
    desk = desk_for(model)
    desk.watchers.append(watched.followed)
    return Service(model, desk, watched.routes())


def test_moments_of_a_recording_are_those_of_the_filter():
    history = RecordedHistory(MODEL, RECORDING)
    run = MODEL.filter.filter(RECORDING.observations, times=RECORDING.time)
    late, early = history.trail(40), history.trail(3)
    for moment in (*late, *early):
        t = moment.answer["step"] - 1
        np.testing.assert_allclose(moment.answer["mean"], run.mean[t], rtol=1e-12)
        np.testing.assert_array_equal(moment.truth, STATES[t])
    assert [moment.answer["step"] for moment in early] == [1, 2, 3]


def test_forgotten_moments_are_made_again(monkeypatch):
    monkeypatch.setattr("kmcf.live.history.RECENT", 20)
    monkeypatch.setattr("kmcf.live.history.TRAIL", 10)
    long = Recording("long", np.arange(120.0), np.zeros((120, 2)), np.tile(SEEN[:39], (4, 1))[:120])
    history, again = RecordedHistory(MODEL, long), RecordedHistory(MODEL, long)
    last = history.trail(120)[-1].answer
    assert len(history._moments) == 20
    assert set(history._tracks) == {0, STRIDE, 2 * STRIDE}
    assert history.trail(60)[-1].answer == again.trail(60)[-1].answer
    assert again.trail(120)[-1].answer == last


def test_a_frame_shows_what_the_belief_is():
    history = RecordedHistory(MODEL, RECORDING)
    trail = history.trail(6)
    shown = frame(MODEL, Axes.of(MODEL), trail[-1], trail)["layers"]
    belief = trail[-1].after
    heavy = belief.states[np.argmax(belief.weights)]
    biggest = int(np.argmax(shown["positive"]["size"]))
    assert [shown["positive"]["x"][biggest], shown["positive"]["y"][biggest]] == pytest.approx(list(heavy), rel=1e-4)
    assert len(shown["positive"]["x"]) + len(shown["negative"]["x"]) == min(300, int((belief.weights != 0).sum()))
    outline = np.array([shown["region"]["x"], shown["region"]["y"]]).T
    assert belief.ellipse(0.95).contains(belief.mean() + 0.99 * (outline - belief.mean())).all()
    assert shown["truth"]["x"] == [pytest.approx(STATES[5, 0], rel=1e-4)]
    prior = MODEL.filter.backend_.predicted(trail[-1].before, None, trail[-1].time)
    assert shown["particles"]["x"][0] == pytest.approx(prior.states[0, 0], rel=1e-4)
    assert len(examples_of(MODEL, Axes.of(MODEL))["x"]) == len(MODEL.filter.states_)


def test_axes_are_checked():
    with pytest.raises(ValueError, match="name one or two different states of x, y"):
        Axes.of(MODEL, ["z"])
    assert Axes.of(MODEL, ["y", "x"]).columns == (1, 0)


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.mark.slow
@needs_browser
def test_a_recording_is_replayed(browser):
    with serving(page_for(MODEL, [RECORDING])) as port:
        browser.open(f"http://127.0.0.1:{port}/", width=1200)
        browser.wait_for(f"{STEP} >= 5", 60)
        browser.press(" ")
        assert browser.evaluate("document.querySelector('#play').ariaLabel") == "Play"
        browser.click("#rewind")
        browser.wait_for(f"{STEP} === 1")
        mean = "document.querySelector('#numbers td').textContent"
        before = browser.evaluate(mean)
        browser.press("ArrowRight")
        browser.wait_for(f"{STEP} === 2")
        assert browser.evaluate(mean) != before
        browser.press("ArrowLeft")
        browser.wait_for(f"{STEP} === 1")
        assert browser.evaluate(mean) == before
        assert browser.evaluate("document.querySelector('#alarm').hidden")
        browser.press("End")
        browser.wait_for(f"{STEP} === 40")
        told = browser.evaluate("document.querySelector('#alarm').textContent")
        assert told == "Do not believe this estimate: what was observed is unlike any example."
        own = f"http://127.0.0.1:{port}/"
        elsewhere = [address for address in browser.requests if not address.startswith((own, "data:"))]
        assert (browser.errors, elsewhere) == ([], [])
        browser.open("about:blank")  # or it would miss the server


@pytest.mark.slow
@needs_browser
def test_a_phone_follows_what_is_posted(browser):
    model, test = walk_model()
    with serving(page_for(model)) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        browser.open(f"http://127.0.0.1:{port}/", width=360, height=740)
        source = "Bokeh.documents.flatMap(d => [d.get_model_by_name('positive')]).find(s => s)"
        for t, y in enumerate(test[:3]):
            client.post("/v1/objects/robot/observations", json={"observation": y.tolist()})
            browser.wait_for(f"{STEP} === {t + 1}", 30)
        drawn = browser.evaluate(f"({source}).data.x.length")
        assert drawn > 20
        assert browser.overflow() <= 0
        assert browser.evaluate("document.querySelector('#object').value") == "robot"
        sizes = browser.evaluate("[...document.querySelectorAll('nav button')].map(b => b.offsetHeight)")
        assert min(sizes) >= 36  # large enough for a thumb
        assert browser.errors == []
        browser.open("about:blank")


def test_images_are_shown_beside_the_most_similar_example(tmp_path):
    import kmcf
    from kmcf.live.model import LiveModel
    from kmcf.live.pictures import seen_beside_match

    rng = np.random.default_rng(0)
    states, images = np.linspace(0, 1, 30)[:, None], rng.normal(size=(30, 4, 5))
    flt = kmcf.KernelMonteCarloFilter(
        kmcf.transitions.GaussianRandomWalk(0.1), observation_kernel=kmcf.kernels.Gaussian(3.0), random_state=0
    ).fit(states, images)
    model = LiveModel(flt)
    shown = seen_beside_match(model, images[7] + 0.01)
    assert shown["image"].startswith("data:image/png;base64,")
    assert shown["match"] == seen_beside_match(model, images[7])["image"]
