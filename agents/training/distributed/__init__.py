"""One run over many processes of Ray, see `agents.training.running`.

cluster.py   starts Ray on this machine, or joins a cluster
actors.py    the processes that collect, and what the learner learns from them
apart.py     the process that evaluates, films and probes
together.py  several learners
remote.py    a process as another one sees it: whether it works, stands still or dies
weights.py   weights on their way from one process to another
"""
