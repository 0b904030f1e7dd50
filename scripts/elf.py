"""Reads what a program for Linux needs from the machine that runs it: its dynamic linker and its shared libraries."""

import struct

LOAD, DYNAMIC, INTERPRETER = 1, 2, 3
NEEDED, STRINGS, VERSIONS, VERSION_COUNT = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF


class NotElf(ValueError):
    """The file is not an ELF file of 64 bits with the lowest byte first."""


def segments(content):
    """The type, the place in the file, the address and the size of each segment."""
    if content[:6] != b"\x7fELF\x02\x01":
        raise NotElf
    (headers,) = struct.unpack_from("<Q", content, 0x20)
    size, count = struct.unpack_from("<HH", content, 0x36)
    for number in range(count):
        kind, _, place, address, _, length = struct.unpack_from("<IIQQQQ", content, headers + number * size)
        yield kind, place, address, length


def is_static(content):
    """Whether the program runs without a dynamic linker."""
    return all(kind != INTERPRETER for kind, *_ in segments(content))


def libraries(content):
    """The shared libraries that the program is linked with, each with the versions of symbols that it uses."""
    parts = list(segments(content))

    def place_of(address):
        loaded = ((place, start) for kind, place, start, length in parts if kind == LOAD and start <= address < start + length)
        place, start = next(loaded)
        return place + address - start

    entries = []
    for kind, place, _, length in parts:
        if kind == DYNAMIC:
            entries = list(struct.iter_unpack("<QQ", content[place : place + length]))
    values = dict(entries)
    if STRINGS not in values:
        return {}
    strings = place_of(values[STRINGS])

    def string(at):
        return content[strings + at : content.index(b"\0", strings + at)].decode()

    found = {string(value): [] for tag, value in entries if tag == NEEDED}
    at = place_of(values[VERSIONS]) if VERSIONS in values else 0
    for _ in range(values.get(VERSION_COUNT, 0)):
        _, count, library, first, following = struct.unpack_from("<HHIII", content, at)
        version = at + first
        for _ in range(count):
            _, _, _, name, step = struct.unpack_from("<IHHII", content, version)
            found.setdefault(string(library), []).append(string(name))
            version += step
        at += following
    return found
