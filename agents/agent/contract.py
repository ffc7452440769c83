"""What a strategy must be and give, said in one line where it does not."""

from agents.explore.strategy import REDRAWS, Strategy
from agents.planning.imagination import TRAJECTORIES
from agents.settings import check_choice
from bayes_rl.weights import posteriors


def check_strategy(strategy, model):
    """Refuses a strategy that no policy can plan by.

    Args:
        strategy: `agents.explore.Strategy`.
        model: `agents.model.world_model.WorldModel`.

    Raises:
        ValueError: it is no `Strategy`, or wants draws and no weight of the model is
            uncertain, or one of its attributes is not among those that there are.
    """
    name = f"explore strategy {type(strategy).__name__}"
    if not isinstance(strategy, Strategy):
        raise ValueError(f"{name} must be a subclass of agents.explore.Strategy")
    if strategy.draws and not posteriors(model):
        raise ValueError(f"{name} draws weights: transition must not be deterministic")
    for each, known in (("redraw", REDRAWS), ("trajectories", TRAJECTORIES)):
        check_choice(getattr(strategy, each), f"{each} of {name}", known)


def one_for_each_plan(scores, strategy):
    """The scores [B, N] of a strategy.

    Raises:
        ValueError: they are of another rank.
    """
    if scores.shape.rank != 2:
        raise ValueError(
            f"explore strategy {type(strategy).__name__} must give [B, N] scores, one for "
            f"each plan, got {scores.shape}"
        )
    return scores
