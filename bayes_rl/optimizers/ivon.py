"""IVON: an optimizer that learns a Gaussian over the weights at the cost of Adam."""

import contextlib
import threading

import tensorflow as tf

from bayes_rl import checks
from bayes_rl.numerics.fused import fused, is_fused
from bayes_rl.numerics.means import replica_count
from bayes_rl.numerics.noise import as_seed, quantized_normal, stateless_normal
from bayes_rl.optimizers.training import draws_in_training
from bayes_rl.serialization import register
from bayes_rl.weights.variables import Shifted, as_they_are, replaced

_local = threading.local()


@register
class IVON(tf.keras.optimizers.Optimizer):
    """Improved Variational Online Newton: a Gaussian over the weights, as fast as Adam.

        weights = mean + noise / sqrt(lambda (h + delta)),  noise ~ Normal(0, 1)
        gradient = that of the mean loss of the batch, at these weights
        h_hat = gradient (weights - mean) lambda (h + delta)
        g <- beta_1 g + (1 - beta_1) gradient
        h <- beta_2 h + (1 - beta_2) h_hat + (1 - beta_2)^2 (h - h_hat)^2 / (2 (h + delta))
        mean <- mean - learning_rate (g / (1 - beta_1^t) + delta mean) / (h + delta)

    where lambda is `effective_sample_size` and delta is `weight_decay`. The posterior is
    Normal(mean, 1 / (lambda (h + delta))), for the prior Normal(0, 1 / (lambda delta)):
    `bayes_rl.inference.posterior(model)`. Compile and fit a model as with Adam. Its
    variables hold the mean at all times: in a training step they are read as a draw, one
    for each replica, and nothing is written but the new mean. In a loop of your own do so
    yourself, in the function that the replicas run:

        with optimizer.draw(model.trainable_variables), tf.GradientTape() as tape:
            loss = loss_fn(targets, model(inputs, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

    Gradients are clipped, where they are, before h_hat is made of them, in each replica.
    Those of embeddings are dense here: an element that was not looked up has h_hat = 0.
    Statistics of batch normalization are those of the draws.

    Source: Shen et al., 2024, Variational Learning is Effective for Large Deep Networks,
    algorithm 1.

    Args:
        learning_rate: number or schedule; 0.1 to 0.3 at first, falling to 0, in the paper.
        effective_sample_size: lambda; the number of training examples for the posterior of
            Bayes' rule, larger for one that is narrower.
        hessian_init: h at first, above 0; 0.1 to 1 in the paper; too small diverges.
        beta_1: how long g remembers, at least 0, below 1.
        beta_2: how long h remembers, likewise; closer to 1 the longer the training.
        weight_decay: delta, above 0; instead of regularizers of layers.
        gradient_accumulation_steps: number of training steps whose gradients and h_hat are
            averaged for one change of the mean, each at a draw of its own; None for one.
        seed: of the draws, as in `bayes_rl.sample_weights`.
        name: of the optimizer.
        **kwargs: of `tf.keras.optimizers.Optimizer`, such as `clipvalue`.

    Raises:
        ValueError: a number is out of its range.

    Example:
        >>> import bayes_rl as ed
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
        >>> model.compile(ed.optimizers.IVON(0.1, effective_sample_size=4), "mse")
        >>> _ = model.fit(tf.ones([4, 2]), tf.ones([4, 1]), epochs=2, verbose=0)
        >>> weights = ed.inference.posterior(model).sample([5], seed=1)
        >>> [tuple(value.shape) for value in weights.values()]
        [(5, 2, 1), (5, 1)]
    """

    def __init__(
        self,
        learning_rate,
        effective_sample_size,
        hessian_init=1.0,
        beta_1=0.9,
        beta_2=0.99999,
        weight_decay=1e-4,
        gradient_accumulation_steps=None,
        seed=None,
        name="IVON",
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        checks.above_0(effective_sample_size=effective_sample_size)
        checks.above_0(hessian_init=hessian_init, weight_decay=weight_decay)
        _check_share(beta_1=beta_1, beta_2=beta_2)
        steps = gradient_accumulation_steps
        if steps is not None and (steps < 1 or steps % 1):
            raise ValueError(
                f"gradient_accumulation_steps must be a whole number above 0, got {steps}"
            )
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.effective_sample_size = effective_sample_size
        self.hessian_init = hessian_init
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.weight_decay = weight_decay
        self.gradient_accumulation_steps = steps
        self.seed = [int(x) for x in as_seed(seed)]
        draws_in_training()

    def build(self, var_list):
        """Makes g and h for each variable, and their sums where gradients are accumulated.

        Args:
            var_list: list of variables.
        """
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._momenta = [self._slot(x, "momentum") for x in var_list]
        self._hessians = [self._slot(x, "hessian", self.hessian_init) for x in var_list]
        self._sums = []
        if self._steps > 1:
            names = ("gradient_sum", "hessian_sum")
            self._sums = [[self._slot(x, name) for name in names] for x in var_list]

    @contextlib.contextmanager
    def draw(self, variables):
        """Lets reads of variables give one draw, in this thread, while it lasts.

        Args:
            variables: list of the model's trainable variables.

        Yields:
            None.
        """
        with tf.init_scope():
            self.build(variables)
        shifts = [Shifted(x) for x in self._noise(variables)]
        keys = [self._var_key(x) for x in variables]
        outer = getattr(_local, "shifts", None)
        _local.shifts = dict(zip(keys, shifts, strict=True))
        try:
            with replaced(list(zip(variables, shifts, strict=True))):
                yield
        finally:
            _local.last, _local.shifts = _local.shifts, outer

    def stddev(self, variable):
        """Stddev of the posterior of each element of a variable.

        Args:
            variable: one of those that are trained.

        Returns:
            [*shape of the variable].
        """
        hessian = self._own(self._hessians, variable)
        return _stddev(hessian, self.effective_sample_size, self.weight_decay)

    def aggregate_gradients(self, grads_and_vars):
        """Sums gradients, and what h_hat is made of, over replicas."""
        return super().aggregate_gradients(self._with_products(grads_and_vars))

    def apply_gradients(self, grads_and_vars, *args, **kwargs):
        """Changes variables by the gradients at their draw.

        Args:
            grads_and_vars: list of (gradient, variable).
            *args: as of other optimizers.
            **kwargs: as of other optimizers.

        Returns:
            The number of steps, a variable.

        Raises:
            RuntimeError: the gradients are not those at a draw.
        """
        if kwargs.get("skip_gradients_aggregation"):
            grads_and_vars = self._with_products(grads_and_vars)
        with as_they_are():
            iterations = super().apply_gradients(grads_and_vars, *args, **kwargs)
        _local.last = None  # a draw serves once
        return iterations

    def update_step(self, gradient, variable):
        """One step of a variable.

        Args:
            gradient: [*shape], or of replicas [2, *shape], the sums of theirs and of its
                products with weights - mean.
            variable: to be changed.
        """
        gradient = tf.cast(gradient, variable.dtype)
        if gradient.shape.rank > variable.shape.rank:
            parts = gradient[0], gradient[1], 1.0
        else:
            parts = gradient, gradient, self._shift_of(variable)
        if not self._sums:
            self._change(variable, *parts)
            return
        sums = self._own(self._sums, variable)
        values = parts[0], parts[1] * parts[2]
        for total, value in zip(sums, values, strict=True):
            total.assign_add(value / self._steps)
        is_last = (self.iterations + 1) % self._steps == 0
        wholes = [tf.convert_to_tensor(x) for x in sums]
        self._change(variable, *wholes, 1.0, is_last)
        for total in sums:
            total.assign(tf.where(is_last, tf.zeros_like(total), total))

    def get_config(self):
        """Arguments that make the same optimizer again."""
        names = ("effective_sample_size", "hessian_init", "beta_1", "beta_2")
        names += ("weight_decay", "gradient_accumulation_steps", "seed")
        rate = self._serialize_hyperparameter(self._learning_rate)
        own = {name: getattr(self, name) for name in names}
        return super().get_config() | {"learning_rate": rate} | own

    @property
    def _steps(self):
        return self.gradient_accumulation_steps or 1

    def _change(self, variable, gradient, factor, shift, is_last=None):
        """One step, with gradient * (weights - mean) = factor * shift."""
        dtype = variable.dtype
        slots = [self._own(x, variable) for x in (self._momenta, self._hessians)]
        steps = tf.cast(self.iterations // self._steps + 1, dtype)
        scales = [
            tf.cast(self.learning_rate, dtype),
            1.0 - tf.pow(tf.cast(self.beta_1, dtype), steps),
        ]
        old = [tf.convert_to_tensor(x) for x in (*slots, variable)]
        constants = {"betas": (self.beta_1, self.beta_2), "decay": self.weight_decay}
        constants["scale"] = self.effective_sample_size
        found = _step(gradient, factor, shift, *old, *scales, **constants)
        for slot, before, new in zip((*slots, variable), old, found, strict=True):
            slot.assign(new if is_last is None else tf.where(is_last, new, before))

    def _with_products(self, grads_and_vars):
        """Gradients, of replicas stacked with their products with the draw's distance."""
        pairs = [(g, x) for g, x in grads_and_vars if g is not None]
        gradients, variables = zip(*pairs, strict=True) if pairs else ((), ())
        if all(g.shape.rank == x.shape.rank + 1 for g, x in pairs):
            return pairs
        gradients = super()._clip_gradients([tf.convert_to_tensor(g) for g in gradients])
        shifts = [self._shift_of(x) for x in variables]
        if replica_count() == 1 and not self.jit_compile:
            return list(zip(gradients, variables, strict=True))
        stacked = [tf.stack([g, g * s]) for g, s in zip(gradients, shifts, strict=True)]
        return list(zip(stacked, variables, strict=True))

    def _shift_of(self, variable):
        found = getattr(_local, "shifts", None) or getattr(_local, "last", None) or {}
        shift = found.get(self._var_key(variable))
        if shift is not None and shift.was_read:
            return shift.tensor
        raise RuntimeError(
            f"the gradient of {variable.name!r} is not one at a draw, which IVON learns "
            "from: enter optimizer.draw(model.trainable_variables) before the forward "
            "pass, which must not be a tf.function of its own"
        )

    def _clip_gradients(self, grads):
        return grads  # they were, before they were summed over replicas

    def _apply_weight_decay(self, variables):
        """It is a part of each step."""

    def _noise(self, variables):
        """The distance of a draw from the mean."""
        seed = tf.random.experimental.stateless_fold_in(
            tf.constant(self.seed, tf.int32), tf.cast(self.iterations, tf.int32)
        )
        if replica_count() > 1:
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            seed = tf.random.experimental.stateless_fold_in(seed, replica)
        hessians = [tf.convert_to_tensor(self._own(self._hessians, x)) for x in variables]
        small = [x for x in hessians if not is_fused(x)]
        sizes = [x.shape.num_elements() for x in small]
        flat = stateless_normal([sum(sizes)], seed)
        flat = iter(tf.split(flat, sizes) if sizes else [])
        constants = {"scale": self.effective_sample_size, "decay": self.weight_decay}
        found = []
        for number, hessian in enumerate(hessians):
            if is_fused(hessian):
                own = tf.random.experimental.stateless_fold_in(seed, number)
                found.append(_large_noise(hessian, own, **constants))
            else:
                noise = tf.cast(tf.reshape(next(flat), hessian.shape), hessian.dtype)
                found.append(noise * _stddev(hessian, **constants))
        return found

    def _own(self, slots, variable):
        return slots[self._index_dict[self._var_key(variable)]]

    def _slot(self, variable, name, value=0.0):
        start = tf.fill(variable.shape, tf.cast(value, _stored_dtype(variable)))
        return self.add_variable_from_reference(variable, name, initial_value=start)


def _stddev(hessian, scale, decay):
    return tf.math.rsqrt(scale * (hessian + decay))


@fused
def _large_noise(hessian, seed, scale, decay):
    noise = tf.cast(quantized_normal(hessian.shape, seed), hessian.dtype)
    return noise * _stddev(hessian, scale, decay)


@fused
def _step(
    gradient, factor, shift, momentum, hessian, mean, rate, unbias, betas, decay, scale
):
    """New momentum, Hessian and mean."""
    estimate = factor * shift * scale * (hessian + decay)
    momentum += (1.0 - betas[0]) * (gradient - momentum)
    error, rest = estimate - hessian, 1.0 - betas[1]
    above = 0.5 * rest**2 * tf.square(error) / (hessian + decay)
    hessian += rest * error + above
    change = rate * (momentum / unbias + decay * mean) / (hessian + decay)
    return momentum, hessian, mean - change


def _stored_dtype(variable):
    return getattr(variable, "_variable", variable).dtype


def _check_share(**values):
    for name, value in values.items():
        if not 0 <= value < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, got {value}")
