"""Answers with ids of another type, and with results that are errors too."""

import server


def write(message):
    server.send({**message, "id": str(message.get("id"))})


def handle(method, params):
    said = server.answer(method, params)
    return {**said, "error": None} if method == "ping" else said


server.serve(handle, write)
