"""Checks that only apply to HTTP: broken streams and ended sessions."""

import json
import os
import time
import urllib.error
import urllib.request
from urllib.parse import urljoin, urlsplit

import anyio

from report import check, holds, same

SLOWEST_POST = 60
"""How long an HTTP+SSE client waits for the answer to a POST, in seconds. The SDK's default of 5 s is too short when
two debug builds exchange a message of 2 MB on a busy machine: encrypting and decrypting it takes each of them about a
second of CPU time."""


def transport_of(place):
    """The transport of a server: a URL that ends in /sse, another URL, or a command."""
    if not place.startswith(("http:", "https:")):
        return "stdio"
    return "sse" if urlsplit(place).path.endswith("/sse") else "http"


async def broken_streams(peer, relay):
    """Breaks every connection once, and expects the SDK to reconnect."""

    async def call():
        seen = []

        async def report(progress, total, message):
            seen.append(progress)
            if progress == 3:
                relay.cut()

        await until(lambda: relay.reads == 1, "the SDK opened no stream")
        result = await peer.call("count", {"to": 10, "pause": 50}, report)
        same(result["content"][0]["text"], "counted to 10")
        # Some reports come while the client is disconnected. No report is lost or duplicated, except that
        # the last one, which arrives together with the result, may be lost in the SDK.
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
    """A session that the relay recorded, and whether the server still knows it."""

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
    """The status of a notification that is sent without the SDK."""
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
    """Waits until a condition is true, for a limited time."""
    start = time.monotonic()
    while True:
        claim = happened()
        if claim if isinstance(claim, bool) else await claim:
            return
        holds(time.monotonic() - start < 10, otherwise)
        await anyio.sleep(0.02)
