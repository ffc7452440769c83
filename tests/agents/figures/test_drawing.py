"""Tests of agents.figures.drawing."""

from agents.figures import drawing
from agents.runs.grouping import Group


def test_each_of_twenty_labels_has_a_style_of_its_own():
    styles = [drawing.style(Group("", "fake", [], number)) for number in range(20)]
    assert len({tuple(style.items()) for style in styles}) == 20


def test_a_legend_says_how_many_seeds_there_are():
    group = Group("explore=Greedy", "fake", [], 0)
    assert drawing.label(group, drawing.count_seeds(3)) == "explore=Greedy, 3 seeds"
    assert drawing.label(Group("", "fake", [], 0), drawing.count_seeds(1)) == "1 seed"
