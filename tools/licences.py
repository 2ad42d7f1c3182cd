"""List the licences of everything that kmcf's extras bring, and fail where one does not go with BSD-3-Clause.

Run in an environment where they are installed. Kmcf links to nothing: it imports these packages, which users install
from their own distributions. Permissive and weak-copyleft licences are therefore compatible; the GPL would not be.
"""

import importlib.metadata as metadata
import re
import sys

FINE = re.compile(
    r"\b(BSD|MIT|Apache|PSF|Python Software Foundation|ISC|Zlib|HPND|MPL|Unlicense|0BSD|CC0|BSL|EPL|EDL)", re.I
)
NOT_FINE = re.compile(r"\b(AGPL|GPL|GNU (?:Affero )?General Public)", re.I)
EXCEPTIONS = re.compile(r"GCC[- ](?:runtime|exception)|runtime library exception|LGPL|Lesser", re.I)


def licence(name: str) -> str:
    """Return what a distribution says of its licence, in one line."""
    about = metadata.metadata(name)
    trove = [line.rsplit(" :: ", 1)[-1] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    named = about.get("License-Expression") or ", ".join(name for name in trove if name != "OSI Approved")
    return (named or (about.get("License") or _first_line(name)).strip().splitlines()[0])[:80]


def _first_line(name: str) -> str:
    """Return the first line of a distribution's licence file, for those that say nothing elsewhere."""
    texts = [file for file in metadata.files(name) or [] if file.name.upper().startswith(("LICENSE", "LICENCE"))]
    return next((line for file in texts for line in file.read_text().splitlines() if line.strip()), "unknown")


def verdict(said: str) -> str:
    """Return "fine", "not fine" or "look" for a licence.

    Examples
    --------
    >>> verdict("BSD-3-Clause"), verdict("GPL-3.0-or-later"), verdict("unknown")
    ('fine', 'not fine', 'look')
    >>> verdict("BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1")
    'fine'
    """
    if NOT_FINE.search(said) and not EXCEPTIONS.search(said):
        return "fine" if re.search(r"\bOR\b", said) and FINE.search(said) else "not fine"
    return "fine" if FINE.search(said) or EXCEPTIONS.search(said) else "look"


def needed(
    root: str = "kmcf", extras: tuple[str, ...] = ("all", "jax", "nwb", "distributed", "mqtt", "mcap")
) -> set[str]:
    """Return the installed distributions that a distribution needs with its extras, directly or not."""
    found: set[str] = set()
    waiting = [(root, extras)]
    while waiting:
        name, chosen = waiting.pop()
        for line in metadata.requires(name) or []:
            match = re.match(r"([\w.-]+)\s*(?:\[([\w, -]+)\])?", line)
            wanted = re.findall(r"extra\s*==\s*['\"]([\w-]+)['\"]", line)
            if match is None or (wanted and not set(wanted) & set(chosen)):
                continue
            other = re.sub(r"[-_.]+", "-", match[1]).lower()
            inner = tuple(part.strip() for part in (match[2] or "").split(",") if part.strip())
            if (other in found and not inner) or not _installed(other):
                continue
            if other != root:
                found.add(other)
            waiting.append((other, inner))
    return found


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    rows = [(name, metadata.version(name), licence(name)) for name in sorted(needed())]
    for name, version, said in rows:
        print(f"{verdict(said):9} {name:28} {version:16} {said}")
    print(f"{len(rows)} distributions")
    sys.exit(any(verdict(said) == "not fine" for _, _, said in rows))
