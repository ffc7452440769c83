"""How far all runs of a task have come."""

import logging

log = logging.getLogger(__name__)


def common_end(what, task, ends):
    """The end of the shortest run, up to which runs are compared.

    A warning names it where others go on.

    Args:
        what: is compared, for the warning.
        task: of the runs.
        ends: dict of a run's folder -> environment steps.
    """
    shortest = min(ends, key=ends.get)
    end, longest = ends[shortest], max(ends.values())
    if longest > end:
        log.warning(
            "%s of %s are compared at %s environment steps, the end of %s; "
            "others come to %s",
            what,
            task,
            f"{end:,}",
            shortest,
            f"{longest:,}",
        )
    return end
