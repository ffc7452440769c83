"""Two raylets on this machine, as two machines without a shared folder, for one command.

    python -m benchmarks.scale.raylets bayes-rl train actors=2 address=auto

The first has the head and the command that learns, the second the actors and the evaluator.
"""

import os
import secrets
import shutil
import subprocess
import sys

_STORE = 256 * 2**20  # bytes, of episodes and weights on their way


def main():
    if not sys.argv[1:]:
        sys.exit("raylets: give the command that is to run, such as bayes-rl train ...")
    if shutil.which(sys.argv[1]) is None:
        sys.exit(f"raylets: there is no command {sys.argv[1]!r}")
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    from ray.cluster_utils import Cluster

    own = {"object_store_memory": _STORE, "include_dashboard": False}
    cluster = Cluster(True, head_node_args={"num_cpus": 1, **own})
    cluster.add_node(num_cpus=4, object_store_memory=_STORE)
    os.environ["RAY_ADDRESS"] = cluster.address  # else `auto` looks for any of this machine
    try:
        return subprocess.run(sys.argv[1:]).returncode
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    sys.exit(main())
