"""Posterior: what all posteriors over the variables of a Keras model can be asked."""

import json
import os

import numpy as np
import tensorflow as tf

from bayes_rl import checks
from bayes_rl.numerics.noise import as_seed, stateless_normal
from bayes_rl.weights import named_variables, named_weights, predict
from bayes_rl.weights.drawing import seed_of

_KINDS = {}  # name in files -> class


def kind_of_posterior(name):
    """Decorator of posteriors that files are made of under a name."""

    def decorate(kind):
        _KINDS[name], kind.kind = kind, name
        return kind

    return decorate


class Posterior:
    """A distribution over variables of a Keras model, which itself is unchanged.

        weights = posterior.sample([S], seed)  # name -> [S, ...]
        outputs = ed.predict(model, inputs, weights)  # [S, N, ...]

    A draw is one function: `bayes_rl.hold` takes one, `bayes_rl.predict` several. Variables
    that it does not name keep their values.

    Args:
        model: built Keras model.
        mean: dict of full name -> [*shape of the variable], an attribute.

    Raises:
        ValueError: a variable is not one of the model, or has another shape there.

    Example:
        >>> import bayes_rl as ed
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> data = np.eye(2, dtype=np.float32), np.ones([2, 1], np.float32)
        >>> posterior = ed.inference.laplace(model, data, "normal", noise_stddev=1.0)
        >>> with ed.hold(model, posterior.sample(seed=1)):
        ...     outputs = model(data[0])
        >>> outputs.shape
        TensorShape([2, 1])
    """

    def __init__(self, model, mean):
        self.model = model
        self.mean = {name: np.asarray(value) for name, value in mean.items()}
        _check_names(self.mean, named_variables(model))

    def sample(self, sample_shape=(), seed=None):
        """Draws weights.

        Args:
            sample_shape: () for one draw, [S] for S draws.
            seed: as in `bayes_rl.sample_weights`.

        Returns:
            Dict of full name -> [*sample_shape, *shape of the variable], as `bayes_rl.hold`
            and `bayes_rl.predict` take it.

        Raises:
            ValueError: `sample_shape` or `seed` is malformed.
        """
        sizes = checks.as_sizes(sample_shape)
        if sizes is None or len(sizes) > 1:
            raise ValueError(f"sample_shape must be () or [S], got {sample_shape!r}")
        draws = self._draws(sizes[0] if sizes else 1, as_seed(seed))
        return {name: value if sizes else value[0] for name, value in draws.items()}

    def predict(self, inputs, draws=20, seed=None, batch_size=32, verbose="auto"):
        """Outputs of the model under draws, as `bayes_rl.predict` gives them.

        Args:
            inputs: as in `bayes_rl.predict`.
            draws: S, a number of draws.
            seed: as in `sample`.
            batch_size: number of inputs that the model takes at a time.
            verbose: as in `bayes_rl.predict`.

        Returns:
            [S, N, ...], in the structure of the model's outputs.
        """
        weights = self.sample([draws], seed)
        return predict(self.model, inputs, weights, None, batch_size, verbose)

    def save(self, path):
        """Writes all but the model to a file, which `bayes_rl.inference.load` reads.

        Args:
            path: of the file, a NumPy archive.
        """
        settings, arrays = self._state()
        about = json.dumps({"kind": self.kind, "settings": settings})
        with open(path, "wb") as file:
            np.savez(file, about=np.array(about), **_numbered(arrays))

    def _draws(self, count, seed):
        """Dict of name -> [count, *shape of the variable]."""
        raise NotImplementedError

    def _state(self):
        """What a file keeps: settings, a dict for JSON, and a dict of name -> array."""
        raise NotImplementedError

    @classmethod
    def _from_state(cls, model, settings, arrays):
        raise NotImplementedError


def load(path, model, data=None):
    """Reads a posterior that `save` has written.

    Args:
        path: of the file.
        model: Keras model like the one of before, layers of the same names.
        data: training data, of which SWAG makes statistics of batch normalization; as in
            `bayes_rl.inference.swag`.

    Returns:
        A `Posterior`.

    Raises:
        ValueError: the file is no posterior, or not one of this model.

    Example:
        >>> import os, tempfile, bayes_rl as ed
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> data = np.eye(2, dtype=np.float32), np.ones([2, 1], np.float32)
        >>> posterior = ed.inference.laplace(model, data, "normal", noise_stddev=1.0)
        >>> path = os.path.join(tempfile.mkdtemp(), "posterior.npz")
        >>> posterior.save(path)
        >>> again = ed.inference.load(path, model)
        >>> again.prior_precision == posterior.prior_precision
        True
    """
    try:
        with np.load(path) as file:
            about = json.loads(str(file["about"]))
            arrays = _named({name: file[name] for name in file.files if name != "about"})
        kind, settings = _KINDS[about["kind"]], about["settings"]
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"{os.fspath(path)!r} is not a file of a posterior: {error}"
        ) from error
    posterior = kind._from_state(model, settings, arrays)
    if data is not None:
        posterior.data = data
    return posterior


def _check_names(mean, variables):
    for name, value in mean.items():
        if name not in variables:
            hint = checks.did_you_mean(name, variables)
            raise ValueError(
                f"the posterior is of another model: this has no variable {name!r}{hint}"
            )
        if tuple(variables[name].shape) != value.shape:
            raise ValueError(
                f"the posterior is of another model: {name!r} has shape {value.shape} "
                f"there and {tuple(variables[name].shape)} here"
            )


def _numbered(arrays):
    # Names of weights have slashes, which archives take for folders.
    names = {"names": np.array(list(arrays))}
    return names | {f"array{i}": x for i, x in enumerate(arrays.values())}


def _named(arrays):
    return {str(name): arrays[f"array{i}"] for i, name in enumerate(arrays["names"])}


def with_prefix(prefix, arrays):
    """Arrays of names that begin so, without that beginning."""
    return {k.removeprefix(prefix): x for k, x in arrays.items() if k.startswith(prefix)}


def standard_normals(shapes, count, seed):
    """Standard normal draws of named shapes, [S, *shape], that name and seed determine."""
    return {
        name: stateless_normal([count, *shape], seed_of(name, seed))
        for name, shape in shapes.items()
    }


def members_of_draws(count, members, seed):
    """[count] numbers of members: each in turn, from a random one on."""
    start = int(
        tf.random.stateless_uniform([], seed_of("members", seed), 0, members, tf.int32)
    )
    return (np.arange(count) + start) % members


def values_of(variables):
    """Values of named variables, in their own precision: dict of name -> array."""
    return {name: np.array(_stored(variable)) for name, variable in variables.items()}


def _stored(variable):
    # Variables of mixed precision would be read in the precision of computations elsewhere.
    variable = getattr(variable, "_variable", variable)
    return tf.convert_to_tensor(variable)


def check_has_no_posterior(model, method):
    """Raises a ValueError where a model has stochastic weights."""
    if named := named_weights(model):
        raise ValueError(
            f"{method} takes models without stochastic weights, got {next(iter(named))!r}, "
            "which has a posterior of its own: ed.sample_weights(model) draws from it"
        )


def batches_of(data, batch_size):
    """Batches of inputs and targets: a dataset of a pair of such, or a finite one as it is.

    Raises:
        ValueError: they are no pair, or never end.
    """
    if isinstance(data, tf.data.Dataset):
        checks.finite(data)
        return data
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(
            "data must be a pair (inputs, targets) or a tf.data.Dataset of batches of "
            f"such, got {type(data).__name__}"
        )
    # A dataset would make one tensor of a list.
    data = tuple(tuple(part) if isinstance(part, list) else part for part in data)
    batch_size = checks.as_size("batch_size", batch_size)
    return tf.data.Dataset.from_tensor_slices(data).batch(batch_size)
