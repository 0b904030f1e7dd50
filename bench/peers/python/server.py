"""The server for the comparison, built on the Python SDK, with uvicorn, uvloop and httptools.

python server.py stdio
python server.py http PORT
"""

import sys
from typing import Annotated

import mcp_types as types
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

server = MCPServer("peer-python", log_level="ERROR")

QUESTION = types.ElicitRequest(
    params=types.ElicitRequestFormParams(
        message="Which seat?",
        requested_schema={
            "type": "object",
            "properties": {
                "row": {"type": "integer", "minimum": 1, "maximum": 40, "description": "Counted from the front."}
            },
            "required": ["row"],
        },
    )
)


class Sum(BaseModel):
    sum: int


def said(text):
    return types.CallToolResult(content=[types.TextContent(text=text)])


async def echo(text: str) -> str:
    return text


async def add(a: int, b: int) -> Sum:
    return Sum(sum=a + b)


async def ask(text: str, context: Context) -> types.CallToolResult | types.InputRequiredResult:
    seat = (context.input_responses or {}).get("seat")
    if seat is None:
        return types.InputRequiredResult(input_requests={"seat": QUESTION})
    assert seat.content["row"] > 0
    return said(text)


async def search(
    query: Annotated[str, Field(description="Search query")],
    limit: Annotated[int, Field(description="Maximum number of results", ge=1, le=100)] = 10,
    verbose: Annotated[bool, Field(description="Verbose output")] = False,
) -> str:
    return ""


server.add_tool(echo, description="Returns its text argument", structured_output=False)
server.add_tool(add, description="Adds two integers")
server.add_tool(ask, description="Asks once, and returns its text argument")
for number in range(100):
    server.add_tool(
        search,
        name=f"dummy_{number:03}",
        description=f"Dummy tool number {number:03}, which gives tools/list a realistic payload.",
        structured_output=False,
    )


def serve_http(port):
    import uvicorn

    uvicorn.run(
        server.streamable_http_app(),
        host="127.0.0.1",
        port=port,
        loop="uvloop",
        http="httptools",
        log_level="error",
        access_log=False,
        backlog=4096,
    )


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    serve_http(int(sys.argv[2]))
