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
    "collect/return": 16.160841941833496,
    "evaluate/return": 2.484258128097281,
    "explore/aleatoric_stddev": 0.8146407008171082,
    "explore/epistemic_stddev": 0.06347749382257462,
    "train/gradient_norm": 109.4051513671875,
    "train/latent_kl": 0.11569090932607651,
    "train/loss": 198.43594360351562,
    "train/observation_loss": 80.69413757324219,
    "train/policy_entropy": -0.11497955024242401,
    "train/policy_loss": -0.09288427978754044,
    "train/reward_loss": 117.62516784667969,
    "train/value_loss": 0.9308249950408936,
    "train/value_mean": 0.08262910693883896,
    "train/weight_kl": 186.6154327392578,
    "train/weight_kl/transition_hidden": 70.42241668701172,
    "train/weight_kl/transition_input": 42.32447052001953,
    "train/weight_kl/transition_latent": 73.80186462402344,
    "train/weight_stddev/transition_hidden": 0.12326984107494354,
    "value/expected": 0.10755420476198196,
    "value/returned": 2.0195523925317134,
}


def test_a_run_ends_with_the_numbers_of_every_version(whole_run):
    last = json.loads((whole_run / "metrics.jsonl").read_text().splitlines()[-1])
    assert {name: last[name] for name in COUNTED} == COUNTED
    # Rounding differs by 1e-6 at most between versions, a little more between processors.
    found = {name: last[name] for name in ROUNDED}
    assert found == pytest.approx(ROUNDED, rel=1e-4)
