"""Layers that give a distribution of outputs.

* class_flows.py: Normalizing flows side by side, one for each class, evaluated together
* contrastive_priors.py: Noise contrastive priors: what a network should say far from
  the data
* discretize.py: Discretize: the probabilities of a continuous random variable,
  integrated over bins
* heteroscedastic.py: Classifiers whose logits have noise that depends on the input
* heteroscedastic_averages.py: Heteroscedastic outputs without samples: in closed form,
  and averaged over layers
* heteroscedastic_factors.py: Heteroscedastic outputs whose noise is correlated across
  classes by few factors
* heteroscedastic_sngp.py: Heteroscedastic output that also knows its distance to the
  training data
* mixture_logistic.py: Output layer distributed as a mixture of logistics
* posterior_network.py: PosteriorNetworkLayer: a classifier that counts its evidence
* predictive_softmax.py: Class probabilities when logits are normal: mean field and
  Monte Carlo
* radial_flow.py: Radial flows: they push points away from a center, or pull them
  towards it
* stochastic_output.py: Layers whose output is a random variable: the noise of data, or
  a stochastic code
* vector_quantizer.py: Vector quantization: codes from a learned codebook
"""
