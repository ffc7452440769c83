"""Every public name has an entry in the reference."""

import bayes_rl as ed
from docs.making import names


def test_no_public_name_is_without_an_entry():
    documented = names.documented("\n".join(names.pages().values()))
    modules = {
        "bayes_rl": ed,
        "bayes_rl.layers": ed.layers,
        "bayes_rl.layers.utils": ed.layers.utils,
        "bayes_rl.initializers": ed.initializers,
        "bayes_rl.regularizers": ed.regularizers,
        "bayes_rl.constraints": ed.constraints,
        "bayes_rl.losses": ed.losses,
        "bayes_rl.models": ed.models,
        "bayes_rl.uncertainty": ed.uncertainty,
        "bayes_rl.parallel": ed.parallel,
    }
    public = {
        f"{path}.{name}"
        for path, module in modules.items()
        for name in names.names_of(module)
        if f"{path}.{name}" not in modules
    }
    assert public - documented == set()


def test_a_name_without_an_entry_would_be_seen():
    page = ".. currentmodule:: bayes_rl.layers\n\n.. autoclass:: DenseFlipout\n"
    assert names.documented(page) == {"bayes_rl.layers.DenseFlipout"}


def test_every_page_is_in_the_index():
    pages = names.pages()
    listed = set(pages["index.rst"].split())
    assert {file.removesuffix(".rst") for file in pages} - {"index"} <= listed
