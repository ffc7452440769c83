"""Gradient steps, through TF-Agents' learner and on all devices."""

import tempfile

import tensorflow as tf
from tf_agents.train import learner as tf_agents_learner

from agents.study.insight.weights import weight_report
from agents.system import interrupts
from agents.training import diverging

# What devices would take ahead were of the replay before the next episode.
_NO_BATCHES_AHEAD = tf.distribute.InputOptions(experimental_per_replica_buffer_size=0)


class Learning:
    """Takes gradient steps on batches of the replay.

    Batch k of a run depends on the run's seed, on k and on the episodes in the replay, so
    an interrupted run sees the batches that it would have seen.

    Args:
        agent: `agents.planet.agent.planet_agent.PlaNetAgent`.
        replay: `agents.episodes.replay.Replay`, not empty.
        devices: for which the agent was made, see `agents.training.building`.
        batch_size: sequences in a batch, a multiple of the number of devices.
        sequence_length: agent steps.
        seed: int, of the batches.
    """

    # Gradient steps between two calls of `watch`.
    _CHUNK = 20

    def __init__(self, agent, replay, devices, batch_size, sequence_length, seed):
        self._agent = agent
        self._last_step = 0
        replicas = devices.num_replicas_in_sync

        def batches():
            dataset = replay.dataset(
                batch_size // replicas,
                sequence_length,
                seed=[seed],
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
        """Takes gradient steps.

        Args:
            steps: how many.
            watch: called now and then with the number of steps done.

        Returns:
            Dict of the mean of each metric, and the weight report after the last step.

        Raises:
            agents.training.diverging.Diverged: a loss or gradient was not finite; at most
                `_CHUNK` steps ago.
        """
        first_step = int(self._agent.train_step_counter.numpy())
        self._last_step = first_step + steps
        for start in range(0, steps, self._CHUNK):
            count = min(self._CHUNK, steps - start)
            self._learner.run(count)
            diverging.check(self._agent, first_step)
            interrupts.check()
            watch(start + count)
        return self._agent.pop_metrics() | weight_report(self._agent.model)
