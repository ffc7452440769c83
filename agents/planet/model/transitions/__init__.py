"""Sources of uncertainty about the transition: what `transition=` names.

A source makes the transition's dense layers and says how their weights are drawn, which
weights stand for all draws, and what the weights cost (see `source.Source`). Planners,
filters, strategies and reports ask it through the model alone. To add one: a file with the
class, and a line in `SOURCES`; a class may stand there itself.

    source.py     what a source says; without uncertainty, one value for each weight
    posterior.py  a normal posterior over the kernels of all layers, or of the last alone
    rank1.py      a kernel times vectors with a posterior
    dropout.py    units that are there in a draw, or not
    ensemble.py   members with weights of their own
    laplace.py    the last layer of each head as a regression, in closed form
"""

import pkgutil

_ROOM = __name__
DETERMINISTIC = "deterministic"

# Named, not imported: a config is checked without the seconds that TensorFlow takes.
SOURCES = {
    DETERMINISTIC: f"{_ROOM}.source:Deterministic",
    "reparameterization": f"{_ROOM}.posterior:Reparameterization",
    "flipout": f"{_ROOM}.posterior:Flipout",
    "ensemble": f"{_ROOM}.ensemble:Ensemble",
    "rank1": f"{_ROOM}.rank1:Rank1",
    "dropout": f"{_ROOM}.dropout:Dropout",
    "last_layer": f"{_ROOM}.posterior:LastLayer",
    "laplace": f"{_ROOM}.laplace:Laplace",
    "ivon": f"{_ROOM}.posterior:Ivon",
}


def make_source(name, settings, dtype="float32"):
    """The source of a name.

    Args:
        name: key of `SOURCES`.
        settings: has what the source asks of it: `posterior_scale`, `prior_scale`,
            `ensemble_members`, `ensemble_shares_batch`, `dropout_rate`, `world_model`, as
            `agents.runs.config.schema.Train`.
        dtype: Keras dtype policy of the layers.

    Returns:
        `agents.planet.model.transitions.source.Source`.
    """
    made = SOURCES[name]
    made = pkgutil.resolve_name(made) if isinstance(made, str) else made
    return made(settings, dtype)
