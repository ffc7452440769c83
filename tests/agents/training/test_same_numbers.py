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
    "collect/return": 16.78164029121399,
    "evaluate/return": 1.384631699300371,
    "explore/aleatoric_stddev": 0.8141255378723145,
    "explore/epistemic_stddev": 0.06210707500576973,
    "train/gradient_norm": 96.11555480957031,
    "train/latent_kl": 0.1289767324924469,
    "train/loss": 194.53228759765625,
    "train/observation_loss": 86.49195861816406,
    "train/policy_entropy": -0.25602418184280396,
    "train/policy_loss": -0.12203964591026306,
    "train/reward_loss": 107.92371368408203,
    "train/value_loss": 0.5568798780441284,
    "train/value_mean": 0.10868066549301147,
    "train/weight_kl": 186.59036254882812,
    "train/weight_kl/transition_hidden": 70.42241668701172,
    "train/weight_kl/transition_input": 42.29892349243164,
    "train/weight_kl/transition_latent": 73.80186462402344,
    "train/weight_stddev/transition_hidden": 0.12326984107494354,
    "value/expected": 0.10197009146213531,
    "value/returned": 1.230644232628913,
}


def test_a_run_ends_with_the_numbers_of_every_version(whole_run):
    last = json.loads((whole_run / "metrics.jsonl").read_text().splitlines()[-1])
    assert {name: last[name] for name in COUNTED} == COUNTED
    # Rounding differs by 1e-6 at most between versions, a little more between processors.
    found = {name: last[name] for name in ROUNDED}
    assert found == pytest.approx(ROUNDED, rel=1e-4)
