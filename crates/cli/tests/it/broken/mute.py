"""Does not answer what it does not know, and answers notifications."""

import json
import sys

import server

KNOWN = ("initialize", "ping", "tools/list", "tools/call")

for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    method = message.get("method")
    if "id" not in message:
        if method != "notifications/initialized":
            server.send({"jsonrpc": "2.0", "id": None, "result": {}})
    elif method in KNOWN:
        said = server.answer(method, message.get("params") or {})
        server.send({"jsonrpc": "2.0", "id": message["id"], **said})
