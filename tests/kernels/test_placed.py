"""Kernels that place what was seen in the world: likelihoods by explicit formulas, and filters that they carry."""

import numpy as np
import pytest

import kmcf
from kmcf.datasets import Recording, recent_landmarks
from kmcf.kernels import LandmarkSet, LaserScan, PlacedLandmarks, PlacedScan, Pose
from kmcf.transitions import OdometryMotion

POSTS = {"a": (2.0, 1.0), "b": (-1.0, 3.0), "c": (0.5, -2.0)}
SIZE = 6.0
BEARINGS = np.linspace(-np.pi / 2, np.pi / 2, 61)


def seen_from(pose, posts=POSTS):
    """The posts as rows (name, ahead, left), by plain trigonometry."""
    x, y, heading = pose
    rows = []
    for name, (a, b) in posts.items():
        distance, direction = np.hypot(a - x, b - y), np.arctan2(b - y, a - x) - heading
        rows.append((name, distance * np.cos(direction), distance * np.sin(direction)))
    return rows


def room_scan(pose):
    """Ranges in an empty L-shaped room: a square of side 6 less its upper right quarter."""
    x, y, heading = pose
    walls = [((0, 0), (6, 0)), ((6, 0), (6, 3)), ((6, 3), (3, 3)), ((3, 3), (3, 6)), ((3, 6), (0, 6)), ((0, 6), (0, 0))]
    cosine, sine = np.cos(heading + BEARINGS), np.sin(heading + BEARINGS)
    ranges = np.full(len(BEARINGS), np.inf)
    for (ax, ay), (bx, by) in walls:  # Cramer's rule for (x, y) + along · (cosine, sine) on the wall
        determinant = cosine * (ay - by) - sine * (ax - bx) + 1e-12
        along = ((ax - x) * (ay - by) - (ay - y) * (ax - bx)) / determinant
        share = (cosine * (ay - y) - sine * (ax - x)) / determinant
        hit = (along > 0) & (share >= -1e-9) & (share <= 1 + 1e-9)
        ranges[hit] = np.minimum(ranges, along)[hit]
    return ranges


def poses_in_room(count, seed):
    rng = np.random.default_rng(seed)
    places = rng.uniform(0.3, SIZE - 0.3, size=(4 * count, 2))
    places = places[~((places > 2.7).all(axis=1))][:count]
    return np.column_stack([places, rng.uniform(-np.pi, np.pi, len(places))])


def test_likelihood_of_landmarks_is_the_formula():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(7, 3))
    sets = [seen_from(pose)[: k % 3 + 1] for k, pose in enumerate(states)]
    sets = [[(name, a + 0.1 * rng.normal(), b) for name, a, b in rows] for rows in sets]
    kernel = PlacedLandmarks(bandwidth=0.4, absent=0.3).fit(sets, states)
    poses, logs = rng.normal(size=(4, 3)), rng.normal(size=(7, 4))
    observed = [("a", 1.0, 0.5), ("c", 2.0, -1.0), ("unknown", 0.0, 0.0)]
    expected = np.ones(4)
    for j, (x, y, heading) in enumerate(poses):
        turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
        for name, *place in observed[:2]:
            total = weight = 0.0
            for i, rows in enumerate(sets):
                for other, a, b in rows:
                    if other == name:
                        c, s = np.cos(states[i, 2]), np.sin(states[i, 2])
                        there = states[i, :2] + [c * a - s * b, s * a + c * b]
                        away = np.array([x, y]) + turn @ place - there
                        weight += np.exp(logs[i, j])
                        total += np.exp(logs[i, j]) * np.exp(-(away @ away) / (2 * 0.4**2))
            expected[j] *= 0.09 + 0.91 * total / weight
    placed = kernel.placed(states, kernel.prepare(sets))
    np.testing.assert_allclose(placed.likelihood(poses, kernel.prepare([observed]), logs), expected, rtol=1e-12)
    plain = LandmarkSet(absent=0.3, bandwidth=0.4)
    np.testing.assert_allclose(kernel(sets, [observed]), plain(sets, [observed]))


def test_the_bandwidth_is_learnt_from_how_far_apart_a_landmark_is_placed():
    rng = np.random.default_rng(1)
    states = rng.normal(size=(400, 3))
    sets = [[(name, *(np.array(place) + 0.2 * rng.normal(size=2))) for name, *place in seen_from(p)] for p in states]
    learnt = PlacedLandmarks(multiplier=1.0).fit(sets, states).bandwidth_
    median_of_rayleigh = 0.2 * np.sqrt(2 * np.log(2))
    np.testing.assert_allclose(learnt, [median_of_rayleigh] * 2, rtol=0.1)
    exact = PlacedLandmarks(multiplier=1.0).fit([seen_from(pose) for pose in states], states).bandwidth_
    assert np.all((exact > 1e-3) & (exact < 1e-2))


def test_likelihood_of_a_scan_is_the_formula():
    poses = poses_in_room(12, 0)
    scans = np.array([room_scan(pose) for pose in poses])
    kernel = PlacedScan(width=0.4, miss=0.3, count=5.0, max_range=20.0, rotation=1, bandwidth=1.0, beams=61)
    placed = kernel.placed(poses, kernel.prepare(scans))

    def echoes(pose, ranges):
        angles = pose[2] + BEARINGS
        return pose[:2] + ranges[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)

    everything = np.concatenate([echoes(pose, scan) for pose, scan in zip(poses, scans, strict=True)])
    new, tried = room_scan(np.array([1.0, 1.2, 0.4])), poses_in_room(20, 1)
    distances = np.array([[np.min(np.linalg.norm(everything - q, axis=1)) for q in echoes(p, new)] for p in tried])
    expected = np.prod((0.09 + 0.91 * np.exp(-(distances**2) / (2 * 0.4**2))) ** (5.0 / 61), axis=1)
    found = placed.likelihood(tried, kernel.prepare(new[None]), None)
    np.testing.assert_allclose(found ** (1 / 5), expected ** (1 / 5), rtol=0.1)  # cells of a quarter of the width
    plain = LaserScan(20.0, rotation=1, bandwidth=1.0, beams=61)
    np.testing.assert_allclose(kernel(scans, scans[:3]), plain(scans, scans[:3]))
    nothing = np.full((1, 61), np.inf)
    np.testing.assert_allclose(placed.likelihood(tried, kernel.prepare(nothing), None), 1.0)


def circle(steps, centre, radius):
    """Poses on a circle, driven at equal steps, and the motions between them."""
    angle = 2 * np.pi * np.arange(steps) / 24
    x, y = centre[0] + radius * np.sin(angle), centre[1] - radius * np.cos(angle)
    poses = np.column_stack([x, y, np.angle(np.exp(1j * angle))])
    half = np.pi / 24
    return poses, np.tile([half, 2 * radius * np.sin(half), half], (steps, 1))


def followed(kernel, examples, observations, controls, **settings):
    motion = OdometryMotion(0.01, 0.01, 0.01, 0.01, 0.02, 0.02)
    flt = kmcf.ParticleLikelihoodFilter(
        motion, state_kernel=Pose(multiplier=0.5), observation_kernel=kernel, angles=(2,), random_state=0, **settings
    )
    return flt.fit(*examples).filter(observations, controls=controls)


def test_landmarks_are_followed_where_nobody_was():
    """Examples look only eastwards; the robot turns in all directions, so that no example resembles what it sees."""
    rng = np.random.default_rng(2)
    states = np.column_stack([rng.uniform(-2, 2, size=(60, 2)), rng.normal(scale=0.2, size=60)])
    path, controls = circle(30, (0.0, 0.0), 1.0)

    def look(pose):
        return [(name, a + 0.05 * rng.normal(), b + 0.05 * rng.normal()) for name, a, b in seen_from(pose)]

    examples, observations = (states, [look(pose) for pose in states]), [look(pose) for pose in path]

    def start(size, rng):
        return path[0] + 0.3 * rng.normal(size=(size, 3))

    settings = {"n_particles": 300, "background": 0.01, "initial": start}
    run = followed(PlacedLandmarks(absent=0.3), examples, observations, controls, **settings)
    errors = np.linalg.norm(run.mean[:, :2] - path[:, :2], axis=1)
    assert errors[5:].max() < 0.25
    plain = followed(LandmarkSet(absent=0.3), examples, observations, controls, **settings)
    assert np.linalg.norm(plain.mean[:, :2] - path[:, :2], axis=1)[5:].mean() > 2 * errors[5:].mean()


def test_a_robot_among_landmarks_finds_itself():
    """All examples look eastwards, so that nearly all particles of the start do; the robot looks westwards."""
    rng = np.random.default_rng(5)
    states = np.column_stack([rng.uniform(-2, 2, size=(60, 2)), rng.normal(scale=0.1, size=60)])
    sets = [[(name, a + 0.1 * rng.normal(), b + 0.1 * rng.normal()) for name, a, b in seen_from(p)] for p in states]
    path, controls = circle(24, (0.0, 0.0), 1.0)
    turned = path - [0.0, 0.0, np.pi]  # it backs up
    backwards = controls * [1.0, -1.0, 1.0]
    observations = [seen_from(pose) for pose in turned]
    errors = {}
    for search in (0, 3000):
        kernel = PlacedLandmarks(search=search)
        run = followed(kernel, (states, sets), observations, backwards, n_particles=200, background=0.02)
        errors[search] = np.linalg.norm(run.mean[8:, :2] - path[8:, :2], axis=1)
    assert errors[3000].max() < 0.25
    assert errors[0].mean() > 1.0


MANY = {f"post {k}": (2.5 * np.cos(k), 2.5 * np.sin(k)) for k in range(8)}


def test_the_background_is_halved_for_each_landmark_beyond_the_first():
    """Every landmark fits half as well at one pose as it could, and not at all at the other."""
    kernel = PlacedLandmarks(bandwidth=0.5, absent=0.0, search=0)
    origin, far = np.zeros(3), np.array([50.0, 0.0, 0.0])
    off = 0.5 * np.sqrt(2 * np.log(2))  # exp(−d²/2σ²) = ½
    for count in (1, 2, 8):
        examples = [seen_from(origin, dict(list(MANY.items())[:count]))]
        flt = kmcf.ParticleLikelihoodFilter(
            lambda states, control, rng: states,
            initial=lambda size, rng: np.array([origin, far])[np.arange(size) % 2],
            state_kernel=Pose(position_bandwidth=1.0, heading_bandwidth=1.0),
            observation_kernel=kernel,
            background=0.1,
            delta=np.inf,
            n_particles=2,
            angles=(2,),
            relocate=False,
            random_state=0,
        ).fit(np.array([origin, origin]), examples * 2)
        weights = flt.filter([[(name, ahead + off, left) for name, ahead, left in examples[0]]])[0].weights
        background = 0.1 * 0.5 ** (count - 1)
        np.testing.assert_allclose(weights[0] / weights[1], (background + 0.5**count) / background, rtol=1e-9)


def test_a_robot_among_many_landmarks_finds_itself_after_a_jump():
    """Of eight posts none fits perfectly, and their product is far below what one would have to be."""
    rng = np.random.default_rng(7)
    states = np.column_stack([rng.uniform(-2, 2, size=(80, 2)), rng.uniform(-np.pi, np.pi, size=80)])

    def look(pose):
        return [(name, a + 0.2 * rng.normal(), b + 0.2 * rng.normal()) for name, a, b in seen_from(pose, MANY)]

    (here, controls), (there, _) = circle(16, (-1.0, -1.0), 0.5), circle(16, (1.0, 1.0), 0.5)
    path, examples = np.concatenate([here, there]), (states, [look(pose) for pose in states])
    run = followed(
        PlacedLandmarks(),
        examples,
        [look(pose) for pose in path],
        np.concatenate([controls] * 2),
        n_particles=300,
        background=0.05,
        delta=np.inf,
    )
    errors = np.linalg.norm(run.mean[:, :2] - path[:, :2], axis=1)
    assert errors[6:16].max() < 0.4
    assert errors[24:].max() < 0.4


def test_a_scanning_robot_finds_itself():
    """Examples cover a tenth of all poses; the start is unknown, and half way the robot is carried off."""
    poses = poses_in_room(40, 3)
    scans = np.array([room_scan(pose) for pose in poses])
    first, controls = circle(24, (1.5, 1.5), 0.8)
    second, _ = circle(24, (4.5, 1.5), 0.8)
    path = np.concatenate([first, second])
    observations = np.array([room_scan(pose) for pose in path])
    kernel = PlacedScan(width=0.3, max_range=20.0, rotation=1, search=3000)
    settings = {"n_particles": 200, "background": 0.02}
    run = followed(kernel, (poses, scans), observations, np.concatenate([controls] * 2), **settings)
    errors = np.linalg.norm(run.mean[:, :2] - path[:, :2], axis=1)
    assert errors[10:24].max() < 0.4
    assert errors[34:].max() < 0.4


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (PlacedScan(miss=1.0), "miss = 1.0; it must be at least 0 and below 1"),
        (PlacedScan(resemblance=2.0), "resemblance = 2.0; it must be between 0 and 1"),
        (PlacedScan(search=-1), "search = -1; it must be an integer, at least 0"),
        (PlacedScan(width=0.0), "width"),
        (PlacedScan(field=-1.0), "field"),
    ],
)
def test_settings_are_checked(kernel, words):
    scans = np.ones((3, 9))
    kernel.set_params(max_range=9.0, rotation=0, bandwidth=1.0)
    with pytest.raises(ValueError, match=words):
        kernel.placed(np.zeros((3, 3)), kernel.prepare(scans))


def test_bad_input_gets_a_sentence():
    sets = [[("a", 1.0, 2.0)], [("a", 1.0, 2.5)]]
    with pytest.raises(ValueError, match="from examples with their poses"):
        PlacedLandmarks().fit(sets)
    with pytest.raises(ValueError, match=r"places observations by poses, rows \(x, y, heading\)"):
        PlacedLandmarks().fit(sets, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="needs three: identity, metres ahead"):
        PlacedLandmarks().fit([[("a", 1.0)]], np.zeros((1, 3)))
    with pytest.raises(ValueError, match="all example sets are empty"):
        PlacedLandmarks().fit([[], []], np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"PlacedLandmarks has search = 0\.5; it must be an integer"):
        PlacedLandmarks(bandwidth=1.0, search=0.5).placed(
            np.zeros((1, 3)), PlacedLandmarks(bandwidth=1.0).prepare([[]])
        )
    flat = kmcf.ParticleLikelihoodFilter(OdometryMotion(), observation_kernel=PlacedLandmarks(bandwidth=1.0))
    with pytest.raises(ValueError, match="but states have the shape"):
        flat.fit(np.zeros((2, 2)), sets)


def test_ranges_and_bearings_become_sets_that_can_be_placed():
    pose = np.array([[0.0, 0.0, 0.5]])
    looked = Recording("look", np.zeros(1), pose, [np.array([[7.0, 2.0, -0.5]])])
    sets = recent_landmarks(looked).observations
    kernel = PlacedLandmarks(bandwidth=0.1, absent=0.0)
    placed = kernel.placed(pose, kernel.prepare([[(7, *sets[0][0, 1:])]]))
    from_ahead = kernel.prepare([[(7, 1.0, 0.0)]])
    np.testing.assert_allclose(placed.likelihood(np.array([[1.0, 0.0, 0.0]]), from_ahead, np.zeros((1, 1))), 1.0)


def test_a_saved_filter_places_the_same(tmp_path):
    rng = np.random.default_rng(4)
    states = np.column_stack([rng.uniform(-2, 2, size=(20, 2)), rng.normal(size=20)])
    sets = [[(name, a + 0.1 * rng.normal(), b) for name, a, b in seen_from(pose)] for pose in states]
    flt = kmcf.ParticleLikelihoodFilter(
        OdometryMotion(), observation_kernel=PlacedLandmarks(), n_particles=50, angles=(2,), random_state=0
    ).fit(states, sets)
    flt.save(tmp_path / "robot.kmcf")
    seen, controls = [seen_from([0.0, 0.0, 0.0])] * 3, np.zeros((3, 3)) + 0.1
    again = kmcf.load(tmp_path / "robot.kmcf")
    np.testing.assert_array_equal(again.filter(seen, controls=controls).mean, flt.filter(seen, controls=controls).mean)


@pytest.mark.parametrize("combined", [2.0 * PlacedLandmarks(), PlacedLandmarks() + LandmarkSet()])
def test_placed_kernels_are_used_alone(combined):
    poses = np.random.default_rng(0).normal(size=(20, 3))
    flt = kmcf.ParticleLikelihoodFilter(OdometryMotion(0.1, 0.1, 0.1, 0.1), observation_kernel=combined, angles=(2,))
    with pytest.raises(ValueError, match="PlacedLandmarks cannot be scaled, added or multiplied"):
        flt.fit(poses, [seen_from(pose) for pose in poses])


def test_the_field_of_a_scan_is_an_angle():
    scans = np.ones((3, 8))
    around = PlacedScan(full_circle=True, max_range=5.0, bandwidth=1.0, rotation=0)
    bearings = around.placed(np.zeros((3, 3)), around.prepare(scans)).bearings
    np.testing.assert_allclose(np.diff(bearings), 2 * np.pi / 8)  # eight beams, none of them twice
    degrees = PlacedScan(field=180.0, max_range=5.0, bandwidth=1.0, rotation=0)
    with pytest.raises(ValueError, match="radians"):
        degrees.placed(np.zeros((3, 3)), degrees.prepare(scans))


@pytest.mark.slow
def test_no_example_need_look_where_a_placed_filter_does():
    rng = np.random.default_rng(0)
    poses = np.column_stack([rng.uniform(-2, 2, size=(60, 2)), 0.2 * rng.normal(size=60)])  # all look to the east
    turned = np.column_stack([np.zeros((15, 2)), 0.15 * np.arange(15)])
    runs = {}
    for kernel in (PlacedLandmarks(bandwidth=0.1), LandmarkSet(bandwidth=0.5)):
        flt = kmcf.ParticleLikelihoodFilter(
            OdometryMotion(0.01, 0.01, 0.01, 0.01), state_kernel=Pose(multiplier=0.5), observation_kernel=kernel,
            n_particles=300, angles=(2,), random_state=0,
        )  # fmt: skip
        flt.fit(poses, [seen_from(pose) for pose in poses])
        runs[type(kernel)] = flt.filter([seen_from(pose) for pose in turned], controls=[(0.0, 0.0, 0.15)] * 15)
    placed = runs[PlacedLandmarks]
    assert np.abs(placed.mean[5:] - turned[5:]).max() < 0.2
    assert "uncovered state" not in set(placed.alarm_reason)
    assert np.isnan(placed.state_coverage).all()
    assert "uncovered state" in set(runs[LandmarkSet].alarm_reason[8:])
