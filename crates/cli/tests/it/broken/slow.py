"""Takes its time for the first list, and dies of cancellations of what it does not know."""

import json
import sys
import time

import server

patience = 1.2

for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if message.get("method") == "notifications/cancelled":
        sys.exit("cancelled: no such request")
    if "id" in message:
        if message["method"] == "tools/list":
            time.sleep(patience)
            patience = 0
        said = server.answer(message["method"], message.get("params") or {})
        server.send({"jsonrpc": "2.0", "id": message["id"], **said})
