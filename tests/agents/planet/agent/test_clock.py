"""Tests of agents.planet.agent.clock."""

from agents.planet.agent.clock import Clock


def counts(clock):
    return int(clock.episodes), int(clock.environment_steps), int(clock.agent_steps)


def test_starts_at_zero():
    clock = Clock()
    assert counts(clock) == (0, 0, 0)


def test_steps_of_episodes_are_summed():
    clock = Clock()
    clock.advance(episodes=1, agent_steps=5, environment_steps=20)
    clock.advance(episodes=2, agent_steps=3, environment_steps=10)
    assert counts(clock) == (2, 30, 8)


def test_all_counts_are_kept_in_checkpoints():
    names = {variable.name.split(":")[0] for variable in Clock().variables}
    assert names == {"episodes", "environment_steps", "agent_steps"}


def test_what_is_replayed_before_it_is_counted_counts_as_replayed():
    clock = Clock(replay_capacity=50, hold_out_every=4)
    clock.steps_from_start = 40
    clock.advance(episodes=1, agent_steps=20, environment_steps=20)
    assert float(clock.replay_steps) == 30
    clock.advance(episodes=2, agent_steps=60, environment_steps=60)
    assert float(clock.replay_steps) == 50


def test_rewards_are_counted_where_a_strategy_asks():
    clock = Clock(counts_rewards=True)
    for rewards in (3, 7):  # of all episodes until then
        clock.advance(1, agent_steps=5, environment_steps=20, rewards=rewards)
    assert [int(count) for count in clock.elapsed] == [40, 7]
    assert "rewards:0" in {variable.name for variable in clock.variables}


def test_rewards_are_unknown_where_none_asks():
    clock = Clock()
    clock.advance(1, agent_steps=5, environment_steps=20, rewards=3)
    assert clock.elapsed.rewarded_episodes is None


def test_replay_steps_stop_at_the_capacity():
    clock = Clock(replay_capacity=30)
    for episodes, expected in ((1, 20.0), (2, 30.0)):
        clock.advance(episodes, agent_steps=20, environment_steps=40)
        assert clock.replay_steps.numpy() == expected


def test_the_share_of_steps_that_is_held_out_is_not_in_the_replay():
    clock = Clock(hold_out_every=4)
    clock.advance(1, agent_steps=20, environment_steps=40)
    assert clock.replay_steps.numpy() == 15.0
