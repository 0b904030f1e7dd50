"""Takes its time for lists, and dies of cancellations of what it does not know."""

import json
import sys
import time

import server

for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if message.get("method") == "notifications/cancelled":
        sys.exit("cancelled: no such request")
    if "id" in message:
        if message["method"] == "tools/list":
            time.sleep(1.2)
        said = server.answer(message["method"], message.get("params") or {})
        server.send({"jsonrpc": "2.0", "id": message["id"], **said})
