"""How our servers in Python are reached over HTTP."""

import socket

import uvicorn


def listen(path, app):
    """Listens at any free port, and says where; `path` is what clients are told."""
    place = socket.create_server(("127.0.0.1", 0))
    port = place.getsockname()[1]
    print(f"listening at http://127.0.0.1:{port}{path}", flush=True)
    # Without a limit it waits for streams that clients keep open.
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[place])


def event_store(interface, event_message):
    """All events, in order, so that streams can be resumed."""

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
