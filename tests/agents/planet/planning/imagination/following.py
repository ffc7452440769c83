"""Plans followed step by step, which imagination is held against."""

import numpy as np
import tensorflow as tf

from bayes_rl.weights import hold

ENVIRONMENTS, CANDIDATES, HORIZON, LATENT, DRAWS = 2, 2, 3, 3, 3


def draw_of(draws, environment, number):
    row = environment * DRAWS + number
    return {name: draw[row] for name, draw in draws.items()}


def follow(model, weights, start, plan, noise):
    """The latents before and after each action of one plan [H, A]."""
    latents = [tf.nest.map_structure(lambda x: x[None], start)]
    with hold(model, weights):
        for action, normal in zip(plan, noise, strict=True):
            latents.append(model.rssm.imagine_step(latents[-1], action[None], normal[None]))
    return latents


def each_plan():
    return np.ndindex(ENVIRONMENTS, CANDIDATES)


def one(nest, *index):
    return tf.nest.map_structure(lambda x: x[index], nest)
