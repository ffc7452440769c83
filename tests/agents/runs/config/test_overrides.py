import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from agents.planet.value import NoValue
from agents.runs.config import overrides
from agents.runs.config.schema import make_config
from agents.system.errors import UserError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["explore=gredy"],
            "got 'gredy'; did you mean 'greedy'?",
        ),
        (
            ["planner=cme"],
            "planner must be one of cem, icem, got 'cme'; did you mean 'cem'?",
        ),
        (
            ["planner.kind=cem"],
            "planner.kind cannot be set; write planner=CHOICE, which sets it",
        ),
        (["planner=null"], "planner must be one of cem, icem, got None"),
        (["experiment=debgu"], "did you mean 'debug'?"),
        (["plannr=cem"], "there is no key 'plannr'; did you mean 'planner'?"),
        (["horizon=3"], "there is no key 'horizon'; did you mean 'planner.horizon'?"),
        (["image={size:64,camra:3}"], "no key 'image.camra'; did you mean 'image.camera'?"),
        (
            ["planner=cem", "planner.momentum=0.1"],
            "planner=cem has no key 'momentum'; planner=icem has it",
        ),
        (
            ["experiment=paper", "planner.momentum=0.1"],
            "planner=cem has no key 'momentum'; planner=icem has it",
        ),
        (
            ["explore=noise", "explore.redraw=decision"],
            "explore=noise has no key 'redraw'; explore=thompson, "
            "explore=thompson_decision, explore=thompson_groups have it",
        ),
        (
            ["explore=noise", "explore.draws=3"],
            "explore=noise has no key 'draws'; explore=conditional_value_at_risk, "
            "explore=disagreement, explore=disagreement_if_rare, ... have it",
        ),
        (
            ["explore=thompson", "draws=3"],
            "there is no key 'draws'; did you mean 'explore.draws'?",
        ),
        (
            ["planner.cem=3"],
            "there is no key 'planner.cem'; write planner=cem",
        ),
        (
            ["explore.xyz=3"],
            "there is no key 'explore.xyz'; bayes-rl train --help has them all",
        ),
        (["hydra.run.dir=x"], "there is no key 'hydra.run.dir'"),
        (["seed"], "cannot read 'seed'; write seed=VALUE, without spaces around ="),
        (["planner"], "cannot read 'planner'; write planner=VALUE"),
        (["explore.beta"], "cannot read 'explore.beta'; write explore.beta=VALUE"),
        (["tsk"], "write key=value, without spaces around =; did you mean 'task'?"),
        (
            ["task = walker_walk"],
            "cannot read 'task = walker_walk'; there must be no spaces around =: "
            "task=walker_walk",
        ),
        ([""], "cannot read ''; write key=value"),
        (["task=[a"], "cannot read 'task=[a'; put quotes around the value"),
        (["+x=3"], "cannot read '+x=3'; keys can only be set"),
        (["~planner"], "cannot read '~planner'; keys can only be set"),
        (["seed=0,1"], "seed=0,1 has several values; add -m"),
        (["logdir=${tsk}"], "'tsk' not found"),
        (["logdir="], "logdir must be a word, got nothing"),
        (["batch_size="], "batch_size must be a whole number, got nothing"),
        (["task=cartpole_swingp"], "did you mean 'cartpole_swingup'?"),
        (["seed=4294967296"], "seed must be"),
    ],
)
def test_wrong_word_is_an_error_of_one_line(words, message):
    with pytest.raises(UserError) as error:
        overrides.load(words)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_all_keys_are_those_of_every_choice_and_the_groups():
    keys = overrides.all_keys()
    assert len(set(keys)) == len(keys)
    expected = {"seed", "image.size", "explore", "explore.beta", "planner.momentum"}
    assert expected <= set(keys)
    assert "image" not in keys


def test_words_change_their_keys_alone():
    default, changed = overrides.load([]), overrides.load(["seed=3", "planner.horizon=8"])
    assert (changed.seed, changed.planner.horizon) == (3, 8)
    assert changed.planner.candidates == default.planner.candidates


def test_words_are_set_as_hydra_sets_them():
    words = [
        "planner=cem",
        "planner.horizon=8",
        "evaluation={every_steps: 60}",
        "seed=int(4.0)",
    ]
    words += ["logdir='a, b'", "action_repeat=null", "image={size: 32, shadows: false}"]
    with initialize_config_module("configs", version_base="1.3"):
        composed = OmegaConf.to_container(compose("train", words))
    assert overrides.load(words) == make_config(composed)


def test_words_win_over_a_preset_wherever_they_stand():
    assert overrides.load(["batch_size=7", "experiment=debug"]).batch_size == 7


def test_a_preset_says_nothing_of_a_choice_that_is_not_taken():
    preset = "experiment=discrete_actions"
    assert overrides.load([preset]).value.target_steps == 5
    other = overrides.load([preset, "value=none"])
    assert isinstance(other.value, NoValue)
    assert other.seed_steps == overrides.load([preset]).seed_steps


def test_run_folder_is_named_after_task_strategy_and_seed():
    config = overrides.load(["task=gym:Pendulum-v1", "seed=2"])
    assert config.logdir == "logdir/gym_Pendulum-v1/disagreement_if_rare/2"


def test_a_seed_has_one_run_folder_however_it_is_written():
    first, second = (overrides.load([word]).logdir for word in ("seed=1e3", "seed=1000"))
    assert first == second == "logdir/cartpole_swingup/disagreement_if_rare/1000"


def test_a_task_has_one_name():
    config = overrides.load(["task=cup_catch", "logdir=runs/${task}"])
    assert (config.task, config.logdir) == ("ball_in_cup_catch", "runs/ball_in_cup_catch")


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("[pixels,position]", "pixels+position"),
        ("[position,pixels]", "pixels+position"),
        ("[state,pixels]", "pixels+state"),
        ("[position]", "position"),
    ],
)
def test_parts_of_an_observation_may_be_listed(typed, name):
    assert overrides.load([f"observation={typed}"]).observation == name


@pytest.mark.parametrize("typed", ["[pixels,sound]", "[state,state]", "[auto,pixels]", "x"])
def test_parts_that_are_not_seen_together_are_refused(typed):
    with pytest.raises(UserError, match="observation must be state, position, pixels, "):
        overrides.load([f"observation={typed}"])


def test_entries_of_another_environment_are_listed_by_their_names():
    words = ["task=gymnasium:FrozenLake-v1", "observation=[camera,arm/angle]"]
    assert overrides.load(words).observation == "arm/angle+camera"


def test_run_folder_may_use_other_keys():
    config = overrides.load(["logdir=runs/${task}/${batch_size}", "batch_size=7"])
    assert config.logdir == "runs/cartpole_swingup/7"


def test_run_folder_may_use_the_choices_of_groups():
    words = ["logdir=runs/${choices.explore}/${choices.planner}", "explore=thompson"]
    assert overrides.load(words).logdir == "runs/thompson/icem"


def test_sweep_is_every_combination_in_order():
    assert overrides.expand(["seed=0,1", "task=fake", "planner=glob(*)"]) == [
        ["seed=0", "task=fake", "planner=cem"],
        ["seed=0", "task=fake", "planner=icem"],
        ["seed=1", "task=fake", "planner=cem"],
        ["seed=1", "task=fake", "planner=icem"],
    ]
    assert overrides.expand(["seed=range(2)"]) == [["seed=0"], ["seed=1"]]


def test_sweep_over_nothing_is_an_error():
    with pytest.raises(UserError, match=r"explore=glob\(x\*\) matches nothing"):
        overrides.expand(["explore=glob(x*)"])


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("strategy=mirrored", "strategy is called devices now: write devices=mirrored"),
        (
            "updates_per_episode=300",
            "updates_per_episode is counted in environment steps now: where an episode has "
            "1,000, write updates_per_step=0.3 for updates_per_episode=300",
        ),
        (
            "evaluation={every: 2, episodes: 1}",
            "evaluation.every is counted in environment steps now: where an episode has "
            "1,000, write evaluation.every_steps=2000 for evaluation.every=2",
        ),
        (
            "seed_episodes=few",
            "seed_episodes is counted in environment steps now: where an episode has "
            "1,000, write seed_steps=NUMBER for seed_episodes=few",
        ),
        (
            "seed_episodes=nan",
            "seed_episodes is counted in environment steps now: where an episode has "
            "1,000, write seed_steps=NUMBER for seed_episodes=nan",
        ),
        (
            "explore.annealing_rewarded_steps=50",
            "explore.annealing_rewarded_steps is counted in episodes now: write "
            "explore.annealing_episodes=2 for explore.annealing_rewarded_steps=50; "
            "it is how many of the last ten must come to a reward",
        ),
        (
            "exploit.annealing_rewards=few",
            "exploit.annealing_rewards is counted in episodes now: write "
            "exploit.annealing_episodes=NUMBER for exploit.annealing_rewards=few; "
            "it is how many of the last ten must come to a reward",
        ),
        (
            "explore.annealing_rewards=null",
            "explore.annealing_rewards is counted in episodes now: write "
            "explore.annealing_episodes=null for explore.annealing_rewards=null; "
            "it is how many of the last ten must come to a reward",
        ),
    ],
)
def test_an_earlier_name_is_answered_by_that_of_today(word, right):
    with pytest.raises(UserError) as error:
        overrides.load([word])
    assert str(error.value) == right
