"""The page of commands is what they say."""

import re

from docs.making.reference import helps


def test_every_command_is_shown_with_its_help():
    page = helps.page()
    wanted = {
        "train",
        "learn",
        "evaluate",
        "probe",
        "calibrate",
        "plot",
        "compare",
        "video",
        "export",
        "migrate",
    }
    assert wanted == set(helps.commands())
    assert re.findall(r"^## (\w+)$", page, re.MULTILINE) == helps.commands()
    for name in helps.commands():
        assert f"usage: bayes-rl {name}" in page
