"""Tables behind which there are no raw numbers in the repository."""

# Their markers name the command whose output they were written from. There are none at present.
BY_HAND: tuple[str, ...] = ()
