"""A client built on mcp 2.x, against the demo server.

    python v2_client.py auto|legacy COMMAND [ARGUMENT…]
"""

import sys
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import PromptReference, ResourceTemplateReference
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from demo import closing, demo
from report import same, unguarded


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Peer:
    def __init__(self, mode):
        self.mode = mode
        self.revision = ""
        self.reports = 0
        self.told = anyio.Event()

    async def open(self, stack, command, args):
        server = StdioServerParameters(command=command, args=list(args))
        client = Client(server, mode=self.mode, message_handler=self.heard)
        self.client = await stack.enter_async_context(client)
        self.revision = self.client.protocol_version
        wanted = LATEST_HANDSHAKE_VERSION if self.mode == "legacy" else LATEST_MODERN_VERSION
        same(self.revision, wanted, "the revision")
        same(self.client.server_info.name, "turnbuckle-demo", "the name")

    async def heard(self, message):
        method = getattr(message, "method", None)
        if method == "notifications/tools/list_changed":
            self.told.set()
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


class Told:
    """The first event of a subscription, as something to wait for."""

    def __init__(self, events):
        self.events = events

    async def wait(self):
        await anext(aiter(self.events))


async def main(mode, command, *args):
    peer = Peer(mode)
    async with AsyncExitStack() as stack:
        await unguarded("connect", lambda: peer.open(stack, command, args))
        await demo(peer)
        await closing(stack.aclose)
    print("done", flush=True)


anyio.run(main, *sys.argv[1:])
