"""The command line: words a person types, no mathematics."""

import sys


def main() -> None:
    """Run the ``kmcf`` command."""
    try:
        from kmcf.cli.app import app
    except ImportError as error:
        sys.exit(f"kmcf: the command line needs typer and rich ({error}); install them with: pip install 'kmcf[cli]'")
    except KeyboardInterrupt:
        sys.exit(130)
    app(prog_name="kmcf")
