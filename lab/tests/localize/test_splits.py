"""Folds by leaving one recording out."""


def test_a_test_track_is_never_among_its_examples(radio):
    folds = radio.folds()
    assert [fold.name for fold in folds] == ["walk_0", "walk_1", "walk_2"]
    for fold in folds:
        examples = {row.tobytes() for row in fold.observations}
        assert not examples & {row.tobytes() for row in fold.test.observations}
        assert fold.size == sum(len(one) for one in fold.training) == 48
        assert fold.name not in [one.name for one in fold.training]
