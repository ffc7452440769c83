"""The physical limit: the best speed of a matrix product on this machine, as it is now."""

import tensorflow as tf

from agents.planet.model.sizes import for_task
from benchmarks.measuring.timing import measure

SQUARES = [(size, size, size) for size in (512, 1024, 2048)]
_INNER_FLOPS = 1e10


def shapes(config, observation_size, action_size):
    """Products (rows, inputs, units) that occur in a config's train step and decision."""
    model = for_task(config.world_model, observation_size, action_size)
    planner = config.planner
    features = model.belief_size + model.latent_size
    steps = config.batch_size * config.sequence_length
    plans = planner.candidates
    return [
        (plans, model.hidden_size, 3 * model.belief_size),
        (plans, model.belief_size, model.hidden_size),
        (plans * planner.horizon, features, model.reward_units),
        (plans * planner.horizon, model.reward_units, model.reward_units),
        (steps, features, model.reward_units),
        (steps, model.hidden_size, model.embedding_size),
        (config.batch_size, model.hidden_size, 3 * model.belief_size),
    ]


def matrix_speeds(products, dtype, clock):
    """Dict of product -> operations per second, of the fastest of five calls."""
    functions = {product: make_products(product, dtype) for product in products}
    seconds = measure(functions, repeats=5, warmup=1, clock=clock)
    return {product: flops(product) / seconds[product].min() for product in products}


def flops(product):
    """Operations of one call of what `make_products` makes."""
    rows, inputs, units = product
    return 2 * rows * inputs * units * _calls(product)


def _calls(product):
    """Enough that starting the calls and waiting for them takes no time beside them."""
    rows, inputs, units = product
    return max(1, round(_INNER_FLOPS / (2 * rows * inputs * units)))


def make_products(product, dtype):
    """A function that takes a product some times and waits for the end."""
    rows, inputs, units = product
    left = tf.cast(tf.random.normal([rows, inputs]), dtype)
    right = tf.cast(tf.random.normal([inputs, units]), dtype)

    def function():
        for _ in range(_calls(product)):
            last = tf.linalg.matmul(left, right)
        return last[0, 0].numpy()

    return function
