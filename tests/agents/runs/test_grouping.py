"""Tests of agents.runs.grouping."""

import pytest

from agents.runs import grouping
from agents.runs.config import overrides
from agents.runs.config.resolving import Surroundings
from agents.runs.config.schema import as_dict
from agents.runs.history import History
from agents.system.errors import UserError
from tests.agents.presets import used


def test_seeds_and_folders_do_not_make_another_group():
    configs = [
        {"seed": 0, "logdir": "a", "planner": {"horizon": 12}},
        {"seed": 1, "logdir": "b", "logger": "wandb", "planner": {"horizon": 12}},
        {"seed": 0, "logdir": "c", "planner": {"horizon": 8}},
    ]
    assert grouping.group(configs) == [[0, 1], [2]]


def test_labels_name_what_differs_classes_first():
    configs = [
        {"kl_weight": 0.1, "task": "x", "explore": {"kind": "greedy"}},
        {
            "kl_weight": 1.0,
            "task": "x",
            "explore": {"kind": "gain", "beta": 2},
        },
    ]
    assert grouping.labels(configs) == [
        "explore=greedy, kl_weight=0.1",
        "explore=gain, kl_weight=1.0, explore.beta=2",
    ]


def test_one_group_needs_no_label():
    assert grouping.labels([{"seed": 3}]) == [""]


def test_many_differences_are_counted_and_labels_stay_distinct():
    configs = [{**dict.fromkeys("abcd", 0), "e": e, "f": e} for e in (0, 1)]
    configs.append(dict.fromkeys("abcd", 1))
    texts = grouping.labels(configs, most=2)
    assert texts[0] == "a=0, b=0, and 4 more (1)"
    assert len(set(texts)) == 3


@pytest.fixture(scope="module")
def make():
    return lambda *words: as_dict(overrides.load(list(words)))


def test_runs_of_another_transition_and_seed_predict_the_same(make):
    twin = make("transition=deterministic", "explore=noise", "seed=3")
    grouping.check_same_observations({"run": make(), "twin": twin})


@pytest.mark.parametrize(
    ("word", "difference"),
    [
        ("observation=position", "observation must be state, got position"),
        ("image.size=32", "image.size must be 64, got 32"),
    ],
)
def test_what_two_runs_do_not_observe_alike_is_named(make, word, difference):
    with pytest.raises(UserError) as error:
        grouping.check_same_observations({"a": make(), "b": make(word)})
    assert str(error.value) == f"b must have the same observations as a: {difference}"


def test_where_one_setting_is_changed_at_a_time_it_is_the_name(make):
    words = ["kl_weight=1", "averaging=0", "value=none", "batch_size=8", "value.stride=2"]
    words += ["world_model.standardize=false"]
    constant = make("action_noise.final_stddev=null", "action_noise.steps=0")
    configs = [make(), *(make(word) for word in words), constant]
    names = ["kl_weight=1.0", "averaging=0.0", "value=none", "batch_size=8"]
    names += ["value.stride=2", "world_model.standardize=False"]
    names += ["action_noise.final_stddev=None, action_noise.steps=0"]
    assert grouping.labels(configs) == [grouping.USUAL, *names]
    assert grouping.labels([make(), make(*words[:2], *words[3:])])[1].endswith(" more")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["value=td", "value=none"], None),
        (["planner=icem", "planner=cem"], None),
        (["world_model=small", "world_model=paper", "world_model=pixels"], None),
        (
            ["value=none", "value=td value.stride=2"],
            ["value=none", "value=td, value.stride=2"],
        ),
        (["value.stride=4", "value.stride=2"], None),
        (
            ["value=td", "value=td value.stride=2", "value=none"],
            ["value=td", "value=td, value.stride=2", "value=none"],
        ),
        (
            ["planner=icem planner.horizon=9", "planner=cem planner.horizon=9"],
            ["planner=icem", "planner=cem"],
        ),
        (
            ["world_model=paper world_model.kl_scale=2 kl_weight=1", "world_model=small"],
            [
                "world_model=paper, kl_weight=1.0, world_model.kl_scale=2.0",
                "world_model=small, kl_weight=0.1",
            ],
        ),
    ],
)
def test_choices_of_a_group_are_named_by_their_files_alone(make, words, names):
    configs = [make(*each.split()) for each in words]
    assert grouping.labels(configs) == (names or words)


def test_strategies_are_named_by_their_files(make):
    names = ["noise", "greedy", "information_gain", "information_gain_annealed"]
    configs = [make(f"explore={name}") for name in names]
    assert grouping.labels(configs) == [f"explore={name}" for name in names]


def test_noise_is_told_where_it_differs_and_not_that_of_a_file(make):
    """The noise of all three is the same; that of greedy is not the one of its file."""
    names = ("pessimistic", "conditional_value_at_risk", "greedy")
    same = [make(f"explore={name}", "action_noise.stddev=0.1") for name in names]
    assert grouping.labels(same) == [f"explore={name}" for name in names]
    others = (
        make("explore=pessimistic"),
        make("explore=optimistic", "action_noise.stddev=0.2"),
    )
    assert grouping.labels(others) == [
        "explore=pessimistic",
        "explore=optimistic, action_noise.stddev=0.2",
    ]


def test_a_strategy_of_ones_own_is_told_by_its_keys(make):
    mine = make("explore=information_gain", "explore.beta=3")
    first, second = grouping.labels([make("explore=noise", "kl_weight=1"), mine])
    assert first == "explore=noise, kl_weight=1.0"
    assert second.startswith("explore=information_gain, kl_weight=0.1, ")
    both = [make("explore=information_gain", f"explore.beta={beta}") for beta in (2, 3)]
    assert grouping.labels(both) == ["explore.beta=2.0", "explore.beta=3.0"]


def test_longer_runs_are_of_the_same_group():
    lengths = [{"environment_steps": steps, "seed": steps} for steps in (10, 20)]
    assert grouping.group(lengths) == [[0, 1]]


def test_groups_of_a_task_are_labelled_and_numbered():
    runs = [
        History(None, {"task": task, "seed": seed, "explore": {"kind": name}}, [], [])
        for task in ("a", "b")
        for name in ("Greedy", "Thompson")
        for seed in range(2)
    ]
    groups = grouping.arrange(runs)
    assert [group.label for group in groups] == ["explore=Greedy", "explore=Thompson"] * 2
    assert [group.task for group in groups] == ["a", "a", "b", "b"]
    assert [group.number for group in groups] == [0, 1, 0, 1]
    assert [run for group in groups for run in group.runs] == runs


def test_an_experiment_has_one_name_whatever_else_another_task_has(make):
    """The transition differs in the first task alone."""
    configs = [
        make("task=pendulum_swingup", "explore=noise"),
        make("task=pendulum_swingup", "explore=noise", "transition=ensemble"),
        make("task=cup_catch", "explore=noise"),
        make("task=cup_catch", "explore=thompson"),
    ]
    first, ensemble, same, thompson = grouping.labels(configs)
    assert first == same == "explore=noise, transition=laplace"
    assert ensemble == "explore=noise, transition=ensemble"
    assert thompson == "explore=thompson, transition=laplace"


def test_what_differs_between_tasks_alone_is_no_name_but_told(make):
    words = ("transition=ensemble", "value=none")
    configs = [
        make(f"task={task}", f"explore={name}", *others)
        for task, others in (("pendulum_swingup", ()), ("cup_catch", words))
        for name in ("noise", "thompson")
    ]
    assert grouping.labels(configs) == ["explore=noise", "explore=thompson"] * 2
    assert {"transition", "value.kind"} <= set(grouping.unlike(configs[::2]))
    assert grouping.unlike([make("task=cup_catch"), make("seed=1")]) == []


def test_what_is_open_differs_between_tasks_as_a_matter_of_course():
    runs = [
        as_dict(used(f"task={task}", surroundings=Surroundings(repeat, 250, 9 * repeat, 6)))
        for task, repeat in (("cheetah_run", 4), ("walker_walk", 2))
    ]
    assert grouping.labels(runs) == ["", ""]
    assert grouping.unlike(runs) == []


def test_a_discount_names_no_group_that_a_value_tells_and_another_one_does():
    plain, td, far = (
        as_dict(used("task=fake", *words))
        for words in (["value=none"], ["value=td"], ["value=td", "value.discount=0.9"])
    )
    assert grouping.labels([plain, td]) == ["value=none", "value=td"]
    assert grouping.labels([td, far]) == ["value.discount=0.95", "value.discount=0.9"]
    assert grouping.labels([plain, td, far]) == [
        "value=none",
        "value=td, value.discount=0.95",
        "value=td, value.discount=0.9",
    ]


def test_what_was_learned_from_is_part_of_the_task():
    configs = [
        as_dict(used("task=fake", "explore=noise", f"data=logs/{data}", *design))
        for data in ("good", "random")
        for design in ((), ("transition=deterministic",))
    ]
    names = ["transition=laplace", "transition=deterministic"]
    assert grouping.labels(configs) == names * 2
    tasks = [grouping.task_of(config) for config in configs]
    assert tasks == ["fake from good"] * 2 + ["fake from random"] * 2
    assert grouping.unlike(configs[::2]) == []


def test_data_of_one_name_are_told_apart():
    configs = [{"task": "a", "data": f"{place}/random"} for place in ("v1", "v2")]
    assert grouping.group(configs) == [[0], [1]]
    assert grouping.labels(configs) == ["data=v1/random", "data=v2/random"]


def test_weights_of_penalties_are_told():
    def make(**keys):
        return {"task": "a", "exploit": {"kind": "upper_confidence"} | keys}

    near, far = make(beta=-1.0), make(beta=-3.0)
    others = [near | {"horizon": 8}, far | {"horizon": 10}]
    assert all("exploit.beta" in label for label in grouping.labels(others))
    assert grouping.unlike([near, far | {"task": "b"}]) == ["exploit.beta"]


def test_sizes_that_are_resolved_leave_the_name_of_their_choice():
    small = as_dict(used("task=fake"))
    pixels = as_dict(used("task=fake", "world_model=pixels"))
    first, second = grouping.labels([small, pixels])
    assert (first, second) == ("world_model=small", "world_model=pixels")


def test_sizes_that_follow_from_what_is_observed_name_no_group():
    def make(observation, size):
        return {"observation": observation, "world_model": {"belief_size": size}}

    named = grouping.labels([make("state", 64), make("position", 60)])
    assert named == ["observation=state", "observation=position"]
    named = grouping.labels(
        [
            make("state", 64) | {"action_repeat": 4},
            make("pixels", 64) | {"action_repeat": 8},
        ]
    )
    assert named == [
        "observation=state, action_repeat=4",
        "observation=pixels, action_repeat=8",
    ]
    named = grouping.labels([make("state", 64), make("state", 60)])
    assert named == ["world_model.belief_size=64", "world_model.belief_size=60"]
