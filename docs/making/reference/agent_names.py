"""Pages of what `agents` and `envs` offer to a notebook, strategies and planners first."""

import importlib

from agents.planet.model.transitions import SOURCES
from docs.making.reference.names import entry, first_line


def _sources():
    """Dict of module -> names of the sources of uncertainty in it."""
    names = {}
    for place in SOURCES.values():
        module, _, name = place.partition(":")
        names.setdefault(module, []).append(name)
    names["agents.planet.model.transitions.ensemble"].append("members_of_draws")
    return names


_PAGES = {
    "doors": (
        "Loading, acting, environments",
        {
            "agents.training.scripting": ["load"],
            "agents.training.loading": ["LoadedAgent"],
            "envs.loading": ["load", "load_many"],
            "envs.environment": ["Environment"],
        },
    ),
    "explore": (
        "Exploration strategies",
        {
            "agents.planet.explore": None,
            "agents.planet.explore.bonuses": ["moment_matched", "pairwise"],
            "agents.planet.explore.noise": ["GaussianNoise"],
        },
    ),
    "planning": (
        "Planners and rollouts",
        {
            "agents.planet.planning": None,
            "agents.planet.planning.rollouts": ["Rollout", "Layout"],
            "agents.planet.planning.imagination": [
                "imagine_with_mean_weights",
                "imagine_with_draws",
                "imagine_with_switching_draws",
                "imagine_average_of_draws",
                "imagine_with_a_draw_for_each_group",
                "imagine_draws_on_shared_trajectory",
            ],
        },
    ),
    "model": (
        "The world model",
        {
            "agents.planet.model.world_model": ["WorldModel"],
            "agents.planet.model.rssm": ["RSSM", "Latent"],
        },
    ),
    "transitions": (
        "Sources of uncertainty about the transition",
        {
            "agents.planet.model.transitions": ["SOURCES", "make_source"],
            "agents.planet.model.transitions.source": ["Source"],
            **_sources(),
        },
    ),
    "insight": (
        "What a model knows",
        {
            "agents.study.insight.calibration": ["judge", "score"],
            "agents.study.insight.recalibration": ["fit", "fit_levels", "WithLevels"],
            "agents.study.insight.spread_worth": ["look", "measure"],
            "agents.study.insight.spread": ["spread_report"],
            "agents.study.insight.latents": ["predict_open_loop"],
        },
    ),
    "frames": ("Runs as tables of pandas", {"agents.study": None}),
    "statistics": ("Statistics over seeds", {"agents.study.statistics": None}),
}


def pages():
    """Dict of file -> text, in reStructuredText, with an index of all."""
    made = {f"{file}.rst": _text(*about) for file, about in _PAGES.items()}
    lines = ["Agents and environments", "=" * 23, "", ".. toctree::", "   :maxdepth: 1", ""]
    return made | {"index.rst": "\n".join([*lines, *(f"   {f}" for f in _PAGES)]) + "\n"}


def _text(title, modules):
    lines = [title, "=" * len(title), ""]
    for path, names in modules.items():
        module = importlib.import_module(path)
        lines += [first_line(module), "", f".. currentmodule:: {path}", ""]
        for name in names or module.__all__:
            lines += entry(name, getattr(module, name))
    return "\n".join(lines) + "\n"
