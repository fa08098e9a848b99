"""The pages of the documentation: every link and picture leads somewhere, and every page is in the site's menu."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: What people read in the repository itself.
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "deploy/README.md")]
PAGES = [*FRONT, *sorted((ROOT / "examples").rglob("*.md")), *sorted(DOCS.rglob("*.md"))]
_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ ]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_NAMED = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} (.+?)(?: #+)?$", re.MULTILINE)
_PICTURE = re.compile(r"<img[^>]*\bsrc=[\"']([^\"']+)")


def prose(page: Path) -> str:
    """The text of a page without its code."""
    return _CODE.sub("", _FENCE.sub("", page.read_text()))


def links(page: Path) -> list[str]:
    """Where the links and pictures of a page lead."""
    text = prose(page)
    return [*_LINK.findall(text), *_NAMED.findall(text), *_PICTURE.findall(text)]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site name them."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", page.read_text())):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).strip().replace(" ", "-")
        found |= {slug, re.sub(r"-{2,}", "-", slug)}
    return found


def pages_of(menu: Any) -> set[str]:
    """The pages that a menu names, at any depth."""
    if isinstance(menu, str):
        return {menu}
    inside = menu.values() if isinstance(menu, dict) else menu
    return {page for one in inside for page in pages_of(one)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """Files and headings that a page links to are there."""
    broken = []
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)

    assert [] == broken


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_of_the_site_links_inside_it(page: Path) -> None:
    """A link out of `docs/` works in the repository and is dead on the site."""
    local = [unquote(link).partition("#")[0] for link in links(page) if not re.match(r"[a-z]+:", link)]

    assert [] == [name for name in local if name and DOCS not in (page.parent / name).resolve().parents]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_loads_nothing_from_elsewhere(page: Path) -> None:
    """Whoever reads a page is told to nobody: pictures are in the repository."""
    text = prose(page)
    pictures = [*re.findall(r"!\[[^\]]*\]\(\s*<?([^)\s>]+)", text), *_PICTURE.findall(text)]

    assert [] == [picture for picture in pictures if "//" in picture]


def test_every_page_is_in_the_menu() -> None:
    """A page that the menu lacks is found by nobody, and a name without a page is a dead entry.

    The decisions have a list of their own.
    """
    decisions = DOCS / "decisions"
    there = {page for page in DOCS.rglob("*.md") if page.parent != decisions} | {decisions / "README.md"}

    assert {str(page.relative_to(DOCS)) for page in there} == pages_of(
        yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    )


def test_every_decision_is_in_its_list() -> None:
    """The list of decisions names each page, and only pages that are there."""
    listed = {link for link in links(DOCS / "decisions" / "README.md") if link.endswith(".md")}

    assert {page.name for page in (DOCS / "decisions").glob("*.md")} - {"README.md"} == listed


def test_each_step_of_the_way_in_is_there() -> None:
    """CONTRIBUTING leads through functions by their file and name; each of them is in that file."""
    steps = re.findall(r"`([\w/]+\.py)(?::(\w+))?`", (ROOT / "CONTRIBUTING.md").read_text())
    gone = [
        (file, name)
        for file, name in steps
        if not (ROOT / file).is_file() or (name and f"def {name}(" not in (ROOT / file).read_text())
    ]

    assert len(steps) > 20
    assert [] == gone
