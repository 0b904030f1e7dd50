"""A server built on mcp 1.x, for our client: the same as ../typescript/peer.mjs says."""

import anyio
from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

server = FastMCP("peer")
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


if hasattr(Context, "elicit"):

    # Older servers end when a call is cancelled, so clients cannot ask them this.
    @server.tool(name="stopped")
    def how_many_stopped() -> str:
        return str(stopped)

    @server.tool()
    async def ask(context: Context) -> str:
        result = await context.elicit("Who are you?", Person)
        return f"{result.action}: {result.data.name}"


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


@server.resource("peer://readme", mime_type="text/plain")
def readme() -> str:
    return "Read me."


@server.resource("peer://greeting/{name}")
def greeting(name: str) -> str:
    return f"Hello, {name}!"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


# Where the high level has no completion yet, the low level does.
completion = getattr(server, "completion", None) or server._mcp_server.completion


@completion()
async def complete(ref, argument, *context):
    names = [name for name in ("ada", "alan") if name.startswith(argument.value)]
    return types.Completion(values=names)


server.run("stdio")
