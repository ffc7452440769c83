"""The command `bayes-rl video RUN`: what the agent does, and what its model imagines."""

import pathlib
import sys

from agents.episodes.collecting import as_py_policy, record
from agents.episodes.environments import EVALUATION, load_environments
from agents.episodes.evaluation import fresh_episodes
from agents.study.figures.films import save_recording
from agents.study.figures.predictions import film
from agents.study.insight import saved_fits
from agents.system.errors import UserError
from agents.system.files import output_folder
from agents.system.seeds import Purpose, seed_of_run
from agents.training.loading import load_parts


def video(run, out=None):
    """Films an evaluation episode of the newest checkpoint of a run.

    Writes to `videos/` of the run, or to another folder,

        episode_<environment steps>     what the agent does, as the simulator shows it, as
                                        fast as it happens: GIF, mp4 and a strip of frames
        open_loop_<environment steps>   see `film`

    and prints the files. Without a rendering library the episode is run but not filmed,
    which a line on stderr says. A fit of `calibrate --out` in the other folder is used.
    """
    config, agent, environment = load_parts(run)
    folder = output_folder(out or pathlib.Path(run) / "videos")
    steps = agent.counts["environment_steps"]
    try:
        recording = record(
            load_environments(config, 1, EVALUATION),
            as_py_policy(agent.policy),
            agent.train_step_counter,
        )
    except UserError as error:
        print(f"The episode is not filmed: {error}", file=sys.stderr)
        (episode,) = fresh_episodes(config, agent, "policy", 1)
        files = []
    else:
        episode = recording.episode
        title = f"{config.task} after {steps:,} environment steps"
        files = save_recording(recording, folder, f"episode_{steps}", title)
    seed = seed_of_run(config.seed, Purpose.FILM)
    fit = saved_fits.newest((folder, run), steps, "policy")
    name = f"open_loop_{steps}"
    given = agent.model, episode, seed, folder, name, fit, environment.entries
    files += film(*given)
    for file in files:
        print(file)
