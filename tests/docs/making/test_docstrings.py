"""Docstrings stay as they read in a terminal."""

import bayes_rl as ed
from docs.making.docstrings import readable, signature


def test_formula_is_literal():
    lines = ["Sum.", "", "    y = a * b", "      + c", "", "After.", ""]
    assert readable(lines) == [
        *[
            "Sum.",
            "",
            ".. code-block:: text",
            "",
            "    y = a * b",
            "      + c",
            "",
            "After.",
            "",
        ]
    ]


def test_what_follows_a_line_deeper_is_literal_and_the_rest_of_an_item_is_not():
    lines = ["A list [a, b] of", "    a: one", "        more.", "", "- an item of", "  two"]
    assert readable(lines) == [
        "A list [a, b] of",
        *["", ".. code-block:: text", "", "    a: one", "        more.", ""],
        *["- an item of", "  two"],
    ]


def test_sections_are_left_to_napoleon():
    lines = ["Sum.", "", "Args:", "    a: one.", "", "    b: two."]
    assert readable(lines) == lines


def test_signs_mean_nothing_but_in_code():
    assert readable(["KL(q || p) of a_ and `b_` * c"]) == [
        r"KL(q \|\| p) of a\_ and `b_` \* c"
    ]


def test_examples_and_lists_are_kept():
    lines = ["Example:", "    >>> 2 * 3", "    6", "", "* one", "* two"]
    assert readable(lines) == lines


def test_arguments_of_a_layer_are_shown():
    shown = signature(ed.layers.DenseFlipout)
    assert shown.startswith("(units, activation=None, use_bias=True, kernel_initializer=")
