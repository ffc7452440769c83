"""Output layer distributed as a mixture of logistics."""

import inspect

import tensorflow as tf
from tensorflow_probability import distributions as tfd

from bayes_rl import checks, constraints, distributions
from bayes_rl.layers import products
from bayes_rl.layers.outputs.stochastic_output import StochasticOutput
from bayes_rl.serialization import register


@register
class MixtureLogistic(StochasticOutput):
    """Mixture of logistic distributions whose parameters are linear in the inputs.

        logits, loc, scale = constraints(inputs @ kernel + bias), each [..., units, K]
        output ~ sum_k softmax(logits)_k Logistic(loc_k, scale_k)

    `MixtureLogistic(K, units=units)` has an output [..., units], `MixtureLogistic(K)` one
    [...]. The paper writes the former as `MixtureLogistic(units, num_components=K)`.

    Source: Salimans et al., 2017, PixelCNN++, section 2.1.

    Args:
        num_components: K, at least 1.
        logits_constraint: applied to the logits.
        loc_constraint: applied to the locations.
        scale_constraint: makes the scales positive.
        units: size of the last output axis; None for no such axis.
        **kwargs: of `StochasticOutput`.

    Raises:
        ValueError: `units` or `num_components` is below 1.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> ed.layers.MixtureLogistic(5, units=3)(tf.ones([2, 7])).shape
        TensorShape([2, 3])
        >>> ed.layers.MixtureLogistic(5)(tf.ones([2, 7])).shape
        TensorShape([2])
    """

    def __init__(
        self,
        first=None,
        /,
        logits_constraint=None,
        loc_constraint=None,
        scale_constraint="softplus",
        units=None,
        num_components=None,
        **kwargs,
    ):
        if num_components is None:
            num_components = first
        elif first is not None:
            units = first
        checks.at_least_1(num_components=num_components)
        self.num_components = num_components
        self.parameters_per_unit = 3 * num_components
        super().__init__(units, **kwargs)
        if units is None:
            self._project_to(self.parameters_per_unit)
        self.logits_constraint = constraints.get(logits_constraint)
        self.loc_constraint = constraints.get(loc_constraint)
        self.scale_constraint = constraints.get(scale_constraint)

    def random_variable(self, parameters):
        if self.units is not None:
            shape = [*products.sizes(parameters)[:-1], self.units, self.parameters_per_unit]
            parameters = tf.reshape(parameters, shape)
        maps = self.logits_constraint, self.loc_constraint, self.scale_constraint
        logits, loc, scale = (
            tensor if constraint is None else constraint(tensor)
            for tensor, constraint in zip(tf.split(parameters, 3, -1), maps, strict=True)
        )
        return distributions.MixtureSameFamily(
            tfd.Categorical(logits=logits), tfd.Logistic(loc, scale), name=self.name
        )

    def compute_output_shape(self, input_shape):
        shape = tf.TensorShape(input_shape)[:-1]
        return shape if self.units is None else shape.concatenate(self.units)


def _as_in_edward2(signature):
    """A signature that names what comes first by position."""
    parameters = dict(signature.parameters)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    first = parameters.pop("num_components").replace(kind=kind)
    this, _, *others = parameters.values()
    return signature.replace(parameters=[this, first, *others])


_init = MixtureLogistic.__init__
_init.__signature__ = _as_in_edward2(inspect.signature(_init))
MixtureofLogistic = MixtureLogistic
