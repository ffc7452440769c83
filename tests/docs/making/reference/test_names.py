"""Every public name has an entry in the reference."""

import re

import bayes_rl as ed
from docs.making.reference import names


def documented_in(text):
    """The dotted names that pages have an entry of."""
    found, module = set(), ""
    for kind, name in re.findall(r"^ *\.\. ([\w:]+):: ([\w.]+)", text, re.MULTILINE):
        if kind == "currentmodule":
            module = name
        elif kind.startswith("auto") or kind.startswith("py:"):
            found.add(f"{module}.{name}")
    return found


def test_no_public_name_is_without_an_entry():
    documented = documented_in("\n".join(names.pages().values()))
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
        "bayes_rl.inference": ed.inference,
        "bayes_rl.optimizers": ed.optimizers,
        "bayes_rl.parallel": ed.parallel,
    }
    public = {
        f"{path}.{name}"
        for path, module in modules.items()
        for name in names.names_of(module)
        if f"{path}.{name}" not in modules
    }
    assert public - documented == set()


def test_public_are_the_names_of_a_module_without_a_list():
    assert not hasattr(ed.parallel, "__all__")
    found = names.names_of(ed.parallel)
    assert {"BATCH", "SGD", "TRANSFORMER", "make_mesh", "shard"} <= set(found)
    assert {"mesh", "sharding"} & set(found) == set()
    found = names.names_of(ed.initializers)
    assert {"TrainableNormal", "get", "own", "serialize"} <= set(found)
    assert {"tf", "trainable_normal", "make_get"} & set(found) == set()
    assert "build_vae" in names.names_of(ed.models)
    assert "posterior_summary" in names.names_of(ed.uncertainty)
    assert "sinkhorn" in names.names_of(ed.layers.utils)


def test_a_name_without_an_entry_would_be_seen():
    page = ".. currentmodule:: bayes_rl.layers\n\n.. autoclass:: DenseFlipout\n"
    assert documented_in(page) == {"bayes_rl.layers.DenseFlipout"}


def test_every_page_is_in_the_index():
    pages = names.pages()
    listed = set(pages["index.rst"].split())
    assert {file.removesuffix(".rst") for file in pages} - {"index"} <= listed
