"""Lists a tool twice, with null for what is not there, and in another order each time."""

import server

calls = 0


def handle(method, params):
    global calls
    if method == "tools/list" and not params.get("cursor"):
        calls += 1
        other = {**server.ECHO, "name": "other", "description": "Another.", "title": None}
        tools = [server.ECHO, other, {**other, "name": "third"}, server.ECHO]
        return {"result": {"tools": tools if calls % 2 else tools[::-1], "nextCursor": None}}
    return server.answer(method, params)


server.serve(handle)
