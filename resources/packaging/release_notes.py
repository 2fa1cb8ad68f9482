"""Print what CHANGELOG.md says of a version: ``python resources/packaging/release_notes.py 0.1.0``.

With ``--metainfo`` the section is written into the AppStream file instead, for software centres.
"""

import argparse
import re
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
METAINFO = ROOT / "resources/packaging/org.privacy_explorer.PrivacyExplorer.metainfo.xml"


def section(version: str) -> str:
    """Return the section of a version, without its heading.

    Raises
    ------
    ValueError
        If there is none.
    """
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    if found is None:
        there = ", ".join(re.findall(r"^## (\S+)", text, re.MULTILINE))
        raise ValueError(f"CHANGELOG.md has no section {version!r}; there are {there}")
    return found[1].strip()


def metainfo(version: str) -> str:
    """Return the AppStream file with the section as the description of the version's release.

    Raises
    ------
    ValueError
        If either has nothing of that version.
    """
    points = re.findall(r"^- (.+)$", section(version), re.MULTILINE)
    items = "".join(f"          <li>{escape(_plain(point))}</li>\n" for point in points)
    said = f"      <description>\n        <ul>\n{items}        </ul>\n      </description>\n"
    text = METAINFO.read_text(encoding="utf-8")
    made, count = re.subn(
        rf'(<release version="{re.escape(version)}"[^>]*?)\s*(?:/>|>.*?</release>)',
        lambda found: f"{found[1]}>\n{said}    </release>",
        text,
        flags=re.DOTALL,
    )
    if count != 1:
        raise ValueError(f"{METAINFO.name} has no release {version!r}: add one, with its date")
    return made


def _plain(text: str) -> str:
    """Return a line without Markdown's marks."""
    return re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", text).replace("*", "").replace("`", "")


def main() -> None:
    """Print a section, or write it into the AppStream file."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("version")
    parser.add_argument("--metainfo", action="store_true")
    asked = parser.parse_args()
    try:
        if asked.metainfo:
            METAINFO.write_text(metainfo(asked.version), encoding="utf-8")
        else:
            print(section(asked.version))
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
