"""Packaging; requirements/ holds the exact versions that are tested together."""

import pathlib
import runpy

import setuptools

# bayes_rl itself would import TensorFlow, which may not be installed yet.
_VERSION = runpy.run_path(pathlib.Path(__file__).parent / "bayes_rl/version.py")["VERSION"]
_LAYERS = [
    "numpy>=1.26",
    "setuptools<81",  # tensorboard, which TensorFlow brings, imports pkg_resources
    "tensorflow>=2.15,<2.22",
    "tensorflow-probability>=0.23,<0.26",
    # Keras 2, which TensorFlow 2.15 has itself; each release asks for its TensorFlow.
    "tf-keras>=2.15,<2.22",
]
_EXTRAS = {
    "agents": [
        "cloudpickle",
        "dm-control==1.0.50",
        "dm-env>=1.6,<2",
        "gym==0.23.0",
        "gymnasium>=1,<2",
        "hydra-core==1.3.8",
        "imageio[ffmpeg]==2.38.1",
        "matplotlib>=3.11,<4",
        "mujoco>=3.17,<4",  # 4 lacks names that dm-control 1.0.50 reads
        "omegaconf>=2.3,<3",
        "pandas>=2.3,<3",
        "pillow",
        "psutil",
        "pygame",
        "PyYAML>=6",
        "rich>=15",
        "scikit-learn>=1.9,<2",
        "scipy>=1.17,<2",
        "tensorboard>=2.15.2,<2.21",
        # 2.21 and Mesa's EGL, which draws pictures, crash in one process. TF-Agents asks
        # for the TensorFlow Probability of 2.15; pip cannot give newer Pythons that.
        "tensorflow<2.16; python_version < '3.12'",
        "tensorflow<2.21",
        "tf-agents==0.19.0",
        "threadpoolctl>=3.5",
    ],
    "distributed": ["ray==2.60.0"],
    "dev": [
        "build",
        "codespell",
        "import-linter",
        "pytest",
        "pytest-split",
        "pytest-timeout",
        "pytest-xdist",
        "ruff",
        "simpy",
    ],
    "gpu": ["tensorflow[and-cuda]>=2.15,<2.22"],
    "mlflow": ["mlflow>=2.9,<4"],
    "minari": ["minari[hdf5]>=0.5,<1"],
    "wandb": ["wandb>=0.16,<1"],
}

setuptools.setup(
    name="bayes-rl",
    version=_VERSION,
    description="Bayesian layers for Keras, and Bayesian PlaNet for continuous control",
    packages=setuptools.find_packages(
        include=[
            name
            for package in ("bayes_rl", "agents", "envs", "configs")
            for name in (package, f"{package}.*")
        ]
    ),
    package_data={"agents": ["*/*.csv", "*/*/*.csv"], "configs": ["*.yaml", "*/*.yaml"]},
    python_requires=">=3.11,<3.14",
    install_requires=_LAYERS,
    extras_require=_EXTRAS,
    entry_points={"console_scripts": ["bayes-rl = agents.__main__:run"]},
)
