"""HTTP for the Python servers."""

import socket

import uvicorn


def listen(path, app):
    """Listens at any free port, and prints the URL with `path`."""
    place = socket.create_server(("127.0.0.1", 0))
    port = place.getsockname()[1]
    print(f"listening at http://127.0.0.1:{port}{path}", flush=True)
    # Without a limit it would wait for streams that clients keep open.
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[place])


def http_sse(server):
    """HTTP+SSE, for versions of the SDK that have it only inside a server."""
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    transport = SseServerTransport("/messages/")

    async def session(request):
        scope = request.scope, request.receive, request._send
        async with transport.connect_sse(*scope) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return Response()

    messages = Mount("/messages/", app=transport.handle_post_message)
    return Starlette(routes=[Route("/sse", endpoint=session), messages])


def event_store(interface, event_message):
    """Stores all events in order, so that streams can be resumed."""

    class Events(interface):
        def __init__(self):
            self.events = []

        async def store_event(self, stream_id, message):
            self.events.append((stream_id, message))
            return str(len(self.events) - 1)

        async def replay_events_after(self, last_event_id, send_callback):
            last = int(last_event_id)
            stream = self.events[last][0]
            for number, (of, message) in enumerate(self.events):
                if number > last and of == stream and message is not None:
                    await send_callback(event_message(message, str(number)))
            return stream

    return Events()
