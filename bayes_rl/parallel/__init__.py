"""Weights over devices, on TensorFlow's DTensor: a model larger than any one of them.

A mesh has two axes, `batch` x `model`. Examples are split over the first, weights over the
second; each tensor that is computed from them lies where its factors do:

    mesh = parallel.make_mesh("2x4")
    parallel.shard(model, mesh)  # means and stddevs of the posteriors, by names of weights
    optimizer = parallel.Adam()
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(seed, inputs, labels):
        weights = parallel.sample_weights(model, seed, batch_size)
        with tf.GradientTape() as tape, ed.hold(model, weights):
            loss = loss_fn(labels, model(inputs)) + sum(model.losses)
        ...

DTensor splits stateless operations alone, so a model must hold its draws; layers that draw
for themselves, such as `Dropout`, raise. `sample_weights` draws the same numbers on every
mesh and without one, so a run can be compared with that of a single device, number for
number.

Source: Tran et al., 2019, Bayesian Layers, section 3.1; Shazeer et al., 2018,
Mesh-TensorFlow: Deep Learning for Supercomputers.
"""

from bayes_rl.parallel.draws import sample_weights
from bayes_rl.parallel.mesh import (
    BATCH,
    MODEL,
    TRANSFORMER,
    MeshError,
    make_mesh,
    make_virtual_cpus,
)
from bayes_rl.parallel.optimizers import SGD, Adam
from bayes_rl.parallel.sharding import bytes_per_device, gather, place, shard
