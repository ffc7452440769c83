"""Tasks of gymnasium by their names; `envs.simulations.own` runs what is made here."""

from envs.simulations import rendering
from envs.simulations.own import import_module

_PICTURES = "rgb_array"


def names(name):
    """Names of the tasks that gymnasium has, once the module of `module:Name` is there."""
    return list(_import(name).registry)


def maker(name):
    """A function that makes a task, with pictures where it can draw them."""

    def make():
        rendering.choose_library()
        gymnasium = _import(name)
        own = name.rpartition(":")[2]
        can_draw = _PICTURES in _render_modes(gymnasium, own)
        mode = {"render_mode": _PICTURES} if can_draw else {}
        # What it observes and rewards is checked by us, in words that name the task.
        return gymnasium.make(own, disable_env_checker=True, **mode)

    make.__name__ = "gymnasium.make"  # in messages
    return make


def remade(spec):
    """A task as `maker` makes it, by its `spec`; it imports no TensorFlow."""
    import gymnasium

    gymnasium.logger.min_level = gymnasium.logger.ERROR
    return gymnasium.make(spec)


def _render_modes(gymnasium, name):
    point = gymnasium.spec(name).entry_point
    if isinstance(point, str):
        point = gymnasium.envs.registration.load_env_creator(point)
    return (getattr(point, "metadata", None) or {}).get("render_modes") or ()


def _import(name):
    try:
        import gymnasium
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise ValueError(
            f"task 'gymnasium:{name}' needs gymnasium, which is not installed: "
            "pip install 'bayes_rl[agents]'"
        ) from None
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    module = name.rpartition(":")[0]
    if module:
        import_module(module, f"gymnasium:{name}")
    return gymnasium
