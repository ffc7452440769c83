"""Tests of setup.py."""

import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata

import pytest
import setuptools

# What the layers must not need, by the names that are imported.
NOT_OF_LAYERS = [
    "hydra",
    "omegaconf",
    "tf_agents",
    "dm_control",
    "dm_env",
    "mujoco",
    "gym",
    "gymnasium",
    "matplotlib",
    "rich",
    "pandas",
    "scipy",
    "sklearn",
    "PIL",
    "imageio",
    "yaml",
    "psutil",
    "pygame",
    "threadpoolctl",
]
ROOT = pathlib.Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13")


def files_for(python):
    names = ("common", f"python{python}", "dev")
    return [ROOT / "requirements" / f"{name}.txt" for name in names]


def exact(file):
    """(name, version) of each line with an exact version."""
    found = re.findall(r"^([\w.-]+)==([\w.]+)", file.read_text(), re.MULTILINE)
    return [(name.lower().replace("_", "-"), version) for name, version in found]


def pinned_for(python):
    return {name: version for file in files_for(python) for name, version in exact(file)}


def minor(version):
    return version.split(".")[:2]


def test_version_is_that_of_the_package_and_needs_no_tensorflow(tmp_path):
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "bayes_rl").mkdir()
    (tmp_path / "bayes_rl" / "version.py").write_text('VERSION = "7.8.9"')
    (tmp_path / "bayes_rl" / "__init__.py").write_text("import tensorflow_is_not_there")
    result = subprocess.run(
        [sys.executable, "setup.py", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "7.8.9"


def test_citation_and_changes_are_of_this_version():
    version = runpy.run_path(ROOT / "bayes_rl" / "version.py")["VERSION"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert re.findall(r"^## (.*)", changes, re.MULTILINE)[0] == version


@pytest.mark.slow
def test_layers_import_nothing_but_what_they_need(tmp_path):
    code = """
import sys

blocked = sys.stdin.read().split()
for name in blocked:
    sys.modules[name] = None  # cannot be imported

import bayes_rl as ed
import tensorflow as tf

outputs = ed.layers.DenseFlipout(3)(tf.ones([2, 4]))
assert outputs.shape == (2, 3)
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        input="\n".join([*NOT_OF_LAYERS, "agents", "envs", "configs"]),
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


def test_command_without_its_extra_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['yaml'] = None; import agents.__main__"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("bayes-rl: yaml is not installed")
    assert line.endswith("pip install 'bayes_rl[agents]'")


@pytest.fixture(scope="module")
def requirements():
    """Names that setup.py asks for: of the layers under "", and of each extra."""
    given = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", lambda **settings: given.update(settings))
        patch.chdir(ROOT)
        runpy.run_path("setup.py")
    lists = {"": given["install_requires"], **given["extras_require"]}
    return {
        extra: {re.match(r"[\w-]+", each)[0].lower() for each in asked}
        for extra, asked in lists.items()
    }


def test_layers_ask_for_what_they_import_alone(requirements):
    assert requirements[""] == {
        "numpy",
        "setuptools",
        "tensorflow",
        "tensorflow-probability",
        "tf-keras",
    }
    extras = {"agents", "dev", "distributed", "gpu", "minari", "mlflow", "wandb"}
    assert set(requirements) == {"", *extras}


@pytest.mark.parametrize("python", PYTHONS)
def test_targets_of_make_install_what_setup_asks_for(requirements, python):
    """The pinned versions hold all but the extras that some users want."""
    extras = ("", "agents", "dev", "distributed")
    wanted = set().union(*(requirements[extra] for extra in extras))
    assert wanted <= pinned_for(python).keys()


@pytest.mark.parametrize("python", PYTHONS)
def test_exact_versions_stand_once(python):
    lines = [line for file in files_for(python) for line in exact(file)]
    names = [name for name, _ in lines]
    assert len(names) == len(set(names)) > 70


@pytest.mark.parametrize("python", PYTHONS)
def test_keras_is_of_the_minor_version_of_tensorflow(python):
    pinned = pinned_for(python)
    names = ("tf-keras", "tensorflow", "tensorboard")
    assert len({tuple(minor(pinned[name])) for name in names}) == 1


def test_this_environment_has_the_exact_versions():
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    names = ("tensorflow", "tensorflow-probability", "tf-agents", "numpy", "mujoco")
    pinned = pinned_for(python)
    assert {n: metadata.version(n) for n in names} == {n: pinned[n] for n in names}


def test_uv_is_given_pairs_that_are_tested(requirements):
    """Overrides replace every bound, so each names what goes together."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]
    found = [each.split(";")[0].strip() for each in settings["override-dependencies"]]
    assert found[:6] == [
        *("tensorflow>=2.15,<2.16", "tensorflow>=2.20,<2.21"),
        *("tf-keras>=2.15,<2.16", "tf-keras>=2.20,<2.21"),
        *("tensorflow-probability>=0.23,<0.24", "tensorflow-probability>=0.25,<0.26"),
    ]


def quietly(*command, **settings):
    """Runs a command that must not fail; returns what it printed."""
    result = subprocess.run(command, capture_output=True, text=True, **settings)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folder outside the clone with what a wheel holds that was made from the sdist."""
    folder = tmp_path_factory.mktemp("release")
    source = folder / "source"
    source.mkdir()
    for name in ("bayes_rl", "agents", "envs", "configs"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("setup.py", "pyproject.toml", "README.md", "MANIFEST.in"):
        shutil.copy(ROOT / name, source)
    quietly(sys.executable, "setup.py", "-q", "sdist", cwd=source)
    (packed,) = (source / "dist").glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    quietly(sys.executable, "setup.py", "-q", "bdist_wheel", cwd=unpacked)
    (wheel,) = (unpacked / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.mark.slow
def test_wheel_from_the_sdist_has_all_files(installed):
    for package in ("bayes_rl", "agents", "envs", "configs"):
        for kind in ("*.py", "*.yaml", "*.csv"):
            ours = {file.relative_to(ROOT) for file in (ROOT / package).rglob(kind)}
            assert all((installed / file).exists() for file in ours)


def test_command_of_the_wheel_reads_its_configs(installed, tmp_path):
    words = ["-m", "agents", "train", "experiment=debug", "--print-config"]
    environment = {"PYTHONPATH": str(installed), "PATH": "/usr/bin"}
    printed = quietly(sys.executable, *words, cwd=tmp_path, env=environment)
    assert "task: fake" in printed
