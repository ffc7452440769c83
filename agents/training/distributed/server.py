"""The role that keeps the replay: a Reverb server, filled from the episodes on disk.

What it holds can be rebuilt, so nothing of it is saved: a new server reads the episodes.
Its last act before it serves is to say hello: which config and version it serves, and which
episodes it has read. Whoever comes later compares.
"""

import contextlib
import json
import uuid

import numpy as np
import reverb

from agents.episodes.replay import is_held_out
from agents.episodes.store import DamagedEpisodeError, read_episode
from agents.runs.config.schema import as_dict, flatten
from agents.runs.folder import LOCAL
from agents.system import interrupts
from agents.system.errors import UserError
from agents.training.distributed import sequences, variables
from agents.training.distributed.handover import Handover
from agents.training.distributed.sequences import SequenceWriter
from bayes_rl.version import VERSION

HELLO = "hello"
_PATIENCE = 5  # seconds for one answer


def serve(config, run, port, beat):
    """Serves until it is interrupted.

    Args:
        config: `agents.runs.config.schema.Train`.
        run: `agents.runs.folder.Run`.
        port: to listen on, of all addresses of the machine: Reverb knows no other way.
        beat: `agents.training.distributed.heartbeat.Heartbeat`.
    """
    beat("reading episodes")
    server = open_server(config, Handover(run.episodes), port)
    client = reverb.Client(f"127.0.0.1:{server.port}")
    try:
        while True:
            beat("serving", port=server.port, **_counted(client))
            interrupts.pause(seconds=1.0)
    finally:
        server.stop()


def _counted(client):
    """How many sequences there are; nothing where a busy server does not say so in time."""
    try:
        tables = client.server_info(timeout=_PATIENCE)
    except reverb.errors.ReverbError:
        return {}
    return {"sequences": tables[sequences.TABLE].current_size}


def open_server(config, handover, port=None):
    """A `reverb.Server` that has read the episodes on disk and said hello.

    Args:
        config: `agents.runs.config.schema.Train`.
        handover: `agents.training.distributed.handover.Handover` of the run.
        port: None: any that is free.
    """
    server = reverb.Server(_tables(config), port=port)
    client = reverb.Client(f"127.0.0.1:{server.port}")
    numbers = _fill(client, config, handover)
    hello = {"serving": uuid.uuid4().hex, "numbers": numbers} | _identity(config)
    client.insert([np.frombuffer(json.dumps(hello).encode(), np.uint8)], {HELLO: 1.0})
    return server


def greet(config, address):
    """What the server says of itself, once it serves.

    Args:
        config: of who asks.
        address: of the server.

    Returns:
        Dict: `serving`, a text that no other server has; `numbers` of the episodes that it
        has read.

    Raises:
        TimeoutError: it does not answer, or does not serve yet.
        UserError: it serves another config or version.
    """
    client = reverb.Client(address)
    try:
        tables = client.server_info(timeout=_PATIENCE)
    except reverb.errors.ReverbError as error:
        raise TimeoutError(f"no replay server answers at {address}") from error
    if HELLO not in tables or not tables[HELLO].current_size:
        raise TimeoutError(f"the replay server at {address} is reading episodes")
    (sample,) = client.sample(HELLO, 1)
    hello = json.loads(bytes(sample[0].data[0]))
    mine = _identity(config)
    different = [
        f"{name} is {hello['about'].get(name, 'not set')!r} there and "
        f"{mine['about'].get(name, 'not set')!r} here"
        for name in sorted(hello["about"].keys() | mine["about"].keys())
        if hello["about"].get(name) != mine["about"].get(name)
    ]
    if different:
        raise UserError(
            f"the replay server at {address} serves another run: {'; '.join(different)}"
        )
    return hello


def _identity(config):
    """What all processes of a run must agree on."""
    about = {
        name: value for name, value in flatten(as_dict(config)).items() if name not in LOCAL
    }
    return {"about": about | {"version of bayes-rl": VERSION}}


def _tables(config):
    def table(name, size, signature=None):
        return reverb.Table(
            name,
            sampler=reverb.selectors.Uniform(),
            remover=reverb.selectors.Fifo(),
            max_size=size,
            rate_limiter=reverb.rate_limiters.MinSize(1),
            signature=signature,
        )

    return [
        table(sequences.TABLE, config.replay_capacity),
        table(variables.TABLE, 1, variables.SIGNATURE),
        table(HELLO, 1),
    ]


def _fill(client, config, handover):
    """Inserts the newest episodes on disk; the numbers of all that were there."""
    found = None
    while found is None:
        with contextlib.suppress(FileNotFoundError):  # it moved on: look again
            found = _on_disk(config, handover)
    numbers, newest = found
    writer = SequenceWriter(client, config.sequence_length)
    for episode in reversed(newest):
        interrupts.check()
        writer.insert(episode)
    return sorted(numbers)


def _on_disk(config, handover):
    """Numbers of all whole episodes; the newest that the replay holds, newest first."""
    numbers, newest, steps = set(), [], 0
    for file, _ in reversed(handover.files()):
        with contextlib.suppress(DamagedEpisodeError):
            episode = read_episode(file)
            is_new = int(episode["number"]) not in numbers
            numbers.add(int(episode["number"]))
            held_out = is_held_out(episode, config.hold_out_every)
            if is_new and not held_out and steps < config.replay_capacity:
                newest.append(episode)
                steps += len(episode["reward"]) - 1
    return numbers, newest
