"""What models know of pictures of digits: bits per dimension, and pictures they draw.

Scikit-learn's digits have 8x8 pixels of 17 grays. Here they have 16x16, between which was
interpolated and rounded: a model that saw through that would need a quarter of the bits.
Models learn 1200 digits, and are judged on the last 500 of the file:

    bits per dimension = -log2 p(image) / 256

Of most models p is a mean over draws: of the code of the variational auto-encoder, of what
lies below a gray for the flow, of the weights of the Bayesian Image Transformer. The log of
a mean over 20 of them is too low in the mean, so their bits are upper bounds, as those of
the vector-quantized auto-encoder, of which one code of an image counts. Beside them stand
pixels that know nothing of each other. The picture shows what the first seed draws.

Source: Tran et al., 2019, Bayesian Layers, figures 7, 8, 16 and 17, for the models; Burda
et al., 2016, Importance Weighted Autoencoders, for the bound; Papamakarios et al., 2017,
Masked Autoregressive Flow, section 4, for noise below a gray.
"""

import math
import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from scipy import ndimage, special  # noqa: E402
from sklearn import datasets  # noqa: E402

from examples import experiment  # noqa: E402
from examples.methods.images_methods import GRAYS, METHODS, SHAPE, SMALL, Sizes  # noqa: E402

_TESTS = 500  # at the end of the file


def make_data(sizes, seed):
    """Training and test images [N, 16, 16, 1], whole numbers from 0 to 16.

    Tests are the same for all seeds; a seed chooses the digits of training.
    """
    options = {"order": 1, "mode": "nearest", "grid_mode": True}
    images = ndimage.zoom(datasets.load_digits().images, [1, 2, 2], **options)
    images = np.round(images).astype(np.int32)[..., None]
    own, tests = images[:-_TESTS], images[-_TESTS:]
    return np.random.default_rng(seed).permutation(own)[: sizes.train], tests[: sizes.tests]


def bits_per_dimension(log_probability, images, draws):
    """Mean over images, of a mean over draws of their probability.

    Args:
        log_probability: function of images to nats [N] under one draw.
        images: [N, 16, 16, 1].
        draws: S.
    """
    # Eager, Keras' attention would keep its scores of every draw in memory.
    traced = tf.function(log_probability, autograph=False)
    images = tf.constant(images)
    nats = np.stack([traced(images) for _ in range(draws)]).astype(float)
    nats = special.logsumexp(nats, axis=0) - math.log(draws)
    return -float(nats.mean()) / math.log(2.0) / math.prod(SHAPE)


def run(method, seed, sizes):
    """Trains and judges a model.

    Returns:
        Dict of its bits and processor seconds of training, and images that it draws.
    """
    experiment.start(seed)
    train, tests = make_data(sizes, seed)
    start = time.process_time()
    log_probability, sample = METHODS[method](train, sizes, seed)
    found = {"seed": seed, "method": method, "seconds": time.process_time() - start}
    bits = bits_per_dimension(log_probability, tests, sizes.draws)
    print(f"seed {seed}, {method}, test: bits_per_dimension {bits:.3f}", flush=True)
    return found | {"test": {"bits_per_dimension": bits}}, sample(sizes.pictures)


def draw(rows, file):
    """A row of images for each name, one below the other.

    Args:
        rows: dict of name -> [N, 16, 16, 1].
        file: `pathlib.Path`.
    """
    figure = Figure(figsize=(9, 0.8 * len(rows)), layout="constrained")
    panels = figure.subplots(len(rows), squeeze=False)[:, 0]
    for panel, (name, images) in zip(panels, rows.items(), strict=True):
        images = np.pad(np.asarray(images)[..., 0], [[0, 0], [1, 1], [1, 1]])
        panel.imshow(np.concatenate(images, axis=1), cmap="gray_r", vmin=0, vmax=GRAYS - 1)
        panel.set(xticks=[], yticks=[])
        label = name.replace("_", " ").replace("bayesian ", "Bayesian\n")
        panel.set_ylabel(label, rotation=0, ha="right", va="center")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def main(arguments=None):
    parser = experiment.make_parser("images", __doc__, method=METHODS)
    options = parser.parse_args(arguments)
    sizes = SMALL if options.small else Sizes()
    out = options.out or pathlib.Path("logdir", "images.json")
    first, results = options.seed[0], []
    rows = {"digits": make_data(sizes, first)[1][: sizes.pictures]}
    for seed in options.seed:
        for method in options.method:
            found, images = run(method, seed, sizes)
            results.append(found)
            if seed == first:
                rows[method] = images
    draw(rows, out.with_suffix(".png"))
    experiment.save(out, sizes, results, arguments)


if __name__ == "__main__":
    main()
