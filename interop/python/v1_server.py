"""A server built on mcp 1.x, for our client, as described in ../typescript/peer.mjs.

    python v1_server.py stdio|http|sse
"""

import sys
from functools import partial

import anyio
from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.lowlevel import NotificationOptions
from pydantic import AnyUrl, BaseModel

from listen import event_store, http_sse, listen

kind = sys.argv[1]
# New in 2025-11-25: a server may close a stream, and the client reconnects.
can_hide = kind == "http" and hasattr(Context, "close_sse_stream")
settings = {}
if kind == "http":
    from mcp.server.streamable_http import EventMessage, EventStore

    settings["event_store"] = event_store(EventStore, EventMessage)
if can_hide:
    # Clients reconnect after some milliseconds.
    settings["retry_interval"] = 50
server = FastMCP("peer", **settings)
# The high-level API does not declare that the list of tools can change.
server._mcp_server.create_initialization_options = partial(
    server._mcp_server.create_initialization_options, NotificationOptions(tools_changed=True)
)
stopped = 0


class Sum(BaseModel):
    sum: float


class Person(BaseModel):
    name: str


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
def add(a: float, b: float) -> Sum:
    return Sum(sum=a + b)


@server.tool()
def fail() -> str:
    raise ValueError("on purpose")


@server.tool()
async def slow(steps: int, context: Context) -> str:
    global stopped
    try:
        for step in range(1, steps + 1):
            await anyio.sleep(0.01)
            await context.report_progress(step, steps)
    except anyio.get_cancelled_exc_class():
        stopped += 1
        raise
    return "done"


@server.tool(name="stopped")
def how_many_stopped() -> str:
    return str(stopped)


if hasattr(Context, "elicit"):

    @server.tool()
    async def ask(context: Context) -> str:
        result = await context.elicit("Who are you?", Person)
        return f"{result.action}: {result.data.name}"


if can_hide:

    @server.tool()
    async def hide(context: Context) -> str:
        for step in range(1, 11):
            await anyio.sleep(0.01)
            await context.report_progress(step, 10)
            if step == 3:
                await context.close_sse_stream()
        return "done"


@server.tool()
async def sample(context: Context) -> str:
    text = types.TextContent(type="text", text="Say hello.")
    message = types.SamplingMessage(role="user", content=text)
    result = await context.session.create_message([message], max_tokens=10)
    return result.content.text


@server.tool()
async def places(context: Context) -> str:
    result = await context.session.list_roots()
    return " ".join(str(root.uri) for root in result.roots)


@server.tool()
async def grow(context: Context) -> str:
    await context.session.send_tool_list_changed()
    return "told"


@server.tool()
async def log(context: Context) -> str:
    await context.session.send_log_message(level="warning", data="careful", logger="peer")
    return "logged"


@server.tool()
async def touch(context: Context) -> str:
    await context.session.send_resource_updated(AnyUrl("peer://readme"))
    return "told"


# These have no high-level API.
@server._mcp_server.set_logging_level()
async def set_level(level):
    pass


@server._mcp_server.subscribe_resource()
async def subscribe(uri):
    pass


@server._mcp_server.unsubscribe_resource()
async def unsubscribe(uri):
    pass


@server.resource("peer://readme", mime_type="text/plain")
def readme() -> str:
    return "Read me."


@server.resource("peer://greeting/{name}")
def greeting(name: str) -> str:
    return f"Hello, {name}!"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


# Older versions have completion only in the low-level API.
completion = getattr(server, "completion", None) or server._mcp_server.completion


@completion()
async def complete(ref, argument, *context):
    names = [name for name in ("ada", "alan") if name.startswith(argument.value)]
    return types.Completion(values=names)


def add_brew(low):
    """A tool that may run as a task, which has no high-level API."""
    low.experimental.enable_tasks()
    listed = low.request_handlers[types.ListToolsRequest]
    called = low.request_handlers[types.CallToolRequest]
    schema = {"type": "object", "properties": {"time": {"type": "integer"}}, "required": ["time"]}
    execution = types.ToolExecution(taskSupport="optional")
    brew = types.Tool(name="brew", inputSchema=schema, execution=execution)

    async def list_tools(request):
        result = await listed(request)
        result.root.tools.append(brew)
        return result

    async def call_tool(request):
        if request.params.name != "brew":
            return await called(request)

        async def work(_task):
            await anyio.sleep(request.params.arguments["time"] / 1000)
            text = types.TextContent(type="text", text="brewed")
            return types.CallToolResult(content=[text])

        experimental = low.request_context.experimental
        result = await (experimental.run_task(work) if experimental.is_task else work(None))
        return types.ServerResult(result)

    low.request_handlers[types.ListToolsRequest] = list_tools
    low.request_handlers[types.CallToolRequest] = call_tool


if hasattr(server._mcp_server, "experimental"):
    add_brew(server._mcp_server)


match kind:
    case "http":
        listen("/mcp", server.streamable_http_app())
    case "sse":
        has_app = hasattr(server, "sse_app")
        listen("/sse", server.sse_app() if has_app else http_sse(server._mcp_server))
    case _:
        server.run("stdio")
