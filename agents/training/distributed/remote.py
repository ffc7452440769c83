"""A process of a run as another one sees it: an actor of Ray that does one thing at a time.

Ray starts it again where it dies, and what it was doing is done again, or at last something
else: a simulator may end its process at the same step each time. Here it is watched: a
process that stands still does not die by itself.
"""

import os
import sys
import time

import ray

from agents.system.errors import GoneError, UserError
from agents.training.distributed.cluster import GOES_ON, first_line
from envs import EnvironmentFailedError

TRIES = 5  # in a row, of one thing
LIFE = "life"  # the thread in which a process answers beside its work
_BETWEEN_SIGNS = 1.0  # seconds
_SILENCE = 10.0  # after which a process is spoken of
_DEATH = 20.0  # and after which it is killed
_START = 60.0  # after which one that has not begun is spoken of
_LAPSE = 5.0  # the most that counts of a time in which nobody looked


class Living:
    """What a `Remote` needs of the class of its process."""

    @ray.method(concurrency_group=LIFE)
    def alive(self):
        """The number of the process: asked beside its work, it tells that it lives."""
        return os.getpid()


class Remote:
    """One process of a class, a `Living`, with so many cores of a cluster.

    Its name is for a person, such as actor_2.
    """

    def __init__(self, name, kind, *given, cores=1):
        self.name = name
        settings = {"max_restarts": -1, "concurrency_groups": {LIFE: 1}}
        self._handle = ray.remote(num_cpus=cores, **settings)(kind).remote(*given)
        self._work = self._last = self._pending = self._sign = self._process = None
        self._looked, self._asked = time.monotonic(), 0.0
        self._failures, self._silence, self._told = 0, 0.0, ""

    @property
    def is_idle(self):
        return self._work is None

    @property
    def pending(self):
        """References of what it is doing, a list of one or none."""
        return [] if self._pending is None else [self._pending]

    def begin(self, method, *given, last=None):
        """Lets it do something, where it is idle; again, if it dies meanwhile.

        The last of so many tries is by what is given as `last`, if there is any.
        """
        self._work, self._last = (method, given), last
        self._go_on()

    def result(self):
        """What came of it, once; None where it is not done.

        Raises:
            UserError: the process found that something typed is wrong.
            EnvironmentFailedError: an environment has failed, each time.
            GoneError: the process has failed or died each time.
        """
        if self._pending is None or not ray.wait(self.pending, timeout=0)[0]:
            return None
        done, self._pending = self._pending, None
        try:
            result = ray.get(done)
        except ray.exceptions.RayTaskError as error:
            cause, is_last = error.cause, self._failures + 1 >= TRIES
            told = (UserError, EnvironmentFailedError) if is_last else UserError
            if isinstance(cause, told):
                raise cause from None
            self._failed(f"{type(cause).__name__}: {first_line(cause)}")
        except ray.exceptions.RayError as error:
            self._process = None
            self._refuse_its_end(error)
            self._failed("it has died")
        else:
            self._work, self._failures = None, 0
            return result

    def _go_on(self):
        method, given = self._work
        self._pending = getattr(self._handle, method).remote(*given)

    def _refuse_its_end(self, error):
        """Raises where Ray will not start it again: it could not be made at all."""
        if isinstance(error, ray.exceptions.ActorDiedError):
            *_, last = filter(None, map(str.strip, str(error).splitlines()))
            raise GoneError(f"{self.name} has ended ({last}); {GOES_ON}") from None

    def _failed(self, reason):
        self._failures += 1
        if self._failures >= TRIES:
            raise GoneError(
                f"{self.name} has failed {TRIES} times in a row ({reason}); {GOES_ON}"
            )
        if self._failures < TRIES - 1 or self._last is None:
            self._say(f"has failed ({reason}); it tries again")
            return
        self._work = self._work[0], self._last
        self._say(f"has failed ({reason}); it leaves out what it began")

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
        sign, self._sign, self._silence = self._sign, None, 0.0
        try:
            process = ray.get(sign)
        except ray.exceptions.RayError as error:  # it will be another one
            self._process = None
            self._refuse_its_end(error)
            return
        self._process, self._told = process, ""
        if self._work is not None and self._pending is None:
            self._go_on()

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
            print(f"{self.name}: {what}", file=sys.stderr, flush=True)
            self._told = what
