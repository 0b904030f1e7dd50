"""What only clients over HTTP can show: streams that break, and sessions that end."""

import json
import os
import time
import urllib.error
import urllib.request
from urllib.parse import urljoin, urlsplit

import anyio

from report import check, holds, same

SLOWEST_POST = 60
"""How long an HTTP+SSE client waits for the answer to a POST, in seconds. The SDK's default of 5 s is too short for two
debug builds, one of which sends a message of 2 MB to the other: encrypting and decrypting it takes each of them about a
second of CPU time, on a machine that has other work too."""


def transport_of(place):
    """How a server is reached: by a URL that ends in /sse, by another URL, or by a command."""
    if not place.startswith(("http:", "https:")):
        return "stdio"
    return "sse" if urlsplit(place).path.endswith("/sse") else "http"


async def broken_streams(peer, relay):
    """Tears every connection once, and expects the SDK to find its way back."""

    async def call():
        seen = []

        async def report(progress, total, message):
            seen.append(progress)
            if progress == 3:
                relay.cut()

        await until(lambda: relay.reads == 1, "the SDK opened no stream")
        result = await peer.call("count", {"to": 10, "pause": 50}, report)
        same(result["content"][0]["text"], "counted to 10")
        # Some come while the client is away. None is lost and none comes twice, but the last,
        # which arrives together with the result, may be lost inside the SDK.
        same(seen[:9], [1, 2, 3, 4, 5, 6, 7, 8, 9], "the reports")

    async def standing():
        await until(lambda: relay.reads == 3, "the SDK did not come back")
        name = f"back-{os.getpid()}"
        async with peer.tools_changed() as told:
            await peer.call("grow", {"name": name})
            await told.wait()
        await peer.call("shrink", {"name": name})

    await check("a call whose stream breaks", call)
    await check("a standing stream that breaks", standing)


class Session:
    """A session as the relay overheard it, and whether the server still knows it."""

    def __init__(self, place, relay, revision):
        self.place = place
        self.relay = relay
        self.revision = revision

    async def status(self):
        if self.relay.endpoint:
            return await notified(urljoin(self.place, self.relay.endpoint), {})
        headers = {"mcp-session-id": self.relay.session, "mcp-protocol-version": self.revision}
        return await notified(self.place, headers)

    async def begun(self):
        holds(self.relay.endpoint or self.relay.session, "there is none")
        same(await self.status(), 202, "the status")

    async def ended(self):
        async def is_gone():
            return await self.status() == 404

        await until(is_gone, "the server still knows the session")


async def notified(url, headers):
    """The status of a notification that the SDK has no part in."""
    message = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    body = json.dumps(message).encode()
    accept = "application/json, text/event-stream"
    headers = {"content-type": "application/json", "accept": accept, **headers}
    request = urllib.request.Request(url, body, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def send():
        try:
            with opener.open(request, timeout=10) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code

    return await anyio.to_thread.run_sync(send)


async def until(happened, otherwise):
    """Waits for something that happens by itself soon."""
    start = time.monotonic()
    while True:
        claim = happened()
        if claim if isinstance(claim, bool) else await claim:
            return
        holds(time.monotonic() - start < 10, otherwise)
        await anyio.sleep(0.02)
