"""How the results of each program of examples/ are shown."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """How the results of a program are shown.

    Args:
        about: what is judged.
        plain: method that others are compared with.
        tests: dict of name -> heading.
        claims: pairs of test and score of which the verdicts are told in words.
    """

    about: str
    plain: str
    tests: dict
    claims: tuple


# score -> heading, and the sign of what is better, 0 where there is none
SCORES = {
    "accuracy": ("accuracy", 1),
    "digits_right": ("digits right", 1),
    "numbers_right": ("numbers right", 1),
    "negative_log_likelihood": ("NLL, nats", -1),
    "calibration_error": ("calibration error", -1),
    "brier": ("Brier", -1),
    "auroc": ("AUROC", 1),
    "crps": ("CRPS", -1),
    "error": ("error", -1),
    "coverage": ("coverage of 90 %", 0),
    "log_probability": ("log probability of counts", 1),
    "bits_per_dimension": ("bits per dimension", -1),
    "total_entropy_certain": ("entropy, one choice", 0),
    "total_entropy_ambiguous": ("entropy, two", 0),
    "epistemic_entropy_certain": ("of it draws disagree, one", 0),
    "epistemic_entropy_ambiguous": ("two", 0),
}
_HONESTY = "negative_log_likelihood", "calibration_error"
PROGRAMS = {
    "digits": Program(
        "A small convolutional net learns 1000 of scikit-learn's digits by each of these "
        "methods. Also judged: the same digits rotated, a shift, and whether the entropy "
        "of the mean prediction tells printed letters from digits. Settings were chosen by "
        "the likelihood of validation digits; the KL counts 0.3 of what Bayes' rule asks "
        "for (0.03 for variational dropout): a cold posterior.",
        "deterministic",
        {
            "test": "Digits",
            "rotated": "Digits rotated by 15 to 45 degrees, the shift",
            "letters": "Letters told from digits",
        },
        tuple(("rotated", score) for score in _HONESTY),
    ),
    "translation": Program(
        "A Bayesian Transformer translates number words to digits, beside its twin with "
        "one value for each weight: numbers not seen before, as they stand and as one says "
        "them who hesitates, which training never showed. The KL counts a tenth of what "
        "Bayes' rule asks for; the twin has its most probable weights under that prior.",
        "deterministic",
        {"test": "Numbers", "hesitant": "Numbers said with hesitation, the shift"},
        tuple((test, score) for test in ("test", "hesitant") for score in _HONESTY),
    ),
    "regression": Program(
        "Six regressions of scikit-learn's diabetes, in units of their spread, and of a "
        "curve whose training data leave a gap.",
        "deterministic",
        {
            "test": "Diabetes",
            "beside": "Curve, beside the gap",
            "gap": "Curve, in the gap",
        },
        tuple((test, "negative_log_likelihood") for test in ("test", "beside", "gap")),
    ),
    "sequence": Program(
        "LSTMs learn from 50 strings of Reber's grammar to say the next symbol, of new "
        "strings as long and of longer ones. The truth's entropy is 0 where the grammar "
        "has one choice, 0.693 where it has two. Beside them the most probable weights "
        "under the same prior.",
        "deterministic",
        {"test": "Strings", "long": "Longer strings, the shift"},
        tuple((test, score) for test in ("test", "long") for score in _HONESTY),
    ),
    "images": Program(
        "Models of digits of 16x16 pixels and 17 grays, upsampled from 8x8; compared with "
        "the Image Transformer that has one value for each weight. Bits are upper bounds. "
        "The KL counts a tenth of what Bayes' rule asks for.",
        "transformer",
        {"test": "Digits of 16x16"},
        (("test", "bits_per_dimension"),),
    ),
    "cox_process": Program(
        "A sparse Gaussian process learns how often events happen along a line from one "
        "pattern of them; beside it a constant, and the truth.",
        "constant",
        {"test": "Rate of events"},
        (("test", "log_probability"),),
    ),
}
