"""Links that leave this folder lead to files of the repository, which are not on the site: name them instead."""

import re
from pathlib import Path

from sphinx.application import Sphinx

LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]*)\]\((?P<target>\.\./[^)#]*)(?:#[^)]*)?\)")


def named(text: str, page: Path, root: Path) -> str:
    """Return a page's text with links that leave `root` replaced by the file's path in the repository."""

    def replaced(match: re.Match[str]) -> str:
        target = (page.parent / match["target"]).resolve()
        if target.is_relative_to(root):
            return match[0]
        path = f"`{target.relative_to(root.parent)}`"
        return path if match["words"] in path else f"{match['words']} ({path})"

    return LINK.sub(replaced, text)


def _read(app: Sphinx, name: str, content: list[str]) -> None:
    content[0] = named(content[0], Path(app.env.doc2path(name)).resolve(), Path(app.srcdir).resolve())


def setup(app: Sphinx) -> dict[str, bool]:
    """Have pages rewritten when Sphinx reads them."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
