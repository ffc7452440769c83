"""Calls are timed in turn."""

from benchmarks.measuring.timing import measure, quartiles


def test_every_function_is_called_once_a_round_after_the_warm_up():
    calls = []
    functions = {name: lambda name=name: calls.append(name) for name in "ab"}
    seconds = measure(functions, repeats=3, warmup=1)
    assert calls == ["a", "b", "a", "b", "b", "a", "a", "b"]
    assert {name: x.shape for name, x in seconds.items()} == {"a": (3,), "b": (3,)}
    assert all((x >= 0).all() for x in seconds.values())


def test_quartiles_of_a_line_are_its_quarters():
    assert quartiles(range(101)) == [25.0, 50.0, 75.0]
