"""Prints a line for each check, in the format that ../run reads."""

import anyio

TIMEOUT = 20
"""The time limit of a check, in seconds: far more than any check needs."""


async def check(name, body):
    """Runs a check and prints its result."""
    with anyio.move_on_after(TIMEOUT) as scope:
        await unguarded(name, body)
    if scope.cancelled_caught:
        print(f"FAIL\t{name}\tnothing happened for {TIMEOUT} s", flush=True)


async def unguarded(name, body):
    """The same without a time limit, for checks that open or close a cancel scope."""
    try:
        await body()
        print(f"ok\t{name}", flush=True)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        print(f"FAIL\t{name}\t{reason}", flush=True)


def same(value, wanted, what="value"):
    """Fails the check unless `value` is `wanted`."""
    if value != wanted:
        raise AssertionError(f"{what} is {value!r}, not {wanted!r}")


def holds(claim, what):
    """Fails the check unless `claim` is true."""
    if not claim:
        raise AssertionError(what)


async def code_of(call):
    """The code of the protocol error that a call ends with. Fails the check if the call succeeds."""
    try:
        value = await call
    except Exception as error:
        # Both generations of the SDK keep the error object under this name.
        return error.error.code
    raise AssertionError(f"the result is {value!r} instead of an error")
