import asyncio
import contextlib
import gc
import itertools
import threading

import pytest

from bayes_rl.scopes import Scopes

SCOPES = Scopes("numbers")


def seen():
    return SCOPES.innermost_first()


def episode(number):
    with SCOPES.entered(number):
        for _ in range(3):
            yield seen()


@contextlib.contextmanager
def entered(number):
    with SCOPES.entered(number):
        yield


def test_blocks_nest_and_end_by_an_exception():
    with SCOPES.entered(1), SCOPES.entered(2):
        assert seen() == (2, 1)
    with pytest.raises(KeyError), SCOPES.entered(1):
        raise KeyError
    assert seen() == ()


def test_generators_see_what_they_entered_themselves_and_their_callers_nothing():
    steps = list(itertools.chain(*zip(episode(1), episode(2), episode(3), strict=True)))
    assert steps == [(1,), (2,), (3,)] * 3
    first, second = episode(1), episode(2)
    assert (next(first), next(second), seen()) == ((1,), (2,), ())
    first.close()  # in another order than they began
    assert (next(second), seen()) == ((2,), ())


def test_a_generator_sees_what_its_caller_entered_behind_its_own():
    generator = episode(1)
    next(generator)
    with SCOPES.entered(2):
        assert next(generator) == (1, 2)
        assert next(episode(3)) == (3, 2)


def test_what_a_generator_calls_may_enter_more():
    def outer():
        with SCOPES.entered(1):
            with SCOPES.entered(2):
                yield seen(), inner()
            yield seen(), inner()

    def inner():
        with SCOPES.entered(3):
            return seen(), list(episode(4))[0]

    assert list(outer()) == [
        ((2, 1), ((3, 2, 1), (4, 3, 2, 1))),
        ((1,), ((3, 1), (4, 3, 1))),
    ]


def test_functions_of_contextlib_enter_for_their_block():
    stack = contextlib.ExitStack()
    with entered(1):
        stack.enter_context(entered(2))
        assert seen() == (2, 1)
    with stack:
        assert seen() == (2,)

    def generator():
        with entered(1):
            yield seen()

    running = generator()
    assert (next(running), seen()) == ((1,), ())


@pytest.fixture
def fixture():
    with SCOPES.entered(1):
        yield


def test_fixtures_enter_for_their_test(fixture):
    assert seen() == (1,)


def test_a_generator_may_be_left_or_go_on_in_another_thread():
    generator, found = episode(1), []
    next(generator)
    thread = threading.Thread(
        target=lambda steps: found.extend([next(steps), seen()]), args=[generator]
    )
    with SCOPES.entered(2):
        thread.start()
        thread.join()
    assert found == [(1,), ()]
    del generator, thread
    gc.collect()
    assert SCOPES._of_generators == {}


def test_tasks_see_what_they_entered_themselves():
    async def task(number):
        found = []
        with SCOPES.entered(number):
            for _ in range(3):
                await asyncio.sleep(0)
                found.append(seen())
        return found

    async def steps(number):
        with SCOPES.entered(number):
            for _ in range(3):
                await asyncio.sleep(0)
                yield seen()

    async def of_generator(number):
        return [step async for step in steps(number)]

    async def main():
        return await asyncio.gather(task(1), task(2), of_generator(3), of_generator(4))

    assert asyncio.run(main()) == [[(number,)] * 3 for number in (1, 2, 3, 4)]
    assert seen() == ()
