"""The command `bayes-rl probe RUN`: a table, a file and figures of its probes."""

import math

import envs
from agents.episodes.evaluation import ACTIONS, fresh_episodes
from agents.study.figures.predictions import save_state_prediction
from agents.study.insight import saved_fits
from agents.study.insight.probes import LEAST, Probes
from agents.system.errors import UserError
from agents.system.files import output_folder, write_csv
from agents.system.screen.text import show
from agents.system.seeds import Purpose, seed_of_run
from agents.training.loading import load_agent


def probe(run, episodes, out=None):
    """Probes the newest checkpoint of a run.

    Episodes are fresh, from the starts of evaluation: the model was trained on all those
    of the run. Some are the policy's, which tell what the agent knows where it acts; others
    are random and so the same for every agent of a task and seed, which makes agents
    comparable.

    Prints a table; writes `probe.csv`, and to `figures/` the velocities of a held-out
    episode as the network reads them from latents, filtered and open loop. All goes to the
    run, or to the folder `out`.

    Raises:
        UserError: there are too few episodes, or nothing to probe for.
    """
    if episodes < LEAST:
        raise UserError(f"--episodes must be at least {LEAST} for a probe, got {episodes}")
    config, agent = load_agent(run)
    angles = envs.wrapping_angles(config.task)
    seed = seed_of_run(config.seed, Purpose.PROBE)
    steps = agent.counts["environment_steps"]
    counts = {"environment_steps": steps, "episodes": episodes}
    folder = output_folder(out or run)
    rows, files = [], [folder / "probe.csv"]
    for actions in ACTIONS:
        found = fresh_episodes(config, agent, actions, episodes)
        if not found[0]["position"].shape[1]:
            raise UserError(
                f"task={config.task} has no positions or velocities to probe: it observes "
                "only images"
            )
        fit = saved_fits.newest((folder, run), steps, actions)
        probes = Probes(agent.model, found, angles, seed)
        scores = probes.scores()
        rows += [counts | {"actions": actions} | score for score in scores]
        _print_table(config, actions, counts, scores)
        for kind, told in probes.readings().items():
            truth, values, context, _ = told
            if fit and len(values) > 1 and context < len(truth):
                told = (*told, fit.interval_of_readings(values, context))
            name = f"probe_{actions}_{kind}"
            files.append(save_state_prediction(folder / "figures", name, *told))
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(files[0], rows)
    if config.observation in ("state", "pixels+state", "auto"):
        print("Velocities are inputs of this agent: the probes say what its latent keeps.")
    for file in files:
        print(file)


def _print_table(config, actions, counts, scores):
    print(
        f"R squared on held-out episodes: {config.task}, observation={config.observation}, "
        f"{config.transition} transition, {counts['environment_steps']} environment steps;"
        f"\n{counts['episodes']} episodes of "
        + ("the policy's" if actions == "policy" else "random")
        + " actions; in brackets 95 % over episodes"
    )
    columns, table = {}, {}
    for score in scores:
        columns[f"{score['input']} {score['probe']}".strip()] = None
        cell = score["r_squared"]
        if score["input"] == "latent":
            cell = _in_brackets(cell, score["low"], score["high"])
        table.setdefault(score["target"], [score["target"]]).append(cell)
    show(["", *columns], list(table.values()))
    print()


def _in_brackets(value, low, high):
    """What is unknown is a dash, alone or as the interval."""
    if not math.isfinite(value):
        return "-"
    known = math.isfinite(low) and math.isfinite(high)
    return f"{value:.2f} " + (f"[{low:.2f}, {high:.2f}]" if known else "[-]")
