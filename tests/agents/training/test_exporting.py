"""Tests of agents.training.exporting, beside those of the command."""

from absl import logging

from agents.training import exporting


def test_notices_are_kept_off_the_screen_whoever_sets_levels(caplog):
    before = logging.get_verbosity()
    try:
        with exporting._quiet():
            logging.set_verbosity(logging.WARNING)  # as TensorFlow does while it saves
            logging.warning("a notice")
            logging.error("an error")
        logging.warning("another")
    finally:
        logging.set_verbosity(before)
    assert [record.getMessage() for record in caplog.records] == ["an error", "another"]
