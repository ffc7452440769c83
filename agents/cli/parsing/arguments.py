"""What options of the command line may be: texts to values, or why they are none."""

import argparse


def whole_number(text, least=1):
    """A whole number of at least `least`.

    Example:
        >>> whole_number("3")
        3
    """
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(
            f"must be a whole number of at least {least}, got {text!r}"
        )
    return number


def address(text):
    """An address, `HOST:PORT`.

    Example:
        >>> address("node0:9000")
        'node0:9000'
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise argparse.ArgumentTypeError(f"must be HOST:PORT, got {text!r}")
    return text


def addresses(text):
    """Several addresses.

    Example:
        >>> addresses("node0:9001,node1:9001")
        ('node0:9001', 'node1:9001')
    """
    return tuple(map(address, text.split(",")))
