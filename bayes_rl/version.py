"""Version of the package."""

__version__ = VERSION = "0.2.0"
