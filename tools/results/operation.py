"""Tables of endurance/README.md and serve/README.md, which docs/results/operation.md leads to."""

from kmcf_lab.commands.bench_serve import WORDS

from .rendering import Row, Table


def in_lines(rows: list[Row]) -> list[Row]:
    """Return a row for each number."""
    return [{"words": words, "value": rows[0][name]} for name, words in WORDS.items()]


TABLES = [
    Table(
        "endurance",
        "endurance/bench_endurance.json",
        (
            ("trial", "{trial}"),
            ("tried", "{tried}"),
            ("held", "{held}"),
            ("measured", "{measured}"),
            ("s", "{seconds:.0f}"),
        ),
    ),
    Table(
        "serve",
        "serve/bench_serve.json",
        (("what", "{words}"), ("measured", "{value}")),
        rows="measured",
        prepare=in_lines,
    ),
]
