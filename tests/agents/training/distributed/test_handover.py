"""Tests of agents.training.distributed.handover."""

import pytest

from agents.episodes.store import EpisodeStore
from agents.system.errors import InUseError
from agents.system.locking import lock_folder
from agents.training.distributed.handover import Handover


def test_an_episode_is_in_one_place_from_its_actor_to_the_learner(
    run, handover, make_episode
):
    handover.open(1)
    file = handover.finish(1, make_episode(7, rows=4))
    assert handover.finished(1) == [file] == [pair[0] for pair in handover.files()]
    assert handover.ready() == []
    handover.release(file)
    assert handover.finished(1) == []
    (ready,) = handover.ready()
    store = EpisodeStore(run.episodes)
    assert store.adopt(ready) == 0
    assert handover.ready() == []
    assert store.indices == [0]
    assert int(store.read(0)["number"]) == 7
    assert handover.files() == [(run.episodes / "000000.npz", None)]


def test_the_learner_may_take_episodes_by_number(handover, make_episode):
    for actor, number in ((1, 3), (0, 2), (1, 11)):
        handover.open(actor)
        handover.release(handover.finish(actor, make_episode(number, rows=3)))
    assert [file.stem for file in handover.ready()] == ["000002", "000003", "000011"]


def test_a_damaged_file_is_put_aside_and_its_number_is_not_used(
    run, handover, make_episode, monkeypatch
):
    handover.open(0)
    handover.release(handover.finish(0, make_episode(0, rows=3)))
    (file,) = handover.ready()
    file.write_bytes(file.read_bytes()[:-50])
    store = EpisodeStore(run.episodes)
    places = []
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", lambda *files: places.append(files[1]))
        assert store.adopt(file) is None
    assert places == [run.episodes / "damaged" / "000000.npz"]  # no learner may see it
    assert EpisodeStore(run.episodes).adopt(file) is None
    assert (store.indices, store.next_index) == ([], 1)
    assert (run.episodes / "damaged" / "000000.npz").exists()


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_an_actor_goes_on_after_its_newest_episode_wherever_that_is(
    run, handover, make_episode, taken
):
    for actor in (0, 1):
        handover.open(actor)
    for actor, number in ((0, 0), (1, 2), (1, 3), (0, 4)):  # two environments each
        handover.release(handover.finish(actor, make_episode(number, rows=3)))
    store = EpisodeStore(run.episodes)
    for file in handover.ready()[:taken]:
        store.adopt(file)
    assert handover.next_numbers(range(0, 2), stride=4) == [8, 1]
    assert handover.next_numbers(range(2, 4), stride=4) == [6, 7]
    left = 4 - taken
    counts = [handover.untaken(rows, 4) for rows in (range(0, 2), range(2, 4))]
    assert sum(counts) == left
    assert counts == {0: [2, 2], 1: [1, 2], 3: [1, 0]}[taken]


def test_what_a_killed_actor_was_writing_goes(run, handover):
    handover.open(0)
    (run.episodes / "actor_0" / ".000003.npz.4194305.tmp").write_bytes(b"half")
    handover.open(0)
    assert [file.name for file in (run.episodes / "actor_0").iterdir()] == [".lock"]
    assert Handover(run.episodes).files() == []


def test_one_process_at_a_time_has_an_actor(run, handover):
    folder = run.episodes / "actor_1"
    folder.mkdir()
    with lock_folder(folder):  # as another process has it
        handover.open(0)
        with pytest.raises(InUseError, match=f"{folder} is in use by another process"):
            handover.open(1)
    handover.open(1)
    Handover(run.episodes).open(1)
    with pytest.raises(InUseError, match="in use"):
        lock_folder(folder)
