"""Exploration strategies: how imagined rollouts become the score of a plan.

A strategy is a frozen dataclass (see `Strategy`) that maps a `Rollout` to one score per
candidate plan. It knows nothing of TF-Agents or of the planner. Noise on actions is no
strategy of this kind: see `agents.planet.explore.noise`.

Its fields are the keys of its files in configs/explore/. To add one: the class, with the
range of each field; a file that holds its values; a line in `STRATEGIES`.

    strategy.py  what the agent asks of one; a bonus weighed against the return
    sampling.py  the return alone: of mean weights, of drawn weights (Thompson, PETS)
    risk.py      the spread of returns over draws: optimistic and pessimistic scores
    bonuses.py   what the draws disagree about: disagreement, information gain
    noise.py     noise on actions
"""

from agents.planet.explore.bonuses import (
    Bonus,
    Disagreement,
    InformationGain,
    NoisePenalty,
    UncertaintyPenalty,
)
from agents.planet.explore.risk import (
    ConditionalValueAtRisk,
    Optimistic,
    UpperConfidence,
)
from agents.planet.explore.sampling import Greedy, MeanOverDraws, Thompson
from agents.planet.explore.strategy import Elapsed, Strategy

# What `kind` names; a file of that name in configs/explore/ has the values of its source.
STRATEGIES = {
    "conditional_value_at_risk": ConditionalValueAtRisk,
    "disagreement": Disagreement,
    "greedy": Greedy,
    "information_gain": InformationGain,
    "optimistic": Optimistic,
    "pets": MeanOverDraws,
    "thompson": Thompson,
    "uncertainty_penalty": UncertaintyPenalty,
    "upper_confidence": UpperConfidence,
}

# Those by which an agent may be judged, as long as nothing of them changes over a run.
_JUDGED = ("conditional_value_at_risk", "greedy", "pets", "uncertainty_penalty")
_JUDGED += ("upper_confidence",)
EXPLOITING = {kind: STRATEGIES[kind] for kind in _JUDGED}
EXPLOITING["noise_penalty"] = NoisePenalty  # collects nothing: it is for logged episodes

__all__ = [
    "EXPLOITING",
    "STRATEGIES",
    "Bonus",
    "ConditionalValueAtRisk",
    "Disagreement",
    "Elapsed",
    "Greedy",
    "InformationGain",
    "MeanOverDraws",
    "NoisePenalty",
    "Optimistic",
    "Strategy",
    "Thompson",
    "UncertaintyPenalty",
    "UpperConfidence",
]
