"""What other libraries find; run by a Python that has them, without TensorFlow.

Reads and writes a NumPy archive: `python others.py questions.npz answers.npz`.
"""

import sys

import numpy as np

FEATURES, HIDDEN, CLASSES = 3, 5, 3
STRUCTURES = {"full": "full", "kronecker": "kron", "diagonal": "diag"}


def laplace_answers(given):
    """Evidence and variances of logits by laplace-torch."""
    import torch
    from laplace import Laplace
    from torch.utils.data import DataLoader, TensorDataset

    inputs = torch.tensor(given["inputs"])
    targets = torch.tensor(given["labels"].astype(np.int64))
    answers = {}
    for subset in ("last_layer", "all"):
        for structure, name in STRUCTURES.items():
            # Biases have Kronecker factors of their own there.
            has_bias = structure != "kronecker"
            model = torch.nn.Sequential(
                torch.nn.Linear(FEATURES, HIDDEN, has_bias),
                torch.nn.Tanh(),
                torch.nn.Linear(HIDDEN, CLASSES, has_bias),
            )
            numbers = range(4) if has_bias else (0, 2)
            weights = [given[f"weight{i}"] for i in numbers]
            for own, value in zip(model.parameters(), weights, strict=True):
                own.data = torch.tensor(np.ascontiguousarray(value.T))
            found = Laplace(
                model, "classification", subset, name, prior_precision=float(given["delta"])
            )
            found.fit(DataLoader(TensorDataset(inputs, targets), batch_size=8))
            key = f"{subset}, {structure}"
            evidence = found.log_marginal_likelihood(found.prior_precision)
            answers[f"{key}, evidence"] = float(evidence)
            _, variance = found._glm_predictive_distribution(inputs)
            answers[f"{key}, variance"] = variance.detach().numpy()
    return answers


def ivon_answers(given):
    """Means and variances after steps of ivon-opt that have the same noise."""
    import ivon
    import torch

    inputs, targets = torch.tensor(given["inputs"]), torch.tensor(given["numbers"])
    weights = torch.nn.Parameter(torch.ones(FEATURES))
    rate, scale, start, beta_1, beta_2, delta = given["ivon"].tolist()
    optimizer = ivon.IVON(
        [weights], rate, scale, start, beta_1, beta_2, delta, rescale_lr=False
    )
    own = torch.randn
    for noise in given["noise"]:
        torch.randn = lambda *size, noise=noise, **options: torch.tensor(noise)
        with optimizer.sampled_params(train=True):
            loss = 0.5 * torch.mean((inputs @ weights - targets) ** 2)
            optimizer.zero_grad()
            loss.backward()
        torch.randn = own
        optimizer.step()
    hessian = optimizer.param_groups[0]["hess"].numpy()
    return {"ivon, mean": weights.detach().numpy(), "ivon, hessian": hessian}


class Lookup:
    """An estimator of scikit-learn whose predictions are known: inputs are their rows."""

    def __init__(self, predictions, classes=None):
        self.predictions = predictions
        if classes is not None:
            self.classes_ = np.arange(classes)

    def fit(self, *_):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, rows):
        found = self.predictions[np.asarray(rows)[:, 0].astype(int)]
        return found.argmax(axis=1) if found.ndim == 2 else found

    def predict_proba(self, rows):
        return self.predictions[np.asarray(rows)[:, 0].astype(int)]


def conformal_answers(given):
    """Ends of intervals and sets of classes by mapie."""
    from mapie.classification import SplitConformalClassifier
    from mapie.regression import SplitConformalRegressor
    from sklearn.base import ClassifierMixin, RegressorMixin

    class Regressor(Lookup, RegressorMixin):
        pass

    class Classifier(Lookup, ClassifierMixin):
        pass

    count, level = len(given["labels"]), float(given["level"])
    rows = np.arange(2 * count)[:, None]
    means = np.concatenate([given["means"], given["new_means"]]).astype(np.float64)
    regressor = SplitConformalRegressor(Regressor(means), level, prefit=True)
    regressor.conformalize(rows[:count], given["numbers"].astype(np.float64))
    _, intervals = regressor.predict_interval(rows[count:])
    shares = np.concatenate([given["shares"], given["new_shares"]])
    classifier = SplitConformalClassifier(
        Classifier(shares, CLASSES), level, prefit=True, conformity_score="lac"
    )
    classifier.conformalize(rows[:count], given["labels"])
    _, sets = classifier.predict_set(rows[count:])
    return {"intervals": intervals[:, :, 0], "sets": sets[:, :, 0]}


def main(questions, answers):
    """Answers questions from a file in another file."""
    with np.load(questions) as file:
        given = dict(file)
    found = laplace_answers(given) | ivon_answers(given) | conformal_answers(given)
    np.savez(answers, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
