"""One run over many processes of Ray.

cluster.py   starts Ray on this machine, or joins a cluster
running.py   trains a run, from its config to its end
learner.py   what the learner learns from: episodes of actors
actor.py     the process that collects
apart.py     the process that evaluates, films and probes
together.py  several learners
remote.py    a process as another one sees it: whether it works, stands still or dies
weights.py   weights on their way from one process to another
"""
