"""Rendering: which library draws, and how a picture is taken."""

import contextlib
import ctypes
import ctypes.util
import os
import sys

from envs import quiet

HELP = "install one: apt-get install libegl1 (GPU or Mesa), or apt-get install libosmesa6"


def choose_library():
    """Sets what is to draw, where nobody has; later imports of dm_control keep to it."""
    _keep_apart()
    if "dm_control._render" not in sys.modules and "MUJOCO_GL" not in os.environ:
        os.environ["MUJOCO_GL"] = choose()


def choose():
    """Name of the library that would draw: `egl`, `osmesa` or `disabled`."""
    _keep_apart()
    if _crashes_with_mesa():
        return "disabled"
    wanted = os.environ.get("PYOPENGL_PLATFORM")
    if wanted in (None, "egl") and _has_egl():
        return "egl"
    if wanted in (None, "osmesa") and ctypes.util.find_library("OSMesa"):
        return "osmesa"
    return "disabled"


@contextlib.contextmanager
def explained():
    """Says what to install where a task draws without being asked (quadruped_escape)."""
    try:
        yield
    except RuntimeError as error:
        if "OpenGL" not in str(error):
            raise
        raise RuntimeError(
            f"this task needs EGL or OSMesa, but neither loads; {HELP}"
        ) from error


def make_camera(physics, size, camera):
    """A camera of physics of dm_control, to be used again and again; -1 is the free one."""
    from dm_control import _render
    from dm_control.mujoco import engine

    if _render.BACKEND in (None, "off"):
        if _crashes_with_mesa():
            raise RuntimeError(
                "pictures crash beside TensorFlow 2.21, whose LLVM and that of Mesa's EGL "
                "cannot be in one process; install an older one: "
                "pip install 'tensorflow<2.21' 'tf-keras<2.21'"
            )
        raise RuntimeError(f"pictures need EGL or OSMesa, but neither loads; {HELP}")
    model = physics.model
    if camera >= model.ncam:
        names = [model.id2name(number, "camera") for number in range(model.ncam)]
        listing = ", ".join(f"{number} ({name})" for number, name in enumerate(names))
        raise ValueError(f"camera must be -1 (free) or one of {listing}, got {camera}")
    limit = min(model.vis.global_.offwidth, model.vis.global_.offheight)
    if size > limit:
        raise ValueError(f"image_size must be at most {limit} for this task, got {size}")
    return engine.Camera(physics, height=size, width=size, camera_id=camera)


def picture(camera, shadows):
    """Draws what a camera sees, uint8 [size, size, 3]."""
    flags = None if shadows else {"shadow": False, "reflection": False}
    # The camera draws into the same buffer every time.
    return camera.render(render_flag_overrides=flags).copy()


def _keep_apart():
    """Prepares a process for both TensorFlow and Mesa, before Mesa is loaded."""
    # Where Mesa's EGL was loaded before it, the import of TensorFlow 2.20 never ends.
    quiet.import_tensorflow()
    if _version() >= (2, 20):
        # Mesa's other driver draws with LLVM, and would call that of TensorFlow: a crash.
        os.environ.setdefault("GALLIUM_DRIVER", "softpipe")


def _crashes_with_mesa():
    """Whether TensorFlow and Mesa cannot be in one process, whatever Mesa draws with."""
    return _version() >= (2, 21)


def _version():
    """Major and minor version of TensorFlow, which is imported."""
    version = quiet.import_tensorflow().__version__
    return tuple(map(int, version.split(".")[:2]))


def _has_egl():
    """Whether EGL can open a display on some device, without PyOpenGL.

    PyOpenGL keeps to the first platform it was imported with, so it cannot be asked.
    """
    name = ctypes.util.find_library("EGL")
    if name is None:
        return False
    try:
        egl = ctypes.CDLL(name)
        egl.eglGetProcAddress.restype = ctypes.c_void_p
        query = _function(egl, b"eglQueryDevicesEXT", ctypes.c_uint)
        display_of = _function(egl, b"eglGetPlatformDisplayEXT", ctypes.c_void_p)
    except (OSError, AttributeError):
        return False
    if query is None or display_of is None:
        return False
    devices = (ctypes.c_void_p * 16)()
    count = ctypes.c_int()
    if not query(16, devices, ctypes.byref(count)):
        return False
    egl.eglInitialize.argtypes = [ctypes.c_void_p] * 3
    platform_device = 0x313F  # EGL_PLATFORM_DEVICE_EXT
    displays = (
        display_of(platform_device, ctypes.c_void_p(device), None)
        for device in devices[: count.value]
    )
    return any(display and egl.eglInitialize(display, None, None) for display in displays)


def _function(egl, name, result):
    address = egl.eglGetProcAddress(name)
    return ctypes.CFUNCTYPE(result, *_ARGUMENTS[name])(address) if address else None


_ARGUMENTS = {
    b"eglQueryDevicesEXT": (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p),
    b"eglGetPlatformDisplayEXT": (ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p),
}
