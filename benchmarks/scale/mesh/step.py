"""Memory of a training step of `examples.translation` on a mesh of virtual CPU devices.

Each measurement is of a process of its own. The peak is of all devices together, less that
of a tiny model on the same mesh, which has the same program.
"""

import dataclasses
import functools
import json
import sys

from benchmarks.measuring.memory import measured_by, own_peak

TINY = 4, 8  # hidden and filter


def measure(mesh, hidden, layers, filter):
    """What a training step with Adam takes on a mesh such as "1x4".

    Bytes of weights and optimizer on each device, a list, and bytes of the process beyond
    those of a tiny model.
    """
    step = functools.partial(measured_by, "benchmarks.scale.mesh.step", mesh)
    state, peak = step(hidden, layers, filter)
    _, least = step(TINY[0], layers, TINY[1])
    return state, peak - least


def main(mesh, hidden, layers, filter):
    """Prints both for a model, the peak with all that the process needs."""
    from bayes_rl import parallel
    from examples import translation

    sizes = dataclasses.replace(
        translation.SMALL, hidden=hidden, layers=layers, filter=filter
    )
    devices = translation.start_mesh(mesh)
    model = translation.make_model("flipout", sizes)
    parallel.shard(model, devices)
    optimizer = parallel.Adam()
    data = translation.make_data(sizes, 0)["train"]
    translation.train(model, data, optimizer, 2, sizes.batch, 0, devices)
    kept = parallel.bytes_per_device([*model.variables, *optimizer.variables])
    print(json.dumps([list(kept.values()), own_peak() * 2**20]))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
