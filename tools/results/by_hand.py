"""Tables behind which there are no raw numbers in the repository."""

# Their markers name the command whose output they were written from.
BY_HAND = ("by hand from the output of: kmcf localize spikes",)
