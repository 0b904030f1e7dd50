"""Speaks 2026-07-28, and breaks most of its rules."""

import server

CAPABILITIES = {"tools": {"listChanged": True}}


def handle(method, params):
    # Neither the version nor the rest of `_meta` is looked at.
    if method == "server/discover":
        return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": CAPABILITIES}}
    if method == "tools/list":
        return {"result": {"tools": [server.ECHO], "resultType": "complete"}}
    if method == "subscriptions/listen":
        return {"result": {"resultType": "complete"}}
    if method == "tools/call":
        return server.error(-32042, "open a URL first")
    return server.error(-32601, "no such method")


server.serve(handle)
