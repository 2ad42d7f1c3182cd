"""Names of test parameters."""

import re


def plain_id(value):
    """Name a parameter without addresses in memory, which differ between the workers of a parallel run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
