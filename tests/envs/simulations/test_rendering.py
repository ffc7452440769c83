"""Tests of pictures and of the choice of the library that draws them."""

import os
import sys

import numpy as np
import pytest

import envs
from envs.simulations import rendering

NOTHING_INSTALLED = "import ctypes.util; ctypes.util.find_library = lambda name: None\n"


def test_nothing_is_chosen_where_nothing_is_installed(without_libraries):
    assert rendering.choose() == "disabled"


def test_library_that_the_user_chose_is_kept_and_not_tried(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "off")
    monkeypatch.delitem(sys.modules, "dm_control._render", raising=False)
    monkeypatch.setattr(rendering, "choose", None)  # cannot be called
    rendering.choose_library()
    assert os.environ["MUJOCO_GL"] == "off"


@pytest.mark.slow
def test_library_that_the_user_chose_is_not_tried(run_python):
    code = (
        "from envs.simulations import rendering\n"
        "rendering.choose = None  # cannot be called\n"
        "rendering.choose_library()"
    )
    assert run_python(code, MUJOCO_GL="disabled").returncode == 0


@pytest.mark.slow
def test_tensorflow_is_there_before_a_library_is_tried(run_python):
    code = (
        "import sys\n"
        "from envs.simulations import rendering\n"
        "assert 'tensorflow' not in sys.modules\n"
        "rendering.choose = lambda: str('tensorflow' in sys.modules)\n"
        "rendering.choose_library()\n"
        "import os; print(os.environ['MUJOCO_GL'])"
    )
    assert run_python(code).stdout == "True\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "environment", "driver"),
    [
        ("2.19.1", {}, "None"),
        ("2.20.0", {}, "softpipe"),
        ("2.20.0", {"GALLIUM_DRIVER": "d3d12"}, "d3d12"),
    ],
    ids=["before", "since", "chosen"],
)
def test_mesa_draws_without_llvm_where_tensorflow_has_another(
    run_python, version, environment, driver
):
    code = (
        f"import tensorflow as tf; tf.__version__ = '{version}'\n"
        "from envs.simulations import rendering\n"
        "rendering.choose = lambda: 'disabled'\n"
        "rendering.choose_library()\n"
        "import os; print(os.environ.get('GALLIUM_DRIVER'))"
    )
    assert run_python(code, **environment).stdout == f"{driver}\n"


@pytest.mark.slow
def test_beside_a_tensorflow_that_crashes_nothing_is_tried_and_pictures_say_so(run_python):
    code = (
        "import tensorflow as tf; tf.__version__ = '2.21.0'\n"
        "from envs.simulations import rendering\n"
        "rendering._has_egl = None  # cannot be called\n"
        "import envs\n"
        "envs.load('cartpole_balance').reset()\n"
        "try: envs.load('cartpole_balance', 'pixels').reset()\n"
        "except RuntimeError as error: print(error)"
    )
    result = run_python(code)
    (line,) = result.stdout.splitlines()
    assert line.startswith("pictures crash beside TensorFlow 2.21")
    assert line.endswith("pip install 'tensorflow<2.21' 'tf-keras<2.21'")


@pytest.mark.slow
def test_states_need_no_library_and_pictures_name_the_packages(run_python):
    code = NOTHING_INSTALLED + (
        "import envs\n"
        "environment = envs.load('cheetah_run')\n"
        "environment.reset(); print(environment.step([0.0] * 6).reward.shape)\n"
        "for given in (('cheetah_run', 'pixels'), ('quadruped_escape',)):\n"
        "    try: envs.load(*given)\n"
        "    except RuntimeError as error: print(error)"
    )
    result = run_python(code)
    assert (result.returncode, result.stderr) == (0, "")
    shape, *said = result.stdout.splitlines()
    assert (shape, len(said)) == ("()", 2)
    assert all("libegl1" in line and "libosmesa6" in line for line in said)


@pytest.mark.slow
def test_library_that_the_user_chose_is_kept(run_python):
    code = "import os, envs; envs.load('cartpole_balance'); print(os.environ['MUJOCO_GL'])"
    assert run_python(code, MUJOCO_GL="off").stdout == "off\n"


@pytest.mark.slow
def test_loading_says_nothing(run_python):
    code = (
        "import os, envs\n"
        "assert 'MUJOCO_GL' not in os.environ\n"
        "for task in ('cheetah_run', 'gym:Pendulum-v1', 'fake'):\n"
        "    envs.load(task).reset()\n"
        "envs.load('gym:Pendulum-v1', 'pixels').reset()"
    )
    result = run_python(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.usefixtures("needs_pictures")
class TestPictures:
    def test_are_those_of_the_suite(self):
        environment = envs.load("cheetah_run", "pixels", seed=1)
        environment.reset()
        step = environment.step(np.ones(6))
        physics = environment._simulation._env.physics
        expected = physics.render(64, 64, camera_id=0)
        np.testing.assert_array_equal(step.observation["observation"], expected)

    def test_have_the_size_and_the_camera(self):
        first, second = (
            envs.load("cheetah_run", "pixels", image_size=32, camera=camera)
            for camera in (0, 1)
        )
        images = [e.reset().observation["observation"] for e in (first, second)]
        assert images[0].shape == (32, 32, 3)
        assert images[0].dtype == np.uint8
        assert not np.array_equal(*images)

    def test_are_not_overwritten(self):
        environment = envs.load("cheetah_run", "pixels")
        image = environment.reset().observation["observation"]
        copy = image.copy()
        for _ in range(5):
            environment.step(np.ones(6))
        np.testing.assert_array_equal(image, copy)

    def test_only_the_last_of_a_repeat_is_drawn(self, monkeypatch):
        environment = envs.load("cartpole_swingup", "pixels")
        environment.reset()
        drawn = []
        picture = rendering.picture
        monkeypatch.setattr(
            rendering, "picture", lambda *given: drawn.append(1) or picture(*given)
        )
        environment.step([0.0])
        assert len(drawn) == 1

    def test_without_shadows_differ_and_say_so(self, caplog):
        plain = envs.load("cheetah_run", "pixels", seed=1)
        assert not caplog.records
        fast = envs.load("cheetah_run", "pixels", seed=1, shadows=False)
        assert "differ from the benchmark" in caplog.text
        images = [e.reset().observation["observation"] for e in (plain, fast)]
        assert not np.array_equal(*images)

    def test_states_can_be_drawn_too(self):
        environment = envs.load("walker_walk", image_size=100)
        environment.reset()
        assert environment.render().shape == (100, 100, 3)

    def test_wrong_camera_is_an_error(self):
        with pytest.raises(ValueError, match="one of 0 .*, got 9"):
            envs.load("cheetah_run", "pixels", camera=9)

    def test_too_large_a_picture_is_an_error(self):
        with pytest.raises(ValueError, match="image_size must be at most 480"):
            envs.load("cheetah_run", "pixels", image_size=1000)
