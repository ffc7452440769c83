"""Several environments as one that is batched, each in a process of its own.

The processes of `parallel` run whole environments, of any task. Tasks of gymnasium run in
its own vector environment, see `vector` and `gathered`: its processes hold the task alone.
"""
