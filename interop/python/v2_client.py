"""A client built on mcp 2.x, for the demo server, or for a server behind the gateway if THROUGH_GATEWAY is in the
environment.

    python v2_client.py auto|legacy URL
    python v2_client.py auto|legacy COMMAND [ARGUMENT…]
"""

import sys
import warnings
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import PromptReference, ResourceTemplateReference
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from answers import Answers
from behind import IS_THROUGH, behind
from demo import closing, demo
from over_http import SLOWEST_POST, Session, broken_streams, transport_of
from relay import Relay
from report import check, same, unguarded


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Peer:
    def __init__(self, mode):
        self.mode = mode
        self.revision = ""
        self.reports = 0
        self.longest = 1_000_000
        self.told = anyio.Event()
        self.updated = anyio.Event()
        self.logged = []
        self.answers = {"form", "url", "sampling", "roots"}

    async def open(self, stack, server):
        answers = Answers(types)
        client = Client(
            server,
            mode=self.mode,
            message_handler=self.heard,
            elicitation_callback=answers.elicited,
            sampling_callback=answers.sampled,
            list_roots_callback=answers.rooted,
            # This requests logs from a modern server; for a session, `hear_logs` does.
            log_level="info" if IS_THROUGH else "error",
        )
        self.client = await stack.enter_async_context(client)
        self.revision = self.client.protocol_version
        wanted = LATEST_HANDSHAKE_VERSION if self.mode == "legacy" else LATEST_MODERN_VERSION
        same(self.revision, wanted, "the revision")
        same(self.client.server_info.name, "turnbuckle" if IS_THROUGH else "turnbuckle-demo", "the name")

    async def heard(self, message):
        method = getattr(message, "method", None)
        if method == "notifications/tools/list_changed":
            self.told.set()
        if method == "notifications/resources/updated":
            self.updated.set()
        if method == "notifications/message":
            self.logged.append(plain(message.params))
        if method == "notifications/progress":
            self.reports += 1

    async def tools(self):
        return plain(await self.client.list_tools())["tools"]

    async def resources(self):
        return plain(await self.client.list_resources())["resources"]

    async def templates(self):
        return plain(await self.client.list_resource_templates())["resourceTemplates"]

    async def prompts(self):
        return plain(await self.client.list_prompts())["prompts"]

    async def call(self, name, arguments, progress=None):
        return plain(await self.client.call_tool(name, arguments, progress_callback=progress))

    async def cancelled(self, name, arguments, count):
        seen = 0
        enough = anyio.Event()

        async def report(progress, total, message):
            nonlocal seen
            seen += 1
            if seen == count:
                enough.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, report)
            await enough.wait()
            tasks.cancel_scope.cancel()

    async def read(self, uri):
        return plain(await self.client.read_resource(uri))

    async def get(self, name, arguments):
        return plain(await self.client.get_prompt(name, arguments))

    async def complete(self, ref, argument, settled):
        kind = PromptReference if ref["type"] == "ref/prompt" else ResourceTemplateReference
        result = await self.client.complete(kind(**ref), argument, settled)
        return result.completion.values

    @asynccontextmanager
    async def tools_changed(self):
        self.told = anyio.Event()
        if self.mode == "legacy":
            yield self.told
            return
        async with self.client.listen(tools_list_changed=True) as events:
            yield Told(events)

    @asynccontextmanager
    async def resource_updated(self, uri):
        if self.mode == "legacy":
            self.updated = anyio.Event()
            await self.client.subscribe_resource(uri)
            yield self.updated
            await self.client.unsubscribe_resource(uri)
            return
        async with self.client.listen(resource_subscriptions=[uri]) as events:
            yield Told(events)

    async def hear_logs(self, level):
        if self.mode == "legacy":
            await self.client.set_logging_level(level)


class Told:
    """The first event of a subscription, as an awaitable."""

    def __init__(self, events):
        self.events = events

    async def wait(self):
        await anext(aiter(self.events))


async def main(mode, place, *args):
    kind = transport_of(place)
    relay = Relay(place) if kind != "stdio" else None
    if relay:
        await relay.open()
    servers = {
        "stdio": lambda: StdioServerParameters(command=place, args=list(args)),
        "sse": lambda: sse_client(relay.url, timeout=SLOWEST_POST),
        "http": lambda: relay.url,
    }
    peer = Peer(mode)
    if kind == "sse":
        # There the SDK reads events of up to 1 MiB.
        peer.longest = 400_000
    async with AsyncExitStack() as stack:
        await unguarded("connect", lambda: peer.open(stack, servers[kind]()))
        print(f"revision\t{peer.revision}", flush=True)
        if not IS_THROUGH and kind == "http" and mode == "legacy":
            await broken_streams(peer, relay)
        session = Session(place, relay, peer.revision)

        async def no_session():
            same(relay.session, None, "the session")

        if relay:
            await check("session", session.begun if mode == "legacy" else no_session)
        await (behind if IS_THROUGH else demo)(peer)
        if kind == "sse":
            # The SDK fails on notifications while it closes, and other clients change lists.
            relay.is_silent = True
            await anyio.sleep(0.2)
        await closing(stack.aclose)
        if relay and mode == "legacy":
            await check("session ended", session.ended)
        if relay:
            relay.close()
    print("done", flush=True)


# Features that 2026-07-28 deprecates must still work with older revisions.
warnings.simplefilter("ignore")
anyio.run(main, *sys.argv[1:])
