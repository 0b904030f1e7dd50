"""A relay between a client and a server that can break connections and records sessions."""

import asyncio
import contextlib
import re
from urllib.parse import urlsplit

SESSION = re.compile(rb"\r\nmcp-session-id: *([^\r\n]+)", re.IGNORECASE)
ENDPOINT = re.compile(rb"event: ?endpoint\r?\ndata: ?(\S+)")


class Relay:
    """A relay to a URL. Its own `url` leads to the same place."""

    def __init__(self, url):
        self.parts = urlsplit(url)
        self.writers = set()
        self.reads = 0
        """The number of answered GETs: one for each stream that was opened or resumed."""
        self.session = None
        """The session id from the server's header."""
        self.endpoint = None
        """The path for messages that the server sent over HTTP+SSE."""
        self.is_silent = False
        """Whether the server's messages are withheld from the client."""

    async def open(self):
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        port = self.server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}{self.parts.path}"

    def cut(self):
        for writer in list(self.writers):
            writer.transport.abort()

    def close(self):
        self.server.close()
        self.cut()

    async def accept(self, reader, writer):
        far_reader, far_writer = await asyncio.open_connection(self.parts.hostname, self.parts.port)
        is_read = False

        def hear_request(data):
            nonlocal is_read
            is_read = is_read or data.startswith(b"GET ")

        # Without a response, the client takes a broken connection for a missing server.
        def hear_response(data):
            nonlocal is_read
            self.reads += is_read
            is_read = False
            self.overhear(data)

        # The loop ends before some connections do, and would report those.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(
                self.carry(reader, far_writer, hear_request),
                self.carry(far_reader, writer, hear_response, is_response=True),
            )

    async def carry(self, reader, writer, hear, is_response=False):
        self.writers.add(writer)
        try:
            while data := await reader.read(65536):
                hear(data)
                if self.is_silent and is_response:
                    continue
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    def overhear(self, data):
        if found := SESSION.search(data):
            self.session = found[1].decode()
        if found := ENDPOINT.search(data):
            self.endpoint = found[1].decode()
