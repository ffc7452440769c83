"""The command `bayes-rl cluster slurm`: a job script for a run of many processes."""

import shlex

from agents.runs.config.overrides import load
from agents.runs.folder import check_run
from agents.system.errors import UserError

_SLURM = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --ntasks={tasks}
#SBATCH --cpus-per-task={cores}
#SBATCH --gpus={all_gpus}
# A run of bayes_rl: a server, {learners} learners, {actors} actors.
# All nodes see its folder.
set -u
run=({words})
folder={folder}
hosts=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
port=$((20000 + SLURM_JOB_ID % 20000))
server=${{hosts[0]}}:$port
mkdir -p "$folder"

# Starts a role again until it ends as it should, or what was typed is wrong (status 2).
keep() {{
  until "$@"; do
    status=$?
    if [ "$status" = 2 ] || [ -e "$folder/diverged.json" ]; then return "$status"; fi
    sleep 5
  done
}}
# Since Slurm 22.05 srun does not take --cpus-per-task from the job.
step() {{ srun --exact --nodes=1 --ntasks=1 --cpus-per-task={cores} "$@"; }}

keep step --nodelist="${{hosts[0]}}" --gpus=0 \
  bayes-rl server --server "$server" "${{run[@]}}" &
for number in $(seq 0 {last_actor}); do
  keep step --gpus=0 bayes-rl actor --server "$server" --number "$number" "${{run[@]}}" &
done
{learn}
status=$?
trap "" TERM
kill 0  # server and actors have nothing to save
exit "$status"
"""


_LEARNER = """\
keep step --gpus={gpus} bayes-rl learner --server "$server" "${{run[@]}}"\
"""
# Learner k runs on node k, or where there are fewer, on node k modulo their number.
_LEARNERS = """\
places=() learners=""
for number in $(seq 0 {last_learner}); do
  places+=("${{hosts[number % ${{#hosts[@]}}]}}")
  learners+=${{learners:+,}}${{places[number]}}:$((port + 1 + number))
done
learner() {{
  keep step --nodelist="${{places[$1]}}" --gpus={gpus} \
    bayes-rl learner --server "$server" --number "$1" --learners "$learners" "${{run[@]}}"
}}
for number in $(seq 1 {last_learner}); do learner "$number" & done
learner 0\
"""


def cluster(system, actors, gpus, cores, overrides):
    """Prints a job script.

    Args:
        system: "slurm".
        actors: how many collect.
        gpus: of each learner.
        cores: of each process.
        overrides: words of the config, as typed.
    """
    if any(word.startswith("actors=") for word in overrides):
        raise UserError(f"--actors {actors} sets the number of actors; leave out actors=N")
    words = [*overrides, f"actors={actors}"]
    config = load(words)
    check_run(config)
    several = config.learners > 1
    learn = (_LEARNERS if several else _LEARNER).format(
        gpus=gpus, last_learner=config.learners - 1
    )
    script = _SLURM.format(
        name=f"bayes-rl-{config.task}",
        tasks=1 + config.learners + actors,
        cores=cores,
        all_gpus=gpus * config.learners,
        learners=config.learners,
        actors=actors,
        last_actor=actors - 1,
        words=shlex.join(words),
        folder=shlex.quote(config.logdir),
        learn=learn,
    )
    print(script, end="")
