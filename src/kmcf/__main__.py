"""``python -m kmcf`` is the ``kmcf`` command."""

from kmcf.cli import main

main()
