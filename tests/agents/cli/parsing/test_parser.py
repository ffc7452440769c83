import pytest

from agents.cli.parsing.parser import parse
from agents.system.errors import UserError


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["trian"],
            "there is no command 'trian'; did you mean 'train'?",
        ),
        (
            ["7"],
            "there is no command '7'; there are train, learn, evaluate, probe, calibrate, plot, "
            "compare, video, export, migrate, server, learner, actor, cluster",
        ),
        (
            ["-m", "train", "seed=0,1"],
            "options come after the command: bayes-rl train -m ...",
        ),
        (
            ["--jobs", "2", "train", "-m"],
            "options come after the command: bayes-rl train --jobs ...",
        ),
        (["--foo"], "options come after the command: bayes-rl COMMAND --foo ..."),
        (
            ["train", "--seed", "1"],
            "train has no option '--seed'; write seed=1 (see bayes-rl train --help)",
        ),
        (
            ["train", "--seed=1", "task=fake"],
            "train has no option '--seed=1'; write seed=1 (see bayes-rl train --help)",
        ),
        (
            ["train", "--batch-size", "-m"],
            "train has no option '--batch-size'; write batch_size=VALUE "
            "(see bayes-rl train --help)",
        ),
        (
            ["train", "--seed", "task=fake"],
            "train has no option '--seed'; write seed=VALUE (see bayes-rl train --help)",
        ),
        (
            ["train", "--explore.beta", "2"],
            "train has no option '--explore.beta'; write explore.beta=2 "
            "(see bayes-rl train --help)",
        ),
        (
            ["train", "--sed", "1"],
            "train has no option '--sed' (see bayes-rl train --help)",
        ),
        (
            ["train", "--mulitrun"],
            "train has no option '--mulitrun'; did you mean '--multirun'? "
            "(see bayes-rl train --help)",
        ),
        (
            ["evaluate", "run", "--seed", "1"],
            "evaluate has no option '--seed' (see bayes-rl evaluate --help)",
        ),
        (["video", "a", "b"], "video has no argument 'b' (see bayes-rl video --help)"),
    ],
)
def test_mistake_says_what_would_be_right(argv, message):
    with pytest.raises(UserError) as error:
        parse(argv)
    assert str(error.value) == message


def test_words_of_train_are_those_of_the_config():
    options = parse(["train", "seed=0,1", "-m", "--jobs", "2", "task=fake"])
    assert options.name == "train"
    assert options.overrides == ["seed=0,1", "task=fake"]
    assert (options.multirun, options.jobs, options.print_config) == (True, 2, False)


def test_calibrate_takes_a_run_and_maybe_a_twin():
    assert parse(["calibrate", "a"]).twin is None
    assert parse(["calibrate", "a", "b"]).twin == "b"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("calibrate", "RUN [TWIN]"),
        ("probe", "Measure how well the latent encodes velocities and positions."),
        (
            "video",
            "Film an episode of the newest checkpoint, and the predictions of its model.",
        ),
    ],
)
def test_help_tells_what_the_command_does(command, text, capsys):
    with pytest.raises(SystemExit) as end:
        parse([command, "--help"])
    assert end.value.code == 0
    assert text in capsys.readouterr().out


def test_without_words_the_help_is_shown_and_the_status_is_2(capsys):
    with pytest.raises(SystemExit) as end:
        parse([])
    assert end.value.code == 2
    assert "commands:" in capsys.readouterr().out
