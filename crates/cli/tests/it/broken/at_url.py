"""A server at a URL that breaks what it is told to: `at_url.py FAULT [CERTIFICATE KEY]`. Prints its port."""

import http.server
import json
import ssl
import sys
import time
import uuid

import server

FAULT = sys.argv[1]
MODERN = FAULT == "modern"
# Ids of sessions: one that can be guessed, one that is not valid, and as many as are wanted.
IDS = {
    "careless": lambda: "7",
    "sloppy": lambda: "a session",
    "endless": lambda: str(uuid.uuid4()),
    "forgetful": lambda: str(uuid.uuid4()),
    "undeletable": lambda: str(uuid.uuid4()),
}
sessions = set()
answers = []
LOCKED = ("auth", "locked", "nobody", "stranger")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def give(self, status, body=b"", media_type="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", media_type)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def base(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def do_GET(self):
        base = self.base()
        if FAULT == "hangs-up" and self.headers.get("Last-Event-ID") == "1":
            # Nothing yet the first time; then the answer.
            rest = answers.pop() if answers else ""
            return self.give(200, f"id: 1\ndata: {rest}\n\n".encode(), "text/event-stream")
        if FAULT == "forgets":
            last = self.headers.get("Last-Event-ID")
            if last == "heard":
                return self.give(400)
            # A stream of an answer goes on with nothing; the other says one thing and ends.
            notice = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
            text = ": nothing\n\n" if last else f"id: heard\nretry: 100\ndata: {json.dumps(notice)}\n\n"
            return self.give(200, text.encode(), "text/event-stream")
        if FAULT == "page" and self.path == "/":
            return self.give(200, b"<!doctype html><title>Welcome</title>", "text/html")
        if FAULT == "auth" and self.path == "/.well-known/oauth-protected-resource/mcp":
            return self.give(200, {
                "resource": "https://elsewhere.example/mcp",
                "authorization_servers": [f"{base}/issuer"],
                "scopes_supported": ["read", "offline_access"],
            })
        if FAULT == "auth" and self.path == "/.well-known/oauth-authorization-server/issuer":
            return self.give(200, {
                "issuer": base,
                "authorization_endpoint": "http://login.example/authorize",
            })
        if FAULT in ("nobody", "stranger") and self.path == "/.well-known/oauth-protected-resource/mcp":
            servers = [f"{base}/issuer"] if FAULT == "stranger" else []
            return self.give(200, {"resource": f"{base}/mcp", "authorization_servers": servers})
        if FAULT == "sloppy":
            return self.give(200, b"<!doctype html><title>Welcome</title>", "text/html")
        self.give(404 if FAULT in ("page", *LOCKED) else 405)

    def do_DELETE(self):
        if FAULT == "forgetful":
            sessions.discard(self.headers["Mcp-Session-Id"])
        self.give(500 if FAULT == "undeletable" else 204)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if FAULT == "hang":
            return time.sleep(600)
        if FAULT == "breaks":
            return self.give(502, b"upstream connect error", "text/plain")
        if FAULT == "moved" and self.path == "/mcp":
            return self.give(307, Location="/mcp/")
        if FAULT in LOCKED:
            return self.give(401)
        if FAULT == "forbidden":
            return self.give(403)
        if FAULT == "pages" or (FAULT == "page" and self.path != "/mcp"):
            return self.give(200, b"<!doctype html><title>Welcome</title>", "text/html")
        try:
            message = json.loads(body)
        except ValueError:
            return self.give(500 if FAULT == "careless" else 400, server.error(-32700, "no JSON"))
        if isinstance(message, list):
            said = [{"jsonrpc": "2.0", "id": one["id"], "result": {}} for one in message]
            return self.give(200, f"id: batch\nretry: 100\ndata: {json.dumps(said)}\n\n".encode(), "text/event-stream")
        if "id" not in message:
            return self.give(200, {}) if FAULT == "careless" else self.give(202)
        method, params = message["method"], message.get("params") or {}
        if FAULT == "endless" and method == "tools/list":
            # One page more, always, after a while: a thousand of them take longer than there is time.
            time.sleep(0.05)
            page = {"tools": [], "nextCursor": str(uuid.uuid4())}
            return self.give(200, {"jsonrpc": "2.0", "id": message["id"], "result": page})
        if FAULT == "hangs-up" and method == "tools/call":
            # The stream says where it is and when to come back, and ends.
            result = {"content": [{"type": "text", "text": "it took a while"}]}
            answers.extend([json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), ""])
            return self.give(200, b"id: 1\nretry: 100\ndata:\n\n", "text/event-stream")
        if FAULT == "forgets" and method == "tools/call":
            return self.give(200, b"id: call\nretry: 100\ndata:\n\n", "text/event-stream")
        if FAULT == "streams":
            return self.stream(message)
        if FAULT in ("endless", "forgetful", "sloppy", "undeletable") and self.is_refused(method):
            return
        if MODERN:
            said = self.modern(method, params)
        else:
            said = server.answer(method, params)
        if FAULT == "sloppy" and method == "initialize":
            # Whatever was asked for.
            said["result"]["protocolVersion"] = params["protocolVersion"]
        media_type = "text/plain" if FAULT == "careless" else "application/json"
        headers = {}
        if method == "initialize" and FAULT in IDS:
            headers["Mcp_Session_Id"] = IDS[FAULT]()
            sessions.add(headers["Mcp_Session_Id"])
        self.give(200, {"jsonrpc": "2.0", "id": message["id"], **said}, media_type, **headers)

    def is_refused(self, method):
        """What comes from elsewhere, without its session, or in no version that there is."""
        headers = self.headers
        version = headers.get("MCP-Protocol-Version", server.VERSION)
        if "Origin" in headers or "invalid" in headers["Host"]:
            return self.give(400 if FAULT == "sloppy" else 403) or True
        if version != server.VERSION:
            return self.give(400) or True
        session = headers.get("Mcp-Session-Id")
        if method == "initialize" or session in sessions:
            return False
        return self.give(404 if session and FAULT != "forgetful" else 400) or True

    def stream(self, message):
        """Each header is compared as it is, and each answer is a stream that a proxy may hold back."""
        method, params, headers = message["method"], message.get("params") or {}, self.headers
        if "Origin" in headers or "invalid" in headers["Host"]:
            return self.give(403)
        if method == "initialize":
            return self.give(400, {"id": message["id"], "jsonrpc": "2.0", **server.error(-32022, "speak 2026-07-28")})
        meta = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
        name = params.get("name")
        is_right = (
            headers.get("MCP-Protocol-Version") == meta
            and headers.get("Mcp-Method") == method
            and headers.get("Mcp-Name") == name
        )
        said = server.modern(method, params) if is_right else server.error(-32020, "headers differ")
        status = {-32020: 400, -32022: 400, -32601: 404}.get(said.get("error", {}).get("code"), 200)
        if "complete" in said.get("error", {}).get("message", ""):
            status = 400
        answer = {"jsonrpc": "2.0", "id": message["id"], **said}
        if status != 200:
            return self.give(status, answer)
        self.give(200, f"data: {json.dumps(answer)}\n\n".encode(), "text/event-stream")

    def modern(self, method, params):
        """No header is looked at, and every status is 200."""
        version = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
        if version != "2026-07-28":
            data = {"supported": ["2026-07-28"], "requested": version}
            return {"error": {"code": -32022, "message": "unsupported version", "data": data}}
        hints = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
        if method == "server/discover":
            return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **hints}}
        if method == "tools/list" and not params.get("cursor"):
            return {"result": {"tools": [server.ECHO], **hints}}
        if method in ("tools/list", "tools/call"):
            return server.error(-32602, "no such thing")
        return server.error(-32601, "no such method")


listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
listener.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    listener.socket = context.wrap_socket(listener.socket, server_side=True)
print(listener.server_port, flush=True)
listener.serve_forever()
