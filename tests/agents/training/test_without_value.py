"""What a run without value and standardization gives: as before there were any."""

import json

import pytest

WORDS = [
    *("value=none", "world_model.standardize=false", "averaging=0", "latents=samples"),
    *("task=fake_ending", "explore=thompson_groups", "compile=false"),
    *(
        "seed_steps=20",
        "world_model.free_nats=0",
        "video_every_steps=0",
        "probe_every_steps=0",
    ),
]
NUMBERS = {
    "collect/return": [
        2.2498998939990997,
        12.466529250144958,
        8.980531603097916,
        0.774306247709319,
    ],
    "train/loss": [
        134.91893005371094,
        123.82972717285156,
        117.45428466796875,
        124.69749450683594,
    ],
    "train/gradient_norm": [
        123.11312103271484,
        86.22242736816406,
        80.48493957519531,
        85.71943664550781,
    ],
    "evaluate/return": [8.905307710170746],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "episodes"),
    [
        (["environment_steps=20", "evaluation.every_steps=0"], 1),
        (["environment_steps=80", "evaluation={every_steps: 80, episodes: 2}"], 4),
    ],
    ids=["short", "whole"],
)
def test_a_run_gives_the_numbers_of_the_agent_before(train_run, tmp_path, words, episodes):
    folder = tmp_path / "run"
    assert train_run(folder, *WORDS, *words) == 0
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").open()]
    for name, expected in NUMBERS.items():
        found = [row[name] for row in rows if name in row]
        if name == "evaluate/return" and episodes < 4:
            assert found == []
        else:
            assert found == pytest.approx(expected[:episodes], rel=1e-6), name
    names = {name for row in rows for name in row}
    assert not [name for name in names if "value" in name or "policy" in name]


def test_an_agent_without_value_has_no_variables_of_one(build_agent):
    agent, valued = build_agent("value=none"), build_agent("value=td")
    assert agent.value is None
    assert not [name for name in agent.metric_names if "value" in name or "policy" in name]
    extra = [*valued.value.variables, *valued._value_optimizer._adam.variables()]
    count = len(valued.collect_policy.variables())
    assert len(agent.collect_policy.variables()) == count - len(valued.value.variables)
    assert len(extra) > 40
