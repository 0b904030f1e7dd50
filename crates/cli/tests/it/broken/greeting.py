"""Answers `initialize` with a version of its own and without its name."""

import server


def handle(method, params):
    if method == "initialize":
        return {"result": {"protocolVersion": "1.0", "capabilities": {"tools": {}}, "serverInfo": {}}}
    return server.answer(method, params)


server.serve(handle)
