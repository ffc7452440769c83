import numpy as np
import pytest
import tensorflow as tf
from tensorflow_probability import distributions as tfd

import bayes_rl as ed

# The random variables of edward2.
NAMES = """
AutoCompositeTensorDistribution Autoregressive BatchBroadcast BatchConcat BatchReshape
Bates Bernoulli Beta BetaBinomial BetaQuotient Binomial Blockwise Categorical Cauchy Chi
Chi2 CholeskyLKJ ContinuousBernoulli DeterminantalPointProcess Deterministic Dirichlet
DirichletMultinomial DoublesidedMaxwell Empirical ExpGamma ExpInverseGamma
ExpRelaxedOneHotCategorical Exponential ExponentiallyModifiedGaussian FiniteDiscrete
Gamma GammaGamma GaussianProcess GaussianProcessRegressionModel GeneralizedExtremeValue
GeneralizedNormal GeneralizedPareto Geometric Gumbel HalfCauchy HalfNormal HalfStudentT
HiddenMarkovModel Horseshoe Independent Inflated InverseGamma InverseGaussian JohnsonSU
JointDistribution JointDistributionCoroutine JointDistributionCoroutineAutoBatched
JointDistributionNamed JointDistributionNamedAutoBatched JointDistributionSequential
JointDistributionSequentialAutoBatched Kumaraswamy LKJ LambertWDistribution
LambertWNormal Laplace LinearGaussianStateSpaceModel LogLogistic LogNormal Logistic
LogitNormal MarkovChain Masked MatrixNormalLinearOperator MatrixTLinearOperator Mixture
MixtureSameFamily Moyal Multinomial MultivariateNormalDiag
MultivariateNormalDiagPlusLowRank MultivariateNormalDiagPlusLowRankCovariance
MultivariateNormalFullCovariance MultivariateNormalLinearOperator MultivariateNormalTriL
MultivariateStudentTLinearOperator NegativeBinomial NoncentralChi2 Normal
NormalInverseGaussian OneHotCategorical OrderedLogistic PERT Pareto PixelCNN
PlackettLuce Poisson PoissonLogNormalQuadratureCompound PowerSpherical ProbitBernoulli
QuantizedDistribution RelaxedBernoulli RelaxedOneHotCategorical Sample SigmoidBeta
SinhArcsinh Skellam SphericalUniform StoppingRatioLogistic StudentT StudentTProcess
StudentTProcessRegressionModel TransformedDistribution Triangular TruncatedCauchy
TruncatedNormal TwoPieceNormal TwoPieceStudentT Uniform VariationalGaussianProcess
VectorDeterministic VonMises VonMisesFisher Weibull WishartLinearOperator WishartTriL
ZeroInflatedNegativeBinomial Zipf
"""


def test_every_distribution_has_a_constructor():
    classes = {
        name
        for name in dir(tfd)
        if isinstance(getattr(tfd, name), type)
        and issubclass(getattr(tfd, name), tfd.Distribution)
    }
    lacking = {name for name in classes if not hasattr(ed, name)}
    assert lacking <= {"Distribution", "AutoCompositeTensorDistribution"}


def test_every_random_variable_of_edward2_has_a_constructor():
    for name in NAMES.split():
        assert callable(getattr(ed, name))
        assert getattr(ed, name).__name__ == name


def test_constructor_passes_shape_value_and_name():
    x = ed.Normal([0.0, 1.0], scale=2.0, sample_shape=3, name="x")
    assert (x.shape, x.name, x.distribution.name) == ([3, 2], "x", "x")
    assert float(ed.Poisson(3.0, value=2.0)) == 2.0


@pytest.mark.parametrize("given", [{"sample_shape": [3]}, {"sample_shape": 3}])
def test_sample_shape_of_a_sample_is_its_event(given):
    x = ed.Sample(tfd.Normal([0.0, 1.0], 1.0), **given, name="x")
    assert (x.sample_shape, x.shape, x.event_shape) == ([], [2, 3], [3])
    expected = tfd.Sample(tfd.Normal([0.0, 1.0], 1.0), [3]).log_prob(x)
    np.testing.assert_allclose(x.log_prob(x), expected, rtol=1e-6)
    again = ed.Sample(tfd.Normal([0.0, 1.0], 1.0), [3], value=tf.zeros([2, 3]))
    assert (again.event_shape, float(again.value[0, 0])) == ([3], 0.0)


def test_joint_distribution_has_a_value_of_parts():
    joint = ed.JointDistributionSequential([tfd.Normal(0.0, 1.0), tfd.Normal([1.0], 1.0)])
    first, second = joint.value
    expected = tfd.Normal(0.0, 1.0).log_prob(first) + tfd.Normal(1.0, 1.0).log_prob(second)
    np.testing.assert_allclose(joint.log_prob(joint.value), expected[0], rtol=1e-5)
    assert joint.shape == [[], [1]]
    assert "JointDistributionSequential" in repr(joint)
    parts = tf.function(lambda: ed.JointDistributionSequential(joint.model).value)()
    assert [part.shape for part in parts] == [[], [1]]
    given = ed.JointDistributionSequential(joint.model, value=[1.0, [2.0]])
    assert float(given.value[1][0]) == 2.0
    with pytest.raises(ValueError, match="must have shape"):
        ed.JointDistributionSequential(joint.model, value=[1.0, 2.0])


def test_constructor_keeps_name_and_documentation():
    assert ed.Normal.__name__ == "Normal"
    assert ed.Normal.__doc__ == tfd.Normal.__doc__


def test_public_names_exist():
    assert [name for name in ed.__all__ if not hasattr(ed, name)] == []
