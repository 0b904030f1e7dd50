"""A client built on mcp 1.x, for the demo server, or for a server behind the gateway if THROUGH_GATEWAY is in the
environment.

    python v1_client.py URL
    python v1_client.py COMMAND [ARGUMENT…]
"""

import inspect
import sys
import warnings
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import httpx
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from pydantic import AnyUrl

from answers import Answers
from behind import IS_THROUGH, behind
from demo import closing, demo
from over_http import SLOWEST_POST, Session, broken_streams, transport_of
from relay import Relay
from report import check, same, unguarded

ACCEPTED = inspect.signature(ClientSession.__init__).parameters
CAN_REPORT = "progress_callback" in inspect.signature(ClientSession.call_tool).parameters


def plain(model):
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Peer:
    def __init__(self):
        self.revision = ""
        self.reports = 0
        self.longest = 1_000_000
        self.told = anyio.Event()
        self.updated = anyio.Event()
        self.logged = []
        self.listeners = {}
        # URL elicitation needs a revision that has it.
        can_visit = types.LATEST_PROTOCOL_VERSION >= "2025-11-25"
        self.answers = {"roots"}
        if "sampling_callback" in ACCEPTED:
            self.answers.add("sampling")
        if "elicitation_callback" in ACCEPTED:
            self.answers |= {"form", "url"} if can_visit else {"form"}

    async def open(self, stack, streams):
        read, write, *_ = await stack.enter_async_context(streams)
        answers = Answers(types)
        callbacks = {
            "message_handler": self.heard,
            "sampling_callback": answers.sampled,
            "elicitation_callback": answers.elicited,
            "list_roots_callback": answers.rooted,
        }
        known = {name: call for name, call in callbacks.items() if name in ACCEPTED}
        self.session = await stack.enter_async_context(ClientSession(read, write, **known))
        if not known:
            # The first versions have a queue instead, which has to be emptied.
            tasks = await stack.enter_async_context(anyio.create_task_group())
            tasks.start_soon(self.read_queue, answers)
            stack.callback(tasks.cancel_scope.cancel)
        result = await self.session.initialize()
        self.revision = result.protocolVersion
        if hasattr(self.session, "experimental"):
            self.tasks = Tasks(self.session.experimental, result.capabilities.tasks)
        same(self.revision, types.LATEST_PROTOCOL_VERSION, "the revision")
        same(result.serverInfo.name, "turnbuckle" if IS_THROUGH else "turnbuckle-demo", "the name")

    async def read_queue(self, answers):
        async for message in self.session.incoming_messages:
            request = getattr(getattr(message, "request", None), "root", None)
            if isinstance(request, types.ListRootsRequest):
                await message.respond(types.ClientResult(await answers.rooted(None)))
            else:
                await self.heard(message)

    async def heard(self, message):
        root = getattr(message, "root", None)
        if isinstance(root, types.ToolListChangedNotification):
            self.told.set()
        if isinstance(root, types.ResourceUpdatedNotification):
            self.updated.set()
        if isinstance(root, types.LoggingMessageNotification):
            self.logged.append(plain(root.params))
        if isinstance(root, types.ProgressNotification):
            self.reports += 1
            if listener := self.listeners.get(root.params.progressToken):
                await listener(root.params.progress, root.params.total, None)

    async def tools(self):
        return plain(await self.session.list_tools())["tools"]

    async def resources(self):
        return plain(await self.session.list_resources())["resources"]

    async def templates(self):
        if hasattr(self.session, "list_resource_templates"):
            return plain(await self.session.list_resource_templates())["resourceTemplates"]
        request = types.ListResourceTemplatesRequest(method="resources/templates/list")
        kind = types.ListResourceTemplatesResult
        # In the first versions it is missing from the list of client messages.
        request = types.ClientRequest.model_construct(root=request)
        return plain(await self.session.send_request(request, kind))["resourceTemplates"]

    async def prompts(self):
        return plain(await self.session.list_prompts())["prompts"]

    async def call(self, name, arguments, progress=None, meta=None):
        if progress is None:
            return plain(await self.session.call_tool(name, arguments))
        if CAN_REPORT:
            return plain(await self.session.call_tool(name, arguments, progress_callback=progress))
        # In older versions the caller has to request reports.
        token = self.session._request_id
        self.listeners[token] = progress
        meta = types.RequestParams.Meta(progressToken=token)
        params = types.CallToolRequestParams(name=name, arguments=arguments, _meta=meta)
        request = types.CallToolRequest(method="tools/call", params=params)
        result = await self.session.send_request(types.ClientRequest(request), types.CallToolResult)
        return plain(result)

    async def cancelled(self, name, arguments, count):
        seen = 0
        enough = anyio.Event()

        async def report(progress, total, message):
            nonlocal seen
            seen += 1
            if seen == count:
                enough.set()

        # In this generation the caller has to notify the server.
        request = self.session._request_id
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.call, name, arguments, report)
            await enough.wait()
            cancelled = {"method": "notifications/cancelled", "params": {"requestId": request}}
            kind = getattr(types, "CancelledNotification", None)
            if kind:
                notification = types.ClientNotification(kind(**cancelled))
            else:
                notification = Unknown(cancelled)
            await self.session.send_notification(notification)
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

    @asynccontextmanager
    async def resource_updated(self, uri):
        self.updated = anyio.Event()
        await self.session.subscribe_resource(AnyUrl(uri))
        yield self.updated
        await self.session.unsubscribe_resource(AnyUrl(uri))

    async def hear_logs(self, level):
        await self.session.set_logging_level(level)


class Tasks:
    """Calls as tasks, which are experimental in the SDK."""

    def __init__(self, features, offered):
        self.features = features
        self.can_list = bool(offered and offered.list)

    async def start(self, name, arguments):
        created = await self.features.call_tool_as_task(name, arguments, ttl=60_000)
        return created.task.taskId

    async def status(self, task):
        return (await self.features.get_task(task)).status

    async def result(self, task):
        return plain(await self.features.get_task_result(task, types.CallToolResult))

    async def cancel(self, task):
        return (await self.features.cancel_task(task)).status

    async def list(self):
        return [task.taskId for task in (await self.features.list_tasks()).tasks]


class Unknown:
    """Sends a message that the SDK has no type for."""

    def __init__(self, message):
        self.message = message

    def model_dump(self, **_):
        return self.message


def streamable_http(url):
    # Versions before 1.8 do not have it.
    from mcp.client.streamable_http import streamablehttp_client

    return streamablehttp_client(url)


def wait_for_slow_posts():
    """The HTTP+SSE client of old versions sends messages with the default timeout of its HTTP client."""
    httpx.AsyncClient.__init__.__kwdefaults__["timeout"] = httpx.Timeout(SLOWEST_POST)


async def main(place, *args):
    wait_for_slow_posts()
    kind = transport_of(place)
    relay = Relay(place) if kind != "stdio" else None
    if relay:
        await relay.open()
    transports = {
        "stdio": lambda: stdio_client(StdioServerParameters(command=place, args=args)),
        "sse": lambda: sse_client(relay.url, timeout=SLOWEST_POST),
        "http": lambda: streamable_http(relay.url),
    }
    peer = Peer()
    async with AsyncExitStack() as stack:
        await unguarded("connect", lambda: peer.open(stack, transports[kind]()))
        print(f"revision\t{peer.revision}", flush=True)

        async def ping():
            await peer.session.send_ping()

        await check("ping", ping)
        # The SDK resumes streams in versions that know 2025-11-25.
        if not IS_THROUGH and kind == "http" and types.LATEST_PROTOCOL_VERSION >= "2025-11-25":
            await broken_streams(peer, relay)
        session = Session(place, relay, peer.revision)
        if relay:
            await check("session", session.begun)
        await (behind if IS_THROUGH else demo)(peer)
        await closing(stack.aclose)
        if relay:
            await check("session ended", session.ended)
            relay.close()
    print("done", flush=True)


# Newer versions have another name for one of the transports.
warnings.simplefilter("ignore", DeprecationWarning)
anyio.run(main, *sys.argv[1:])
