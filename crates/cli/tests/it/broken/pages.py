"""Lists pages that never end."""

import server


def handle(method, params):
    if method == "tools/list":
        return {"result": {"tools": [server.ECHO] if not params else [], "nextCursor": "again"}}
    return server.answer(method, params)


server.serve(handle)
