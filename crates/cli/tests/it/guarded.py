"""A server that wants to know who asks, with the authorization server beside it. Prints its port; the tokens that
are valid are one a line in the file that it is told."""

import base64
import hashlib
import http.server
import json
import pathlib
import sys
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parent / "broken"))
import server

TOKENS = pathlib.Path(sys.argv[1])
valid, codes, scopes, clients = set(), {}, {}, set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def give(self, status, body=None, **headers):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if text:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        base = f"http://127.0.0.1:{self.server.server_port}"
        path, _, query = self.path.partition("?")
        asked = dict(urllib.parse.parse_qsl(query))
        if path == "/.well-known/oauth-protected-resource/mcp":
            return self.give(200, {"resource": f"{base}/mcp", "authorization_servers": [base]})
        if path == "/.well-known/oauth-authorization-server":
            return self.give(200, {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize",
                "token_endpoint": f"{base}/token",
                "registration_endpoint": f"{base}/register",
                "revocation_endpoint": f"{base}/revoke",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            })
        if path == "/authorize" and asked["client_id"] not in clients:
            return self.give(400, {"error": "invalid_client"})
        if path == "/authorize":
            # The person agrees.
            code = str(uuid.uuid4())
            codes[code] = asked["code_challenge"]
            scopes[code] = asked.get("scope", "").split()
            back = urllib.parse.urlencode({"code": code, "state": asked["state"], "iss": base})
            return self.give(302, Location=f"{asked['redirect_uri']}?{back}")
        self.give(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/register":
            client = str(uuid.uuid4())
            clients.add(client)
            return self.give(201, {**json.loads(body), "client_id": client})
        if self.path == "/forget":
            clients.clear()
            valid.clear()
            return self.give(200)
        if self.path == "/mcp":
            return self.mcp(json.loads(body))
        form = dict(urllib.parse.parse_qsl(body.decode()))
        if self.path == "/revoke":
            valid.discard(form["token"])
            self.keep()
            return self.give(200)
        proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if codes.pop(form["code"], None) != proof.decode().rstrip("="):
            return self.give(400, {"error": "invalid_grant"})
        token = str(uuid.uuid4())
        valid.add(token)
        scopes[token] = scopes[form["code"]]
        self.keep()
        self.give(200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600})

    def keep(self):
        TOKENS.write_text("".join(f"{token}\n" for token in valid))

    def mcp(self, message):
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in valid:
            place = f"http://127.0.0.1:{self.server.server_port}/.well-known/oauth-protected-resource/mcp"
            return self.give(401, WWW_Authenticate=f'Bearer resource_metadata="{place}"')
        if "id" not in message:
            return self.give(202)
        if message["method"] == "tools/call":
            if "secret" in json.dumps(message["params"]) and "admin" not in scopes[token]:
                return self.give(403, WWW_Authenticate='Bearer error="insufficient_scope", scope="admin"')
            with open(f"{TOKENS}.used", "a") as used:
                used.write(f"{token}\n")
        said = server.answer(message["method"], message.get("params") or {})
        if message["method"] == "tools/call":
            said = {"result": {"content": [{"type": "text", "text": "called"}]}}
        self.give(200, {"jsonrpc": "2.0", "id": message["id"], **said})


listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
listener.daemon_threads = True
TOKENS.write_text("")
print(listener.server_port, flush=True)
listener.serve_forever()
