"""A network of a run's own: its loopback, which no other machine and no other user reaches.

Reverb listens on all addresses of a machine and asks nobody for a password. So where Linux
allows it, the processes of a run on one machine share a network namespace in which there is
nothing but themselves.
"""

import ctypes
import os
import subprocess
import sys

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # of linux/sched.h
_LIBC = ctypes.CDLL(None, use_errno=True)
# Runs by itself, since only a process without threads may leave its user namespace.
_HOLDER = """
import ctypes, fcntl, os, socket, struct, sys
user, group = os.getuid(), os.getgid()
if ctypes.CDLL(None).unshare(0x50000000):
    sys.exit(1)
maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
for name, text in maps.items():
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
up = struct.pack("16sh14x", b"lo", 0x41)  # IFF_UP | IFF_RUNNING
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
    fcntl.ioctl(interface, 0x8914, up)  # SIOCSIFFLAGS
print("ready", flush=True)
sys.stdin.read()
"""


class Loopback:
    """The network of a run, as long as this object is not closed and its process lives.

    Attributes:
        is_private: False where the system allows no such network: all is as without.
    """

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _HOLDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.is_private = self._process.stdout.readline() == b"ready\n"
        self._namespaces = []
        if self.is_private:
            folder = f"/proc/{self._process.pid}/ns"
            self._namespaces = [
                (os.open(f"{folder}/user", os.O_RDONLY), _NEW_USER),
                (os.open(f"{folder}/net", os.O_RDONLY), _NEW_NETWORK),
            ]

    def enter(self):
        """Moves the calling process, which must have one thread, into the network.

        Raises:
            OSError: the system refuses it.
        """
        for descriptor, kind in self._namespaces:
            if _LIBC.setns(descriptor, kind):
                raise OSError(ctypes.get_errno(), "cannot enter the run's network")

    def close(self):
        """Lets the network end with the last process in it."""
        for descriptor, _ in self._namespaces:
            os.close(descriptor)
        self._namespaces = []
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
