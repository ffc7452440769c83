"""The page of results about scale, and its figure."""

from agents.files import write_text
from agents.screen.text import as_markdown

_ABOUT = """\
`python -m benchmarks.scale` measures what each process of a run with actors does, runs it
on this machine, and simulates it (SimPy) for numbers of processes that this machine has
not. In the simulation each process of a large run has a core of its own, learners have the
speed of one core here, and sum gradients at 10 Gbit/s; where it is compared with this
machine, all share its cores."""
_MENDING = """\
The server is busy {server:.0%} of the time at most. What mends it:

- learners: fewer updates an episode, larger batches on a faster device, more learners, as
  long as a step on a smaller share of the batch costs less.
- actors: more of them, or several environments of one, which share a call of the planner.
- the server: several servers, each with the episodes of some actors, from which a learner
  takes batches in turn. One gives {batches:.0f} batches of this size a second.

More actors than learners can follow make nothing faster, only their weights older: each
waits until its last episode is learned from."""
_OUTCOMES = {
    "environment steps / s": "steps_per_second",
    "staleness, updates": "staleness",
}


def costs_table(costs):
    """Rows of (what, milliseconds)."""
    return [
        ("a decision, one environment", _ms(costs.decision[1])),
        ("an agent step of the environment", _ms(costs.step[1])),
        (f"an episode of {costs.episode_steps} agent steps to disk", _ms(costs.write)),
        ("an episode into the server", _ms(costs.insert)),
        ("a batch out of it", _ms(costs.sample)),
        ("weights to the server", _ms(costs.push)),
        ("weights from it", _ms(costs.pull)),
        *(
            (f"a gradient step, a {_share(count)} of the batch", _ms(seconds))
            for count, seconds in costs.train.items()
        ),
        ("a checkpoint", _ms(costs.save)),
    ]


def layouts_table(costs):
    """Rows of an actor's environments: milliseconds a call, decisions a second."""
    return [
        (
            count,
            _ms(costs.decision[count]),
            f"{count / costs.decision[count]:.0f}",
            f"{count / (costs.decision[count] + costs.step[count]):.0f}",
        )
        for count in costs.decision
    ]


def write_page(folder, title, facts, costs, checks, outcomes):
    """Writes scale.md and scale.png.

    Args:
        folder: `pathlib.Path`.
        title: of the page.
        facts: dict of name -> text, see `benchmarks.measuring.report.origin`.
        costs: `benchmarks.scale.costs.Costs`.
        checks: rows of (actors, measured `Speed`, simulated environment steps a second).
        outcomes: list of (`Layout`, `Outcome`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts = [
        f"# {title}",
        _ABOUT,
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        "## Costs",
        as_markdown(["what", "milliseconds"], costs_table(costs)),
        f"Weights that actors act by: {costs.weights / 1e6:.2f} MB; gradients that "
        f"learners sum: {costs.gradients / 1e6:.2f} MB.",
        "## One planner call for several environments",
        as_markdown(
            ["environments", "milliseconds a call", "decisions / s", "with environments"],
            layouts_table(costs),
        ),
        "## Simulated and real, on this machine",
        as_markdown(
            [
                "actors",
                "environment steps / s",
                "of one actor's",
                "simulated",
                "simulated / real",
                "sequences learned from / s",
            ],
            [_check_row(*check, checks[0][1]) for check in checks],
        ),
        "## Simulated, a core for each process",
        "![environment steps a second by actors](scale.png)",
        as_markdown(
            ["updates an episode", "learners", "actors", *_OUTCOMES, "busiest"],
            [_outcome_row(layout, outcome) for layout, outcome in outcomes],
        ),
        "## What breaks first",
        breaking(outcomes),
        _MENDING.format(
            server=max(outcome.busy["server"] for _, outcome in outcomes),
            batches=1.0 / costs.sample,
        ),
    ]
    write_text(folder / "scale.md", "\n\n".join(parts) + "\n")
    _draw(folder / "scale.png", outcomes)


def breaking(outcomes):
    """Where more actors bring no more, and who works all the time there, in words."""
    lines = []
    for updates, learners in dict.fromkeys((a.updates, a.learners) for a, _ in outcomes):
        own = [
            (layout, outcome)
            for layout, outcome in outcomes
            if (layout.updates, layout.learners) == (updates, learners)
        ]
        best = max(outcome.steps_per_second for _, outcome in own)
        layout, outcome = next(
            pair for pair in own if pair[1].steps_per_second >= 0.9 * best
        )
        lines.append(
            f"- {updates} updates an episode, learners: {learners}: {layout.actors} actors "
            f"come to nine tenths of the most, {best:.0f} environment steps a second; then "
            f"the {outcome.bottleneck} work {outcome.busy[outcome.bottleneck]:.0%} of the "
            "time."
        )
    return "\n".join(lines)


def _draw(file, outcomes):
    from matplotlib.figure import Figure

    from agents.figures.drawing import save_figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for updates, learners in dict.fromkeys((a.updates, a.learners) for a, _ in outcomes):
        own = [
            (layout.actors, outcome.steps_per_second)
            for layout, outcome in outcomes
            if (layout.updates, layout.learners) == (updates, learners)
        ]
        label = f"{updates} updates an episode, learners: {learners}"
        axes.plot(*zip(*own, strict=True), marker="o", markersize=3, label=label)
    axes.set(xscale="log", yscale="log", xlabel="actors", ylabel="environment steps / s")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    save_figure(figure, file)


def _check_row(actors, real, model, of_one):
    return (
        actors,
        f"{real.steps:.0f}",
        f"{real.steps / of_one.steps:.2f}",
        f"{model:.0f}",
        f"{model / real.steps:.2f}",
        f"{real.samples:.0f}",
    )


def _outcome_row(layout, outcome):
    busiest = outcome.bottleneck
    return (
        layout.updates,
        layout.learners,
        layout.actors,
        f"{outcome.steps_per_second:.0f}",
        f"{outcome.staleness:.0f}",
        f"{busiest}, {outcome.busy[busiest]:.0%}",
    )


def _ms(seconds):
    return f"{1000 * seconds:.2f}"


def _share(count):
    return {1: "whole", 2: "half"}.get(count, f"{count}th")
