from tensorflow_probability import distributions as tfd

import bayes_rl as ed


def test_every_distribution_has_a_constructor():
    classes = {
        name
        for name in dir(tfd)
        if isinstance(getattr(tfd, name), type)
        and issubclass(getattr(tfd, name), tfd.Distribution)
    }
    lacking = {name for name in classes if not hasattr(ed, name)}
    assert lacking <= {"Distribution", "AutoCompositeTensorDistribution"}


def test_constructor_keeps_name_and_documentation():
    assert ed.Normal.__name__ == "Normal"
    assert ed.Normal.__doc__ == tfd.Normal.__doc__


def test_public_names_exist():
    assert [name for name in ed.__all__ if not hasattr(ed, name)] == []
