"""A server at a URL that breaks what it is told to: `at_url.py FAULT [CERTIFICATE KEY]`. Prints its port."""

import http.server
import json
import ssl
import sys
import time

import server

FAULT = sys.argv[1]
MODERN = FAULT == "modern"


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
        self.give(404 if FAULT in ("page", "auth", "locked") else 405)

    def do_DELETE(self):
        # The session is not forgotten.
        self.give(204)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if FAULT == "hang":
            return time.sleep(600)
        if FAULT == "breaks":
            return self.give(502, b"upstream connect error", "text/plain")
        if FAULT == "moved" and self.path == "/mcp":
            return self.give(307, Location="/mcp/")
        if FAULT in ("auth", "locked"):
            return self.give(401)
        if FAULT == "page" and self.path != "/mcp":
            return self.give(200, b"<!doctype html><title>Welcome</title>", "text/html")
        try:
            message = json.loads(body)
        except ValueError:
            return self.give(500 if FAULT == "careless" else 400, server.error(-32700, "no JSON"))
        if "id" not in message:
            return self.give(200, {}) if FAULT == "careless" else self.give(202)
        method, params = message["method"], message.get("params") or {}
        if MODERN:
            said = self.modern(method, params)
        else:
            said = server.answer(method, params)
        media_type = "text/plain" if FAULT == "careless" else "application/json"
        headers = {"Mcp_Session_Id": "7"} if method == "initialize" and FAULT == "careless" else {}
        self.give(200, {"jsonrpc": "2.0", "id": message["id"], **said}, media_type, **headers)

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
