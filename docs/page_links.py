"""Links between pages, some of which are symbolic links to files elsewhere in the repository.

``changelog.md``, ``results/``, ``tutorials/`` and others are such: nothing is written twice. Links
in Markdown are seen from where a file really is, as they are on the web: one to a file that has a
page becomes a link to that page, one to any other file becomes its text and path.
"""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
DIAGRAM = re.compile(r"^```mermaid\n.*?^```\n", flags=re.MULTILINE | re.DOTALL)


def pages() -> dict[Path, Path]:
    """Where a real file is to be found below ``docs``, of all files of the site."""
    found = {}
    for folder, _, names in os.walk(DOCS, followlinks=True):
        for name in names:
            path = Path(folder, name)
            found[path.resolve()] = path.relative_to(DOCS)
    return found | {ROOT / "README.md": Path("index.md")}


def rewrite(text: str, docname: str, real: Path, known: dict[Path, Path]) -> str:
    """The text of a file as a page of the site."""

    def link(match: re.Match[str]) -> str:
        mark, words, target, anchor = match.groups()
        page = known.get((real.parent / target).resolve())
        if page is None:
            return f"{words} (`{target}`)" if words.strip("`") != target else f"`{target}`"
        if page.suffix in (".md", ".ipynb"):
            return f"{{doc}}`{words.replace('`', '')} </{page.with_suffix('')}>`"
        return f"{mark}[{words}]({os.path.relpath(page, Path(docname).parent)}{anchor or ''})"

    text = DIAGRAM.sub("", LINK.sub(link, text))  # diagrams would need a network
    if not re.match(r"\s*# ", text):
        text = f"# {real.stem.replace('_', ' ').capitalize()}\n\n{text}"
    return text


def on_source_read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Rewrite a page in Markdown."""
    path = DOCS / f"{docname}.md"
    if path.exists():
        source[0] = rewrite(source[0], docname, path.resolve(), pages())


def setup(app: Sphinx) -> dict[str, bool]:
    """Register."""
    app.connect("source-read", on_source_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
