"""The command `bayes-rl probe RUN`: a table, a file and figures of its probes."""

import math
import pathlib

import numpy as np

import envs
from agents.agent.loading import load_agent
from agents.episodes.held_out import ACTIONS, held_out_episodes
from agents.errors import UserError
from agents.figures.predictions import save_state_prediction
from agents.files import write_csv
from agents.insight.open_loop import (
    CONTEXT,
    PREDICTED,
    encode,
    filtered_features,
    open_loop_features,
)
from agents.insight.probes import INPUTS, PROBES, physics, probe_inputs, score_probes
from agents.insight.regression import fit, fit_mlp
from agents.screen.tables import as_text
from agents.seeds import Purpose, seed_of_run

LEAST = 2  # episodes


def probe(run, episodes):
    """Probes the newest checkpoint of a run.

    Episodes are fresh, from the starts of evaluation: the model was trained on all those
    of the run. Some are the policy's, which tell what the agent knows where it acts; others
    are random and so the same for every agent of a task and seed, which makes agents
    comparable.

    Prints a table; writes `probe.csv`, and to `figures/` the velocities of a held-out
    episode as the network reads them from latents, filtered and open loop.

    Args:
        run: folder of the run.
        episodes: of each kind, at least 2.

    Raises:
        UserError: there are too few episodes.
    """
    if episodes < LEAST:
        raise UserError(f"--episodes must be at least {LEAST} for a probe, got {episodes}")
    config, agent = load_agent(run)
    angles = envs.wrapping_angles(config.task)
    seed = seed_of_run(config.seed, Purpose.PROBE)
    steps = int(agent.clock.environment_steps.numpy())
    counts = {"environment_steps": steps, "episodes": episodes}
    folder = pathlib.Path(run)
    rows, files = [], [folder / "probe.csv"]
    for actions in ACTIONS:
        found = held_out_episodes(config, agent, actions, episodes)
        names, targets = physics(found, angles)
        columns = _columns(names)
        positions = [target[:, columns.stop :] for target in targets]
        inputs = probe_inputs(agent.model, encode(agent.model, found, seed), positions)
        later = [target[1:] for target in targets]
        scores = score_probes(inputs, names, later)
        rows += [counts | {"actions": actions} | score for score in scores]
        _print_table(config, actions, counts, names, scores)
        read = fit(fit_mlp, inputs["latent"], later, range(episodes - 1))
        files += _draw(
            agent.model,
            found[-1],
            lambda latents, read=read, columns=columns: read(latents)[:, columns],
            (names[columns], targets[-1][:, columns]),
            folder / "figures",
            f"probe_{actions}",
            seed,
        )
    write_csv(files[0], rows)
    if config.observation == "state":
        print("Velocities are inputs of this agent: the probes say what its latent keeps.")
    for file in files:
        print(file)


def _columns(names):
    """Those of the velocities."""
    return slice(sum(name.startswith("velocity") for name in names))


def _draw(model, episode, read, shown, folder, name, seed):
    """Two figures of one episode: filtered, and open loop after a few rows."""
    names, truth = shown
    if not names:
        return []
    rows = min(CONTEXT + PREDICTED, len(truth))
    context = min(CONTEXT, rows - 1)
    episode = {key: value[:rows] for key, value in episode.items()}
    features = {
        "filtered": (rows, filtered_features(model, episode, seed)),
        "open_loop": (context, open_loop_features(model, episode, context, seed)),
    }
    return [
        save_state_prediction(
            folder,
            f"{name}_{kind}",
            truth[:rows],
            np.stack([read(draw) for draw in draws]),
            seen,
            names,
        )
        for kind, (seen, draws) in features.items()
    ]


def _print_table(config, actions, counts, names, scores):
    print(
        f"R squared on held-out episodes: {config.task}, observation={config.observation}, "
        f"{config.transition} transition, {counts['environment_steps']} environment steps;"
        f"\n{counts['episodes']} episodes of "
        + ("the policy's" if actions == "policy" else "random")
        + " actions; in brackets 95 % over episodes"
    )
    columns = [(each, kind) for each in INPUTS for kind in PROBES] + [("mean", "")]
    found = {(s["target"], s["input"], s["probe"]): s for s in scores}
    table = []
    for name in names:
        cells = [found[name, *column] for column in columns]
        latent = [
            _in_brackets(*(cell[key] for key in ("r_squared", "low", "high")))
            for cell in cells[: len(PROBES)]
        ]
        table.append([name, *latent, *(c["r_squared"] for c in cells[len(PROBES) :])])
    print(as_text(["", *(" ".join(column).strip() for column in columns)], table))
    print()


def _in_brackets(value, low, high):
    """What is unknown is a dash, alone or as the interval."""
    if not math.isfinite(value):
        return "-"
    known = math.isfinite(low) and math.isfinite(high)
    return f"{value:.2f} " + (f"[{low:.2f}, {high:.2f}]" if known else "[-]")
