"""Gradient steps, on all devices; what ends them, and what they tell of the weights."""

import math
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tf_agents.train import learner as tf_agents_learner

from agents.runs.history import Divergence, write_divergence
from agents.system import interrupts
from agents.system.seeds import Purpose, fold, seed_of_run
from bayes_rl.weights import posteriors

# What devices would take ahead were of the replay before the next episode.
_NO_BATCHES_AHEAD = tf.distribute.InputOptions(experimental_per_replica_buffer_size=0)
# The sum of the losses, and the norm of what all of them cause, tell no loss from another.
_SUMS = ("loss", "gradient_norm")
_RENEWED_EVERY = 100  # gradient steps, or more: to see the replay takes the time of some


class Learning:
    """Takes gradient steps on batches of the replay.

    Batch k of a run depends on the run's seed, on k and on the episodes in the replay, so
    an interrupted run sees the batches that it would have seen. The devices are those that
    the agent was made for.
    """

    _CHUNK = 20  # gradient steps between two calls of `watch`

    def __init__(self, agent, replay, devices, batch_size, sequence_length, seed):
        self._agent = agent
        self._replay = replay
        self._batch = batch_size, sequence_length
        self._seed = seed
        self._last_step = 0
        replicas = devices.num_replicas_in_sync

        def batches():
            dataset = replay.dataset(
                batch_size // replicas,
                sequence_length,
                seed=seed,
                first_batch=int(agent.train_step_counter.numpy()) * replicas,
                until=lambda: self._last_step * replicas,
            )
            dataset = dataset.map(lambda batch: (batch, ()))  # TF-Agents wants (data, info)
            # Said, because several processes would else allow for a last, smaller batch.
            endless = tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY)
            return dataset.apply(endless)

        # Checkpoints and summaries are the run's; this folder stays empty.
        with tempfile.TemporaryDirectory() as unused:
            self._learner = tf_agents_learner.Learner(
                unused,
                agent.train_step_counter,
                agent,
                batches,
                checkpoint_interval=0,
                summary_interval=0,
                strategy=devices,
                experience_dataset_options=_NO_BATCHES_AHEAD,
            )

    def run(self, steps, watch):
        """Takes so many gradient steps; means of metrics, and the weight report after them.

        `watch` is called now and then with the number of steps done.

        Raises:
            Diverged: a loss or gradient was not finite; at most `_CHUNK` steps ago.
        """
        first_step = int(self._agent.train_step_counter.numpy())
        if first_step == 0:  # critics may learn from draws: of what is known, not of all
            self._renew(first_step)
        self._last_step = first_step + steps
        for start in range(0, steps, self._CHUNK):
            count = min(self._CHUNK, steps - start)
            self._learner.run(count)
            self._stop_if_diverged(first_step)
            interrupts.check()
            watch(start + count)
        if (
            first_step == 0
            or first_step // _RENEWED_EVERY < self._last_step // _RENEWED_EVERY
        ):
            self._renew(self._last_step)
        return self._agent.pop_metrics() | weight_report(self._agent.model)

    def _stop_if_diverged(self, first_step):
        """Copies a few numbers; metrics were popped last at this train step."""
        steps, names = self._agent.steps_to_divergence()
        if names:
            terms = [name for name in names if name not in _SUMS] or names
            episode = self._agent.counts["episodes"]
            raise Diverged(Divergence(episode, first_step + steps, tuple(terms)))

    def _renew(self, step):
        """Lets the source of uncertainty see the replay under the weights of this step."""
        model = self._agent.model
        numbers = range(model.source.batches)
        if numbers:
            batches = (
                self._replay.sample(*self._batch, [self._seed, step, number])
                for number in numbers
            )
            seed = fold(seed_of_run(self._seed, Purpose.RENEW), step)
            model.source.renew(model, batches, self._replay.num_rows, seed)


class Diverged(Exception):  # noqa: N818
    """A loss or gradient was not finite: made of an `agents.runs.history.Divergence`."""

    @property
    def divergence(self):
        return self.args[0]


def tell_divergence(config, run, found):
    """Writes the `Divergence` that ended a run to its folder, a line to standard error."""
    write_divergence(run.folder, found)
    optimizer = config.optimizer
    rate = "ivon_learning_rate" if config.transition == "ivon" else "learning_rate"
    print(
        f"bayes-rl: {found}; start a new run with another logdir and a lower "
        f"optimizer.{rate} (it is {getattr(optimizer, rate):g}) or "
        f"optimizer.clip_norm ({optimizer.clip_norm:g}): the same command would stop here "
        "again. The last good checkpoint is kept",
        file=sys.stderr,
    )


def weight_report(model):
    """How sure the model is of its weights, layer by layer.

    Returns:
        Dict: for each uncertain layer `weight_kl/<layer>` (nats, summed over its weights;
        not where the source of uncertainty has none), `weight_stddev/<layer>` (mean over
        weights) and `weight_ratio/<layer>`, the stddev over the root mean square of the
        means over draws: noise relative to signal.
    """
    report = {}
    for layer, row in zip(_layers(model), _weight_report(model).numpy(), strict=True):
        divergence, stddev, size = row.tolist()
        if np.isfinite(divergence):
            report[f"weight_kl/{layer}"] = divergence
        report[f"weight_stddev/{layer}"] = stddev
        report[f"weight_ratio/{layer}"] = stddev / max(size, 1e-12)
    return report


@tf.function(autograph=False)
def _weight_report(model):
    """For each layer its KL, NaN for none, the mean stddev, the size of the means."""
    rows = [tf.zeros([0, 3])]
    divergences = model.source.divergences(model)
    for weights in _layers(model).values():
        divergence = sum(divergences.get(name, math.nan) for name in weights)
        stddev = _together(posterior.stddev() for posterior in weights.values())
        mean = _together(posterior.mean() for posterior in weights.values())
        size = tf.sqrt(tf.reduce_mean(mean**2))
        rows.append([[divergence, tf.reduce_mean(stddev), size]])
    return tf.concat(rows, 0)


def _together(tensors):
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], 0)


def _layers(model):
    """For each uncertain layer the posteriors of its weights, by full name."""
    layers = {}
    for name, posterior in posteriors(model).items():
        layers.setdefault(name.rpartition("/")[0], {})[name] = posterior
    return layers
