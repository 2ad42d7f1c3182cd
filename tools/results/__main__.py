"""Write the tables of docs/results, or say which ones differ from their raw numbers.

python -m tools.results            # write them
python -m tools.results --check    # change nothing; the exit code is 1 where a page would change
"""

import sys

from .pages import PAGES, RESULTS, rewritten
from .specifications import TABLES
from .summary import paragraphs


def main(check: bool) -> int:
    """Write the pages, or only compare them; name those that change."""
    short = paragraphs()
    changed = {page: new for page in PAGES if (new := rewritten(page, TABLES, short)) != page.read_text()}
    for page, new in changed.items():
        print(f"{'differs' if check else 'written'}: {page.relative_to(RESULTS)}")
        if not check:
            page.write_text(new)
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
