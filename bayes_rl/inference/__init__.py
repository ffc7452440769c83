"""Posteriors over the variables of any Keras model, which itself stays as it is.

Each is one kind of object, a `Posterior`, from one of these, of a model that is trained as
usual:

    posterior = ed.inference.laplace(model, data, "categorical")

Its draws are what `bayes_rl.hold` and `bayes_rl.predict` take, and `posterior.predict`
gives outputs under S draws of the weights, for the scores of `bayes_rl.uncertainty`.
"""

from bayes_rl.inference.ensemble import Ensemble, ensemble
from bayes_rl.inference.gaussian import Gaussian, posterior
from bayes_rl.inference.laplace import Laplace, laplace
from bayes_rl.inference.posterior import Posterior, load
from bayes_rl.inference.swag import Swag, swag
