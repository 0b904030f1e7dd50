"""Prints a banner to stdout."""

import server

print("Server listening on stdio...", flush=True)
server.serve()
