"""A site is served as it is, and a browser that is not there is asked for."""

import urllib.request

from docs import browser


def test_a_site_is_served(tmp_path):
    (tmp_path / "page.html").write_text("text")
    with browser.served(tmp_path) as address, browser.served(tmp_path) as other:
        assert address != other
        assert urllib.request.urlopen(f"{address}/page.html").read() == b"text"


def test_without_chromium_a_line_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
    assert browser.main(tmp_path) == 1
    said = capsys.readouterr().err
    assert said == "Chromium is not installed (Debian, Ubuntu: apt install chromium)\n"
