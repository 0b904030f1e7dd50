"""Frames messages as a language server does."""

import json
import sys

import server


def write(message):
    body = json.dumps(message)
    sys.stdout.write(f"Content-Length: {len(body)}\r\n\r\n{body}")
    sys.stdout.flush()


server.serve(write=write)
