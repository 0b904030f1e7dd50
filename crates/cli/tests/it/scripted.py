"""A stdio server that answers as a file says: python3 scripted.py FILE

The file has an answer for each method: {"result": …}, {"error": …}, or "none" for silence. `tools/list` may have another
one under `tools/list for clients that can be asked`; `serverInfo` replaces that of the server. FILE.asked has the methods that came, one in a line.
"""
import json
import sys

answers = json.load(open(sys.argv[1]))
asked = False
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message.get("method")
    with open(sys.argv[1] + ".asked", "a") as asked_file:
        asked_file.write(f"{method}\n")
    if answers.get(method) == "none":
        continue
    if method == "initialize":
        asked = "elicitation" in message["params"]["capabilities"]
        capabilities = {"tools": {}, "prompts": {}, "resources": {}}
        info = answers.get("serverInfo", {"name": "scripted", "version": "1"})
        answer = {
            "result": {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
        }
    else:
        special = answers.get(f"{method} for clients that can be asked") if asked else None
        unknown = {"error": {"code": -32601, "message": "no such method"}}
        answer = special or answers.get(method, unknown)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
