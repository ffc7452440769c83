"""Tests of environments of users that observe images."""

import gymnasium
import numpy as np
import pytest

from envs.failing import EnvironmentFailedError

SIZE = 32
PHYSICS = ("position", "velocity")


def box(*shape, dtype=np.uint8, low=0, high=255):
    return gymnasium.spaces.Box(low, high, shape, dtype)


def eye(look, **entries):
    """A class of an environment whose `look(steps)` is what it sees."""

    class Eye(gymnasium.Env):
        action_space = gymnasium.spaces.Box(-1.0, 1.0, [1])
        observation_space = gymnasium.spaces.Dict(entries)
        render_mode = "rgb_array"
        buffer = np.zeros([SIZE, SIZE, 3], np.uint8)

        def reset(self, seed=None, options=None):
            self.steps = 0
            return look(self), {}

        def step(self, action):
            self.steps += 1
            return look(self), 0.0, False, self.steps == 3, {}

        def render(self):
            return np.full([SIZE, SIZE, 3], 7, np.uint8)

    return Eye


FLOATS = box(40, 40, 3, dtype=np.float32, high=1)


def shades(**brightness):
    """What each entry shows: one brightness."""
    return lambda env: {
        name: np.full(env.observation_space[name].shape, shade, np.uint8)
        for name, shade in brightness.items()
    }


def test_an_image_is_kept_when_its_environment_draws_into_the_same_array(load):
    def look(env):
        env.buffer[:] = 20 * env.steps
        return {"cam": env.buffer}

    environment = load(eye(look, cam=box(SIZE, SIZE, 3)), "auto", image_size=SIZE)
    first = environment.reset().observation["observation"]
    environment.step([0.0])
    assert np.all(first == 0)


def test_of_images_alone_the_first_is_the_observation(load):
    spaces = {"front": box(40, 40, 3), "back": box(40, 40)}
    environment = load(eye(shades(front=9, back=5), **spaces), "auto", image_size=SIZE)
    seen = environment.reset().observation
    shown = {name: np.unique(seen[name]).tolist() for name in seen if seen[name].size}
    assert shown == {"observation": [5], "image_front": [9]}  # in the order of the space
    assert seen["observation"].shape == (SIZE, SIZE, 1)
    spec = environment.observation_spec()["image_front"]
    assert (spec.dtype, spec.minimum, spec.maximum) == (np.uint8, 0, 255)


def test_what_is_drawn_is_seen_in_their_place(load):
    environment = load(eye(shades(cam=9), cam=box(40, 40, 3)), "pixels", image_size=SIZE)
    seen = environment.reset().observation["observation"]
    np.testing.assert_array_equal(seen, np.full([SIZE, SIZE, 3], 7))


def test_names_have_letters_digits_and_underscores(load):
    spaces = {"left cam": box(40, 40, 3), "eye-1.b": box(40, 40, 3), "n": box(2)}
    shown = shades(**{"left cam": 1, "eye-1.b": 2, "n": 3})
    seen = load(eye(shown, **spaces), "auto", image_size=SIZE).reset().observation
    assert {"image_left_cam", "image_eye_1_b"} < seen.keys()


def test_two_images_of_one_name_are_refused(load):
    spaces = {"a-b": box(40, 40, 3), "a b": box(40, 40, 3)}
    with pytest.raises(ValueError, match="two images would be called image_a_b.*rename on"):
        load(eye(shades(**{"a-b": 1, "a b": 2}), **spaces), "auto")


@pytest.mark.parametrize(
    ("space", "value", "message"),
    [
        (box(40, 40, 3), 0.5, "an image must be of whole numbers from 0 to 255, got f"),
        (box(40, 40, 3), 300, "an image must be of whole numbers from 0 to 255, got 300"),
        (FLOATS, np.nan, "an image must be finite, got nan"),
        (FLOATS, 1j, "an image must be of real numbers, got complex128"),
    ],
)
def test_values_that_are_no_pixels_are_refused(load, space, value, message):
    look = lambda env: {"cam": np.full([40, 40, 3], value)}  # noqa: E731
    with pytest.raises(EnvironmentFailedError, match=message) as caught:
        load(eye(look, cam=space), "auto", image_size=SIZE)
    assert "task 'python:own_module:make': observation failed" in str(caught.value)


def test_what_lies_beyond_the_bounds_is_black_or_white(load):
    look = lambda env: {"cam": np.full([40, 40, 1], 2.0 - 4.0 * env.steps)}  # noqa: E731
    space = box(40, 40, 1, dtype=np.float32, low=-1, high=1)
    environment = load(eye(look, cam=space), "auto", image_size=SIZE)
    assert np.all(environment.reset().observation["observation"] == 255)
    assert np.all(environment.step([0.0]).observation["observation"] == 0)


@pytest.mark.parametrize(
    ("observation", "seen"),
    [
        ("cam", {"observation": 9}),
        ("cam+arm/speed", {"observation": [2.0], "image_cam": 9}),
        ("arm", {"observation": [1.0, 2.0]}),
        ("goal+arm/angle", {"observation": [1.0, 3.0]}),
        ("pixels+goal", {"observation": [3.0], "image_pixels": 7}),
        ("pixels+other", {"observation": 7, "image_other": 5}),
    ],
)
def test_entries_are_chosen_by_their_names(load, observation, seen):
    numbers = {"arm": {"angle": [1.0], "speed": [2.0]}, "goal": [3.0]}
    images = {"cam": np.full([SIZE, SIZE], 9), "other": np.full([SIZE, SIZE], 5)}
    arm = gymnasium.spaces.Dict(
        angle=box(1, dtype=np.float32, low=-9, high=9),
        speed=box(1, dtype=np.float32, low=-9, high=9),
    )
    spaces = {"arm": arm, "goal": arm["angle"], "cam": box(SIZE, SIZE)}
    make = eye(lambda env: numbers | images, **spaces, other=box(SIZE, SIZE))
    environment = load(make, observation, image_size=SIZE)
    found = environment.reset().observation
    given = {name: array for name, array in found.items() if name not in PHYSICS}
    assert given.keys() == seen.keys()
    for name, value in seen.items():
        np.testing.assert_array_equal(np.unique(given[name]), np.unique(value))


@pytest.mark.parametrize("observation", ["camera", "position", "cam+", "ca", "goal+state"])
def test_a_name_of_no_entry_is_refused_with_those_there_are(load, observation):
    floats = box(2, dtype=np.float32, low=-9, high=9)
    make = eye(shades(cam=1), cam=box(SIZE, SIZE), goal=floats)
    words = "or names of entries; it observes no entry '.*'; its entries: cam, goal"
    with pytest.raises(ValueError, match=words):
        load(make, observation)


def test_one_array_has_no_entries_to_choose(load):
    class One(gymnasium.Env):
        action_space = observation_space = box(2, dtype=np.float32)

    with pytest.raises(ValueError, match="no entry 'goal'; its entries: none$"):
        load(One, "goal")
    with pytest.raises(ValueError, match="entries: none; its velocities are not known$"):
        load(One, "position")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["pixels", "goal"], "observes pixels, but observation=pixels is what it renders"),
        ([".pixels", "goal"], "what it renders and .pixels would both be called image_pix"),
    ],
)
def test_what_is_rendered_hides_no_entry(load, names, message):
    cam, goal = names
    make = eye(lambda env: {}, **{cam: box(SIZE, SIZE), goal: box(SIZE, SIZE)})
    with pytest.raises(ValueError, match=message):
        load(make, "+".join(["pixels", *(name for name in names if name != "pixels")]))


@pytest.mark.parametrize("observation", ["+", ""])
def test_an_array_is_not_chosen_by_an_empty_name(load, observation):
    class One(gymnasium.Env):
        action_space = observation_space = box(2, dtype=np.float32)

    with pytest.raises(ValueError, match="observes no entry ''; its entries: none"):
        load(One, observation)
