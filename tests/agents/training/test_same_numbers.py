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
    "collect/return": 16.506787657737732,
    "evaluate/return": 1.6597064964007586,
    "explore/aleatoric_stddev": 0.8140285015106201,
    "explore/epistemic_stddev": 0.0619889535009861,
    "train/gradient_norm": 94.81419372558594,
    "train/latent_kl": 0.129256010055542,
    "train/loss": 193.7034454345703,
    "train/observation_loss": 85.65176391601562,
    "train/policy_entropy": -0.10238300263881683,
    "train/policy_loss": -0.09517748653888702,
    "train/reward_loss": 107.93505096435547,
    "train/value_loss": 0.6147867441177368,
    "train/value_mean": 0.08466679602861404,
    "train/weight_kl": 186.59329223632812,
    "train/weight_kl/transition_hidden": 70.42241668701172,
    "train/weight_kl/transition_input": 42.301963806152344,
    "train/weight_kl/transition_latent": 73.80186462402344,
    "train/weight_stddev/transition_hidden": 0.12326984107494354,
    "value/expected": 0.11653192341327667,
    "value/returned": 1.4399272463398254,
}


def test_a_run_ends_with_the_numbers_of_every_version(whole_run):
    last = json.loads((whole_run / "metrics.jsonl").read_text().splitlines()[-1])
    assert {name: last[name] for name in COUNTED} == COUNTED
    # Rounding differs by 1e-6 at most between versions, a little more between processors.
    found = {name: last[name] for name in ROUNDED}
    assert found == pytest.approx(ROUNDED, rel=1e-4)
