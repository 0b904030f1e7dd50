"""Clients of both generations of the SDK with one interface, and the network below them."""

import re
import time
from contextlib import asynccontextmanager
from datetime import timedelta
from importlib.metadata import version

import anyio
from mcp.client.streamable_http import streamable_http_client

SDK = f"mcp-{version('mcp')}"

try:
    import httpx2 as httpx
    import mcp_types as types
    from mcp import Client

    IS_FIRST = False
except ImportError:
    import httpx
    from mcp import ClientSession, types
    from pydantic import AnyUrl

    IS_FIRST = True

EVENT_ID = re.compile(rb"^id: ?([^\r\n]+)", re.MULTILINE)

TO_TRY_AGAIN = {429, 502, 503, 504}

MAX_FAILED_RESUMES = 2
"""The number of attempts after which the SDK stops reconnecting to a stream."""


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Network(httpx.AsyncBaseTransport):
    """The network below one client's SDK. It records which requests failed, and can break a stream."""

    def __init__(self, name):
        self.token = f"Bearer {name}"
        self.inner = httpx.AsyncHTTPTransport()
        self.streams = set()
        self.standing = set()
        """Ids of events on GET streams."""
        self.last_failure = None
        self.has_listened = False
        """Whether there was a GET stream."""
        self.begin()

    def begin(self):
        """The client starts an action."""
        self.failures = []
        """The failures since then."""
        self.failed = anyio.Event()
        """Set when the SDK can no longer get an answer, and would wait until its timeout."""
        self.failed_resumes = 0
        self.tear_after = 0

    def tear(self, pieces):
        """Breaks the next stream of a call after this many pieces."""
        self.tear_after = pieces

    def is_idle(self):
        """Whether no stream of a call is open."""
        return all(stream.is_standing for stream in self.streams)

    def is_listening(self):
        """Whether the session's GET stream is open."""
        return any(stream.is_standing for stream in self.streams)

    def fail(self, name, status, text):
        self.failures.append((name, status, text))
        self.last_failure = (name, status, text, time.monotonic())
        self.failed.set()

    async def handle_async_request(self, request):
        request.headers["authorization"] = self.token
        last = request.headers.get("last-event-id")
        is_get = request.method == "GET" and (last is None or last in self.standing)
        is_standing = is_get or request.headers.get("mcp-method") == "subscriptions/listen"
        try:
            response = await self.inner.handle_async_request(request)
        except httpx.TransportError as error:
            self.lost(request, is_standing, repr(error))
            raise
        text = f"{request.method} got {response.status_code}"
        if response.status_code >= 400:
            self.refused(request, is_standing, response.status_code, text)
        elif response.headers.get("content-type", "").startswith("text/event-stream"):
            pieces = 0 if is_standing else self.tear_after
            self.tear_after = self.tear_after if is_standing else 0
            response.stream = Watched(self, response.stream, is_standing, pieces)
        return response

    def lost(self, request, is_standing, text):
        if is_standing:
            return
        if request.method == "POST":
            self.fail("broken", None, text)
        elif request.method == "GET":
            self.failed_resume("broken", None, text)

    def refused(self, request, is_standing, status, text):
        if is_standing:
            return
        if request.method == "GET":
            # The server has no events of this stream.
            name = "told" if status == 400 else "refused" if status in TO_TRY_AGAIN else "odd"
            self.failed_resume(name, status, text)
        if request.method != "POST":
            return
        if status == 404:
            self.fail("no session", None, text)
        elif status in TO_TRY_AGAIN:
            self.fail("refused", status, text)
        elif status >= 500:
            self.fail("odd", None, text)

    def failed_resume(self, name, status, text):
        self.failed_resumes += 1
        if self.failed_resumes >= MAX_FAILED_RESUMES:
            self.fail(name, status, text)

    async def aclose(self):
        """Left open, because other clients of the same guest use it."""


class Watched(httpx.AsyncByteStream):
    """The same stream. Records its events, and breaks it if requested."""

    def __init__(self, network, inner, is_standing, pieces):
        self.network = network
        self.inner = inner
        self.is_standing = is_standing
        self.left = pieces
        self.has_id = False
        network.streams.add(self)
        network.has_listened |= is_standing

    async def __aiter__(self):
        try:
            async for data in self.inner:
                for found in EVENT_ID.finditer(data):
                    self.has_id = True
                    if self.is_standing:
                        self.network.standing.add(found[1].decode())
                yield data
                self.left -= 1
                if self.left == 0:
                    raise httpx.ReadError("torn")
        except httpx.TransportError as error:
            # Without an event id the SDK does not resume the stream.
            if not self.has_id and not self.is_standing:
                self.network.fail("broken", None, repr(error))
            raise
        finally:
            self.network.streams.discard(self)

    async def aclose(self):
        self.network.streams.discard(self)
        await self.inner.aclose()


class Sdk:
    """A client of mcp 1.x or 2.x."""

    def __init__(self, guest):
        self.guest = guest
        self.is_modern = not IS_FIRST

    @staticmethod
    @asynccontextmanager
    async def open(guest):
        sdk = FirstSdk(guest) if IS_FIRST else SecondSdk(guest)
        timeout = httpx.Timeout(30, read=300)
        async with httpx.AsyncClient(transport=guest.network, timeout=timeout) as http:
            async with sdk.connected(streamable_http_client(guest.url, http_client=http)):
                yield sdk

    async def elicited(self, context, params):
        answer = self.guest.asked(params.message)
        return types.ElicitResult(action="accept", content={"word": answer})


class FirstSdk(Sdk):
    @asynccontextmanager
    async def connected(self, transport):
        async with transport as (read, write, *_):
            answers = {"elicitation_callback": self.elicited, "message_handler": self.heard}
            async with ClientSession(read, write, **answers) as self.session:
                result = await self.session.initialize()
                self.revision = result.protocolVersion
                yield

    async def heard(self, message):
        root = getattr(message, "root", None)
        if isinstance(root, types.ResourceUpdatedNotification):
            self.guest.updated(root.params.uri)
        if isinstance(message, Exception):
            self.guest.stray(message)

    def is_listening(self):
        return self.guest.network.is_listening()

    async def subscribe(self, uri):
        await self.session.subscribe_resource(AnyUrl(uri))

    async def call(self, name, arguments, within, progress=None):
        within = timedelta(seconds=within)
        return plain(await self.session.call_tool(name, arguments, within, progress))

    async def cancelled(self, name, arguments, progress, enough):
        # In this generation the caller has to notify the server.
        request = self.session._request_id
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, 60, progress)
            await enough.wait()
            params = types.CancelledNotificationParams(requestId=request)
            notification = types.CancelledNotification(method="notifications/cancelled", params=params)
            await self.session.send_notification(types.ClientNotification(notification))
            tasks.cancel_scope.cancel()


class SecondSdk(Sdk):
    @asynccontextmanager
    async def connected(self, transport):
        client = Client(transport, mode="auto", elicitation_callback=self.elicited)
        async with client as self.client, anyio.create_task_group() as self.tasks:
            self.revision = self.client.protocol_version
            self.has_stream = False
            yield
            self.tasks.cancel_scope.cancel()

    def is_listening(self):
        return self.has_stream

    async def subscribe(self, uri):
        self.tasks.start_soon(self.listen, uri)

    async def listen(self, uri):
        """Subscribes again, which the SDK does not do."""
        while True:
            try:
                async with self.client.listen(resource_subscriptions=[uri]) as events:
                    self.has_stream = True
                    async for event in events:
                        self.guest.updated(event.uri)
            except Exception as error:
                self.guest.stray(error)
            self.has_stream = False
            await anyio.sleep(0.05)

    async def call(self, name, arguments, within, progress=None):
        result = await self.client.call_tool(name, arguments, within, progress)
        return plain(result)

    async def cancelled(self, name, arguments, progress, enough):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, 60, progress)
            await enough.wait()
            tasks.cancel_scope.cancel()
