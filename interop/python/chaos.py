"""Clients of one SDK that work while replicas are killed and stopped, for `bench chaos`.

    python chaos.py URL COUNT

Each request has a number, and each answer must have the right number and caller. Each line on stdout is an action of a
client, or the failure of an action; `bench` decides whether the failure has an explanation. Ends when stdin ends.
"""

import json
import logging
import random
import sys
import time
import warnings

import anyio

from chaos_sdk import SDK, Network, Sdk

ANSWER_WITHIN = 40
"""The time limit of a request, in seconds."""

SOON = 10
"""How long a call may run after it was cancelled, and the limit for an update, in seconds."""

DONE_WITHIN = 90
"""How long a client may be without success, in seconds."""

STEPS = 20
"""The number of steps that the tool `steps` reports."""


class Trouble(Exception):
    """A failure in place of an answer, with the name that `bench` uses for it."""

    def __init__(self, name, text, status=None):
        super().__init__(text)
        self.name = name
        self.status = status


class Closed(Exception):
    """The session has ended, and neither side is at fault."""


class Run:
    is_over = False


class Guest:
    def __init__(self, url, number):
        self.name = f"{SDK}-{number}"
        self.url = url
        self.uri = f"bench://box/{self.name}"
        self.next = 1
        self.updates = 0
        self.abandoned = 0
        """The number of abandoned calls, whose answers may still arrive."""
        self.revision = ""
        self.doing = "open"
        self.began = time.monotonic()
        self.last_done = time.monotonic()
        self.network = Network(self.name)

    def say(self, **line):
        line = {"guest": self.name, "sdk": SDK, "revision": self.revision, **line}
        print(json.dumps(line), flush=True)

    def fault(self, fault, text):
        self.say(kind=self.doing, fault=fault, text=str(text)[:1000])

    def begin(self, kind):
        self.doing = kind
        self.began = time.monotonic()
        self.network.begin()

    def done(self):
        self.last_done = time.monotonic()
        self.say(kind=self.doing)

    def trouble(self, error):
        """Reports what an error means, and returns its name."""
        name, status, text = self.met(error)
        ms = round((time.monotonic() - self.began) * 1000)
        self.say(kind=self.doing, trouble=name, status=status, text=text, ms=ms)
        if time.monotonic() - self.last_done > DONE_WITHIN:
            self.last_done = time.monotonic()
            self.fault("hung", f"nothing done within {DONE_WITHIN} s")
        return name

    def met(self, error):
        """What an error means. The network's failure takes precedence: SDKs do not resend a rejected answer."""
        parts = flat(error)
        text = "; ".join(f"{type(part).__name__}: {part}" for part in parts)[:1000]
        for part in parts:
            if isinstance(part, Trouble):
                return part.name, part.status, text
        if "call again" in text:
            return "told", None, text
        if self.network.failures:
            name, status, said = self.network.failures[0]
            return name, status, f"{said}; {text}"
        if self.network.last_failure and any("ResourceError" in type(part).__name__ for part in parts):
            # A message without a response was rejected before, and the SDK ended the connection.
            name, status, said, self.began = self.network.last_failure
            return name, status, f"{said}; {text}"
        if "Session terminated" in text:
            return "no session", None, text
        if "imed out" in text or "TimeoutError" in text:
            return "hung", None, text
        if "try again" in text:
            return "error", None, text
        return "odd", None, text

    async def work(self):
        """Works until the run is over. A failed request ends the SDK's connection, and a new one is opened."""
        await anyio.sleep(random.uniform(0, 3))
        while not Run.is_over:
            self.begin("open")
            try:
                async with Sdk.open(self) as self.sdk:
                    self.revision = self.sdk.revision
                    await self.sdk.subscribe(self.uri)
                    self.done()
                    while not Run.is_over and await self.something():
                        await anyio.sleep(random.uniform(0.2, 3.6))
                    self.begin("end")
            except Exception as error:
                self.trouble(error)
                await anyio.sleep(0.1)

    async def something(self):
        """Runs one action. Returns whether the connection is still usable."""
        chance = random.randrange(100)
        for below, kind, action in self.actions():
            if chance < below:
                break
        else:
            return False
        self.begin(kind)
        try:
            await action()
            self.done()
        except Closed:
            return False
        except Exception as error:
            # After any other error the SDK has ended the connection.
            return self.trouble(error) in ("told", "error")
        return True

    def actions(self):
        return [
            (40, "call", lambda: self.call("order")),
            (60, "ask", lambda: self.call("ask", expected=f": {self.name}")),
            (72, "cancel", self.cancel),
            (85, "resume", self.resume),
            (98, "update", self.update),
        ]

    def asked(self, question):
        """Answers a question, which must belong to this client."""
        if not (question or "").endswith(f" for {self.name}"):
            self.fault("wrong caller", f"asked `{question}`")
        return self.name

    def updated(self, uri):
        if str(uri) == self.uri:
            self.updates += 1
        else:
            self.fault("wrong caller", f"told of {uri}")

    def stray(self, error):
        """Handles messages that the SDK cannot use. The SDK also resumes cancelled calls, and gets an error if their
        replica is gone."""
        if "unknown request ID" not in str(error) or "call again" in str(error):
            return
        if self.abandoned > 0:
            self.abandoned -= 1
        else:
            self.fault("doubled", error)

    async def call(self, tool, expected="", progress=None):
        """Calls a tool, and checks the number and the caller in the answer."""
        number = self.next
        self.next += 1
        try:
            result = await self.answered(self.sdk.call(tool, {"number": number}, ANSWER_WITHIN, progress))
        except Exception:
            self.abandoned += 1
            raise
        text = result["content"][0].get("text", "")
        if result.get("isError") and "call again" in text:
            raise Trouble("told", text)
        wanted = f"{tool} {number} for {self.name}{expected}"
        if text != wanted:
            self.fault("wrong caller", f"expected `{wanted}`, got {result}")

    async def answered(self, call):
        """The result of a call. The call ends at once when the SDK can no longer get an answer."""
        outcome = []

        async def run(scope):
            outcome.append(await call)
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, tasks.cancel_scope)
            await self.network.failed.wait()
            # An SDK that notices the failure reports it itself.
            await anyio.sleep(1)
            tasks.cancel_scope.cancel()
        if not outcome:
            name, status, text = self.met(TimeoutError("given up"))
            raise Trouble(name, text, status)
        return outcome[0]

    async def cancel(self):
        enough = anyio.Event()

        async def progress(*_):
            enough.set()

        number = self.next
        self.next += 1
        with anyio.fail_after(ANSWER_WITHIN):
            await self.sdk.cancelled("endless", {"number": number}, progress, enough)
        await self.until(self.network.is_idle, Trouble("not cancelled", "its stream stays open"))

    async def resume(self):
        """A call whose stream breaks and is resumed by the SDK, if it can: each step once, and one answer."""
        if not self.sdk.is_modern:
            self.network.tear(random.randint(2, 12))
        last = 0

        async def progress(step, *_):
            nonlocal last
            if step != last + 1:
                self.fault("lost" if step > last else "doubled", f"step {step} after {last}")
            last = step

        await self.call("steps", progress=progress)
        # The last report, which arrives together with the answer, may be lost in the SDK.
        if last < STEPS - 1:
            self.fault("lost", f"the answer came after step {last}")

    async def update(self):
        try:
            await self.until(self.sdk.is_listening, Trouble("missed", "there is no stream"))
        except Trouble:
            # The SDK gives up after two attempts to reconnect; then a program has to open a new session.
            if self.network.has_listened:
                self.network.has_listened = False
                raise Closed from None
            raise
        before = self.updates
        await self.call("touch")
        await self.until(lambda: self.updates > before, Trouble("missed", "an update did not come"))

    async def until(self, happened, otherwise):
        """Waits until a condition is true, for a limited time."""
        began = time.monotonic()
        while not happened():
            if time.monotonic() - began > SOON:
                raise otherwise
            await anyio.sleep(0.02)


def flat(error):
    """An error and all errors inside it."""
    parts = [error]
    for part in getattr(error, "exceptions", ()):
        parts += flat(part)
    return parts


async def watch_stdin(scope):
    await anyio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
    Run.is_over = True
    # Actions in progress get time to finish.
    await anyio.sleep(DONE_WITHIN)
    scope.cancel()


async def main():
    url, count = sys.argv[1], int(sys.argv[2])
    guests = [Guest(url, number) for number in range(count)]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch_stdin, tasks.cancel_scope)
        async with anyio.create_task_group() as working:
            for guest in guests:
                working.start_soon(guest.work)
        tasks.cancel_scope.cancel()


warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
anyio.run(main)
