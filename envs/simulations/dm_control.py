"""Tasks of the DeepMind Control Suite, and one of ours, as simulations."""

import os

import numpy as np

from envs.quiet import without_deprecations
from envs.simulations import rendering
from envs.simulations.errors import failing

# Entries that are velocities, or from sensors of motion (gyroscopes, velocimeters, and the
# accelerometers that come in one entry with them). They are left out whole.
VELOCITIES = frozenset(
    {
        "velocity",
        "joint_velocites",  # as dm_control spells it
        "torso_com_velocity",
        "com_velocity",
        "torso_velocity",
        "body_velocities",
        "arm_vel",
        "object_vel",
        "box_vel",
        "inertial_sensors",
        "imu",
    }
)

TIME_LIMIT = 1000  # environment steps of an episode of every task

# lqr draws stiffness and damping when it is loaded: all episodes are to be of one system.
_SYSTEM = 0
FENCE = 0.9  # m from the middle, of cartpole_swingup_fenced; the rail goes on to 1.8


def import_suite():
    """Imports `dm_control.suite` with EGL, else OSMesa, else no rendering at all.

    `MUJOCO_GL` decides if it is set. It has to be set before the first import.
    """
    rendering.choose_library()
    try:
        from dm_control import suite
    except (ImportError, AttributeError) as error:
        library = os.environ.get("MUJOCO_GL")
        raise RuntimeError(
            f"dm_control does not load with MUJOCO_GL={library} ({error}); "
            f"unset MUJOCO_GL, or {rendering.HELP}"
        ) from error
    _add_fenced(suite)
    return suite


def _add_fenced(suite):
    """Adds a task that punishes the ends of the rail, where it is not there yet.

    Its reward is that of `cartpole_swingup`, and -1 beyond `FENCE`; the episode goes on.
    """
    from dm_control.rl import control

    cartpole = suite.cartpole
    if "swingup_fenced" in cartpole.SUITE:
        return

    class Fenced(cartpole.Balance):
        def get_reward(self, physics):
            if abs(physics.cart_position()) > FENCE:
                return -1.0
            return super().get_reward(physics)

    @cartpole.SUITE.add("fenced")
    def swingup_fenced(time_limit=10, random=None, environment_kwargs=None):
        physics = cartpole.Physics.from_xml_string(*cartpole.get_model_and_assets())
        task = Fenced(swing_up=True, sparse=False, random=random)
        return control.Environment(
            physics, task, time_limit=time_limit, **(environment_kwargs or {})
        )


class Physics:
    """A task of the suite.

    The state is all of the task's observations, flattened and concatenated in its order.
    Positions and velocities are MuJoCo's qpos and qvel.

    The first episode is the one that `suite.load` gives with the seed (but for lqr, which
    is always the system of seed 0). Where the physics become invalid there is an
    `EnvironmentFailedError`.

    The factors change what a robot is made of: masses and inertias; friction of contacts
    and damping of joints; the force that an action brings.
    """

    def __init__(self, domain, variant, seed, mass=1.0, friction=1.0, gain=1.0):
        suite = import_suite()
        with without_deprecations():
            drawn_by = _SYSTEM if domain == "lqr" else seed
            self._env = suite.load(domain, variant, task_kwargs={"random": drawn_by})
        if (mass, friction, gain) != (1.0, 1.0, 1.0):
            _change(self._env.physics, mass, friction, gain)
        spec = self._env.action_spec()
        self.action_minimum = np.array(spec.minimum, np.float64)
        self.action_maximum = np.array(spec.maximum, np.float64)
        self.time_limit = TIME_LIMIT
        self.timestep = self._env.control_timestep()
        seen = self._env.observation_spec()
        self.entries = {(name,): int(np.prod(part.shape)) for name, part in seen.items()}
        self._domain = domain
        self._task = f"{domain}_{variant}"
        self._cameras = {}

    def reset(self, seed):
        self._env.task.random.seed(seed)
        with without_deprecations(), rendering.explained(), failing(self._task, "reset"):
            self._time_step = self._env.reset()

    def step(self, action):
        with failing(self._task, "step"):
            self._time_step = self._env.step(action)
        step = self._time_step
        return step.reward, step.last(), step.discount

    def state(self):
        return _concatenate(self._time_step.observation.values())

    def position_only(self):
        return _concatenate(withhold(self._domain, self._time_step.observation).values())

    def position(self):
        return self._env.physics.data.qpos

    def velocity(self):
        return self._env.physics.data.qvel

    def render(self, size, camera, shadows):
        key = (size, camera)
        if key not in self._cameras:
            self._cameras[key] = rendering.make_camera(self._env.physics, size, camera)
        return rendering.picture(self._cameras[key], shadows)

    def close(self):
        self._cameras.clear()
        self._env.close()


def _change(physics, mass, friction, gain):
    import mujoco

    model = physics.model
    factors = (
        (mass, model.body_mass, model.body_inertia),
        (friction, model.geom_friction, model.dof_frictionloss, model.dof_damping),
        (gain, model.actuator_gear),
    )
    for factor, *parts in factors:
        for part in parts:
            part[:] *= factor
    mujoco.mj_setConst(model.ptr, physics.data.ptr)  # what follows from masses


def withhold(domain, observation):
    """Leaves the velocities out of a task's observation.

    An entry of `VELOCITIES` is left out. Of an entry that holds both, only the positions
    are kept: `egocentric_state` is [joint angles, joint velocities, actuators] with 16,
    16 and 12 numbers, and `ball_state` starts with the 3 numbers of the ball's place.
    Forces and touch are kept. Both are dicts of name -> array, in the same order.
    """
    kept = {}
    for name, value in observation.items():
        if name in VELOCITIES:
            continue
        if domain == "quadruped" and name == "egocentric_state":
            kept[name] = np.concatenate([value[:16], value[32:]])
        elif name == "ball_state":
            kept[name] = value[:3]
        else:
            kept[name] = value
    return kept


def _concatenate(values):
    return np.concatenate([np.ravel(value) for value in values])
