"""What recurrent cells with a posterior over their weights share.

A cell draws its weights once a sequence, not once a step; `sequences` says what a sequence
is. What the steps need of the draw is computed at the same time: a step of a Bayesian cell
then costs little more than one of a deterministic cell.
"""

import dataclasses
import functools
import typing

import tensorflow as tf

from bayes_rl.layers import products
from bayes_rl.layers.base import WeightAttribute
from bayes_rl.layers.flipout import check_signs, held_signs
from bayes_rl.layers.recurrent import sequences
from bayes_rl.numerics.noise import rademacher
from bayes_rl.weights import held

_KERNELS = ("kernel", "recurrent_kernel")


@dataclasses.dataclass(frozen=True)
class Term:
    """A product with a kernel, between factors for each example.

        ((inputs * before) @ kernel) * after

    `join` is how factors act on tensors; `tf.add` in place of the products with them.
    """

    kernel: tf.Tensor  # [inputs, units] or [S, inputs, units]
    before: tf.Tensor | None = None  # [..., inputs]
    after: tf.Tensor | None = None  # [..., units]
    join: typing.Callable = tf.multiply

    def product(self, versions):
        """(inputs * before) @ kernel, of inputs for all gates or of those of each gate."""
        if self.before is not None:
            versions = [self.join(inputs, self.before) for inputs in versions]
        if len(versions) == 1:
            return products.dense(versions[0], self.kernel)
        kernels = tf.split(self.kernel, len(versions), axis=-1)
        gates = [products.dense(*pair) for pair in zip(versions, kernels, strict=True)]
        return tf.concat(gates, axis=-1)

    def columns(self, start, stop):
        """The term of some of the units."""
        after = None if self.after is None else self.after[..., start:stop]
        kernel = self.kernel[..., start:stop]
        return dataclasses.replace(self, kernel=kernel, after=after)


def project(*parts):
    """Sum of terms, [..., gates * units].

    Each part is a pair of a list of inputs [..., inputs], one or one for each gate, and a
    list of `Term`, whose units are those of the gates side by side.
    """
    sums = {}  # of products before the same factors, which then act once
    for versions, terms in parts:
        for term in terms:
            key = id(term.after)
            sums.setdefault(key, (term, []))[1].append(term.product(versions))
    finished = []
    for term, found in sums.values():
        total = functools.reduce(tf.add, found)
        finished.append(total if term.after is None else term.join(total, term.after))
    return functools.reduce(tf.add, finished)


class StochasticCell:
    """Mixin, left of `StochasticLayer` and a Keras cell: one draw of weights a sequence.

    A subclass gives `num_gates` and `make_parameters(batch_size)`; its `call` gets what the
    latter returned from `self.parameters(inputs, state, training)`.
    """

    kernel = WeightAttribute()
    recurrent_kernel = WeightAttribute()
    bias = WeightAttribute()

    def reset_dropout_mask(self):
        """Begins a sequence; `tf.keras.layers.RNN` calls this once a call."""
        super().reset_dropout_mask()
        sequences.begin(self)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros [B, units], or [S, B, units], with which a sequence and a new draw begin.

        Inputs [B, ...] or, where S draws are held, [S, B, ...] give size and type.
        """
        draws = self.held_draws()
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[len(draws)], inputs.dtype
        if batch_size is None:
            raise ValueError(
                f"get_initial_state of cell {self.name!r} needs inputs or batch_size"
            )
        shape = [*draws, batch_size, self.units]
        dtype = dtype or self.compute_dtype
        zeros = tf.nest.map_structure(lambda _: tf.zeros(shape, dtype), self.state_size)
        sequences.begin(self, batch_size, tf.nest.flatten(zeros)[0])
        return zeros

    def parameters(self, inputs, state, training):
        """What `make_parameters` gave at the first step of a sequence, and dropout masks.

        Masks of inputs and state are each a list of one tensor or one for each gate, or
        None.
        """
        keys = [*self.stochastic_weights, *self.sign_sizes()]
        sources = [held(self, key) for key in keys]
        sizes = {"dropout": inputs.shape[-1], "recurrent_dropout": self.units}

        def make(batch_size):
            parameters = self.make_parameters(batch_size)
            masks = [self._masks(batch_size, *x, training) for x in sizes.items()]
            return parameters, masks

        batch_size = inputs.shape[-2] or tf.shape(inputs)[-2]
        return sequences.constant(self, make, batch_size, state, sources)

    def _masks(self, batch_size, name, size, training):
        """Dropout masks, which Keras would make anew at every step of a graph's loop."""
        if getattr(self, name) == 0:
            return None
        ones = tf.ones([self.known(batch_size), size], self.compute_dtype)
        count = self.num_gates if self.implementation == 1 else 1
        masks = getattr(self, f"_create_{name}_mask")(ones, training, count)
        return masks if count > 1 else [masks]

    def known(self, batch_size):
        """The batch size; a RuntimeError where it is None."""
        if batch_size is None:
            raise RuntimeError(
                f"cell {self.name!r} is first called inside of a loop, and the batch size "
                "is unknown outside of it; call get_initial_state before the loop"
            )
        return batch_size

    def make_terms(self, batch_size):
        """Terms of the products of inputs, and those of state, with one draw of kernels."""
        del batch_size
        return [[Term(self.draw(key))] for key in _KERNELS]


def masked(tensor, masks):
    """Versions of a tensor after dropout: one, or one for each gate."""
    return [tensor] if masks is None else [tensor * mask for mask in masks]


class FlipoutCell:
    """Mixin, left of a cell: perturbs its kernels for each example by random signs.

        kernel = mean + perturbation, one draw for the batch and sequence
        product = inputs @ mean + ((inputs * sign_input) @ perturbation) * sign_output

    with signs -1 or 1, independent for each example and constant in time. Signs that are
    not held are those of one matrix, [kernel; recurrent_kernel].

    Source: Wen et al., 2018, Flipout, equation 4.
    """

    def sign_sizes(self):
        sizes = {}
        for key in filter(self.stochastic_weights.__contains__, _KERNELS):
            features, units = self.stochastic_weights[key].shape
            sizes[f"{key}/sign_input"] = features
            sizes[f"{key}/sign_output"] = units
        return sizes

    def make_terms(self, batch_size):
        found, shared = [], None
        for key in _KERNELS:
            if key not in self.stochastic_weights:
                found.append([Term(self.draw(key))])
                continue
            mean, change = self.draw_perturbation(key)
            found.append([Term(mean)])
            if change is None:
                continue
            features, units = change.shape[-2:]
            before = self._signs(f"{key}/sign_input", features, batch_size)
            # The kernels are rows of one matrix, whose outputs have one sign each.
            after = shared = self._signs(f"{key}/sign_output", units, batch_size, shared)
            found[-1].append(Term(change, before, after))
        return found

    def _signs(self, key, size, batch_size, shared=None):
        signs = held_signs(self, key, batch_size)
        if signs is not None:
            batch = [None for _ in self.held_draws()] + [tf.get_static_value(batch_size)]
            check_signs(key, signs, [*batch, size])
            return tf.cast(signs, self.compute_dtype)
        if shared is not None:
            return shared
        return rademacher([self.known(batch_size), size], dtype=self.compute_dtype)
