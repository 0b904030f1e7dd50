"""A client built on mcp 1.x, against the demo server.

    python v1_client.py URL
    python v1_client.py COMMAND [ARGUMENT…]
"""

import sys
import warnings
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl

from demo import closing, demo
from over_http import Session, broken_streams, transport_of
from relay import Relay
from report import check, same, unguarded


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Peer:
    def __init__(self):
        self.revision = ""
        self.reports = 0
        self.longest = 1_000_000
        self.told = anyio.Event()

    async def open(self, stack, streams):
        read, write, *_ = await stack.enter_async_context(streams)
        session = ClientSession(read, write, message_handler=self.heard)
        self.session = await stack.enter_async_context(session)
        result = await self.session.initialize()
        self.revision = result.protocolVersion
        same(self.revision, types.LATEST_PROTOCOL_VERSION, "the revision")
        same(result.serverInfo.name, "turnbuckle-demo", "the name")

    async def heard(self, message):
        root = getattr(message, "root", None)
        if isinstance(root, types.ToolListChangedNotification):
            self.told.set()
        if isinstance(root, types.ProgressNotification):
            self.reports += 1

    async def tools(self):
        return plain(await self.session.list_tools())["tools"]

    async def resources(self):
        return plain(await self.session.list_resources())["resources"]

    async def templates(self):
        return plain(await self.session.list_resource_templates())["resourceTemplates"]

    async def prompts(self):
        return plain(await self.session.list_prompts())["prompts"]

    async def call(self, name, arguments, progress=None):
        return plain(await self.session.call_tool(name, arguments, progress_callback=progress))

    async def cancelled(self, name, arguments, count):
        seen = 0
        enough = anyio.Event()

        async def report(progress, total, message):
            nonlocal seen
            seen += 1
            if seen == count:
                enough.set()

        # This generation leaves it to the caller to tell the server.
        request = self.session._request_id
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, report)
            await enough.wait()
            cancelled = types.CancelledNotification(
                method="notifications/cancelled",
                params=types.CancelledNotificationParams(requestId=request),
            )
            await self.session.send_notification(types.ClientNotification(cancelled))
            tasks.cancel_scope.cancel()

    async def read(self, uri):
        return plain(await self.session.read_resource(AnyUrl(uri)))

    async def get(self, name, arguments):
        return plain(await self.session.get_prompt(name, arguments))

    async def complete(self, ref, argument, settled):
        if ref["type"] == "ref/prompt":
            reference = types.PromptReference(**ref)
        else:
            kind = getattr(types, "ResourceTemplateReference", None) or types.ResourceReference
            reference = kind(**ref)
        context = {"context_arguments": settled} if settled else {}
        result = await self.session.complete(reference, argument, **context)
        return result.completion.values

    @asynccontextmanager
    async def tools_changed(self):
        self.told = anyio.Event()
        yield self.told


async def main(place, *args):
    kind = transport_of(place)
    relay = Relay(place) if kind != "stdio" else None
    if relay:
        await relay.open()
    transports = {
        "stdio": lambda: stdio_client(StdioServerParameters(command=place, args=args)),
        "sse": lambda: sse_client(relay.url),
        "http": lambda: streamablehttp_client(relay.url),
    }
    peer = Peer()
    async with AsyncExitStack() as stack:
        await unguarded("connect", lambda: peer.open(stack, transports[kind]()))

        async def ping():
            await peer.session.send_ping()

        await check("ping", ping)
        # Streams are resumed since the SDK knows the revision that tells how.
        if kind == "http" and types.LATEST_PROTOCOL_VERSION >= "2025-11-25":
            await broken_streams(peer, relay)
        session = Session(place, relay, peer.revision)
        if relay:
            await check("session", session.begun)
        await demo(peer)
        await closing(stack.aclose)
        if relay:
            await check("session ended", session.ended)
            relay.close()
    print("done", flush=True)


# Newer versions have another name for one of the transports.
warnings.simplefilter("ignore", DeprecationWarning)
anyio.run(main, *sys.argv[1:])
