"""A process of a run as another one sees it: an actor of Ray that does one thing at a time.

Ray starts it again where it dies, and what it was doing is done again. Here it is watched:
a process that stands still does not die by itself.
"""

import logging
import time

import ray

from agents.system.errors import GoneError, UserError
from agents.training.distributed.cluster import first_line
from envs import EnvironmentFailedError

log = logging.getLogger(__name__)

TRIES = 5  # in a row, of one thing
LIFE = "life"  # the thread in which a process answers beside its work
_BETWEEN_SIGNS = 1.0  # seconds
_SILENCE = 10.0  # after which a process is spoken of
_DEATH = 20.0  # and after which it is killed
_START = 60.0  # after which one that has not begun is spoken of
_LAPSE = 5.0  # the most that counts of a time in which nobody looked


class Remote:
    """One process.

    Args:
        name: in words for a person, such as actor_2.
        kind: class with a method `alive` in the thread `LIFE` that gives the number of the
            process.
        *given: what `kind` takes.
        cores: of a cluster, that it gets.
        gpus: likewise.
    """

    def __init__(self, name, kind, *given, cores=1, gpus=0):
        self.name = name
        of_ray = ray.remote(
            num_cpus=cores, num_gpus=gpus, max_restarts=-1, concurrency_groups={LIFE: 1}
        )
        self._handle = of_ray(kind).remote(*given)
        self._pending = self._sign = self._process = None
        self._looked, self._asked = time.monotonic(), 0.0
        self._silence, self._told = 0.0, ""

    @property
    def is_idle(self):
        return self._pending is None

    @property
    def pending(self):
        """References of what it is doing, a list of one or none."""
        return [] if self.is_idle else [self._pending]

    def begin(self, method, *given):
        """Lets it do something, where it is idle."""
        self._pending = getattr(self._handle, method).remote(*given)

    def result(self):
        """What came of it, once; None where it is not done.

        Raises:
            UserError: the process found that something typed is wrong.
            EnvironmentFailedError: an environment has failed, each time.
            GoneError: the process has failed or died each time.
        """
        if self.is_idle or not ray.wait(self.pending, timeout=0)[0]:
            return None
        done, self._pending = self._pending, None
        try:
            return ray.get(done)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, UserError | EnvironmentFailedError):
                raise error.cause from None
            kind = type(error.cause).__name__
            reason = f"{kind}: {first_line(error.cause)}"
        except ray.exceptions.RayError as error:
            reason = first_line(error)
        raise GoneError(
            f"{self.name} has failed {TRIES + 1} times in a row ({reason}); the same "
            "command goes on from the last checkpoint"
        ) from None

    def watch(self):
        """Looks for a sign of life; kills what stands still, which Ray starts again."""
        now = time.monotonic()
        lapse, self._looked = min(now - self._looked, _LAPSE), now
        if self._sign is None:
            if now - self._asked > _BETWEEN_SIGNS:
                self._sign, self._asked = self._handle.alive.remote(), now
        elif ray.wait([self._sign], timeout=0)[0]:
            self._answered()
        else:
            self._silence += lapse
            self._judge()

    def _answered(self):
        sign, self._sign, self._silence, self._told = self._sign, None, 0.0, ""
        try:
            process = ray.get(sign)
        except ray.exceptions.RayError:  # it has died, and will be another one
            self._say("has ended; it is restarted")
            self._process = None
            return
        self._process = process

    def _judge(self):
        if self._process is None:
            if self._silence > _START:
                self._say(f"has not started for {_START:.0f} s; is no core free?")
        elif self._silence > _DEATH:
            self._say(f"no sign of life for {_DEATH:.0f} s; killed, it is restarted")
            ray.kill(self._handle, no_restart=False)
            self._process = self._sign = None
            self._silence = 0.0
        elif self._silence > _SILENCE:
            self._say(f"no sign of life for {_SILENCE:.0f} s")

    def _say(self, what):
        if what != self._told:
            log.warning("%s: %s", self.name, what)
            self._told = what
