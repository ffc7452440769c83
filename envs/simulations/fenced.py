"""A task of cartpole that punishes the ends of the rail."""

from envs.simulations import rendering

rendering.choose_library()  # before dm_control is imported

from dm_control.rl import control  # noqa: E402
from dm_control.suite import cartpole  # noqa: E402

FENCE = 0.9  # m from the middle; the rail goes on to 1.8


class _Fenced(cartpole.Balance):
    """The reward of swinging up, and -1 where the cart is behind the fence."""

    def get_reward(self, physics):
        if abs(physics.cart_position()) > FENCE:
            return -1.0
        return super().get_reward(physics)


@cartpole.SUITE.add("fenced")
def swingup_fenced(time_limit=10, random=None, environment_kwargs=None):
    """`cartpole_swingup` with a reward of -1 beyond `FENCE`; from there the way leads back.

    Args:
        time_limit: s.
        random: seed or `np.random.RandomState`.
        environment_kwargs: of `control.Environment`.
    """
    physics = cartpole.Physics.from_xml_string(*cartpole.get_model_and_assets())
    task = _Fenced(swing_up=True, sparse=False, random=random)
    return control.Environment(
        physics, task, time_limit=time_limit, **(environment_kwargs or {})
    )
