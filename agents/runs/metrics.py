"""The table of metrics: every number of metrics.jsonl, in one place.

Whoever writes, draws, compares or explains a metric takes its words from here. TensorBoard
shows its sentence, the page of columns is made of it.
"""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Metric:
    """One number of a line of metrics.jsonl.

    Args:
        name: key of the line; `train/weight_kl/*` is that of any layer.
        meaning: one sentence.
        unit: empty where there is none, or where it depends on the config.
        label: name in charts and on the screen; empty: the name.
        chart: name of the figure that has it, of `bayes-rl plot` or compare; or empty.
    """

    name: str
    meaning: str
    unit: str = ""
    label: str = ""
    chart: str = ""


_ALL = (
    Metric("episodes", "collected episodes until then", unit="episodes"),
    Metric(
        "environment_steps",
        "control steps of the task until then, before action repeat; the one step axis",
        unit="environment steps",
    ),
    Metric("agent_steps", "actions chosen until then", unit="agent steps"),
    Metric("train_steps", "gradient steps until then", unit="gradient steps"),
    Metric(
        "collect/return",
        "sum of rewards of the collected episode, with exploration",
        unit="reward",
        label="return",
        chart="returns",
    ),
    Metric(
        "collect/failed_episodes",
        "episodes right before it that the environment failed in, which were left out",
        unit="episodes",
    ),
    Metric(
        "collect/staleness",
        "gradient steps between the weights that it was acted with and the newest",
        unit="gradient steps",
    ),
    Metric(
        "evaluate/return",
        "mean return of the evaluation episodes, by averaged weights, their means, and "
        "without noise",
        unit="reward",
        label="evaluation return",
    ),
    Metric(
        "explore/rewarded_steps",
        "agent steps of the episode with a reward worth having, above 0.01 of the largest",
        unit="agent steps",
    ),
    Metric(
        "explore/reached_reward",
        "1 where a step without a reward worth having came before one with it, else 0",
        unit="0 or 1",
        chart="first_reward",
    ),
    Metric(
        "explore/cost",
        "what actions (action_cost) and negative rewards of environment steps took from "
        "the return of the episode",
        unit="reward",
        chart="cost",
    ),
    Metric(
        "explore/is_random",
        "1 where the actions of the episode were random, else 0",
        unit="0 or 1",
    ),
    Metric(
        "explore/beta", "weight of the bonus in the plans of the episode; 0 while it rests"
    ),
    Metric(
        "explore/coverage",
        "share of the cells of the task's grid that were visited so far",
        unit="share",
        chart="coverage",
    ),
    Metric(
        "explore/epistemic_stddev",
        "disagreement of ten weight draws on the next latent, one step ahead",
    ),
    Metric("explore/aleatoric_stddev", "noise of the next latent that a draw expects"),
    Metric(
        "explore/epistemic_ratio",
        "the first over the second; near 0, all draws act alike",
        unit="ratio",
    ),
    Metric(
        "train/loss",
        "the loss, its mean over the gradient steps after the episode (as all train/ "
        "numbers but those of a layer)",
        label="loss",
        chart="losses",
    ),
    Metric(
        "train/observation_loss",
        "- log likelihood of observations, nats per step",
        unit="nats per step",
        label="observation loss",
        chart="losses",
    ),
    Metric(
        "train/image_loss",
        "- log likelihood of images beside a vector, each as of 20 numbers, nats per step",
        unit="nats per step",
        label="image loss",
        chart="losses",
    ),
    Metric(
        "train/reward_loss",
        "- log likelihood of rewards, times reward_scale",
        label="reward loss",
        chart="losses",
    ),
    Metric(
        "train/continuation_loss",
        "cross-entropy of what predicts an episode's end",
        unit="nats per step",
        label="continuation loss",
        chart="losses",
    ),
    Metric("train/latent_loss", "latent KL above the free nats, times kl_scale"),
    Metric(
        "train/latent_kl",
        "KL(posterior || prior) of the latent, nats per step, free nats not taken off",
        unit="nats per step",
        label="latent KL (nats)",
        chart="losses",
    ),
    Metric(
        "train/global_loss",
        "KL of each latent to a standard normal, times global_kl_scale",
        unit="nats per step",
    ),
    Metric(
        "train/overshooting_latent_loss", "latent KL of priors unrolled over several steps"
    ),
    Metric("train/overshooting_reward_loss", "loss of rewards predicted from them"),
    Metric(
        "train/weight_kl",
        "KL(weight posterior || weight prior), nats, summed over all weights",
        unit="nats",
        label="weight KL (nats)",
        chart="weight_kl",
    ),
    Metric(
        "train/weight_kl/*",
        "the same for one layer, after the last gradient step",
        unit="nats",
        chart="weight_kl",
    ),
    Metric(
        "train/weight_stddev/*",
        "mean posterior stddev of the layer's weights, likewise",
        chart="weight_stddev",
    ),
    Metric(
        "train/weight_ratio/*",
        "that stddev over the root mean square of the posterior means; noise over signal, "
        "likewise",
        unit="ratio",
        chart="weight_stddev",
    ),
    Metric("train/gradient_norm", "norm of the gradient of all variables, before clipping"),
    Metric(
        "train/value_loss",
        "squared error of both critics",
        label="value loss",
        chart="value",
    ),
    Metric(
        "train/value_mean",
        "mean value of the states learned from, per environment step",
        unit="reward per environment step",
        label="mean value, per environment step",
        chart="value",
    ),
    Metric(
        "train/value_spread", "spread of values that losses of the policy are divided by"
    ),
    Metric("train/policy_loss", "loss of the policy that proposes plans"),
    Metric(
        "train/policy_entropy",
        "its entropy, nats",
        unit="nats",
        label="policy entropy (nats)",
        chart="value",
    ),
    Metric(
        "train/novelty_loss",
        "squared error of both critics of the bonus, which explore.critic=true has",
    ),
    Metric(
        "train/explorer_loss",
        "loss of the policy that seeks return and bonus, and proposes plans there",
    ),
    Metric(
        "train/novelty_mean",
        "mean value of the bonus to come, in units of the size of one step's",
    ),
    Metric(
        "train/bonus", "bonus of the steps learned from, such as nats of information gain"
    ),
    Metric("train/beta", "weight of the bonus in the loss of that policy"),
    Metric(
        "value/expected",
        "what the critics expect of the first states of evaluation episodes",
        unit="reward",
        label="value expected of first states",
        chart="value",
    ),
    Metric(
        "value/returned",
        "the discounted return that came",
        unit="reward",
        label="discounted return that came",
        chart="value",
    ),
    Metric(
        "value/error",
        "mean of | value - return |; the value is that of the policy, the return that of "
        "plans",
        unit="reward",
        label="mean of | value - return |",
        chart="value",
    ),
    Metric(
        "speed/train_steps",
        "gradient steps a second",
        unit="gradient steps per second",
        label="train steps / s",
    ),
    Metric("speed/collect_seconds", "seconds of collecting the episode", unit="seconds"),
    Metric(
        "speed/seconds",
        "seconds of the whole episode, with learning, evaluation and probes",
        unit="seconds",
    ),
    Metric("memory/resident_mib", "memory of the process, MiB", unit="MiB"),
    Metric(
        "probe/*",
        "R squared of reading physics from the latents of the newest episodes",
        unit="share",
    ),
)
METRICS = {each.name: each for each in _ALL}


def metric(name):
    """The `Metric` of a key of metrics.jsonl.

    Raises:
        KeyError: the table lacks it.

    Example:
        >>> metric("explore/epistemic_ratio").unit
        'ratio'
        >>> metric("train/weight_kl/gru").unit
        'nats'
    """
    of_any = re.sub(r"[^/]+$", "*", name)
    found = METRICS.get(name) or METRICS.get(of_any)
    if found is None:
        raise KeyError(f"agents/runs/metrics.py does not say what {name!r} means")
    return found


def of_chart(chart):
    """The metrics of a chart, by name, in order.

    Example:
        >>> list(of_chart("returns"))
        ['collect/return']
    """
    return {each.name: each for each in METRICS.values() if each.chart == chart}
