"""A small server of 2025-11-25 over stdio that does everything right. Each file beside it breaks one thing."""

import json
import sys

VERSION = "2025-11-25"
ECHO = {
    "name": "echo",
    "description": "Says what it was told.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def error(code, text):
    return {"error": {"code": code, "message": text}}


def answer(method, params, tools=(ECHO,)):
    """The answer to a request, without its envelope."""
    if method == "initialize":
        return {
            "result": {
                "protocolVersion": VERSION,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "broken", "version": "1.0.0"},
            }
        }
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        if params.get("cursor"):
            return error(-32602, "no such cursor")
        return {"result": {"tools": list(tools)}}
    if method == "tools/call":
        return error(-32602, "no such tool")
    return error(-32601, "no such method")


def serve(handle=answer, write=send):
    """Answers until the input ends. `handle` gives None for what stays unanswered."""
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            write({"jsonrpc": "2.0", **error(-32700, "no JSON")})
            continue
        if "id" not in message or "method" not in message:
            continue
        said = handle(message["method"], message.get("params") or {})
        if said is not None:
            write({"jsonrpc": "2.0", "id": message["id"], **said})


if __name__ == "__main__":
    serve()
