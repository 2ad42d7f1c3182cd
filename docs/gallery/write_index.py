"""Write the gallery's README.md from the docstrings of its scripts.

python docs/gallery/write_index.py          # the index only
python docs/gallery/write_index.py --run    # run all scripts first, so that their pictures are new, too
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEAD = """# Gallery

Short scripts on different problems, each with one picture. They need `pip install 'kmcf[all]'` and run as they stand;
each writes its picture into the current folder. With the environment variable `KMCF_QUICK=1` they take smaller data and
a second or two (the tests run them this way). `make gallery` runs them all and writes this page.
"""


def scripts() -> list[Path]:
    """Return the gallery's scripts in alphabetical order."""
    return sorted(path for path in HERE.glob("*.py") if path.name != Path(__file__).name)


def entry(script: Path) -> str:
    """Return a script's part of the index: title, picture, and what its docstring says."""
    title, about, *rest = (ast.get_docstring(ast.parse(script.read_text())) or "").split("\n\n")
    notes = " ".join(" ".join(rest).split())
    return (
        f"## {title.rstrip('.')}\n\n{about}\n\n![{title.rstrip('.')}]({script.stem}.png)\n\n"
        f"[{script.name}]({script.name}). {notes}\n"
    )


def index() -> str:
    """Return the text of README.md."""
    return "\n".join([HEAD, *map(entry, scripts())])


if __name__ == "__main__":
    if "--run" in sys.argv:
        for script in scripts():
            print(script.name, flush=True)
            subprocess.run([sys.executable, script.name], cwd=HERE, env={**os.environ, "MPLBACKEND": "agg"}, check=True)
    (HERE / "README.md").write_text(index())
