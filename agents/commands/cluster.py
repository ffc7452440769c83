"""The command `bayes-rl cluster slurm`: a job script for a run of many processes."""

import shlex

from agents.config.overrides import load
from agents.errors import UserError
from agents.runs.folder import check_run

_SLURM = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --ntasks={tasks}
#SBATCH --cpus-per-task={cores}
#SBATCH --gpus={gpus}
# A run of bayes_rl: a server, a learner, {actors} actors. All nodes see the run's folder.
set -u
run=({words})
folder={folder}
host=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
server=$host:$((20000 + SLURM_JOB_ID % 20000))
mkdir -p "$folder"

# Starts a role again until it ends as it should, or what was typed is wrong (status 2).
keep() {{
  until "$@"; do
    status=$?
    if [ "$status" = 2 ] || [ -e "$folder/diverged.json" ]; then return "$status"; fi
    sleep 5
  done
}}
step() {{ srun --exact --nodes=1 --ntasks=1 "$@"; }}

keep step --nodelist="$host" --gpus=0 {program} server --server "$server" "${{run[@]}}" &
for number in $(seq 0 {last}); do
  keep step --gpus=0 {program} actor --server "$server" --number "$number" "${{run[@]}}" &
done
keep step --gpus={gpus} {program} learner --server "$server" "${{run[@]}}"
status=$?
trap "" TERM
kill 0  # server and actors have nothing to save
exit "$status"
"""


def cluster(system, actors, gpus, cores, overrides):
    """Prints a job script.

    Args:
        system: "slurm".
        actors: how many collect.
        gpus: of the learner.
        cores: of each process.
        overrides: words of the config, as typed.
    """
    if any(word.startswith("actors=") for word in overrides):
        raise UserError(f"--actors {actors} says how many collect; leave actors=N out")
    words = [*overrides, f"actors={actors}"]
    config = load(words)
    check_run(config)
    script = _SLURM.format(
        name=f"bayes-rl-{config.task}",
        tasks=actors + 2,
        cores=cores,
        gpus=gpus,
        actors=actors,
        last=actors - 1,
        words=shlex.join(words),
        folder=shlex.quote(config.logdir),
        program="bayes-rl",
    )
    print(script, end="")
