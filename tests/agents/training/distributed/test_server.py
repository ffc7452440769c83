"""Tests of agents.training.distributed.server."""

import pytest
import reverb

from agents.system.errors import UserError
from agents.training.distributed import server
from agents.training.distributed.sequences import TABLE
from agents.training.distributed.server import greet


def size(address):
    return reverb.Client(address).server_info(timeout=5)[TABLE].current_size


def test_a_new_server_has_read_every_episode_once(
    config, serve, run, handover, make_episode
):
    handover.open(0)
    handover.finish(0, make_episode(4, rows=10))
    handover.release(handover.finish(0, make_episode(2, rows=11)))
    address = serve()
    assert greet(config, address)["numbers"] == [2, 4]
    assert size(address) == (11 - 5 + 1) + (10 - 5 + 1)
    assert greet(config, serve())["serving"] != greet(config, address)["serving"]


def test_it_holds_no_more_than_the_replay_does(
    make_config, run, serve, handover, make_episode
):
    words = ["actors=1", "sequence_length=5", "replay_capacity=15", f"logdir={run.folder}"]
    config = make_config(*words)
    handover.open(0)
    for number in range(5):
        handover.finish(0, make_episode(number, rows=11))
    address = serve(config)
    assert greet(config, address)["numbers"] == [0, 1, 2, 3, 4]
    assert size(address) == 2 * (11 - 5 + 1)


def test_a_damaged_episode_is_passed_over(config, serve, handover, make_episode):
    handover.open(0)
    handover.finish(0, make_episode(0, rows=6)).write_bytes(b"no archive")
    handover.finish(0, make_episode(1, rows=6))
    assert greet(config, serve())["numbers"] == [1]


def test_another_config_or_version_is_refused_by_name(
    config, make_config, serve, monkeypatch
):
    address = serve()
    words = ["actors=2", "sequence_length=5", "seed_steps=180", "logdir=elsewhere"]
    greet(make_config(*words, "threads=3"), address)  # of each machine's own
    with pytest.raises(UserError) as error:
        greet(make_config(*words, "kl_weight=7"), address)
    assert str(error.value) == (
        f"the replay server at {address} serves another run: kl_weight is 0.1 there and "
        "7.0 here"
    )
    monkeypatch.setattr(server, "VERSION", "99.0")
    with pytest.raises(
        UserError, match="version of bayes-rl is '.*' there and '99.0' here"
    ):
        greet(config, address)


def test_who_does_not_answer_is_named(config, monkeypatch):
    monkeypatch.setattr(server, "_PATIENCE", 1)
    with pytest.raises(TimeoutError, match="no replay server answers at 127.0.0.1:1"):
        greet(config, "127.0.0.1:1")


def test_held_out_episodes_are_read_and_not_inserted(
    make_config, run, serve, handover, make_episode
):
    words = ["actors=1", "sequence_length=5", "hold_out_every=2", f"logdir={run.folder}"]
    config = make_config(*words)
    handover.open(0)
    for number in range(4):
        handover.finish(0, make_episode(number, rows=10))
    address = serve(config)
    assert greet(config, address)["numbers"] == [0, 1, 2, 3]
    assert size(address) == 2 * (10 - 5 + 1)


def test_a_server_that_is_slow_once_goes_on_serving(config, run, monkeypatch):
    """Reverb says that it took too long; the next time it counts again."""
    beats, answers = [], iter([reverb.errors.DeadlineExceededError("late"), None])
    ask = reverb.Client.server_info

    def server_info(client, timeout):
        error = next(answers)
        if error:
            raise error
        return ask(client, timeout=timeout)

    def beat(state, **counts):
        beats.append((state, counts))
        if len(beats) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(reverb.Client, "server_info", server_info)
    with pytest.raises(KeyboardInterrupt):
        server.serve(config, run, None, beat)
    (_, late, counted) = beats
    assert late[0] == counted[0] == "serving"
    assert "sequences" not in late[1]
    assert counted[1]["sequences"] == 0
