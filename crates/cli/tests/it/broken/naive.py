"""Takes every line for JSON, and ends of one that is not."""

import json
import sys

import server

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        said = server.answer(message["method"], message.get("params") or {})
        server.send({"jsonrpc": "2.0", "id": message["id"], **said})
