"""Writes indented JSON."""

import json

import server

server.serve(write=lambda message: print(json.dumps(message, indent=2), flush=True))
