"""A task of cartpole that punishes the ends of the rail: `cartpole_swingup_fenced`."""

FENCE = 0.9  # m from the middle; the rail goes on to 1.8


def add_to(suite):
    """Adds the task to the suite, where it is not there yet.

    Its reward is that of `cartpole_swingup`, and -1 beyond `FENCE`; the episode goes on.
    The suite must not be imported before a library that draws is chosen.
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
