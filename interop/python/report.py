"""One line for each check, in the form that ../run reads."""

import anyio

TIMEOUT = 20
"""The longest that a check may take, in seconds: far more than any of them needs."""


async def check(name, body):
    """Runs a check, and says how it went."""
    with anyio.move_on_after(TIMEOUT) as scope:
        await unguarded(name, body)
    if scope.cancelled_caught:
        print(f"FAIL\t{name}\tnothing happened for {TIMEOUT} s", flush=True)


async def unguarded(name, body):
    """The same without a time limit, for what opens or closes a cancel scope of its own."""
    try:
        await body()
        print(f"ok\t{name}", flush=True)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        print(f"FAIL\t{name}\t{reason}", flush=True)


def same(value, wanted, what="value"):
    """The check fails unless `value` is `wanted`."""
    if value != wanted:
        raise AssertionError(f"{what} is {value!r}, not {wanted!r}")


def holds(claim, what):
    """The check fails unless `claim` holds."""
    if not claim:
        raise AssertionError(what)


async def code_of(call):
    """The code of the protocol error that a call ends with; the check fails if it ends well."""
    try:
        value = await call
    except Exception as error:
        # Both generations of the SDK keep the error object under this name.
        return error.error.code
    raise AssertionError(f"it gave {value!r} instead of an error")
