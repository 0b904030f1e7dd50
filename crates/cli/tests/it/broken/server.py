"""A small server of 2025-11-25, or of 2026-07-28, that does everything right. The files beside it break things."""

import json
import sys

VERSION = "2025-11-25"
ECHO = {
    "name": "echo",
    "description": "Says what it was told.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
HINTS = {"ttlMs": 60_000, "cacheScope": "private", "resultType": "complete"}
META = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "broken", "version": "1.0.0"}}}


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


def modern(method, params):
    """The same in 2026-07-28."""
    meta = params.get("_meta", {})
    version = meta.get("io.modelcontextprotocol/protocolVersion")
    if version and version != "2026-07-28":
        data = {"supported": ["2026-07-28"], "requested": version}
        return {"error": {"code": -32022, "message": "unsupported version", "data": data}}
    if not version or "io.modelcontextprotocol/clientCapabilities" not in meta:
        return error(-32602, "`_meta` is incomplete")
    if method == "server/discover":
        return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **HINTS, **META}}
    if method == "tools/list" and not params.get("cursor"):
        return {"result": {"tools": [ECHO], **HINTS}}
    if method in ("tools/list", "tools/call"):
        return error(-32602, "no such thing")
    return error(-32601, "no such method")


def serve(handle=answer, write=send, take=lambda message: False):
    """Answers until the input ends. `handle` gives None for what stays unanswered; `take` says of a message
    whether it has dealt with it already."""
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            write({"jsonrpc": "2.0", **error(-32700, "no JSON")})
            continue
        if take(message):
            continue
        if "id" not in message or "method" not in message:
            continue
        said = handle(message["method"], message.get("params") or {})
        if said is not None:
            write({"jsonrpc": "2.0", "id": message["id"], **said})


if __name__ == "__main__":
    serve()
