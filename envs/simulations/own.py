"""Environments that users bring: `python:package.module:function`."""

import importlib
import logging
import os
import re
import sys

import numpy as np

from envs import quiet
from envs.failing import EnvironmentFailedError
from envs.simulations import interfaces, parts, rendering
from envs.simulations.choices import bounds_of, choices, kind_of, shaped
from envs.simulations.errors import failing, line, told
from envs.simulations.images import as_image

_MOST = 4096  # numbers of a table in a state
_OURS = ("agents", "bayes_rl", "configs", "envs")
_PREFIX = "python:"
_LOG = logging.getLogger(__name__)
_GIVEN = {}  # (module, name) -> function that a script of this process has given


def give(make, task=None):
    """Makes a function, or class, that makes an environment known by the name of a task.

    It is known in this process and in those that it starts for environments.

    Args:
        make: function without arguments, or class; it may be a lambda, or of a notebook.
        task: the name, `python:module:function`; None: that of the function.

    Returns:
        The name.

    Raises:
        ValueError: it cannot be called, or the name is of no task of a user.

    Example:
        >>> give(lambda: None, "python:script:arm")
        'python:script:arm'
    """
    if not callable(make):
        raise ValueError(
            "environment must be a function or a class that makes an environment, got "
            f"{line(repr(make))}"
        )
    task = task or _name_of(make)
    _GIVEN[_split(task)] = make
    return task


def given(task):
    """The function that was given for a task; None where none was."""
    return _GIVEN.get(_split(task)) if task.startswith(_PREFIX) else None


def _split(task):
    if not task.startswith(_PREFIX):
        raise ValueError(
            f"environment= is for tasks named {_PREFIX}module:function, got {task!r}"
        )
    module, _, function = task.removeprefix(_PREFIX).partition(":")
    return module, function


def _name_of(make):
    named = make if hasattr(make, "__qualname__") else type(make)  # such as a partial
    module = getattr(make, "__module__", None) or named.__module__
    name = re.sub(r"\W+", "_", named.__qualname__).strip("_")
    return f"{_PREFIX}{module}:{name}"


def find(module, function):
    """The function that makes an environment; its module is imported, no more.

    One that was given comes first. The module is looked for in what is installed and then
    in the current folder.

    Raises:
        ValueError: the module cannot be imported, or has no such function or class.
    """
    if (module, function) in _GIVEN:
        return _GIVEN[module, function]
    task = f"{_PREFIX}{module}:{function}"
    found = import_module(module, task)
    if not callable(getattr(found, function, None)):
        place = getattr(found, "__file__", None) or "a folder"
        given = "; a script gives it: agents.load(run, environment=make)"
        raise ValueError(
            f"task {task!r}: {module} ({place}) has no function {function!r}"
            + given * (module == "__main__")
        )
    return getattr(found, function)


def import_module(module, task):
    """Imports what makes a task, from what is installed or the current folder.

    Raises:
        ValueError: the module cannot be imported.
    """
    if not {"", os.getcwd()} & set(sys.path):
        # Last: what lies there must not hide what is installed.
        sys.path.append(os.getcwd())
    quiet.import_gym()  # before the module does, which would print a notice
    rendering.choose_library()
    try:
        with quiet.without_deprecations():
            return importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"task {task!r}: {module} cannot be imported "
            f"({told(error)}){_where(module, error)}"
        ) from error


class Own:
    """An environment of dm_env, gym or gymnasium that a function makes.

    The state is all numbers that it observes, in the order in which it describes its
    observations, as one vector. Images stand beside it, see `envs.simulations.images`. The
    velocity is of the entries that are known to be velocities, the position of the others.

    Images are taken where `takes_images` is true, else refused. Of `names`, where there are
    some, only the entries that are called so are taken, see `envs.simulations.parts`.

    Attributes:
        entries: dict of the path of each array of an observation -> its size, in order;
            ("arm", "angle") leads to the entry angle of the entry arm. Empty where the
            observation is one array.
        image_entries: dict of `image_NAME` -> path and `envs.simulations.images.Image`.

    Raises:
        ValueError: what the function returns is no such environment, has actions that are
            neither numbers in bounds nor categories, or observes what is neither numbers
            nor, where they are taken, images.
        RuntimeError: the function raised an error.
        EnvironmentFailedError: the environment raises one later, or observes something
            else than it describes, or gives what its interface does not.
    """

    def __init__(self, task, make, velocities=(), takes_images=False, names=()):
        self._task = task
        self._name = f"task {task!r}"
        self._env = self._make(make)
        self._describe_actions(self._env.actions)
        self.time_limit = self._env.time_limit
        self.timestep = self._env.timestep
        entries = dict(parts.entries(self._env.observations))
        if names:
            entries = self._chosen(entries, names)
        found = {path: _image(array) for path, array in entries.items()}
        images = {path: image for path, image in found.items() if image}
        if not takes_images and images:
            self._refuse_image(*next((path, entries[path]) for path in images))
        self.image_entries = self._named(images, "pixels" in names)
        self._sizes = {
            path: self._size(path, array)
            for path, array in entries.items()
            if path not in images
        }
        if not sum(self._sizes.values()) and not self.image_entries:
            raise ValueError(f"{self._name} observes nothing: its spec or space is empty")
        self.entries = self._sizes if list(self._sizes) != [()] else {}
        self._velocities = list(velocities)

    def reset(self, seed):
        with quiet.without_deprecations(), failing(self._task, "reset"):
            self._observation, self._state = self._env.reset(seed), None

    def step(self, action):
        action = shaped(action, self._env.actions)
        with failing(self._task, "step"):
            self._observation, *others = self._env.step(action)
            self._state = None
        return others

    def state(self):
        if self._state is None:  # it is asked for more than once a step
            self._state = self._joined()
        return self._state

    def _joined(self):
        if not self._sizes:
            return np.zeros([0], np.float32)
        try:
            return parts.concatenate(self._observation, self._sizes)
        except ValueError as error:
            raise EnvironmentFailedError(
                f"{self._name}: an observation does not fit its spec or space ({error})"
            ) from error

    def images(self, size):
        """Dict of name -> uint8 [size, size, channels]."""
        with failing(self._task, "observation"):
            return {
                name: image(parts.entry(self._observation, path), size)
                for name, (path, image) in self.image_entries.items()
            }

    def position_only(self):
        return self.position()

    def position(self):
        return np.delete(self.state(), self._velocities)

    def velocity(self):
        return self.state()[self._velocities]

    def render(self, size, camera, shadows):
        del camera, shadows
        with quiet.without_deprecations(), failing(self._task, "render"):
            return self._env.render(size)

    def close(self):
        try:
            with quiet.without_deprecations():
                self._env.close()
        except (Exception, SystemExit) as error:  # nothing is lost by it
            _LOG.warning("%s: close failed: %s", self._name, told(error))

    def _bounds(self, actions):
        """Least and greatest actions, float64 of their shape; infinite where unbounded."""
        try:
            return [
                np.array(np.broadcast_to(bound, actions.shape), np.float64)
                for bound in bounds_of(actions, -np.inf, np.inf)
            ]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self._name} has actions {line(actions)}, whose bounds must be numbers "
                f"of their shape ({line(error)})"
            ) from error

    def _make(self, function):
        try:
            with quiet.without_deprecations():
                env = function()
                found = interfaces.interface(env)
        except (Exception, SystemExit) as error:
            raise RuntimeError(
                f"{self._name}: {getattr(function, '__name__', 'it')} raised {told(error)}"
            ) from error
        if found is None:
            raise ValueError(
                f"{self._name} must return an environment of dm_env, gym or gymnasium, got "
                f"{line(repr(env))}"
            )
        return found

    def _describe_actions(self, actions):
        what = f"{self._name} has actions {line(actions)}"
        try:
            self.choices = choices(actions)
        except ValueError as error:
            raise ValueError(f"{what}; {error}") from None
        if self.choices is not None:
            return
        if kind_of(actions) != "f":
            raise ValueError(
                f"{what}; only one array of continuous actions, or of categories, is "
                "supported"
            )
        low, high = self._bounds(actions)
        self.action_minimum, self.action_maximum = low.ravel(), high.ravel()

    def _chosen(self, entries, names):
        if "pixels" in names and ("pixels",) in entries:
            raise ValueError(
                f"{self._name} observes pixels, but observation=pixels is what it renders: "
                "rename that entry, or use observation=auto"
            )
        try:
            return parts.chosen(entries, [name for name in names if name != "pixels"])
        except ValueError as error:
            why = "; its velocities are not known" if "position" in names else ""
            raise ValueError(
                f"{self._name}: observation must be state, pixels, pixels+state, auto, or "
                f"names of entries; {error}{why}"
            ) from None

    def _named(self, images, renders):
        """Dict of `image_NAME` -> path and image, of those of paths.

        The name is the path in letters, digits and underscores: layers, files and arrays of
        episodes are called by it.
        """
        found = {}
        for path, image in images.items():
            name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(["image", *map(str, path)]))
            if renders and name == "image_pixels":
                raise ValueError(
                    f"{self._name}: what it renders and {parts.called(path)} would both be "
                    f"called {name}: rename that"
                )
            if name in found:
                paths = " and ".join(map(parts.called, (found[name][0], path)))
                raise ValueError(
                    f"{self._name}: two images would be called {name}, {paths}: rename one"
                )
            found[name] = path, image
        return found

    def _refuse_image(self, path, array):
        raise ValueError(
            f"{self._observes(path, array)}, an image: observation=auto takes numbers and "
            "images, observation=pixels what it renders"
        )

    def _observes(self, path, array):
        name = parts.called(path)
        return f"{self._name} observes {name + ': ' if name else ''}{line(array)}"

    def _size(self, path, array):
        """How many numbers an array of the observation has."""
        what = self._observes(path, array)
        if kind_of(array) not in "biuf":
            raise ValueError(f"{what}; only numbers of a fixed shape are supported")
        if len(array.shape) > 2 and np.prod(array.shape) > _MOST:
            raise ValueError(
                f"{what}, which is neither numbers nor an image: images are uint8, or "
                "floats in finite bounds that are the same for all pixels, and have 1 or 3 "
                "channels"
            )
        return int(np.prod(array.shape))


def _image(array):
    try:
        return as_image(array)
    except (AttributeError, TypeError, ValueError):
        return None  # `_size` says what is wrong


def _where(module, error):
    """Where a module was looked for, if it was not found."""
    is_missing = isinstance(error, ModuleNotFoundError)
    if not is_missing or not f"{module}.".startswith(f"{error.name}."):
        return ""
    first = module.partition(".")[0]
    if first in _OURS:
        return f"; the name {first} is taken by this program: give your folder another one"
    return f"; it is looked for in {os.getcwd()} and in what is installed"
