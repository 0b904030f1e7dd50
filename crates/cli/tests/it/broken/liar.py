"""Has tools that only read, and give other results than they promise. One writes, and must not be called."""

import pathlib
import sys

import server

OUTPUT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
READS = {"readOnlyHint": True}


def tool(name, **more):
    return {"name": name, "description": "Counts.", "inputSchema": {"type": "object"}, **more}


TOOLS = [
    tool("count", annotations=READS, outputSchema=OUTPUT),
    tool("bare", annotations=READS, outputSchema=OUTPUT),
    tool("write"),
]


def handle(method, params):
    if method == "tools/call":
        text = [{"type": "text", "text": "many"}]
        name = params.get("name")
        if name == "count":
            return {"result": {"content": text, "structuredContent": {"count": "many"}}}
        if name == "bare":
            return {"result": {"content": text}}
        if name == "write":
            pathlib.Path(sys.argv[1]).write_text("it was called")
            return {"result": {"content": text}}
    return server.answer(method, params, TOOLS)


server.serve(handle)
