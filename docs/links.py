"""A check of every link, picture and anchor inside the built site.

python -m docs.links docs/_build/html
"""

import html.parser
import pathlib
import sys
import urllib.parse

_NEEDED = {"script": "src", "img": "src", "source": "src", "video": "src", "link": "href"}


class _Page(html.parser.HTMLParser):
    """What a page points to, and what can be pointed to in it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.needed = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in _NEEDED and values.get(_NEEDED[tag]):
            self.needed.append(values[_NEEDED[tag]])


def broken(site):
    """What is wrong with the links of a site: `index.html: no such file: gone.html`.

    What a page needs to be shown must not lie outside the site, the folder of built pages.
    """
    files = sorted(pathlib.Path(site).rglob("*.html"))
    pages = {file.resolve(): _Page(file.read_text()) for file in files}
    found = []
    for file in files:
        page = pages[file.resolve()]
        for link in sorted({*page.links, *page.needed}):
            wrong = _wrong(pages, file, link, link in page.needed)
            if wrong:
                found.append(f"{file.relative_to(site)}: {wrong}: {link}")
    return found


def _wrong(pages, file, link, is_needed):
    """Why a link leads nowhere, or nothing."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme == "data":
        return None
    if parts.scheme or parts.netloc:
        return "needs a network" if is_needed else None
    target = (file.parent / urllib.parse.unquote(parts.path)) if parts.path else file
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such file"
    if "_modules" in (*file.parts, *target.parts):
        return None  # viewcode points to lines of sources that it does not mark
    anchor = urllib.parse.unquote(parts.fragment)
    page = pages.get(target.resolve())
    return "no such anchor" if anchor and page and anchor not in page.anchors else None


def main(site):
    """Prints what is broken, and returns an exit status."""
    found = broken(site)
    print("\n".join(found) or f"{site}: every link inside leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
