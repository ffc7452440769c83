"""Modules under the paths that edward2 0.0.2 has for what stands elsewhere here."""

import sys
import types

_LAYERS = {
    "bayesian_linear_model": ["BayesianLinearModel"],
    "convolutional": ["Cond", "Conv", "Depthwise", "VariationalConv"],
    "dense": ["Dense", "CondDense"],
    "discrete_flows": ["Discrete", "Reverse", "Sinkhorn"],
    "embeddings": ["Embedding"],
    "gaussian_process": [
        "ExponentiatedQuadratic",
        "GaussianProcess",
        "LinearKernel",
        "SparseGaussianProcess",
        "Zeros",
    ],
    "heteroscedastic": ["MC", "MultiHeadMC", "Exact", "EnsembleHet", "Heteroscedastic"],
    "made": ["MADE"],
    "neural_process": ["Attention", "NeuralProcess"],
    "noise": ["NCP"],
    "normalization": ["ActNorm", "EnsembleSync", "SpectralNorm", "ensemble_batchnorm"],
    "random_feature": ["RandomFeature", "Laplace"],
    "recurrent": ["LSTMCell", "GRUCell"],
    "stochastic_output": ["MixtureLogistic"],
}


def add_modules(package):
    """Gives `package.layers` and the package itself the modules of edward2.

    A module that is there already, such as `layers.dense`, gets the names that it lacks.
    """
    for name, beginnings in _LAYERS.items():
        module = _module(package.layers, name)
        for public in package.layers.__all__:
            if public.startswith(tuple(beginnings)) and not hasattr(module, public):
                setattr(module, public, getattr(package.layers, public))
    for alias, name in (
        ("generated_random_variables", "distributions"),
        ("program_transformations", "programs"),
        ("transformed_random_variable", "random_variables.transformed"),
        ("random_variable", "random_variables.random_variable"),
    ):
        module = sys.modules[f"{package.__name__}.{name}"]
        sys.modules[f"{package.__name__}.{alias}"] = module
        setattr(package, alias, module)


def _module(parent, name):
    path = f"{parent.__name__}.{name}"
    if path not in sys.modules:
        sys.modules[path] = types.ModuleType(path, f"What edward2 has in `layers.{name}`.")
    setattr(parent, name, sys.modules[path])
    return sys.modules[path]
