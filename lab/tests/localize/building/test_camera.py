"""The geometry of the camera against closed forms."""

import numpy as np
import pytest

from kmcf_lab.localize.building import LIGHTINGS, Camera, FloorPlan, Lighting, Space
from kmcf_lab.localize.building.surfaces import WALL_HEIGHT, Surfaces
from kmcf_lab.localize.building.textures import make_atlas

ROOM = FloorPlan((Space("room", (0, 0, 10, 6)),))
PLAIN = {"noise": 0.0, "vignetting": 0.0, "automatic_exposure": 0.0, "unsteadiness": 0.0}


def painted(plan, wall=0.5, floor=0.1, ceiling=0.9):
    """Surfaces of one shade each."""

    walls = make_atlas([np.full((48, round(16 * w.length)), wall, dtype=np.float32) for w in plan.walls], 16.0)
    surfaces = [make_atlas([np.full((56, 56), shade, dtype=np.float32)], 4.0) for shade in (floor, ceiling)]
    light = [np.zeros_like(atlas.values) for atlas in (walls, *surfaces)]
    return Surfaces(
        walls, light[0], surfaces[0], light[1], surfaces[1], light[2], np.arange(len(plan.walls)), (-2.0, -2.0)
    )


def test_depth_is_the_perpendicular_distance_without_fisheye():
    hits = Camera(width=81).cast([3.0, 3.0, 0.0], ROOM.segments)
    # Straight at a flat wall every column that sees it has the same depth.
    facing = np.abs(hits.depth - 7.0) < 1e-12
    tangents = (np.arange(81) + 0.5 - 40.5) / Camera(width=81).focal_length
    np.testing.assert_array_equal(facing, np.abs(tangents) < 3 / 7)
    # The others see the side walls, 3 m to the left and right.
    np.testing.assert_allclose(hits.depth[~facing], 3.0 / np.abs(tangents[~facing]))


@pytest.mark.parametrize("pose", [(2.0, 1.0, 0.3), (9.0, 5.5, -2.5), (5.0, 3.0, 1.5707963)])
def test_hits_lie_on_their_walls_and_rays(pose):
    camera = Camera()
    hits = camera.cast(pose, ROOM.segments)
    start, end = ROOM.segments[hits.wall].transpose(1, 0, 2)
    along = (end - start) / np.linalg.norm(end - start, axis=1, keepdims=True)
    points = start + hits.place[:, None] * along
    angle = pose[2] - np.arctan((np.arange(160) + 0.5 - 80) / camera.focal_length)
    distance = hits.depth / np.cos(angle - pose[2])
    expected = np.array(pose[:2]) + distance[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    np.testing.assert_allclose(points, expected, atol=1e-9)
    on_border = np.abs(points / [10.0, 6.0] - 0.5).max(axis=1)
    np.testing.assert_allclose(on_border, 0.5)


def test_column_height_is_inversely_proportional_to_distance():
    camera = Camera(width=21, height=601, field_of_view=20.0, **PLAIN)
    building = painted(ROOM)
    for distance in (3.0, 6.0, 9.0):
        radiance = camera.render(
            [[10.0 - distance, 3.0, 0.0]], ROOM.segments, building, Lighting(1.3, 0, 0), np.random.default_rng(0)
        )
        column = radiance[0, :, 10].astype(float)
        bright = np.abs(np.diff(column)).argsort()[-2:]
        assert np.ptp(bright) == pytest.approx(camera.focal_length * WALL_HEIGHT / distance, abs=1.01)
        # The lens is 1 m above the floor: two thirds of the wall are above the horizon.
        assert 299.5 - bright.min() == pytest.approx(camera.focal_length * 2.0 / distance, abs=1.01)


def test_mirrored_pose_in_a_symmetric_room_gives_the_mirrored_image():
    surfaces = painted(ROOM, wall=0.4)
    camera = Camera(**PLAIN)
    poses = [[2.0, 1.2, 0.4], [2.0, 4.8, -0.4]]
    image, mirrored = camera.render(poses, ROOM.segments, surfaces, LIGHTINGS["cloudy"], np.random.default_rng(0))
    assert np.ptp(image) > 50
    assert np.abs(image.astype(int) - mirrored[:, ::-1]).max() <= 1


def test_a_mark_on_a_wall_appears_where_perspective_says():
    surfaces = painted(ROOM, wall=0.5, floor=0.5, ceiling=0.5)
    wall = next(number for number, wall in enumerate(ROOM.walls) if wall.start == (10.0, 6.0))
    textures = [np.full((48, round(16 * w.length)), 0.5, dtype=np.float32) for w in ROOM.walls]
    textures[wall][24:26, 32:34] = 0.0  # 2 m from the left end (y = 4), 1.5 m high
    atlas = make_atlas(textures, 16.0)
    marked = Surfaces(**{**vars(surfaces), "wall_matter": atlas, "wall_light": np.zeros_like(atlas.values)})
    camera = Camera(width=640, height=480, **PLAIN)
    (image,) = camera.render([[7.0, 2.0, 0.3]], ROOM.segments, marked, Lighting(1.0, 0, 0), np.random.default_rng(0))
    difference = 255.0 - image.astype(float)
    difference[image > 60] = 0.0
    row, column = (
        np.average(np.arange(size), weights=difference.sum(axis=axis)) for axis, size in ((1, 480), (0, 640))
    )
    mark = np.array([10.0, 6.0 - 33 / 16]) - [7.0, 2.0]
    depth = mark @ [np.cos(0.3), np.sin(0.3)]
    right = mark @ [np.sin(0.3), -np.cos(0.3)]
    assert column + 0.5 - 320 == pytest.approx(camera.focal_length * right / depth, abs=2.0)
    assert row + 0.5 - 240 == pytest.approx(-camera.focal_length * (25 / 16 - 1.0) / depth, abs=2.0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"width": 0}, "width = 0"),
        ({"height": 2.5}, "height = 2.5"),
        ({"field_of_view": 180.0}, "between 0 and 180"),
        ({"elevation": 3.5}, "elevation = 3.5"),
        ({"noise": -1.0}, "noise = -1.0"),
        ({"automatic_exposure": 2.0}, "from 0 to 1"),
    ],
)
def test_bad_cameras(setting, message):
    with pytest.raises(ValueError, match=message):
        Camera(**setting)
