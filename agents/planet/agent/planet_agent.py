"""Bayesian PlaNet as a TF-Agents agent: it learns a world model and acts by planning."""

import contextlib
import functools
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from tf_agents.agents import tf_agent
from tf_agents.specs import tensor_spec

from agents.planet.model.standardization import statistic
from agents.planet.model.transitions.source import own_draws
from agents.planet.planning.imagination import expect_next
from agents.planet.planning.rollouts import Rollout
from agents.planet.value.explorer import Sought
from agents.system import replicas
from agents.system.seeds import Purpose, fold, normal, seed_of_run, split
from bayes_rl.weights import hold


class Drawn(NamedTuple):
    """What a gradient step draws that XLA would draw otherwise, and seeds of the rest.

    The numbers are standard normal, and those of this replica's rows.
    """

    latents: tf.Tensor  # [B, T, latent size]
    weight_seed: tf.Tensor
    image_seed: tf.Tensor  # of the noise that dequantizes images
    actions: tf.Tensor  # [2, B, T, A], of a value's policy; with an explorer [4, ...]
    replica: tf.Tensor  # its number, []


class PlaNetAgent(tf_agent.TFAgent):
    """Learns latent dynamics with a posterior over the transition's weights.

        loss = mean over B and T of the world model's losses
               + kl_weight * sum of KL(weight posterior || prior) / replay steps

    With a `value`, critics and a policy learn in the same step on the features of the
    filter, see `agents.planet.value.actor_critic`. Their gradients do not reach the model.
    With an `average`, evaluate the agent inside `averaged`, by averages of its weights.

    `policy` exploits, `collect_policy` explores, see `agents.planet.agent.policy`. In
    each gradient step, a sequence uses one draw of the weights. The source of uncertainty
    decides which sequences share a draw.

    Losses are sums over a replica's sequences divided by the global batch size. Gradients
    are summed over replicas, then clipped. The random numbers of a step are those of the
    global batch. So n devices compute the same as one, except for the noise that
    dequantizes images, which each replica draws for itself.

    Source: Hafner et al., 2019; Tran et al., 2019, Bayesian Layers, section 3.2.

    If `compile` is true, XLA compiles decisions and gradient steps (with several replicas,
    only the loss and its gradients). They then take about two thirds of the time. In
    training, numbers differ by rounding; planners draw other random numbers. `kl_weight`
    rises linearly from 0 over `kl_weight_warmup` gradient steps.
    """

    def __init__(
        self,
        policies,
        *,
        optimizer,
        value_optimizer=None,
        average=None,
        kl_weight,
        kl_weight_warmup,
        train_step_counter,
    ):
        self.model = model = policies.model
        self._costs = bool(model.source.costs(model))
        self._curved = bool(model.source.curved(model))
        self.value = policies.value
        self._optimizer = optimizer
        self._value_optimizer = value_optimizer
        self._average = average
        self._kl_weight = kl_weight
        self._kl_weight_warmup = kl_weight_warmup
        self.clock = policies.clock
        self.policies = policies
        self._train_seed = seed_of_run(policies.seed, Purpose.TRAIN)
        self._compile = compile = policies.compile
        trace = functools.partial(tf.function, autograph=False, jit_compile=compile or None)
        self._traced_gradients = trace(self._loss_and_gradients)
        self._traced_of_value = trace(self._gradients_of_value)
        self._traced_step = trace(self._take_step)
        super().__init__(
            policies.time_step_spec,
            policies.action_spec,
            policies.exploiting(),
            policies.exploring(),
            train_sequence_length=None,
            training_data_spec=training_data_spec(model),
            train_step_counter=train_step_counter,
        )
        self._metric_sums = tf.Variable(
            tf.zeros([len(self.metric_names)]),
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        self._summed_steps = statistic(0.0)

    def averaged(self):
        """A context in which variables hold their averages, where the agent keeps some."""
        return self._average.in_place() if self._average else contextlib.nullcontext()

    def stay_averaged(self):
        """Puts averages in place for good: of an agent that learns no more."""
        if self._average:
            self._average.exchange()

    @property
    def metric_names(self):
        """Names of the metrics of a gradient step."""
        weight_kl = ["weight_kl"] if self._costs else []
        value = self.value.metric_names if self.value else []
        names = ["loss", *self.model.loss_names, "latent_kl", *weight_kl, *value]
        return [*names, "gradient_norm"]

    @property
    def counts(self):
        """How far the run has come: dict of ints."""
        clock = self.clock
        found = {
            "episodes": clock.episodes,
            "environment_steps": clock.environment_steps,
            "agent_steps": clock.agent_steps,
            "train_steps": self.train_step_counter,
        }
        return {name: int(count.numpy()) for name, count in found.items()}

    def steps_to_divergence(self):
        """The first gradient step since `pop_metrics` with a metric that was not finite.

        Its number, from 1, and the names of those metrics. If there was no such step: the
        number of all steps, and no names.
        """
        sums = zip(self.metric_names, self._metric_sums.numpy(), strict=True)
        names = [name for name, value in sums if not np.isfinite(value)]
        return int(self._summed_steps.numpy()), names

    def pop_metrics(self):
        """Dict of the metrics' means over the gradient steps since the last call.

        Steps after the first step with a metric that was not finite do not count.
        """
        steps = max(self._summed_steps.numpy(), 1.0)
        means = self._metric_sums.numpy() / steps
        self._metric_sums.assign(tf.zeros_like(means))
        self._summed_steps.assign(0.0)
        return dict(zip(self.metric_names, means.tolist(), strict=True))

    def _train(self, experience, weights=None):
        del weights
        drawn = self._drawn(experience)
        traces = replicas.count() == 1 and self._traces
        step = self._traced_step if traces else self._take_step
        loss, metrics = step(experience, drawn)
        self.train_step_counter.assign_add(1)
        self._count(tf.stack([metrics[name] for name in self.metric_names]))
        return tf_agent.LossInfo(loss, metrics)

    @property
    def _traces(self):
        # TF-Agents' learner calls `_train` three times in its graphs; so it is traced once.
        return self._compile or tf.inside_function()

    def _take_step(self, experience, drawn):
        """Moves the variables; loss and metrics. Replicas sum gradients outside of XLA."""
        compute = self._traced_gradients if self._traces else self._loss_and_gradients
        loss, metrics, features, gradients = compute(experience, drawn)
        if self.value:
            metrics |= self._learn_value(experience, features, drawn)
        given = replicas.summed(gradients), self.model.trainable_variables
        if self._curved:
            size = experience["reward"].shape[0] * self.model.source.copies
            own = self.model, size, drawn.weight_seed, drawn.replica
            given += own_draws(*own)[0], 1.0 / self._kl_scale()
        norm = self._optimizer.apply(*given)
        metrics["gradient_norm"] = norm / replicas.count()
        if self._average:
            self._average.follow(self.train_step_counter + 1)
        return loss, metrics

    def _learn_value(self, batch, features, drawn):
        """Moves critics and policy so many times; the means of what that tells."""
        compute = self._traced_of_value if self._traces else self._gradients_of_value
        updates = self.value.updates

        def step(update, sums):
            metrics, seen, gradients = compute(batch, features, drawn, update)
            self._value_optimizer.apply(replicas.summed(gradients))
            spread = self.value.follow(tf.nest.map_structure(replicas.of_all, seen))
            metrics["value_spread"] = spread / replicas.count()
            return update + 1, {name: sums[name] + metrics[name] for name in sums}

        done = tf.constant(0), dict.fromkeys(self.value.metric_names, tf.constant(0.0))
        if replicas.count() > 1:  # they cannot meet within a loop of TensorFlow
            for _ in range(updates):
                done = step(*done)
        else:
            done = tf.while_loop(lambda update, _: update < updates, step, done)
        return {name: total / updates for name, total in done[1].items()}

    def _count(self, metrics):
        counts = tf.reduce_all(tf.math.is_finite(self._metric_sums))
        self._metric_sums.assign_add(tf.where(counts, metrics, tf.zeros_like(metrics)))
        self._summed_steps.assign_add(tf.cast(counts, tf.float32))

    def _loss(self, experience, weights=None, training=False):
        del weights, training
        drawn = self._drawn(experience)
        loss, metrics, features = self._losses(experience, drawn)
        if self.value:
            metrics |= self._losses_of_value(experience, features, drawn)[0]
        return tf_agent.LossInfo(loss, metrics)

    def _loss_and_gradients(self, batch, drawn):
        with tf.GradientTape() as tape:
            loss, metrics, features = self._losses(batch, drawn)
        variables = self.model.trainable_variables
        return loss, metrics, features, tape.gradient(loss, variables)

    def _gradients_of_value(self, batch, features, drawn, update):
        with tf.GradientTape() as tape:
            metrics, seen = self._losses_of_value(batch, features, drawn, update)
            loss = tf.add_n([metrics[name] for name in self.value.loss_names])
        return metrics, seen, tape.gradient(loss, self.value.trainable_variables)

    def _drawn(self, batch):
        seed = fold(self._train_seed, self.train_step_counter)
        return draw(seed, self.model, batch["reward"].shape, bool(self._explorer))

    def _losses(self, batch, drawn: Drawn):
        """This replica's shares of the model's loss and terms; features [B, T, F]."""
        size, copies = batch["reward"].shape[0], self.model.source.copies
        copied = {"batch": batch, "latents": drawn.latents}
        if copies > 1:
            copied = tf.nest.map_structure(lambda x: tf.repeat(x, copies, 0), copied)
        own = self.model, size * copies, drawn.weight_seed, drawn.replica
        weights, draws = own_draws(*own)
        with hold(self.model, weights):
            image_seed = fold(drawn.image_seed, drawn.replica)
            losses, metrics, features = self.model.losses(
                copied["batch"], copied["latents"], image_seed, draws
            )
        terms = _means(losses | metrics)
        total = tf.add_n([terms[name] for name in losses])
        if self._costs:
            costs = self.model.source.costs(self.model).values()
            terms["weight_kl"] = tf.add_n(list(costs)) / replicas.count()
            total += self._kl_scale() * terms["weight_kl"]
        return total, {"loss": total, **terms}, features[::copies]

    def _losses_of_value(self, batch, features, drawn, update=0):
        """This replica's shares of losses and terms of a value; what its `follow` gets."""
        losses, seen = self.value.losses(
            batch,
            features,
            drawn.actions,
            self._sought(drawn.weight_seed),
            self._expecting(drawn.weight_seed),
            update,
        )
        return _means(losses), seen

    @property
    def _explorer(self):
        return self.value and self.value.explorer

    def _sought(self, seed):
        """What the explorer seeks: the bonus of replayed steps under new draws."""
        if not self._explorer:
            return None
        strategy, model = self.policies.strategy, self.model
        weights = model.draw_weights(strategy.draws, fold(seed, 1))

        def bonus(features, action):
            after = expect_next(model, features, action, weights, strategy.draws)
            mean, stddev = (x[:, :, tf.newaxis] for x in (after.mean, after.stddev))
            rollout = Rollout(tf.zeros([1, *mean.shape[1:4]]), mean, stddev)
            return tf.stop_gradient(strategy.steps(rollout)[:, 0])

        seen = self.clock.elapsed
        return Sought(bonus, strategy.scheduled(seen), strategy.of_return(seen))

    def _expecting(self, seed):
        """What new draws expect of actions in targets of the value, where it asks them."""
        draws, model = self.value.target_draws, self.model
        if not draws:
            return None
        weights = model.draw_weights(draws, fold(seed, 2))

        def expect(features, action):
            after = expect_next(model, features, action, weights, draws).features
            return after, model.reward(after), model.continuation(after)

        return expect

    def _kl_scale(self):
        """kl_weight / replay steps, kl_weight annealed."""
        replay_steps = tf.maximum(self.clock.replay_steps, 1.0)
        if not self._kl_weight_warmup:
            return self._kl_weight / replay_steps
        share = tf.cast(self.train_step_counter, tf.float32) / self._kl_weight_warmup
        return tf.minimum(share, 1.0) * self._kl_weight / replay_steps


def training_data_spec(model):
    """The spec of one step of the replay's batches."""
    return {
        "observation": model.observation_spec,
        "action": tensor_spec.TensorSpec([model.action_size], tf.float32),
        "reward": tensor_spec.TensorSpec([], tf.float32),
        "is_first": tensor_spec.TensorSpec([], tf.bool),
        "is_terminal": tensor_spec.TensorSpec([], tf.bool),
    }


def draw(seed, model, shape, explores=False) -> Drawn:
    """Draws for the replica that calls it, whose sequences have the shape B and T."""
    of_latents, weight_seed, image_seed = tf.unstack(split(seed, 3))
    pairs = [
        _own_rows(shape, 2 * model.action_size, fold(seed, number))
        for number in range(1 + explores)
    ]
    return Drawn(
        _own_rows(shape, model.rssm.latent_size, of_latents),
        weight_seed,
        image_seed,
        tf.concat([tf.stack(tf.split(pair, 2, axis=-1)) for pair in pairs], 0),
        replicas.number(),
    )


def _means(terms):
    """This replica's shares of the means over a batch of what each row has, dict of [B]."""
    count = replicas.count()
    return {
        name: tf.reduce_sum(value) / (value.shape[0] * count)
        for name, value in terms.items()
    }


def _own_rows(shape, size, seed):
    """This replica's rows of the numbers [B * replicas, T, size] of all."""
    rows, length = shape
    noise = normal([rows * replicas.count(), length, size], seed)
    return replicas.own_rows(noise, rows, replicas.number())
