"""The world model: encoder, latent dynamics, decoder and heads, with their losses."""

import numpy as np
import tensorflow as tf
from tensorflow_probability import distributions as tfd

from agents.planet.model import networks
from agents.planet.model.observed import Observed, over_leading_axes
from agents.planet.model.rssm import (
    RSSM,
    above_free_nats,
    by_draw,
    from_front,
    gaussian,
    in_order,
    to_front,
)
from agents.planet.model.sizes import IMAGE_NUMBERS
from agents.planet.model.standardization import Standardizer
from agents.system.seeds import fold
from bayes_rl.layers.base import StochasticLayer


class WorldModel(tf.Module):
    """Learns to predict observations, rewards and ends of episodes in a latent space.

    Args:
        observation_spec: `tf.TensorSpec` of one observation: float32 [n], or uint8
            [size, size, 3].
        action_size: number of action dimensions.
        settings: `agents.runs.config.schema.WorldModel`.
        source: of the uncertainty about the transition, makes its dense layers, see
            `agents.planet.model.transitions`.
        dtype: Keras dtype policy of the networks.
        can_end: whether episodes can end before their time limit. Unless
            `continuation_scale` is 0, there is a continuation head then.
        any_reward: whether rewards may be of any size. Unless `standardize` is false, they
            are divided by `reward_unit` then.
        image_specs: dict of name -> `tf.TensorSpec` of images that are seen beside it.

    Attributes:
        parts: dict of name -> `agents.planet.model.observed.Observed` of all that is seen:
            `observation`, then images beside it.
    """

    def __init__(
        self,
        observation_spec,
        action_size,
        settings,
        source,
        dtype="float32",
        can_end=False,
        any_reward=False,
        image_specs=None,
    ):
        super().__init__("world_model")
        self.observation_spec = observation_spec
        self.action_size = action_size
        self.source = source
        self._settings = settings
        main = Observed(observation_spec, settings, dtype)
        # By these names checkpoints know them.
        self._observations, self._log_stddev = main.standardizer, main.log_stddev
        self._encoder, self._decoder = main.encoder, main.decoder
        self.parts = {"observation": main} | {
            name: Observed(spec, settings, dtype, name)
            for name, spec in sorted((image_specs or {}).items())
        }
        self._reward_size = None
        if settings.standardize and any_reward:
            self._reward_size = Standardizer([1])
        self.rssm = RSSM(settings, source.dense, dtype)
        self._reward = networks.make_head(settings, "reward", dtype, source.reward_dense)
        self._continuation = None
        self._build()
        if can_end and settings.continuation_scale:  # last: it changes no other's draw
            self._continuation = networks.make_head(settings, "continuation", dtype)
            self.continuation(self.rssm.initial(1).features)

    @property
    def loss_names(self):
        """The losses that `losses` returns."""
        names = ["observation_loss", "reward_loss", "latent_loss"]
        if len(self.parts) > 1:
            names.append("image_loss")
        if self._continuation is not None:
            names.append("continuation_loss")
        if self._settings.global_kl_scale:
            names.append("global_loss")
        if self._settings.overshooting_distance:
            names += ["overshooting_latent_loss", "overshooting_reward_loss"]
        return names

    def draw_weights(self, count, seed):
        """Draws of the transition's weights, see `.transitions.source`."""
        return self.source.draw(self, count, seed)

    def central_weights(self):
        """What filters and evaluates, likewise: for most sources the posterior means."""
        return self.source.central(self)

    def see(self, episode):
        """Takes the observations and rewards of an episode into the statistics of both."""
        for name, part in self.parts.items():
            part.see(episode[name])
        if self._reward_size is not None:
            rewards = np.asarray(episode["reward"][1:])
            if rewards.any():
                self._reward_size.update(rewards[rewards != 0, np.newaxis])

    def embed(self, seen, seed):
        """What the encoders make of `observation` and of images beside it, [..., E].

        The seed is of the noise that dequantizes images, here and elsewhere.
        """
        return self._encode(self._preprocess(seen, seed))

    def _preprocess(self, seen, seed):
        """What `embed` takes, as the networks get it."""
        # An image alone has the seed itself, those beside it seeds of their own.
        seeds = [seed, *(fold(seed, number) for number in range(len(self.parts) - 1))]
        return {
            name: part.preprocess(seen[name], own)
            for (name, part), own in zip(self.parts.items(), seeds, strict=True)
        }

    def _encode(self, preprocessed):
        parts = [part.encode(preprocessed[name]) for name, part in self.parts.items()]
        return tf.concat(parts, axis=-1) if len(parts) > 1 else parts[0]

    def observed(self, observation, seed):
        """The observation in the units of `expected_observation`, see `Observed`."""
        return self.parts["observation"].observed(observation, seed)

    def expected_observation(self, features):
        """Features [..., F] -> mean of the observation, in the units of `observed`."""
        return self.parts["observation"].expected(features)

    @property
    def observation_stddev(self):
        """The likelihood's, of `expected_observation`: [], or one for each number."""
        return self.parts["observation"].stddev

    def reward(self, features):
        """Features [..., F] -> mean reward [...].

        Where S draws of the head are held, features are [..., S, N, F], of draw s in row s.
        """
        return self.reward_unit * self._expected_reward(features)

    @property
    def sizes_rewards(self):
        """Whether rewards, which may be of any size here, are counted by their size."""
        return self._reward_size is not None

    @property
    def reward_unit(self):
        """The reward that counts 1 in the loss, [].

        Where rewards may be of any size, the root mean square of those other than 0: their
        mean stays in them, and rare ones are not larger for being rare.
        """
        return self._reward_size.size[0] if self._reward_size else tf.constant(1.0)

    def reward_log_prob(self, features, reward):
        """Rewards [...] -> log N(r / reward_unit | what the head expects, 1), [...]."""
        expected = tfd.Normal(self._expected_reward(features), 1.0)
        return expected.log_prob(reward / self.reward_unit)

    def reward_inputs(self, features):
        """What the last layer of the head of the reward gets: [..., F] -> [..., units]."""
        for layer in self._reward.layers[:-1]:
            features = layer(features)
        return features

    def _expected_reward(self, features):
        last = self._reward.layers[-1]
        if not (isinstance(last, StochasticLayer) and last.held_draws()):
            return over_leading_axes(self._reward, features, 1)[..., 0]
        draws = features.shape.rank - 3
        outputs = last(to_front(self.reward_inputs(features), draws))
        return tf.cast(from_front(outputs, draws), tf.float32)[..., 0]

    def continuation(self, features):
        """Features [..., F] -> probability that the episode does not end there, [...].

        It is 1 where there is no continuation head.
        """
        if self._continuation is None:
            return tf.ones_like(features[..., 0])
        return self._continues(features).probs_parameter()

    def _continues(self, features):
        logits = over_leading_axes(self._continuation, features, 1)[..., 0]
        return tfd.Bernoulli(logits, dtype=tf.float32)

    def losses(self, batch, noise, seed, draws=0):
        """The terms of the negative evidence lower bound, averaged over time.

            observation: -log N(o | decoder(features), observation_stddev), summed over o
            image:       likewise, of images beside a vector; each counts as 20 numbers,
                         not as its P: times 20 / P
            reward:      -log N(r / reward_unit | reward(features), 1) * reward_scale
            latent:      max(0, KL(posterior || prior) - free_nats) * kl_scale
            continuation: -log Bernoulli(not terminal | continuation(features))
                         * continuation_scale, where episodes can end

        Source: Hafner et al., 2019, equation 3, and the losses of its last release; the
        continuation: Hafner et al., 2021, Mastering Atari with Discrete World Models,
        section 2.1.

        Args:
            batch: observation [B, T, ...] and images beside it, action [B, T, A]; reward,
                is_first and is_terminal [B, T].
            noise: [B, T, latent_size], standard normal.
            seed: [2], of the noise that dequantizes images.
            draws: of the weights that are held, as in `RSSM.observe`.

        Returns:
            Two dicts of tensors [B]: the losses to add up, and diagnostics in nats. And the
            posterior's features, [B, T, F].
        """
        settings, (main, *images) = self._settings, self.parts.values()
        seen = self._preprocess(batch, seed)
        embedding = self._encode(seen)
        posterior, prior = self.rssm.observe(
            embedding, batch["action"], batch["is_first"], noise, draws
        )
        features = posterior.features
        reward = self.reward_log_prob(features, batch["reward"])
        latent_kl = tfd.kl_divergence(gaussian(posterior), gaussian(prior))
        losses = {
            "observation_loss": main.loss(features, seen["observation"]),
            "reward_loss": -settings.reward_scale * reward,
            "latent_loss": settings.kl_scale
            * above_free_nats(latent_kl, settings.free_nats),
        }
        if images:
            each = zip(images, [*seen.values()][1:], strict=True)
            losses["image_loss"] = sum(
                self._share(image) * image.loss(features, array) for image, array in each
            )
        if self._continuation is not None:
            goes_on = tf.cast(~batch["is_terminal"], tf.float32)
            log_prob = self._continues(features).log_prob(goes_on)
            losses["continuation_loss"] = -settings.continuation_scale * log_prob
        if settings.global_kl_scale:
            standard = tfd.Independent(tfd.Normal(tf.zeros_like(posterior.mean), 1.0), 1)
            global_kl = tfd.kl_divergence(gaussian(posterior), standard)
            losses["global_loss"] = settings.global_kl_scale * global_kl
        if settings.overshooting_distance:
            losses |= overshooting_losses(self, batch, posterior, noise, settings, draws)
        means = {name: tf.reduce_mean(loss, axis=1) for name, loss in losses.items()}
        return means, {"latent_kl": tf.reduce_mean(latent_kl, axis=1)}, features

    def _share(self, part):
        """Of the loss of an image that counts; all of it where no vector stands beside."""
        if self.parts["observation"].is_image:
            return 1.0
        return IMAGE_NUMBERS / part.seen_spec.shape.num_elements()

    def _build(self):
        """Creates every variable, so that checkpoints and optimizers see them all."""
        nothing = {
            name: tf.zeros([1, 1, *part.seen_spec.shape])
            for name, part in self.parts.items()
        }
        self.rssm.build(self._encode(nothing).shape[-1], self.action_size)
        features = self.rssm.initial(1).features
        main, *images = self.parts.values()
        main.decode(features)
        self.reward(features)
        for image in images:
            image.decode(features)


def overshooting_losses(model, batch, posterior, noise, settings, draws=0):
    """The losses of priors unrolled from every posterior, averaged over distances.

        KL(stop_gradient(posterior[t + d]) || prior[t + d | t])   and
        -log N(r[t + d] / reward_unit | reward(features[t + d | t]), 1),  d = 1 ... distance

    with the same free nats as the one-step loss. Steps past the end of the sequence or of
    its episode count as zero. The cost grows with length times distance.

    The losses are [B, T], at the step from which the prior was unrolled. A step's noise,
    standard normal [B, T, D], is the same at all distances; `draws` as in `RSSM.observe`.

    Source: Hafner et al., 2019, section 4, equation 7, and the first release's scales.
    """
    length, distance = batch["reward"].shape[1], settings.overshooting_distance
    ahead = tf.range(length)[:, tf.newaxis] + tf.range(1, distance + 1)  # [T, distance]
    inside = ahead < length

    def window(tensor):
        """[B, T, ...] -> [B, T, distance, ...], the steps ahead of each step."""
        return tf.gather(tensor, tf.minimum(ahead, length - 1), axis=1)

    same_episode = tf.math.cumprod(tf.cast(~window(batch["is_first"]), tf.float32), axis=2)
    weight = same_episode * tf.cast(inside, tf.float32) / distance
    starts = (posterior, window(batch["action"]), window(noise))
    prior = in_order(_unroll(model.rssm, *by_draw(starts, draws)), draws)
    target = tf.nest.map_structure(lambda x: window(tf.stop_gradient(x)), posterior)
    kl = tfd.kl_divergence(gaussian(target), gaussian(prior))
    reward = model.reward_log_prob(prior.features, window(batch["reward"]))
    kl = settings.overshooting_kl_scale * above_free_nats(kl, settings.free_nats)
    return {
        "overshooting_latent_loss": tf.reduce_sum(weight * kl, axis=2),
        "overshooting_reward_loss": tf.reduce_sum(
            -settings.overshooting_reward_scale * weight * reward, axis=2
        ),
    }


def _unroll(rssm, posterior, actions, noise):
    """`Latent` [..., T, distance, X] from posteriors [..., T, X] and actions ahead."""
    distances = actions.shape.rank - 2
    ahead = (to_front(tensor, distances) for tensor in (actions, noise))
    latents = rssm.imagine(posterior, *ahead)
    return tf.nest.map_structure(lambda x: from_front(x, distances), latents)
