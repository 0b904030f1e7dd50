"""A server built on mcp 2.x, for our client, as described in ../typescript/peer.mjs.

    python v2_server.py stdio|http|sse
"""

import sys
from functools import partial

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from listen import listen

server = MCPServer("peer", version="2.0.0")
stopped = 0


class Sum(BaseModel):
    sum: float


class Person(BaseModel):
    name: str


FORM = types.ElicitRequest(
    params=types.ElicitRequestFormParams(
        message="Who are you?",
        requested_schema={
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    )
)
SAMPLE = types.CreateMessageRequest(
    params=types.CreateMessageRequestParams(
        messages=[
            types.SamplingMessage(role="user", content=types.TextContent(text="Say hello."))
        ],
        max_tokens=10,
    )
)


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
def add(a: float, b: float) -> Sum:
    return Sum(sum=a + b)


@server.tool()
def fail() -> str:
    # The text of any other exception is not sent.
    raise ToolError("on purpose")


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


def asking(context, key, request, use):
    """Asks once; the answer comes with the retry."""
    answer = (context.input_responses or {}).get(key)
    if answer is None:
        return types.InputRequiredResult(input_requests={key: request})
    return said(use(answer))


def said(text):
    return types.CallToolResult(content=[types.TextContent(text=text)])


def is_modern(context):
    """In sessions, the server asks with requests and reports with notifications."""
    return context.protocol_version >= "2026-07-28"


@server.tool()
async def ask(context: Context) -> types.CallToolResult | types.InputRequiredResult:
    if is_modern(context):
        return asking(context, "name", FORM, lambda it: f"{it.action}: {it.content['name']}")
    answer = await context.elicit("Who are you?", Person)
    return said(f"{answer.action}: {answer.data.name}")


@server.tool()
async def sample(context: Context) -> types.CallToolResult | types.InputRequiredResult:
    if is_modern(context):
        return asking(context, "model", SAMPLE, lambda it: it.content.text)
    messages = SAMPLE.params.messages
    result = await context.session.create_message(messages, max_tokens=10)
    return said(result.content.text)


def uris(result):
    return " ".join(str(root.uri) for root in result.roots)


@server.tool()
async def places(context: Context) -> types.CallToolResult | types.InputRequiredResult:
    if is_modern(context):
        return asking(context, "roots", types.ListRootsRequest(), uris)
    return said(uris(await context.session.list_roots()))


@server.tool()
async def grow(context: Context) -> str:
    if is_modern(context):
        await context.notify_tools_changed()
    else:
        await context.session.send_tool_list_changed()
    return "told"


@server.tool()
async def log(context: Context) -> str:
    await context.log("warning", "careful", logger_name="peer")
    return "logged"


@server.tool()
async def touch(context: Context) -> str:
    if is_modern(context):
        await context.notify_resource_updated("peer://readme")
    else:
        await context.session.send_resource_updated("peer://readme")
    return "told"


async def accept(context, params):
    return types.EmptyResult()


# Sessions need these, and they have no high-level API.
low_level = server._lowlevel_server
low_level.create_initialization_options = partial(
    low_level.create_initialization_options, NotificationOptions(tools_changed=True)
)
low_level.add_request_handler("logging/setLevel", types.SetLevelRequestParams, accept)
low_level.add_request_handler("resources/subscribe", types.SubscribeRequestParams, accept)
low_level.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, accept)


@server.resource("peer://readme", mime_type="text/plain")
def readme() -> str:
    return "Read me."


@server.resource("peer://greeting/{name}")
def greeting(name: str) -> str:
    return f"Hello, {name}!"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


@server.completion()
async def complete(ref, argument, context):
    names = [name for name in ("ada", "alan") if name.startswith(argument.value)]
    return types.Completion(values=names)


match sys.argv[1]:
    case "http":
        listen("/mcp", server.streamable_http_app())
    case "sse":
        listen("/sse", server.sse_app())
    case _:
        server.run("stdio")
