"""What the site is made with: formulas without a network, links, the check for things loaded from elsewhere."""

import importlib.util
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parent.parent / "docs" / "extensions"


def extension(name):
    spec = importlib.util.spec_from_file_location(name, EXTENSIONS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("kind", "content", "found"),
    [
        (".html", '<script src="https://cdn.test/a.js"></script>', ["https://cdn.test/a.js"]),
        (".html", '<link rel="stylesheet" href="//fonts.test/f.css">', ["//fonts.test/f.css"]),
        (".html", '<img src="http://pictures.test/p.png">', ["http://pictures.test/p.png"]),
        (".html", "<style>@import 'https://fonts.test/f.css';</style>", ["https://fonts.test/f.css"]),
        (".css", 'div { background: url("https://x.test/i.png") }', ["https://x.test/i.png"]),
        (".html", '<a href="https://elsewhere.test">read on</a><img src="_images/p.png">', []),
        (".css", "div { background: url(_static/i.png) }", []),
        (".html", '<img src="data:image/png;base64,AA//BB">', []),
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(kind, content, found):
    assert extension("offline").loaded_from_elsewhere(content, kind) == found


def test_the_check_tells_by_its_exit_code(tmp_path, capsys):
    offline = extension("offline")
    assert offline.main(str(tmp_path)) == 2
    (tmp_path / "index.html").write_text("<p>fine</p>")
    assert offline.main(str(tmp_path)) == 0
    (tmp_path / "index.html").write_text('<script src="https://cdn.test/a.js"></script>')
    assert offline.main(str(tmp_path)) == 1
    assert "index.html: https://cdn.test/a.js" in capsys.readouterr().out


def test_links_that_leave_the_pages_name_the_file(tmp_path):
    pytest.importorskip("sphinx", reason="Sphinx (the extra kmcf[docs]) is not installed")
    named, root = extension("repository_links").named, tmp_path / "docs"
    page = root / "results" / "README.md"
    assert named("[laboratory](../../lab/README.md#x)", page, root) == "laboratory (`lab/README.md`)"
    assert named("[`lab/README.md`](../../lab/README.md)", page, root) == "`lab/README.md`"
    assert named("[alarms](../alarms.md)", page, root) == "[alarms](../alarms.md)"
    assert named("![picture](../../p.png)", page, root) == "![picture](../../p.png)"


def test_formulas_are_drawings_that_say_what_they_are():
    pytest.importorskip("sphinx", reason="Sphinx (the extra kmcf[docs]) is not installed")
    formulas = extension("local_formulas")
    shown = formulas.shown(r"\lambda < (G + n\varepsilon I)^{-1}", block=False)
    assert shown.startswith("<svg")
    assert r'aria-label="\lambda &lt; (G + n\varepsilon I)^{-1}"' in shown
    assert formulas.shown(r"a &= b \\ &= c", block=True).startswith("<math")  # several lines
