"""What a model does not know: parts of its uncertainty, how honest it is, its posterior."""

from bayes_rl.uncertainty.conformal import conformal_intervals, conformal_sets
from bayes_rl.uncertainty.decomposition import (
    Uncertainty,
    entropy_parts,
    mean_probabilities,
    mutual_information,
    variance_parts,
)
from bayes_rl.uncertainty.scores import (
    brier_score,
    continuous_ranked_probability_score,
    expected_calibration_error,
    interval_coverage,
    log_score,
)
from bayes_rl.uncertainty.summary import (
    PosteriorSummary,
    WeightSummary,
    posterior_summary,
)
from bayes_rl.uncertainty.temperature import temperature
