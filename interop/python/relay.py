"""A relay between a client and a server: it tears connections, and overhears what they say."""

import asyncio
import contextlib
import re
from urllib.parse import urlsplit

SESSION = re.compile(rb"\r\nmcp-session-id: *([^\r\n]+)", re.IGNORECASE)
ENDPOINT = re.compile(rb"event: ?endpoint\r?\ndata: ?(\S+)")


class Relay:
    """Its `url` leads to the same place as the one that it is opened with."""

    def __init__(self, url):
        self.parts = urlsplit(url)
        self.writers = set()
        self.reads = 0
        """How many GETs went through so far: one for each stream that was opened or resumed."""
        self.session = None
        """The session that the server named in a header."""
        self.endpoint = None
        """The path that the server told for messages, over HTTP+SSE."""
        self.is_silent = False
        """Whether what the server says is kept from the client."""

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
        # The loop ends before some connections do, and complains of those.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(
                self.carry(reader, far_writer, self.hear_request),
                self.carry(far_reader, writer, self.hear_response),
            )

    async def carry(self, reader, writer, hear):
        self.writers.add(writer)
        try:
            while data := await reader.read(65536):
                hear(data)
                if self.is_silent and hear == self.hear_response:
                    continue
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    def hear_request(self, data):
        self.reads += data.startswith(b"GET ")

    def hear_response(self, data):
        if found := SESSION.search(data):
            self.session = found[1].decode()
        if found := ENDPOINT.search(data):
            self.endpoint = found[1].decode()
