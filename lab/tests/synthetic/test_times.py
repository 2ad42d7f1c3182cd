"""Times per step."""

from kmcf_lab.synthetic.data import simulate_data
from kmcf_lab.synthetic.times import OUR_KMCF, PRINTED_KBR, PRINTED_KMCF, STABLE, TIMED_STEPS, step_times, timed_names


def test_times_are_measured_for_all():
    data = simulate_data("1b", 40, 0, TIMED_STEPS + 1, 0)
    names = timed_names(["KMCF", "KBR", "oracle"])
    assert {PRINTED_KMCF, PRINTED_KBR, OUR_KMCF} < set(names)
    assert STABLE not in names
    rows = step_times(data, names)
    assert [row["method"] for row in rows] == names
    assert all(0 < row["milliseconds"] < 1000 for row in rows)
