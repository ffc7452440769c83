"""Memory of a Bayesian Transformer whose weights are split, and the largest that fits."""

import argparse
import sys

from benchmarks.measuring import report
from benchmarks.measuring.options import add_folder
from benchmarks.scale.mesh.formula import Transformer, largest
from benchmarks.scale.mesh.step import measure

MESHES = ("1x1", "1x2", "1x4")
DEVICES, MEMORY = 8, 80e9
WIDE = {"hidden": 4096, "heads": 32, "filter": 16384}
WORDS = {"source_values": 32_000, "target_values": 32_000, "positions": 1024}
NOTES = """\
- A Transformer with Flipout attention and feed-forward layers. Weights and Adam's state are
  split over the `model` axis of a mesh, `batch` x `model`.
- State: what each device keeps between steps, counted from the parts that it holds.
- By formula: the same by `benchmarks.scale.mesh.formula`. That is 24 bytes for each weight
  with a posterior (mean and stddev, three float32 for each) divided by the devices, and the
  embeddings, normalizations and logits, which each device has whole.
- Step: the peak memory of a process that trains on virtual CPU devices, all together, minus
  that of a tiny model on the same mesh, for each weight with a posterior. It holds state,
  gradients, draws, and what noise and optimizer need in between.
- The last row is computed: the deepest Transformer of this width whose steps fit the
  devices, at the most bytes a weight that were measured. Examples need more memory, which
  grows with their number on a device."""


def run(hidden, filter, meshes=MESHES):
    """Rows of a model of one layer on meshes; then of the largest model."""
    from examples import translation

    words = {
        "source_values": len(translation.WORDS),
        "target_values": translation.END + 1,
        "positions": translation.SOURCE_LENGTH + translation.LENGTH,
    }
    heads = translation.SMALL.heads
    model = Transformer(hidden, 1, heads, filter, **words)
    rows = []
    for mesh in meshes:
        print(mesh, file=sys.stderr, flush=True)
        state, peak = measure(mesh, hidden, 1, filter)
        row = _row(model, mesh, int(mesh.split("x")[1]))
        rows.append(row | {"state": max(state), "bytes_a_weight": peak / model.kernels})
        rows[-1]["share"] = max(state) / rows[0]["state"]
    most = max(row["bytes_a_weight"] for row in rows)
    deepest = largest(DEVICES, MEMORY, most, **WIDE, **WORDS)
    return [*rows, _row(deepest, f"1x{DEVICES}", DEVICES) | {"bytes_a_weight": most}]


def _row(model, mesh, devices):
    layers = f"{model.layers} + {model.layers} layers"
    return {
        "model": f"{layers}, hidden {model.hidden}, filter {model.filter}",
        "weights": model.kernels,
        "mesh": mesh,
        "state": None,
        "formula": model.state(devices),
        "share": None,
        "bytes_a_weight": None,
    }


COLUMNS = {
    "model": report.text("model"),
    "weights with a posterior": report.text("weights", ","),
    "mesh": report.text("mesh"),
    "state of a device, bytes": report.text("state", ","),
    "by formula": report.text("formula", ","),
    "share of one device": report.text("share", ".3f"),
    "step, bytes a weight": report.text("bytes_a_weight", ".0f"),
}


def answer(rows, _):
    """How far the state of a device falls, and what fits, in a sentence."""
    most, last = rows[-2], rows[-1]
    devices = most["mesh"].rpartition("x")[2]
    return (
        f"On {devices} devices, each device keeps {most['share']:.2f} of the weights and "
        "optimizer state that a single device would keep. "
        f"On {DEVICES} devices of {MEMORY / 1e9:.0f} GB, {last['weights'] / 1e9:.1f} "
        "billion weights with a posterior fit (computed)."
    )


def make_report():
    title = "Memory of a model that is split over devices"
    question = "How much memory does each device need when the weights are split?"
    words = (title, question, answer, bool, tuple(COLUMNS), NOTES, COLUMNS)
    return report.Report("mesh", *words)


def main(arguments=None):
    parser = argparse.ArgumentParser("python -m benchmarks.scale.mesh", description=__doc__)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--filter", type=int, default=2048)
    add_folder(parser, "csv and md")
    options = parser.parse_args(arguments)
    if options.page:
        make_report().remake(options.folder)
        return
    rows = run(options.hidden, options.filter)
    words = sys.argv[1:] if arguments is None else arguments
    command = " ".join(["python -m benchmarks.scale.mesh", *words])
    make_report().show(rows, command, options.folder)


if __name__ == "__main__":
    main()
