"""Tables behind which there are no raw numbers in the repository, and pages that a command writes as a whole."""

# Their markers name the command whose output they were written from.
BY_HAND = (
    "by hand from the output of: kmcf localize ble, mrclam, intel, freiburg",
    "by hand from the output of: kmcf localize spikes",
)

# Pages, and the command whose report they are; an introduction was added by hand.
WHOLE_PAGES = {
    "abc/README.md": "kmcf reproduce abc",
    "normalisation/README.md": "kmcf reproduce normalisation",
    "synthetic/README.md": "kmcf reproduce synthetic",
}
