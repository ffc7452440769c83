"""What models know of pictures of digits: bits per dimension, and pictures they draw.

Scikit-learn's digits have 8x8 pixels of 17 grays. Here they have 16x16, between which was
interpolated and rounded: a model that saw through that would need a quarter of the bits.
Models learn 1200 digits. They are judged on the last 500 of the file, and on those rotated
by 15 to 45 degrees, a shift that training never showed:

    bits per dimension = -log2 p(image) / 256

Under a Transformer p is a product over pixels, each given those before it. With draws of
weights, of masks, or with members, each pixel's chance is their mean. Bayes' rule would
take the mean of whole images instead, which is hardly above the likeliest draw: log2(20) /
256 = 0.017 bits at most, of 20. So what draws gain here they gain by mixing. Of the
variational auto-encoder and the flow p is a mean over draws: of the code, or of what lies
below a gray. The log of a mean over 20 of them is too low in the mean, so their bits are
upper bounds, as those of the vector-quantized auto-encoder, of which one code of an image
counts. Beside them stand pixels that know nothing of each other. The picture shows what the
first seed draws.

Settings were chosen by hand, by bits of the validation digits (`--validate`) of seed 10:
eight of the plain training, which the other Transformers share but for IVON's rate, three
of dropout, four of SWAG and 16 of IVON. Those of the Bayesian Transformer's posterior, the
auto-encoders and the flow were chosen before, for a shorter training.

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
from matplotlib.figure import Figure  # noqa: E402
from scipy import ndimage, special  # noqa: E402
from sklearn import datasets  # noqa: E402

from examples import experiment  # noqa: E402
from examples.methods.images_methods import GRAYS, METHODS, SHAPE, SMALL, Sizes  # noqa: E402

_TESTS = 500  # at the end of the file


def make_data(sizes, seed):
    """Dict of images [N, 16, 16, 1], whole numbers from 0 to 16.

    Test digits, rotated or not, are the same for all seeds; a seed chooses the digits of
    training and of validation.
    """
    digits = datasets.load_digits().images
    own, tests = _doubled(digits[:-_TESTS]), _doubled(digits[-_TESTS:])
    own, tests = np.random.default_rng(seed).permutation(own), tests[: sizes.tests]
    turned = experiment.rotated(tests.astype(np.float32), np.random.default_rng(0))
    return {
        "train": own[: sizes.train],
        "validation": own[sizes.train :],
        "test": tests,
        "rotated": np.clip(np.round(turned), 0, GRAYS - 1).astype(np.int32),
    }


def _doubled(images):
    """Images [N, 8, 8] of twice the pixels a side, whole numbers [N, 16, 16, 1]."""
    options = {"order": 1, "mode": "nearest", "grid_mode": True}
    images = ndimage.zoom(images, [1, 2, 2], **options)
    return np.round(images).astype(np.int32)[..., None]


def bits_per_dimension(nats):
    """Mean over images, of a mean over draws of their probability or of each pixel's.

    Args:
        nats: log probabilities, of images [S, N], or of their pixels [S, N, 256].
    """
    nats = np.asarray(nats, float)
    nats = special.logsumexp(nats, axis=0) - math.log(len(nats))
    nats = nats.reshape(len(nats), -1).sum(axis=1)
    return -float(nats.mean()) / math.log(2.0) / math.prod(SHAPE)


def run(method, seed, sizes, names=("test", "rotated")):
    """Trains and judges a model.

    Returns:
        Dict of its bits and processor seconds of training, and images that it draws.
    """
    experiment.start(seed)
    data = make_data(sizes, seed)
    start = time.process_time()
    log_probabilities, sample = METHODS[method](data["train"], sizes, seed)
    found = {"seed": seed, "method": method, "seconds": time.process_time() - start}
    for name in names:
        bits = bits_per_dimension(log_probabilities(data[name]))
        print(f"seed {seed}, {method}, {name}: bits_per_dimension {bits:.3f}", flush=True)
        found[name] = {"bits_per_dimension": bits}
    return found, sample(sizes.pictures)


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
    parser.add_argument(
        "--validate", action="store_true", help="judge by validation digits alone"
    )
    options = parser.parse_args(arguments)
    sizes = SMALL if options.small else Sizes()
    names = ("validation",) if options.validate else ("test", "rotated")
    kind = "images_validation" if options.validate else "images"  # replaces no results
    out = options.out or pathlib.Path("logdir", f"{kind}.json")
    first, results = options.seed[0], []
    rows = {"digits": make_data(sizes, first)["test"][: sizes.pictures]}
    for seed in options.seed:
        for method in options.method:
            found, images = run(method, seed, sizes, names)
            results.append(found)
            if seed == first:
                rows[method] = images
    draw(rows, out.with_suffix(".png"))
    experiment.save(out, sizes, results, arguments)


if __name__ == "__main__":
    main()
