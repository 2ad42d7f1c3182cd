import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmcf.numerics.poses import chained, interpolated, moved, odometry_controls, relative_motion

numbers = st.floats(-20, 20)
pose = st.tuples(numbers, numbers, st.floats(-3.1, 3.1)).map(np.array)


def matrix(pose):
    """The pose as a rigid motion of the plane."""
    x, y, heading = pose
    return np.array([[np.cos(heading), -np.sin(heading), x], [np.sin(heading), np.cos(heading), y], [0, 0, 1]])


@given(pose, pose)
def test_the_motion_between_two_poses_leads_from_one_to_the_other(before, after):
    motion = relative_motion(before, after)
    reached = moved(before, motion)
    np.testing.assert_allclose(matrix(reached), matrix(after), atol=1e-7)
    assert abs(motion[0]) <= np.pi / 2 + 1e-12


@given(st.lists(st.tuples(st.floats(-3, 3), numbers, st.floats(-3, 3)), min_size=1, max_size=5))
def test_chained_motions_are_products_of_rigid_motions(motions):
    product = np.eye(3)
    for first, way, second in motions:
        product = product @ matrix((0, 0, first)) @ matrix((way, 0, 0)) @ matrix((0, 0, second))
    np.testing.assert_allclose(matrix(moved(np.zeros(3), chained(motions))), product, atol=1e-7)


@given(pose, pose, pose)
def test_relative_motion_does_not_depend_on_the_frame(frame, before, after):
    def seen(pose):
        inside = matrix(frame) @ matrix(pose)
        return np.array([inside[0, 2], inside[1, 2], np.arctan2(inside[1, 0], inside[0, 0])])

    one, two = relative_motion(before, after), relative_motion(seen(before), seen(after))
    np.testing.assert_allclose(matrix(moved(np.zeros(3), one)), matrix(moved(np.zeros(3), two)), atol=1e-6)


def test_backing_up_is_a_negative_translation_and_standing_has_no_direction():
    np.testing.assert_allclose(relative_motion([0, 0, 0.3], [0, 0, 0.5]), [0, 0, 0.2])
    np.testing.assert_allclose(relative_motion([0, 0, 0.0], [-2, 0, 0.0]), [0, -2, 0], atol=1e-12)


def test_controls_of_a_track():
    track = np.array([[0, 0, 0], [1, 0, 0.5], [1, 1, 2.0]])
    controls = odometry_controls(track)
    np.testing.assert_allclose(controls[0], 0)
    poses = [track[0]]
    for control in controls[1:]:
        poses.append(moved(poses[-1], control))
    np.testing.assert_allclose(poses, track, atol=1e-12)
    with pytest.raises(ValueError, match=r"\(T, 3\) is needed"):
        odometry_controls(np.zeros((4, 2)))


def test_headings_are_interpolated_over_the_cut():
    poses = np.array([[0.0, 0.0, 3.0], [1.0, 2.0, -3.0], [2.0, 2.0, -2.0]])
    found = interpolated(np.array([0.0, 1.0, 2.0]), poses, np.array([-1.0, 0.25, 1.5, 9.0]))
    turn = 2 * np.pi - 6.0
    np.testing.assert_allclose(found[1], [0.25, 0.5, 3.0 + 0.25 * turn])
    np.testing.assert_allclose(found[2], [1.5, 2.0, -2.5])
    np.testing.assert_allclose(found[[0, 3]], poses[[0, 2]])
