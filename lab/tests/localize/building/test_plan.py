"""Floor plans: walls, free space, clearance."""

import matplotlib as mpl
import numpy as np
import pytest

from kmcf_lab.localize.building import FloorPlan, Space

mpl.use("agg")


def test_walls_of_two_joined_rooms_and_a_pillar():
    plan = FloorPlan(
        (Space("a", (0, 0, 4, 4)), Space("door", (4, 1, 4.5, 2)), Space("b", (4.5, 0, 8, 4))),
        (Space("pillar", (1, 1, 2, 2)),),
    )
    lengths = np.linalg.norm(np.diff(plan.segments, axis=1)[:, 0], axis=1)
    # Perimeters less the two doorways of 1 m, the doorway's two jambs of 0.5 m, and the pillar.
    assert lengths.sum() == pytest.approx(16 + 15 - 2 + 1 + 4)
    assert len(plan.walls) == 3 + 2 + 3 + 2 + 2 + 4


def test_the_free_side_is_on_the_right_of_every_wall(building):
    plan = building.plan
    along = plan.segments[:, 1] - plan.segments[:, 0]
    right = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.linalg.norm(along, axis=1, keepdims=True)
    middles = plan.segments.mean(axis=1)
    assert plan.is_free(middles + 0.01 * right).all()
    assert not plan.is_free(middles - 0.01 * right).any()


def test_walls_separate_free_from_solid(building):
    # Between two points whose connection crosses no wall, freedom does not change.
    plan = building.plan
    rng = np.random.default_rng(0)
    x_min, y_min, x_max, y_max = plan.bounds
    start = rng.uniform((x_min, y_min), (x_max, y_max), size=(500, 2))
    end = start + rng.normal(scale=0.5, size=start.shape)

    def side(a, b, p):
        return np.sign(
            (b[..., 0] - a[..., 0]) * (p[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (p[..., 0] - a[..., 0])
        )

    a, b = plan.segments[None, :, 0], plan.segments[None, :, 1]
    p, q = start[:, None], end[:, None]
    crossings = ((side(a, b, p) != side(a, b, q)) & (side(p, q, a) != side(p, q, b))).sum(axis=1)
    assert ((plan.is_free(start) != plan.is_free(end)) == (crossings % 2 == 1)).all()


def test_clearance_is_the_distance_to_the_nearest_wall():
    plan = FloorPlan((Space("room", (0, 0, 10, 6)),), (Space("pillar", (4, 2, 5, 3)),))
    points = [[1.0, 3.0], [5.0, 5.5], [3.0, 1.0], [4.5, 2.5], [-1.0, 0.0], [8.0, 3.0]]
    np.testing.assert_allclose(plan.clearance(points), [1.0, 0.5, 1.0, 0.0, 0.0, 2.0])
    assert plan.clearance([[3.4, 1.2]])[0] == pytest.approx(min(1.2, np.hypot(0.6, 0.8)))


def test_plot_draws_every_wall(building):
    axes = building.plot(route=True)
    assert len(axes.collections[0].get_segments()) == len(building.walls)
    assert building.plot(axes) is axes


@pytest.mark.parametrize("corners", [(0, 0, 0, 1), (2, 0, 1, 1), (0, 0, np.nan, 1)])
def test_bad_rectangles(corners):
    with pytest.raises(ValueError, match="x_min, y_min, x_max, y_max"):
        FloorPlan((Space("room", corners),))


def test_empty_plan():
    with pytest.raises(ValueError, match="at least one space"):
        FloorPlan(())
