"""Which positions of a task are angles, and so are compared by cosine and sine."""

import functools

from envs.quiet import without_deprecations
from envs.simulations import dm_control
from envs.tasks import check_task

_HINGE = 3  # mujoco.mjtJoint.mjJNT_HINGE


@functools.cache
def wrapping_angles(task):
    """Columns of `position` that are angles without limits, in radians.

    Hinges with limits are left out: their angles never wrap.

    Args:
        task: as in `envs.load`.

    Returns:
        A tuple of ints; empty for gym, whose observations hold cosines and sines, for
        environments of users and for `fake`.

    Example:
        >>> wrapping_angles("fake")
        ()
    """
    task = check_task(task)
    if task.suite != "dm_control":
        return ()
    with without_deprecations():
        env = dm_control.import_suite().load(task.domain, task.variant)
    model = env.physics.model
    free = (model.jnt_type == _HINGE) & (model.jnt_limited == 0)
    columns = tuple(int(column) for column in model.jnt_qposadr[free])
    env.close()
    return columns
