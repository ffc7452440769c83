"""What a bonus is worth beyond the horizon: critics of it, and a policy that seeks it."""

import math
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from agents.planet.action_space import BOX
from agents.planet.model.standardization import statistic
from agents.planet.value.networks import Critics, make_policy
from agents.planet.value.targets import critic_loss, follow_spread, move

_FARTHEST = math.log(100.0)  # that the logarithm of a tuned beta comes from its start


class Sought(NamedTuple):
    """What an explorer seeks."""

    bonus: Callable  # of features [B, L, F] and actions [B, L, A] to u [B, L]
    beta: tf.Tensor  # weight of the bonus, [], as scheduled
    of_return: tf.Tensor  # 1, or 0 where the bonus is sought alone, []


class Explorer(tf.Module):
    """The value of a bonus u, and a policy for reward and bonus.

        y    = n-step target of the slow critics of u / size, at a' ~ explorer(x')
        L_I  = mean over steps of sum over i of (I_i(x, a) - y)^2
        L_e  = mean of (-o Q(x, a) / scale - beta min over i of I_i(x, a) / spread of I
                        + entropy log explorer(a | x)),  a ~ explorer(x)

    with Q the value of reward, and o 0 where reward is not sought, else 1. `size` follows
    the mean of |u|, so that what is learned does not shrink as the model grows sure. Where
    beta is tuned, it rises while the explorer gains less than its slow copy does, from the
    same states:

        log beta += beta_rate (mean u(x, slow explorer(x)) - mean u(x, explorer(x))) / size

    within a factor of 100 of what it is without.

    Source: Sukhija et al., 2024, MaxInfoRL: Boosting Exploration in Reinforcement Learning
    through Information Gain Maximization (the rule for beta); Sekar et al., 2020, Planning
    to Explore via Self-Supervised World Models (a value of the bonus alone).

    The sizes are features F, actions A, hidden layers, units.
    """

    loss_names = ("novelty_loss", "explorer_loss")

    def __init__(self, settings, sizes, beta_rate, space=BOX):
        super().__init__("explorer")
        self._settings = settings
        self._beta_rate = beta_rate
        self._critics = Critics(*sizes, "novelty_critics")
        self._slow = Critics(*sizes, "slow_novelty_critics")
        features, *others = sizes
        self.policy = make_policy(features, space, *others)
        self._slow_policy = make_policy(features, space, *others)
        self._slow.follow(self._critics, rate=1.0)
        self._slow_policy.follow(self.policy, rate=1.0)
        self._spread = statistic(1.0)
        self._size = statistic(0.0)  # 0: nothing was seen
        self._shift = statistic(0.0)  # of the logarithm of beta

    @property
    def metric_names(self):
        """What `losses` and `follow` tell."""
        return (*self.loss_names, "novelty_mean", "bonus", "beta")

    @property
    def groups(self):
        """The variables of critics and of policy, which are clipped apart."""
        return self._critics.trainable_variables, self.policy.trainable_variables

    def beta(self, scheduled):
        """The weight of the bonus, []: the scheduled one, tuned."""
        return scheduled * tf.exp(self._shift)

    def value(self, features):
        """What a state is worth to the explorer, [...], in units of the bonus."""
        values = self._critics(features, self.policy.mode(features))
        return self._size * tf.reduce_mean(values, 0)

    def losses(self, batch, features, noise, sought, reward_value, rows):
        """As of `ActorCritic`, of features without gradient and its own noise.

        The `reward_value` of features and actions is Q / scale, [B, L]; its gradient
        reaches the actions alone.
        """
        bonuses = [
            sought.bonus(
                rows.after(features, count), rows.after(batch["action"], count + 1)
            )
            for count in range(rows.steps)
        ]
        first = bonuses[0]
        size = tf.where(self._size > 0.0, self._size, 1.0)
        rewards = [each / size for each in bonuses]
        learned = self._critics, self.policy, self._slow_worth, batch, features, rewards
        novelty_loss = critic_loss(*learned, noise[0], self._settings.discount, rows)
        sought = sought._replace(beta=self.beta(sought.beta))
        here = rows.after(features, 0), rows.after(noise[1], 0)
        losses, seen = self._explorer_losses(*here, sought, reward_value)
        losses["novelty_loss"] = novelty_loss
        losses["bonus"] = tf.reduce_mean(first, 1)
        losses["beta"] = tf.fill(tf.shape(first)[:1], sought.beta)
        return losses, seen | {"bonus": first}

    def _slow_worth(self, features, action):
        return tf.reduce_min(self._slow(features, action), 0)

    def _explorer_losses(self, features, noise, sought, reward_value):
        def worth_of(features, action):
            novelty = tf.reduce_min(self._critics(features, action, fixed=True), 0)
            return novelty, reward_value(features, action)

        (novelty, reward), log_density = self.policy.expect(worth_of, features, noise)
        worth = sought.of_return * reward + sought.beta * novelty / self._spread
        loss = self._settings.entropy * log_density - worth
        seen = {"novelty": novelty}
        if self._beta_rate:
            action, _ = self.policy.sample(features, noise)
            slow_action, _ = self._slow_policy.sample(features, noise)
            lead = sought.bonus(features, slow_action) - sought.bonus(features, action)
            seen["lead"] = tf.stop_gradient(lead)
        losses = {
            "explorer_loss": tf.reduce_mean(loss, 1),
            "novelty_mean": tf.reduce_mean(novelty, 1),
        }
        return losses, seen

    def follow(self, seen):
        """Moves slow copies, scales and beta on, as `ActorCritic` does."""
        rate = self._settings.target_rate
        self._slow.follow(self._critics, rate)
        self._slow_policy.follow(self.policy, rate)
        follow_spread(self._spread, seen["novelty"])
        now = tf.reduce_mean(tf.abs(seen["bonus"]))
        self._size.assign(tf.where(self._size > 0.0, move(self._size, now), now))
        if self._beta_rate:
            lead = tf.reduce_mean(seen["lead"]) / tf.maximum(self._size, 1e-12)
            shift = self._shift + self._beta_rate * lead
            self._shift.assign(tf.clip_by_value(shift, -_FARTHEST, _FARTHEST))
