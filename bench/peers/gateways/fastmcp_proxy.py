"""fastmcp's own proxy, unchanged.

    fastmcp_proxy.py PORT|stdio URL
    fastmcp_proxy.py PORT|stdio COMMAND [ARGUMENT…]
"""

import sys

from fastmcp.server import create_proxy

front, *target = sys.argv[1:]
if target[0].startswith("http"):
    behind = target[0]
else:
    behind = {"mcpServers": {"up": {"command": target[0], "args": target[1:]}}}
proxy = create_proxy(behind, name="gateway")
if front == "stdio":
    proxy.run(show_banner=False, log_level="ERROR")
else:
    proxy.run(
        transport="http",
        host="127.0.0.1",
        port=int(front),
        path="/mcp",
        show_banner=False,
        log_level="ERROR",
        uvicorn_config={"access_log": False},
    )
