"""How the results of each program of examples/ are shown."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """How the results of a program are shown."""

    about: str  # what is judged
    tests: dict  # name -> heading
    claims: tuple  # pairs of test and score of which the first table has the verdicts
    plain: str = "deterministic"  # method that others are compared with
    others: tuple = ()  # methods that are not Bayesian, beside the plain one
    # test -> those of which it is the mean, for each seed
    means: dict = dataclasses.field(default_factory=dict)


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
    "coverage_80": ("coverage of 80 %", 0),
    "log_probability": ("log probability of counts", 1),
    "bits_per_dimension": ("bits per dimension", -1),
    "total_entropy_certain": ("entropy, one choice", 0),
    "total_entropy_ambiguous": ("entropy, two choices", 0),
    "epistemic_entropy_certain": ("epistemic entropy, one choice", 0),
    "epistemic_entropy_ambiguous": ("epistemic entropy, two choices", 0),
}
SHIFT = "the shift"  # in headings of tests whose data differ from those of training
_TABLES = {"diabetes": "Diabetes"} | {f"friedman{n}": f"Friedman {n}" for n in (1, 2, 3)}
_HONESTY = "negative_log_likelihood", "calibration_error"
PROGRAMS = {
    "digits": Program(
        "A small convolutional net learns 1000 of scikit-learn's digits. It is also "
        "judged on rotated digits, and on whether the entropy of the mean prediction "
        "separates printed letters from digits. Settings were chosen by the likelihood of "
        "validation digits; those of Laplace (six precisions), SWAG (six settings) and "
        "IVON (eight) by that of digits of other writers, for seeds 10 to 13. SWAG goes on "
        "from the deterministic net for half as many epochs. IVON takes the place of Adam. "
        "Laplace has the precision of the highest marginal likelihood. Posteriors are "
        "cold, but for those of Laplace and SWAG: the KL counts 0.3 of its weight in "
        "Bayes' rule (0.03 for variational dropout, a third for IVON).",
        {
            "test": "Digits",
            "rotated": "Digits rotated by 15 to 45 degrees, the shift",
            "letters": "Letters against digits",
        },
        tuple((test, score) for test in ("test", "rotated") for score in _HONESTY),
    ),
    "translation": Program(
        "A Bayesian Transformer translates number words to digits. Its twin has one value "
        "for each weight, the most probable one under the same prior. The numbers are "
        "new, without hesitation words and with them; training had none. The KL counts a "
        "tenth of its weight in Bayes' rule.",
        {"test": "Numbers", "hesitant": "Numbers said with hesitation, the shift"},
        tuple((test, score) for test in ("test", "hesitant") for score in _HONESTY),
    ),
    "regression": Program(
        "Six methods of regression, on scikit-learn's diabetes in units of its spread, "
        "and on a curve whose training data leave a gap.",
        {
            "test": "Diabetes",
            "beside": "Curve, beside the gap",
            "gap": "Curve, in the gap",
        },
        tuple((test, "negative_log_likelihood") for test in ("test", "beside", "gap")),
    ),
    "tabular": Program(
        "Regressions of four tables of scikit-learn, in units of the spread of the "
        "training targets: diabetes, and Friedman's functions, of which 200 rows are "
        "learned. Rows outside are the tenth with the highest values of the leading "
        "input, which no training has. Each method tries four settings on a fifth of the "
        "training rows; seconds are those of the training with the best. But dense and "
        "dense_flipout are Keras' Dense and our DenseFlipout with their defaults, untuned "
        "here; where DenseFlipout starts was chosen on seeds 0 to 2 of the first three. "
        "The scale of SNGP's kernel was chosen after a look at the scores of seed 0.",
        {"all": "Mean of the four tables", "all_outside": f"Mean of the four, {SHIFT}"}
        | {
            key: value
            for name, title in _TABLES.items()
            for key, value in (
                (name, title),
                (f"{name}_outside", f"{title}, outside of the training rows, {SHIFT}"),
            )
        },
        tuple((test, "negative_log_likelihood") for test in ("all", "all_outside")),
        others=("dense",),
        means={
            f"all{end}": [f"{name}{end}" for name in _TABLES] for end in ("", "_outside")
        },
    ),
    "sequence": Program(
        "LSTMs learn the next symbol from 50 strings of Reber's grammar. They are judged "
        "on new strings of the same length, and on longer ones. The true entropy is 0 "
        "where the grammar has one choice, 0.693 where it has two. The deterministic "
        "method has the most probable weights under the same prior. Each method had "
        "six settings, tried on strings of seeds 10 and 11 (Laplace five, "
        "reparameterization and Flipout one). SWAG goes on from the deterministic net for "
        "a third as many epochs.",
        {"test": "Strings", "long": "Longer strings, the shift"},
        tuple((test, score) for test in ("test", "long") for score in _HONESTY),
    ),
    "images": Program(
        "Models of digits of 16x16 pixels and 17 grays, upsampled from 8x8. The plain "
        "method is the Image Transformer with one value for each weight. Bits of vae, "
        "vq_vae and flow are upper bounds. Draws and members are mixed pixel by pixel: a "
        "mean over whole images, as of Bayes' rule, would gain 0.017 bits at most over "
        "the likeliest of 20 draws. Settings were chosen by validation digits of seed 10: "
        "eight of the plain training, which the other Transformers share but for IVON's "
        "rate, three of dropout, four of SWAG, 16 of IVON; those of the others are older. "
        "SWAG goes on from the plain net for a sixth as many epochs. The Bayesian "
        "Transformer's KL counts a tenth of its weight in Bayes' rule, as does that of "
        "IVON.",
        {
            "test": "Digits of 16x16",
            "rotated": "Digits of 16x16, rotated by 15 to 45 degrees, the shift",
        },
        tuple((test, "bits_per_dimension") for test in ("test", "rotated")),
        plain="transformer",
        others=("pixels", "vae", "vq_vae", "flow"),
    ),
    "cox_process": Program(
        "A sparse Gaussian process learns the rate of events along a line from one "
        "pattern of events. It is compared with a constant rate, and with the true one.",
        {"test": "Rate of events"},
        (("test", "log_probability"),),
        plain="constant",
        others=("truth",),
    ),
}
