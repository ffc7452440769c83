"""Tests of agents.training.distributed.supervisor, with processes that only pretend."""

import contextlib
import io
import sys
import time

import pytest
from rich.console import Console

from agents.runs import history
from agents.system.errors import InUseError
from agents.system.locking import lock_folder
from agents.system.screen.progress import Progress
from agents.training.distributed import supervisor as module
from agents.training.distributed.supervisor import Supervisor, supervise

BEATING = """
import sys, time; sys.path.insert(0, sys.argv[1])
from agents.training.distributed.heartbeat import Heartbeat
beat = Heartbeat(sys.argv[2], sys.argv[3]); beat(sys.argv[4]); time.sleep(60)
"""


class Open:
    """A network that is the machine's own."""

    is_private = False

    def enter(self):
        pass


@pytest.fixture
def watch(make_config, run):
    """Watches processes of the given codes, with the words that they were started with."""
    with contextlib.ExitStack() as stack:

        def make(*words, **codes):
            text = io.StringIO()
            config = make_config("actors=1", f"logdir={run.folder}", *words)
            progress = stack.enter_context(Progress(100, Console(file=text, width=200)))
            made = Supervisor(config, [], Open(), progress)
            stack.callback(made.stop)
            for role in made._roles:
                code = codes.get(role.name, "import time; time.sleep(60)")
                told = (sys.path[0] or ".", str(run.roles), role.name, "collecting")
                role.command = [sys.executable, "-c", code, *told]
            return made, text

        yield make


def look_until(supervisor, is_enough, seconds=20):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        status = supervisor.look()
        if status is not None or is_enough():
            return status
        time.sleep(0.02)
    raise AssertionError("it did not come to that")


@pytest.mark.parametrize("status", [0, 1])
def test_the_run_ends_with_its_learner(watch, run, status):
    found = history.Divergence(3, 70, ("reward_loss",))
    supervisor, text = watch(learner=f"print('bayes-rl: {found}'); exit({status})")
    if status:
        history.write_divergence(run.folder, found)
    assert look_until(supervisor, lambda: False) == status
    said = f"learner: {found} (exit status 1)\n"
    assert text.getvalue().count(said) == status


def test_what_dies_is_started_again_later_and_later(watch):
    supervisor, text = watch(server="import os; os.kill(os.getpid(), 9)")
    said = "server ended: killed by SIGKILL; it is restarted"
    look_until(supervisor, lambda: text.getvalue().count(said) == 3)
    server = supervisor._roles[0]
    assert server.failures == 3
    assert 1.5 < server.start_at - time.monotonic() < 2.5


def test_one_supervisor_at_a_time_has_a_run(make_config, run, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    config = make_config("actors=1", f"logdir={run.folder}")

    class Second:
        """Starts while the first has no learner yet that holds the run's folder."""

        banner, environment_steps = {}, 0

        def __init__(self, *_):
            pass

        def look(self):
            assert run.config_file.exists()
            with pytest.raises(InUseError, match=f"{run.roles} is in use by another"):
                supervise(config, [])
            return 0

        def stop(self):
            pass

    monkeypatch.setattr(module, "Supervisor", Second)
    assert supervise(config, []) == 0
    assert supervise(config, []) == 0


def test_a_supervisor_waits_until_an_earlier_one_has_ended(make_config, run, monkeypatch):
    run.roles.mkdir(parents=True)
    lock = lock_folder(run.roles)
    monkeypatch.setattr(module.time, "sleep", lambda _: lock.close())
    with module._alone(make_config("actors=1", f"logdir={run.folder}")):
        assert lock.closed


SEVERAL = "learners=2", "devices=multi_worker"


def test_learners_know_the_addresses_of_all(make_config, run):
    config = make_config("actors=2", *SEVERAL, f"logdir={run.folder}")
    learners = ["127.0.0.1:1", "127.0.0.1:2"]
    assert list(module._parts(config, learners)) == [
        ("server", "server", []),
        ("learner", "learner", ["--number", "0", "--learners", ",".join(learners)]),
        ("learner_1", "learner", ["--number", "1", "--learners", ",".join(learners)]),
        ("actor_0", "actor", ["--number", "0"]),
        ("actor_1", "actor", ["--number", "1"]),
    ]


@pytest.mark.parametrize("first", [0, 1])
def test_when_a_learner_ends_all_are_started_again(watch, first):
    names = ["learner", "learner_1"]
    supervisor, text = watch(*SEVERAL, **dict.fromkeys(names, BEATING))
    dies, other = (
        next(role for role in supervisor._roles if role.name == name)
        for name in (names if first else names[::-1])
    )
    look_until(supervisor, lambda: dies.beat and other.beat)
    before = [dies.process.pid, other.process.pid]
    dies.process.kill()
    look_until(supervisor, lambda: dies.process and dies.process.pid not in before)
    look_until(supervisor, lambda: other.process and other.process.pid not in before)
    assert text.getvalue().count("is restarted") == 1
    assert supervisor._roles[0].process is not None


def test_a_run_of_several_learners_ends_with_the_first_of_them(watch):
    supervisor, text = watch(*SEVERAL, learner_1="raise SystemExit(0)", learner=BEATING)
    other, first = supervisor._roles[2], supervisor._roles[1]
    look_until(supervisor, lambda: other.is_done and first.beat)
    first.process.kill()  # so what the other had done was not enough
    look_until(supervisor, lambda: other.process is not None)
    first.command = [sys.executable, "-c", ""]
    look_until(supervisor, lambda: other.is_done)
    first.process.kill()
    assert look_until(supervisor, lambda: False) == 0


def test_what_was_typed_wrongly_ends_all(watch):
    wrong = "import sys; print('bayes-rl: no such key'); sys.exit(2)"
    supervisor, text = watch(actor_0=wrong)
    assert look_until(supervisor, lambda: False) == 2
    assert "actor_0: no such key" in text.getvalue()
    supervisor.stop()
    assert all(role.process is None or role.process.poll() for role in supervisor._roles)


def test_a_failure_is_told_with_its_last_line(watch):
    supervisor, text = watch(learner="raise OSError('disk full')")
    look_until(supervisor, lambda: "is restarted" in text.getvalue())
    said = "learner ended: OSError: disk full (exit status 1); it is restarted"
    assert said in text.getvalue()


def test_who_gives_no_sign_of_life_is_spoken_of_and_killed(watch, monkeypatch):
    monkeypatch.setattr(module, "_SILENCE", 0.3)
    monkeypatch.setattr(module, "_DEATH", 0.8)
    silent = BEATING.replace("beat(sys.argv[4])", "beat._ended.set()")
    supervisor, text = watch(server=silent)
    look_until(supervisor, lambda: "is restarted" in text.getvalue())
    said = text.getvalue()
    assert said.index("no sign of life for 0 s") < said.index("; killed")
    assert said.index("; killed") < said.index("killed by SIGKILL; it is restarted")


def test_who_beats_lives(watch, monkeypatch):
    monkeypatch.setattr(module, "_DEATH", 2.0)
    monkeypatch.setattr(module, "_START", 20.0)
    module_of_it = "agents.training.distributed"
    often = f"from {module_of_it} import heartbeat; heartbeat.SECONDS = 0.1\nbeat ="
    codes = dict.fromkeys(
        ("server", "learner", "actor_0"), BEATING.replace("beat =", often)
    )
    supervisor, text = watch(**codes)
    look_until(supervisor, lambda: all(role.beat for role in supervisor._roles))
    began = time.monotonic()
    look_until(supervisor, lambda: time.monotonic() - began > 2.5)
    assert "killed" not in text.getvalue()
    assert {role.beat.state for role in supervisor._roles} == {"collecting"}


def test_rows_are_shown_once_though_a_new_learner_writes_them_again(watch, run):
    supervisor, text = watch()
    row = '{"episodes": %d, "environment_steps": %d, "collect/return": 1.0}\n'
    metrics = run.folder / "metrics.jsonl"
    metrics.write_text("".join(row % (n, 10 * n) for n in (1, 2, 3)))
    supervisor.look()
    metrics.unlink()
    metrics.write_text("".join(row % (n, 10 * n) for n in (1, 2, 3, 4)))
    supervisor.look()
    lines = [line for line in text.getvalue().splitlines() if line.startswith("episode")]
    assert [line.split()[1] for line in lines] == ["1", "2", "3", "4"]
