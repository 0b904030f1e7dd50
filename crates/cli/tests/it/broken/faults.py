"""Breaks what it is told to: `faults.py FAULT`, each a handful of rules that can be broken at once."""

import itertools
import sys
import time

import server

FAULT = sys.argv[1]
count = itertools.count(1)


def greet(version=server.VERSION, **capabilities):
    info = {"name": "broken", "version": "1.0.0"}
    return {"result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}}


def result(**members):
    return {"result": members}


def refuses(method, params):
    """Answers nothing but errors."""
    return server.error(-32603, "not today")


def old(method, params):
    """Speaks the first revision, asks before it is told to, and has prompts that it does not declare."""
    if method == "initialize":
        server.send({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})
        return greet("2024-11-05", tools={})
    if method == "prompts/list":
        return result(prompts=[{"name": "hidden"}])
    return server.answer(method, params)


def lists(method, params):
    """Too many tools, too large, of the wrong shape, others each time; URIs that are not valid."""
    if method == "initialize":
        return greet(tools={}, prompts={}, resources={})
    if method == "tools/list":
        said = "Does what its name says. " * 35
        names = [f"tool_{next(count)}" for _ in range(130)]
        tools = [{**server.ECHO, "name": name, "description": said} for name in names]
        return result(tools=tools + [{"name": "bare", "description": "Has no schema."}])
    if method == "prompts/list":
        return server.error(-32603, "no prompts today")
    if method == "resources/list":
        return result(resources=[{"name": "notes", "uri": "notes/today"}])
    if method == "resources/templates/list":
        return result(resourceTemplates=[{"name": "note", "uriTemplate": "notes://{day"}])
    if method == "resources/read":
        return server.error(-32002, "no such resource")
    if method == "prompts/get":
        return server.error(-32602, "no such prompt")
    return server.answer(method, params)


def methods(method, params):
    """Answers what does not exist with anything but the errors for it."""
    if method == "initialize":
        return greet(tools={}, prompts={}, resources={})
    if method == "ping":
        return {"error": {"code": "no", "message": "no ping"}}
    if method in ("prompts/list", "resources/list"):
        return {"result": {method.split("/")[0]: []}}
    if method == "resources/templates/list":
        return result(resourceTemplates=[])
    if method == "tools/call":
        return result(content=[{"type": "text", "text": "no such tool"}], isError=True)
    if method == "resources/read":
        return result(contents=[])
    if method == "prompts/get":
        return result(messages=[])
    said = server.answer(method, params)
    return server.error(-32600, "what?") if said.get("error", {}).get("code") == -32601 else said


def twice(message):
    server.send(message)
    server.send(message)


def marked(message):
    """A byte order mark before each message."""
    sys.stdout.write("\ufeff")
    server.send(message)


def long(message):
    """A message without an end."""
    sys.stdout.write(" " * (17 * 1024 * 1024))
    sys.stdout.flush()


READS = {"readOnlyHint": True}


def results(method, params):
    """Tools that only read, and give results that cannot be used."""
    tool = {"description": "Reads.", "annotations": READS, "inputSchema": {"type": "object"}}
    given = {
        "fails": result(content=[{"type": "text", "text": "which one?"}], isError=True),
        "shapeless": result(text="here"),
        "wordless": result(content=[], structuredContent={"n": 1}),
    }
    if method == "tools/list" and not params.get("cursor"):
        return result(tools=[{**tool, "name": name} for name in given])
    return given.get(params.get("name")) or server.answer(method, params)


def future(method, params):
    """Knows of newer revisions alone."""
    data = {"supported": ["2099-01-01"], "requested": "2026-07-28"}
    return {"error": {"code": -32022, "message": "unsupported version", "data": data}}


def shapeless(method, params):
    """Does not say what it speaks."""
    if method == "initialize":
        return server.error(-32602, "speak 2026-07-28")
    said = server.modern(method, params)
    if method == "server/discover" and "result" in said:
        said["result"]["supportedVersions"] = []
    return said


def promises(method, params):
    """Speaks 2026-07-28, says that it speaks another, and keeps no promise about lists."""
    if method == "initialize":
        return server.error(-32601, "no such method")
    said = server.modern(method, params)
    if method == "server/discover" and "result" in said:
        said["result"] |= {"supportedVersions": ["2099-01-01"], "capabilities": {"tools": {"listChanged": True}}}
    if method == "tools/list" and params.get("cursor") in (None, "2"):
        server.send({"jsonrpc": "2.0", "id": next(count), "method": "roots/list"})
        tools = [{**server.ECHO, "name": f"tool_{next(count)}"}]
        if params.get("cursor"):
            return result(tools=tools, **{**server.HINTS, "cacheScope": "public"})
        return result(tools=tools, nextCursor="2", **server.HINTS)
    return said


def restless(method, params):
    """Its tools change while they are read for the first time."""
    if method == "initialize":
        return greet(tools={"listChanged": True})
    if method == "tools/list":
        is_first = next(count) == 1
        if is_first:
            # When everybody listens, and long enough before the answer.
            time.sleep(0.3)
            server.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            time.sleep(0.3)
        return result(tools=[{**server.ECHO, "name": "older" if is_first else "newer"}])
    return server.answer(method, params)


subscriptions = set()


def listen(message):
    """Subscriptions, which are answered after they were cancelled."""
    method, params = message.get("method"), message.get("params") or {}
    if method == "subscriptions/listen":
        subscriptions.add(message["id"])
        tag = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        server.send({
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"notifications": params["notifications"], "_meta": tag},
        })
        return True
    if method == "notifications/cancelled" and params["requestId"] in subscriptions:
        done = {"resultType": "complete", **server.META}
        server.send({"jsonrpc": "2.0", "id": params["requestId"], "result": done})
        return True
    return False


FAULTS = {
    "encoding": (server.answer, marked),
    "too-long": (server.answer, long),
    "twice": (server.answer, twice),
}

handle, write = FAULTS.get(FAULT) or (globals()[FAULT], server.send)
server.serve(handle, write, listen)
