"""One config and seed end with the same numbers on every pair of Python and TensorFlow.

Found on one machine by 2.15, 2.19 and 2.20: what is counted, the KLs and the stddevs of the
weights are equal to the bit. The rest, sums in which an order can differ, is equal to
rounding. This holds where nothing is compiled: XLA of each version fuses in its own way, so
compiled runs part after some hundreds of gradient steps, as runs of two seeds do.
"""

import json

import pytest

COUNTED = {
    "episodes": 8,
    "environment_steps": 160,
    "agent_steps": 160,
    "train_steps": 14,
    "explore/rewarded_steps": 20,
    "explore/cost": 0.0,
    "explore/coverage": 1.0,
}
ROUNDED = {
    "collect/return": 16.77147775888443,
    "evaluate/return": 2.0230443296022713,
    "explore/aleatoric_stddev": 0.8142308592796326,
    "explore/epistemic_stddev": 0.06196998804807663,
    "train/gradient_norm": 94.95779418945312,
    "train/latent_kl": 0.12999804317951202,
    "train/loss": 194.28407287597656,
    "train/observation_loss": 86.2041015625,
    "train/policy_entropy": -0.1471223682165146,
    "train/policy_loss": -0.0816211998462677,
    "train/reward_loss": 107.96334838867188,
    "train/value_loss": 0.6489391326904297,
    "train/value_mean": 0.0729248970746994,
    "train/weight_kl": 186.59405517578125,
    "train/weight_kl/transition_hidden": 70.42241668701172,
    "train/weight_kl/transition_input": 42.302757263183594,
    "train/weight_kl/transition_latent": 73.80186462402344,
    "train/weight_stddev/transition_hidden": 0.12326984107494354,
    "value/expected": 0.13051526248455048,
    "value/returned": 1.7003942314349547,
}


def test_a_run_ends_with_the_numbers_of_every_version(whole_run):
    last = json.loads((whole_run / "metrics.jsonl").read_text().splitlines()[-1])
    assert {name: last[name] for name in COUNTED} == COUNTED
    # Rounding differs by 1e-6 at most between versions, a little more between processors.
    found = {name: last[name] for name in ROUNDED}
    assert found == pytest.approx(ROUNDED, rel=1e-4)
