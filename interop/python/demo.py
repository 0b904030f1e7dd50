"""The checks of a client with the demo server, for both generations of the SDK.

A peer returns plain dictionaries, as on the wire:

    revision                             the negotiated revision
    tools(), resources(), templates(), prompts()
    call(name, arguments, progress)      a tool call; `progress` is called with each report
    cancelled(name, arguments, count)    calls a tool, and cancels the call after this many reports
    reports                              the number of all reports received, wanted or not
    longest                              the most characters that it accepts in one message
    read(uri), get(name, arguments), complete(ref, argument, settled)
    tools_changed()                      a context whose value is an event, set by the server's notification
    resource_updated(uri)                the same for a resource
    hear_logs(level), logged             requests log messages from this level on; the messages received
    answers                              the questions that it answers: form, url, sampling, roots
"""

import json
import os
import time

import anyio

from over_http import until
from report import check, code_of, holds, same, unguarded

PNG = "iVBORw0KGgo"


async def demo(peer):
    def since(date):
        return peer.revision >= date

    def text(result):
        return result["content"][0]["text"]

    async def tools_list():
        tools = {tool["name"]: tool for tool in await peer.tools()}
        for name in ("echo", "add", "weather", "everything", "count", "order", "grow"):
            holds(name in tools, f"there is no {name} among {list(tools)}")
        same(tools["add"]["inputSchema"]["required"], ["a", "b"], "what add requires")
        has_output = tools["add"].get("outputSchema") is not None
        same(has_output, since("2025-06-18"), "whether add has an output schema")

    async def resources_list():
        uris = sorted(resource["uri"] for resource in await peer.resources())
        same(uris, ["demo://logo.png", "demo://readme", "demo://ticks"], "the list")

    async def templates_list():
        templates = [template["uriTemplate"] for template in await peer.templates()]
        holds("demo://stations/{city}/{number}" in templates, f"only {templates}")

    async def prompts_list():
        prompts = {prompt["name"]: prompt for prompt in await peer.prompts()}
        names = [argument["name"] for argument in prompts["review"]["arguments"]]
        same(names, ["language", "framework", "code"], "the arguments of review")

    await check("tools/list", tools_list)
    await check("resources/list", resources_list)
    await check("resources/templates/list", templates_list)
    await check("prompts/list", prompts_list)

    async def echo():
        said = "Grüße, 世界 🌍\nsecond line"
        same(text(await peer.call("echo", {"text": said})), said)

    async def add():
        result = await peer.call("add", {"a": 2, "b": 40})
        same(json.loads(text(result)), {"sum": 42})
        if since("2025-06-18"):
            same(result["structuredContent"], {"sum": 42}, "structured content")

    async def weather():
        result = await peer.call("weather", {"place": "Oslo", "unit": "fahrenheit"})
        told = json.loads(text(result))
        same((told["place"], told["unit"]), ("Oslo", "fahrenheit"))

    async def picture():
        picture = (await peer.call("picture", {}))["content"][0]
        same((picture["type"], picture["mimeType"]), ("image", "image/png"))
        holds(picture["data"].startswith(PNG), "no PNG")

    async def everything():
        kinds = [block["type"] for block in (await peer.call("everything", {}))["content"]]
        audio = "audio" if since("2025-03-26") else "text"
        link = "resource_link" if since("2025-06-18") else "text"
        same(kinds, ["text", "image", audio, link, "resource"], "the kinds")

    async def fail():
        result = await peer.call("fail", {"reason": "on purpose"})
        same((result["isError"], text(result)), (True, "on purpose"))

    async def crash():
        same(await code_of(peer.call("crash", {})), -32603, "the code")

    async def no_tool():
        same(await code_of(peer.call("nothing", {})), -32602, "the code")

    await check("tools/call echo", echo)
    await check("tools/call add", add)
    await check("tools/call weather", weather)
    await check("tools/call picture", picture)
    await check("tools/call everything", everything)
    await check("tools/call fail", fail)
    await check("tools/call crash", crash)
    await check("tools/call of no tool", no_tool)

    async def read_text():
        contents = (await peer.read("demo://readme"))["contents"][0]
        same((contents["uri"], contents["mimeType"]), ("demo://readme", "text/markdown"))
        holds(contents["text"].startswith("# Turnbuckle"), contents["text"])

    async def read_blob():
        contents = (await peer.read("demo://logo.png"))["contents"][0]
        holds(contents["blob"].startswith(PNG), "no PNG")

    async def read_template():
        contents = (await peer.read("demo://stations/Bern/4"))["contents"][0]
        same(json.loads(contents["text"]), {"city": "Bern", "number": 4, "is_online": True})

    async def read_nothing():
        wanted = -32602 if since("2026-07-28") else -32002
        same(await code_of(peer.read("demo://nowhere")), wanted, "the code")

    await check("resources/read text", read_text)
    await check("resources/read blob", read_blob)
    await check("resources/read of a template", read_template)
    await check("resources/read of nothing", read_nothing)

    async def prompts_get():
        result = await peer.get("review", {"language": "rust", "code": "fn main() {}"})
        roles = [message["role"] for message in result["messages"]]
        same(roles, ["user", "assistant", "user"], "the roles")
        same(result["messages"][2]["content"]["text"], "fn main() {}")

    async def prompt_with_a_picture():
        result = await peer.get("look", None)
        same(result["messages"][1]["content"]["type"], "image")

    await check("prompts/get", prompts_get)
    await check("prompts/get with a picture", prompt_with_a_picture)

    async def complete_prompt():
        ref = {"type": "ref/prompt", "name": "review"}
        values = await peer.complete(ref, {"name": "language", "value": "r"}, None)
        same(values, ["rust", "ruby"])

    async def complete_template():
        ref = {"type": "ref/resource", "uri": "demo://stations/{city}/{number}"}
        values = await peer.complete(ref, {"name": "city", "value": "be"}, None)
        same(values, ["Berlin", "Bern"])

    async def complete_with_context():
        ref = {"type": "ref/prompt", "name": "review"}
        settled = {"language": "rust"}
        values = await peer.complete(ref, {"name": "framework", "value": ""}, settled)
        same(values, ["axum", "rocket"])

    await check("completion/complete of a prompt", complete_prompt)
    await check("completion/complete of a template", complete_template)
    if since("2025-06-18"):
        await check("completion/complete with context", complete_with_context)

    async def progress():
        seen = []

        async def report(progress, total, message):
            seen.append((progress, total))

        same(text(await peer.call("count", {"to": 3, "pause": 200}, report)), "counted to 3")
        # A report that arrives together with the result may be lost in the SDK.
        same(seen[:2], [(1, 3), (2, 3)], "the reports")
        holds(peer.reports >= 2, "the peer does not count reports")

    async def cancellation():
        await peer.cancelled("count", {"to": 1000, "pause": 5}, 2)
        # If the call were still running, twenty reports would arrive during each of these calls.
        for _ in range(5):
            before = peer.reports
            await peer.call("count", {"to": 5, "pause": 20})
            if peer.reports == before:
                return
        holds(False, "reports still come after the end")

    async def many_calls():
        sums = [None] * 50

        async def one(index):
            result = await peer.call("add", {"a": index, "b": 1})
            sums[index] = json.loads(text(result))["sum"]

        async with anyio.create_task_group() as tasks:
            for index in range(50):
                tasks.start_soon(one, index)
        same(sums, list(range(1, 51)), "the sums")

    async def large_message():
        long = "ö" * peer.longest
        holds(text(await peer.call("echo", {"text": long})) == long, "the echo differs")

    await check("progress", progress)
    await check("cancellation", cancellation)
    await check("many calls at once", many_calls)
    await check("a large message", large_message)

    async def list_changed():
        # Over HTTP, other clients add tools to the same server at the same time.
        name = f"sprout-{os.getpid()}"
        async with peer.tools_changed() as told:
            await peer.call("grow", {"name": name})
            await told.wait()
        names = [tool["name"] for tool in await peer.tools()]
        holds(name in names, "the new tool is not listed")
        holds(name in text(await peer.call(name, {})), "the new tool does not answer")
        await peer.call("shrink", {"name": name})
        names = [tool["name"] for tool in await peer.tools()]
        holds(name not in names, "the tool is still listed")

    await check("list_changed", list_changed)
    await asks(peer, text)

    async def logging():
        await peer.hear_logs("error")
        said = text(await peer.call("log", {"text": "careful"}))
        same(said, "said 4 times", "what the tool says")
        await until(lambda: len(peer.logged) == 4, "the messages did not come")
        levels = [message["level"] for message in peer.logged]
        same(levels, ["error", "critical", "alert", "emergency"], "the levels")
        same((peer.logged[0]["logger"], peer.logged[0]["data"]), ("demo", "careful"))

    async def subscribe():
        async with peer.resource_updated("demo://ticks") as told:
            tick = int(text(await peer.call("tick", {})))
            await told.wait()
        contents = (await peer.read("demo://ticks"))["contents"][0]
        # Over HTTP, other clients change the counter of the same server.
        holds(int(contents["text"]) >= tick, f"{contents['text']} is before {tick}")

    await check("logging", logging)
    await check("resources/subscribe", subscribe)
    if getattr(peer, "tasks", None):
        await tasks(peer.tasks, text)


async def tasks(peer, text):
    """Calls as tasks."""

    async def result():
        task = await peer.start("bake", {"what": "loaf", "time": 150})
        same(text(await peer.result(task)), "one loaf, still warm")
        same(await peer.status(task), "completed", "the status at the end")
        # Over HTTP callers are not identified, so tasks are not listed.
        if peer.can_list:
            listed = await peer.list()
            holds(task in listed, f"it is not among {listed}")

    async def cancel():
        task = await peer.start("bake", {"what": "stone", "time": 600_000})
        same(await peer.status(task), "working", "the status")
        same(await peer.cancel(task), "cancelled", "the status")
        same(await peer.status(task), "cancelled", "the status after that")

    await check("tasks/result", result)
    await check("tasks/cancel", cancel)


async def asks(peer, text):
    """Questions of the demo server during a call, if the revision and the SDK support them."""

    async def form():
        same(text(await peer.call("greet", {})), "A very good day to you, Ada.")

    async def url():
        same(text(await peer.call("visit", {})), "The page may be opened.")

    async def sampling():
        same(text(await peer.call("write", {"about": "rope"})), "About rope. (interop)")

    async def roots():
        same(text(await peer.call("roots", {})), "file:///interop")

    if "form" in peer.answers and peer.revision >= "2025-06-18":
        await check("elicitation", form)
    if "url" in peer.answers and peer.revision >= "2025-11-25":
        await check("elicitation by URL", url)
    if "sampling" in peer.answers:
        await check("sampling", sampling)
    if "roots" in peer.answers:
        await check("roots", roots)


async def closing(close):
    """Checks that ending the connection ends the server soon."""

    async def body():
        start = time.monotonic()
        await close()
        took = time.monotonic() - start
        holds(took < 4, f"closing took {took:.1f} s")

    await unguarded("close", body)
