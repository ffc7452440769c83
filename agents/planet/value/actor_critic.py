"""Critics and a policy that learn on features of the filter; what planners ask of them."""

import functools

import tensorflow as tf

from agents.planet.action_space import BOX
from agents.planet.model.standardization import statistic
from agents.planet.planning.rollouts import repeat_candidates
from agents.planet.value.explorer import Explorer
from agents.planet.value.networks import Critics, make_policy
from agents.planet.value.targets import (
    Rows,
    critic_loss,
    follow_spread,
    move,
    worth_over_draws,
)
from agents.system.seeds import normal


class ActorCritic(tf.Module):
    """The value of states and a policy, in a unit of reward.

        y    = n-step target of the slow critics, the smaller of both, at a' ~ policy(x')
        L_Q  = mean over steps of sum over i of (Q_i(x, a) - y)^2
        L_pi = mean of (-min over i of Q_i(x, a') / scale + entropy log policy(a' | x)
                        + imitation |a' - a|^2)

    x are the features of the filter, whose gradients are stopped: model and weight
    posterior learn by the evidence bound alone. `scale` follows the distance of the 5 and
    95 per cent quantiles of Q (Hafner et al., 2023, DreamerV3, equation 7).

    Where the critics are centered, their networks learn Q - c, with

        c = mean reward of replayed steps / (1 - discount)

    where the mean is a running mean over gradient steps. Without centering, values grow
    from 0 by at most `target_rate` rewards in an update. For a long time, continuing then
    has hardly more value than an end. Source: Naik et al., 2024, Reward Centering, section
    2.

    Where actions are categories, the mean over them takes the place of a draw in targets
    and in the policy's loss.

    The settings are a `agents.planet.value.TemporalDifference` without null;
    `reward_unit()` is the reward that counts 1 here, []. Where a bonus has a value too, its
    beta is tuned at `beta_rate`, see `agents.planet.value.explorer`.
    """

    def __init__(
        self, settings, features, action_size, reward_unit, beta_rate=None, space=BOX
    ):
        super().__init__("value")
        self._settings = settings
        self._reward_unit = reward_unit
        self._action_size = action_size
        self.proposals = settings.proposals
        self.return_lambda = settings.return_lambda
        self.discount = settings.discount
        self.target_draws = settings.target_draws
        self.updates = settings.updates
        sizes = (features, action_size, settings.layers, settings.units)
        centers = ()
        if settings.centered:
            self._mean_reward = statistic(0.0)
            centers = (lambda: self._mean_reward / (1.0 - settings.discount),)
        self._critics = Critics(*sizes, "critics", *centers)
        self._slow = Critics(*sizes, "slow_critics", *centers)
        self._policy = make_policy(features, space, *sizes[1:])
        self._slow.follow(self._critics, rate=1.0)
        self._scale = statistic(1.0)
        self.explorer = None
        if beta_rate is not None:
            self.explorer = Explorer(settings, sizes, beta_rate, space)

    @property
    def loss_names(self):
        """Those of `losses` that are to be minimized."""
        more = self.explorer.loss_names if self.explorer else ()
        return ("value_loss", "policy_loss", *more)

    @property
    def metric_names(self):
        """What `losses` and `follow` tell."""
        more = self.explorer.metric_names if self.explorer else ()
        own = ("value_loss", "policy_loss", "value_mean", "policy_entropy", "value_spread")
        return (*own, *more)

    @property
    def groups(self):
        """The variables of critics and of policy, which are clipped apart."""
        more = self.explorer.groups if self.explorer else ()
        own = self._critics.trainable_variables, self._policy.trainable_variables
        return (*own, *more)

    @property
    def trainable_variables(self):
        """Those that losses reach; the slow critics follow."""
        return sum(self.groups, ())

    def losses(self, batch, features, noise, sought=None, expect=None, update=0):
        """Losses and diagnostics of a batch of sequences, [B]; and what `follow` gets.

        Features [B, T, F] are those of the filter after each row. Standard normal noise [2,
        B, T, A] is of the actions in targets and losses; with an explorer it is [4, ...],
        the last two its own, and `sought` is there. Where the settings have target_draws,
        `expect` maps features [..., B, L, F] and actions [..., B, L, A] to what each draw
        expects: features [K, ..., B, L, F], rewards and continuation [K, ..., B, L]. Each
        `update` of a gradient step learns from other rows, until all had their turn.
        """
        stride = self._settings.stride
        rows = Rows(self._settings.target_steps, stride, first=update % stride)
        features = tf.stop_gradient(features)
        reward = batch["reward"] / self._reward_unit()
        rewards = [rows.after(reward, count + 1) for count in range(rows.steps)]
        worth_later = functools.partial(self._worth_later, expect)
        learned = self._critics, self._policy, worth_later, batch, features, rewards
        value_loss = critic_loss(*learned, noise[0], self.discount, rows)
        here, taken = rows.after(features, 0), rows.after(batch["action"], 1)
        losses, best = self._policy_losses(here, rows.after(noise[1], 0), taken)
        losses["value_loss"] = value_loss
        seen = {"value": best}
        if self._settings.centered:
            goes_on = 1.0 - tf.cast(rows.after(batch["is_first"], 1), tf.float32)
            seen |= {"reward": goes_on * rewards[0], "counts": goes_on}
        if not self.explorer:
            return losses, seen
        more, of_explorer = self.explorer.losses(
            batch, features, noise[2:], sought, self._worth, rows
        )
        return losses | more, seen | of_explorer

    def _worth_later(self, expect, features, action):
        """What an action is worth in a target: by the slow critics, or by draws first."""
        if not self._settings.target_draws:
            return tf.reduce_min(self._slow(features, action), 0)
        after_it, reward, continuation = expect(features, action)
        later = tf.reduce_min(self._slow(after_it, self.act(after_it)), 0)
        worths = reward / self._reward_unit() + self.discount * continuation * later
        return worth_over_draws(worths, self._settings.pessimism)

    def _best(self, features, action):
        return tf.reduce_min(self._critics(features, action, fixed=True), 0)

    def _worth(self, features, action):
        return self._best(features, action) / self._scale

    def _policy_losses(self, features, noise, taken):
        def judged(features, action):
            distance = tf.reduce_sum((action - taken) ** 2, -1)
            return self._best(features, action), distance

        (best, distance), log_density = self._policy.expect(judged, features, noise)
        policy_loss = self._settings.entropy * log_density - best / self._scale
        if self._settings.imitation:
            policy_loss += self._settings.imitation * distance
        losses = {
            "policy_loss": tf.reduce_mean(policy_loss, 1),
            "value_mean": tf.reduce_mean(best, 1),
            "policy_entropy": -tf.reduce_mean(log_density, 1),
        }
        return losses, best

    def follow(self, seen):
        """Moves slow critics and scale on, after a gradient step; the values' spread, [].

        What was seen, see `losses`, is of the whole batch, of all replicas.
        """
        self._slow.follow(self._critics, self._settings.target_rate)
        found = follow_spread(self._scale, seen["value"])
        if self._settings.centered:
            total, count = (tf.reduce_sum(seen[name]) for name in ("reward", "counts"))
            now = tf.math.divide_no_nan(total, count)
            self._mean_reward.assign(move(self._mean_reward, now))
        if self.explorer:
            self.explorer.follow(seen)
        return found

    def act(self, features):
        """The policy's action, [..., A] of features [..., F]."""
        return self._policy.mode(features)

    def value(self, features):
        """The value of a state if the policy acts, [...], in rewards of a decision."""
        values = self._critics(features, self.act(features))
        return self._reward_unit() * tf.reduce_mean(values, 0)

    def novelty(self, features):
        """The value of a state for the explorer, [...], in units of the bonus, or 0."""
        if not self.explorer:
            return tf.zeros_like(features[..., 0])
        return self.explorer.value(features)

    def propose(self, model, latent, horizon, seed, explores=False, latents="samples"):
        """Plans [B, proposals, H, A] that a policy makes by acting in the model.

        The first takes the modes of policy and latents, the others draw both; of latents
        that are "means" none is drawn. The weights of the model are held. Where `explores`
        is true the policy is the explorer's, which seeks the bonus too.
        """
        policy = self.explorer.policy if explores else self._policy
        count, size = self.proposals, latent.sample.shape[-1]
        rows = latent.belief.shape[0]
        noise = normal([rows, count, horizon, size + self._action_size], seed)
        noise *= tf.reshape(tf.cast(tf.range(count) > 0, tf.float32), [1, count, 1, 1])
        if latents == "means":
            noise *= tf.repeat([0.0, 1.0], [size, self._action_size])
        now = repeat_candidates(latent, count)
        actions = []
        for step in range(horizon):
            of_latent, of_action = tf.split(
                noise[:, :, step], [size, self._action_size], -1
            )
            action, _ = policy.sample(now.features, of_action)
            now = model.rssm.imagine_step(now, action, of_latent)
            actions.append(action)
        return tf.stack(actions, axis=2)
