"""Puts a model and its data on a mesh, and takes values back."""

import collections
import re

import tensorflow as tf
from tensorflow.experimental import dtensor

from bayes_rl.parallel.mesh import MODEL, TRANSFORMER, MeshError


def shard(model, mesh, rules=TRANSFORMER):
    """Splits the variables of a model over a mesh, in place.

    Args:
        model: built Keras model.
        mesh: from `make_mesh`.
        rules: see `bayes_rl.parallel.mesh`.

    Raises:
        MeshError: the mesh does not divide the heads or an axis that is to be split.

    Example:
        >>> import bayes_rl as ed, tensorflow as tf
        >>> from bayes_rl import parallel
        >>> layer = ed.layers.DenseFlipout(4, name="expand")
        >>> outputs = layer(tf.ones([1, 3]))
        >>> parallel.shard(layer, parallel.make_mesh("1x2"))
        >>> parallel.bytes_per_device(layer.variables)  # 2 x 3 x 2 and 2 of 4 bytes each
        {'CPU:0': 56, 'CPU:1': 56}
    """
    _check_heads(model, mesh.dim_size(MODEL))
    layouts = {id(x): _layout(x, mesh, rules) for x in model.variables}
    split = {id(x): _split(x, layouts[id(x)]) for x in model.variables}
    for module in (model, *model.submodules):
        _replace(module, split)


def _check_heads(model, devices):
    for layer in model.submodules:
        if not isinstance(layer, tf.keras.layers.MultiHeadAttention):
            continue
        heads = layer.get_config()["num_heads"]
        if heads % devices:
            raise MeshError(
                f"heads of {layer.name} must be a multiple of the {devices} devices along "
                f"{MODEL!r}, got {heads}"
            )


def _layout(variable, mesh, rules):
    axes = next((axes for pattern, axes in rules if re.search(pattern, variable.name)), ())
    if not variable.shape.rank:  # a stddev that a whole kernel shares
        axes = ()
    return _layout_of(variable.name, variable.shape, mesh, axes)


def _layout_of(name, shape, mesh, axes):
    if len(axes) > shape.rank:
        raise MeshError(
            f"{name} with shape {tuple(shape)} has fewer axes than {tuple(axes)} splits"
        )
    axes = [*axes, *[None] * (shape.rank - len(axes))]
    for size, axis in zip(shape, axes, strict=True):
        devices = mesh.dim_size(axis) if axis else 1
        if size % devices:
            raise MeshError(
                f"{name} with shape {tuple(shape)} cannot be split: {size} must be a "
                f"multiple of the {devices} devices along {axis!r}"
            )
    return dtensor.Layout([axis or dtensor.UNSHARDED for axis in axes], mesh)


def _split(variable, layout):
    name = variable.name.removesuffix(":0")
    value = _to_layout(variable.read_value(), layout)
    return dtensor.DVariable(value, trainable=variable.trainable, name=name)


def _replace(module, new):
    """Puts new variables where a module keeps the old ones, by their ids."""
    # Keras would take an attribute that is set for one more weight.
    for name, value in list(vars(module).items()):
        if name in ("_trainable_weights", "_non_trainable_weights"):
            value[:] = [new.get(id(x), x) for x in value]
        elif id(value) in new:
            vars(module)[name] = new[id(value)]
    for name, child in list(module._trackable_children().items()):
        if id(child) in new:  # what a checkpoint saves
            module._track_trackable(new[id(child)], name, overwrite=True)


def place(value, mesh, axes=()):
    """Puts a value on a mesh; without a mesh it stays where it is.

    Args:
        value: tensor or array.
        mesh: from `make_mesh`, or None.
        axes: of the mesh, or None, for the first axes of the value; others are replicated.

    Returns:
        A tensor.

    Raises:
        MeshError: the mesh does not divide the value.

    Example:
        >>> from bayes_rl import parallel
        >>> placed = place(tf.eye(2), parallel.make_mesh("2x1"), [parallel.BATCH])
        >>> gather(placed).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    value = tf.convert_to_tensor(value)
    if mesh is None:
        return value
    return _to_layout(value, _layout_of("a value to place", value.shape, mesh, axes))


def _to_layout(value, layout):
    replicated = dtensor.Layout.replicated(layout.mesh, layout.rank)
    return dtensor.relayout(dtensor.copy_to_mesh(value, replicated), layout)


def gather(tensor):
    """The whole value of a tensor that may be split over devices.

    Args:
        tensor: DTensor, ordinary tensor, or variable of either kind.

    Returns:
        A NumPy array.
    """
    tensor = tf.convert_to_tensor(tensor)
    if dtensor.is_dtensor(tensor):
        mesh = dtensor.fetch_layout(tensor).mesh
        replicated = dtensor.Layout.replicated(mesh, tensor.shape.rank)
        tensor = dtensor.relayout(tensor, replicated)
    return tensor.numpy()


def bytes_per_device(variables):
    """Sizes of what each device really keeps.

    Args:
        variables: list of those that are split by `shard` or made by an optimizer for such.

    Returns:
        Dict of device, such as "GPU:0" -> bytes.
    """
    found = collections.Counter()
    for variable in variables:
        for part in dtensor.unpack(variable.read_value()):
            device = tf.DeviceSpec.from_string(part.device)
            size = part.shape.num_elements() * part.dtype.size
            found[f"{device.device_type}:{device.device_index}"] += size
    return dict(sorted(found.items()))
