"""What a Transformer takes of each device's memory, on paper."""

import dataclasses

BYTES = 4  # of a float32
# Adam keeps a mean and a square for each number, and one count of steps.
STATE = 3


@dataclasses.dataclass(frozen=True)
class Transformer:
    """Arguments of `bayes_rl.models.build_transformer` that its size depends on."""

    hidden: int  # size of each position
    layers: int  # of the encoder, and of the decoder
    heads: int  # of attention
    filter: int  # hidden units of the dense layers
    source_values: int = 32  # words of the source
    target_values: int = 32  # words of the target
    positions: int = 32  # of sources and of targets together

    @property
    def kernels(self):
        """Number of weights with a posterior.

        An encoder layer has 4 kernels [hidden, hidden] of attention and 2 of hidden times
        filter; a decoder layer attends twice.
        """
        return self.layers * (12 * self.hidden**2 + 4 * self.hidden * self.filter)

    @property
    def split(self):
        """Numbers that devices share: mean and stddev of kernels, biases of columns."""
        return 2 * self.kernels + self.layers * (9 * self.hidden + 2 * self.filter)

    @property
    def replicated(self):
        """Numbers that every device has.

        Biases of rows and two for each of five normalizations in each layer; two last
        normalizations; embeddings of words and positions; logits.
        """
        words = self.source_values + self.target_values + self.positions
        logits = (self.hidden + 1) * self.target_values
        return (15 * self.layers + 4 + words) * self.hidden + logits

    def state(self, devices):
        """Bytes of weights and of Adam's state on each of so many devices along `model`."""
        return BYTES * (STATE * (self.split // devices + self.replicated) + 1)


def largest(devices, memory, bytes_a_weight, **sizes):
    """The deepest Transformer whose training step fits; None: one layer is too much.

    Devices are along `model`, each with so much memory. A step needs so many bytes for each
    weight with a posterior, see `benchmarks.scale.mesh.step`.

    Example:
        >>> largest(8, 80e9, 40, hidden=4096, heads=32, filter=16384).layers
        34
    """
    found = None
    for layers in range(1, 10_000):
        model = Transformer(layers=layers, **sizes)
        replicated = BYTES * (STATE + 1) * model.replicated  # with its gradients
        if bytes_a_weight * model.kernels / devices + replicated > memory:
            break
        found = model
    return found
