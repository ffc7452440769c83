"""A check of the built site in a browser: Chromium opens its pages, as readers do.

python -m docs.browser docs/_build/html
"""

import contextlib
import functools
import http.server
import pathlib
import shutil
import sys
import threading

_MISSING = "Chromium is not installed (Debian, Ubuntu: apt install chromium)"
# Playwright adds --headless, --no-sandbox, an empty profile, and more that keeps it quiet.
_OPTIONS = ("--disable-gpu", "--disable-quic", "--disable-sync")
_PHONE = {"width": 390, "height": 844}
_GALLERY = "made/gallery.html"
_WORDS = "posterior_scale", "DenseFlipout"  # of a key and of a layer
_MOST_RESULTS = 5  # of a search that a reader opens
# Furo hides what goes beyond the page; its column of text is what can be scrolled.
_SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(".content")]
    .some(part => part.scrollWidth > part.clientWidth)"""
_MILLISECONDS = 20_000  # that a film or a search may take


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@contextlib.contextmanager
def served(site):
    """The address of a site while this process serves it, on a free port."""
    handler = functools.partial(_Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def faults(site, chromium):
    """What a reader would see go wrong: `made/gallery.html: scrolls sideways on a phone`.

    The site is the folder of the built pages, chromium the path of the program.
    """
    from playwright.sync_api import sync_playwright

    with served(site) as address, sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=_OPTIONS)
        found, page = [], started.new_page()
        page.on("console", lambda said: found.extend(_errors(page, said)))
        page.on("pageerror", lambda error: found.append(_at(page, error)))
        found += _films(page, address)
        for word in _WORDS:
            found += _search(page, address, word)
        page.set_viewport_size(_PHONE)
        found += _widths(page, address, site)
        started.close()
    return [line.replace(f"{address}/", "") for line in found]


def _at(page, what):
    return f"{page.url}: {what}"


def _errors(page, said):
    """What a page says in the console as an error, and of which file."""
    where = said.location["url"]
    return [_at(page, f"{said.text} {where}")] if said.type == "error" else []


def _films(page, address):
    """Plays every film of the gallery for a moment."""
    from playwright.sync_api import TimeoutError

    page.goto(f"{address}/{_GALLERY}")
    films, found = page.locator("video").all(), []
    for film in films:
        film.evaluate("film => void film.play()")
        try:
            started = "film => film.currentTime > 0.1"
            page.wait_for_function(
                started, arg=film.element_handle(), timeout=_MILLISECONDS
            )
        except TimeoutError:
            found.append(_at(page, f"does not play: {film.get_attribute('src')}"))
        film.evaluate("film => film.pause()")
    return found if films else [_at(page, "has no film")]


def _search(page, address, word):
    """Opens what a search finds, until a page has the word."""
    from playwright.sync_api import TimeoutError

    page.goto(f"{address}/search.html?q={word}")
    results = page.locator("#search-results li a")
    try:
        results.first.wait_for(timeout=_MILLISECONDS)
    except TimeoutError:
        return [_at(page, "finds nothing")]
    opened = results.all()[:_MOST_RESULTS]
    for link in [result.evaluate("link => link.href") for result in opened]:
        page.goto(link)
        if word in page.inner_text("article"):
            return []
    return [f"{address}/search.html?q={word}: leads to no page that has the word"]


def _widths(page, address, site):
    """Opens every page but those of sources, and tries to scroll it sideways."""
    found = []
    for file in sorted(pathlib.Path(site).rglob("*.html")):
        if "_modules" not in file.parts:
            page.goto(f"{address}/{file.relative_to(site).as_posix()}")
            if page.evaluate(_SIDEWAYS):
                found.append(_at(page, "scrolls sideways on a phone"))
    return found


def main(site):
    """Prints what is wrong, and returns an exit status."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        print(_MISSING, file=sys.stderr)
        return 1
    found = faults(site, chromium)
    print(
        "\n".join(found) or f"{site}: films play, words are found, every page fits a phone"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
