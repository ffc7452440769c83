"""Tests of agents.cli.roles: refusals. `make slow` runs the processes."""

import pytest

from agents.__main__ import main

LEARNERS = "--learners", "a:1,b:2"
SEVERAL = "learners=2", "devices=multi_worker"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["server", "actors=0"],
            "actors must be at least 1 in a run of several processes, got 0",
        ),
        (["learner", "--number", "1"], "must be from 0 to 0 with learners=1, got 1"),
        (["learner", *LEARNERS], "must have 0 addresses with learners=1"),
        (
            ["learner", *LEARNERS, "--number", "2", *SEVERAL],
            "must be from 0 to 1 with learners=2, got 2",
        ),
        (["learner", *SEVERAL], "must have 2 addresses with learners=2"),
        (["learner", "--learners", "a:1,b"], "must be HOST:PORT, got 'b'"),
        (["actor", "--number", "2"], "must be from 0 to 1 with actors=2, got 2"),
    ],
)
def test_a_role_that_the_run_has_not_is_refused(words, message, capsys, tmp_path):
    role, *others = words
    more = ["task=fake", f"logdir={tmp_path}/run"]
    if "actors=0" not in words:
        more.append("actors=2")
    assert main([role, "--server", "127.0.0.1:1", *others, *more]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not (tmp_path / "run").exists()
