"""Every column that a run or a comparison writes is explained."""

import csv
import re

import pytest

from agents.study.compare.insights import _FORECAST, _PROBED, _SCORES
from docs.making.reference import columns


def test_page_explains_what_was_written():
    found = re.findall(r"^\| `([^`]+)` \| (.+) \|$", columns.page(), re.MULTILINE)
    explained = dict(found)
    assert {
        "train/weight_kl",
        "train/novelty_loss",
        "evaluation_episode",
        "iqm_low",
        "probability",
    } <= set(explained)
    assert all(explained.values())


def test_signs_of_tables_and_of_html_stay_in_their_cell():
    row = columns.table(["deviation_50"]).splitlines()[-1]
    assert row == r"| `deviation_50` | mean over dimensions of \| coverage - 0.5 \| |"
    assert r"spread\_\<n\>" in columns.table(["measure"])


def test_columns_of_probes_and_calibration_are_explained():
    for column in (*_PROBED, *_FORECAST, *_SCORES):
        assert columns.meaning(column)


def test_column_that_nobody_explained_is_named():
    with pytest.raises(KeyError, match="does not say what 'new_column' means"):
        columns.meaning("new_column")


def test_a_metric_says_what_its_table_says():
    assert columns.meaning("train/weight_kl/gru").startswith("the same for one layer")
    assert columns.meaning("agent_steps") == "actions chosen until then"
    with pytest.raises(KeyError, match="agents/runs/metrics.csv does not say"):
        columns.meaning("train/new")


def test_a_packed_table_has_its_columns_too():
    packed = columns.RESULTS / "calibration/tables/calibration.csv.gz"
    assert packed.exists()
    assert "coverage_80" in columns.columns_of("calibration")


def test_headers_are_those_of_the_files():
    with open(columns.RESULTS / "rare_reward/tables/runs.csv", newline="") as handle:
        header = next(csv.reader(handle))
    assert set(header) <= set(columns.columns_of("runs"))
