"""The checks of a client with a small server (as described in ../typescript/peer.mjs) and the gateway between them,
for every SDK on both sides. `peer` is as in demo.py."""

import os
import re

import anyio

from over_http import until
from report import check, holds, same

IS_THROUGH = "THROUGH_GATEWAY" in os.environ


async def behind(peer):
    def text(result):
        return result["content"][0]["text"]

    names = []

    async def tools_list():
        names.extend(tool["name"] for tool in await peer.tools())
        for name in ("echo", "add", "fail", "slow", "sample", "places", "grow"):
            holds(name in names, f"there is no {name} among {names}")

    async def echo():
        said = "Grüße, 世界 🌍\nsecond line"
        same(text(await peer.call("echo", {"text": said})), said)

    async def add():
        result = await peer.call("add", {"a": 2, "b": 40})
        # Servers of older SDKs, which have no structured content, use other words.
        structured = result.get("structuredContent")
        sum = structured["sum"] if structured else float(re.search(r"[\d.]+", text(result))[0])
        same(sum, 42)

    async def fail():
        result = await peer.call("fail", {})
        same(result["isError"], True, "whether it failed")
        holds("on purpose" in text(result), text(result))

    async def no_tool():
        # Some SDKs answer with an error, some with a failed result.
        try:
            result = await peer.call("nothing", {})
        except Exception as error:
            holds(error.error.code is not None, "it has no code")
        else:
            holds(result["isError"], f"it gave {result}")

    await check("tools/list", tools_list)
    await check("tools/call echo", echo)
    await check("tools/call add", add)
    await check("tools/call fail", fail)
    await check("tools/call of no tool", no_tool)

    async def resources_list():
        same([resource["uri"] for resource in await peer.resources()], ["peer://readme"])

    async def templates_list():
        templates = [template["uriTemplate"] for template in await peer.templates()]
        same(templates, ["peer://greeting/{name}"])

    async def read():
        same((await peer.read("peer://readme"))["contents"][0]["text"], "Read me.")
        same((await peer.read("peer://greeting/Ada"))["contents"][0]["text"], "Hello, Ada!")

    async def read_nothing():
        try:
            result = await peer.read("peer://nowhere")
        except Exception as error:
            holds(error.error.code is not None, "it has no code")
        else:
            holds(False, f"it gave {result}")

    async def prompts_list():
        same([prompt["name"] for prompt in await peer.prompts()], ["greet"])

    async def prompts_get():
        result = await peer.get("greet", {"name": "Ada"})
        same(result["messages"][0]["content"]["text"], "Greet Ada.")

    async def complete():
        ref = {"type": "ref/prompt", "name": "greet"}
        values = await peer.complete(ref, {"name": "name", "value": "al"}, None)
        same(values, ["alan"])

    await check("resources/list", resources_list)
    await check("resources/templates/list", templates_list)
    await check("resources/read", read)
    await check("resources/read of nothing", read_nothing)
    await check("prompts/list", prompts_list)
    await check("prompts/get", prompts_get)
    await check("completion/complete", complete)

    async def progress():
        seen = []

        async def report(progress, total, message):
            seen.append(progress)

        same(text(await peer.call("slow", {"steps": 5}, report)), "done")
        # Reports that arrive together with the result may be lost in the SDK.
        holds(seen and seen == sorted(seen), f"the reports are {seen}")

    async def many_calls():
        said = [None] * 20

        async def one(index):
            said[index] = text(await peer.call("echo", {"text": str(index)}))

        async with anyio.create_task_group() as tasks:
            for index in range(20):
                tasks.start_soon(one, index)
        same(said, [str(index) for index in range(20)])

    await check("progress", progress)
    await check("many calls at once", many_calls)

    async def form():
        same(text(await peer.call("ask", {})), "accept: Ada")

    async def sampling():
        same(text(await peer.call("sample", {})), "Say hello.")

    async def roots():
        same(text(await peer.call("places", {})), "file:///interop")

    if "form" in peer.answers and "ask" in names and peer.revision >= "2025-06-18":
        await check("elicitation", form)
    if "sampling" in peer.answers:
        await check("sampling", sampling)
    await check("roots", roots)

    async def list_changed():
        async with peer.tools_changed() as told:
            await peer.call("grow", {})
            await told.wait()

    async def logging():
        await peer.hear_logs("info")
        same(text(await peer.call("log", {})), "logged")
        await until(lambda: len(peer.logged) > 0, "the message did not come")
        message = peer.logged[0]
        same((message["level"], message["logger"], message["data"]), ("warning", "peer", "careful"))

    await check("list_changed", list_changed)
    await check("logging", logging)

    # Some servers do not survive a cancellation, so it comes last.
    async def cancellation():
        await peer.cancelled("slow", {"steps": 2000}, 2)

        async def is_stopped():
            return int(text(await peer.call("stopped", {}))) > 0

        await until(is_stopped, "the call goes on")

    await check("cancellation", cancellation)
