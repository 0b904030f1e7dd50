//! Requests, as clients of each revision write them.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

/// An HTTP/1.1 request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    /// Creates a request with only a `Host` header.
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.into(),
            path: path.into(),
            headers: vec![("host".into(), "localhost".into())],
            body: Vec::new(),
        }
    }

    /// Creates a `POST` of a message to the endpoint.
    pub(crate) fn post(message: impl ToString) -> Self {
        Self::new("POST", "/mcp")
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream")
            .body(message.to_string())
    }

    /// Creates a modern request, with the headers that mirror its body.
    pub(crate) fn modern(method: &str, params: Value) -> Self {
        Self::modern_as(1, method, params)
    }

    /// Like [`Self::modern`], with an id.
    pub(crate) fn modern_as(id: impl Into<Value>, method: &str, params: Value) -> Self {
        let name = match method {
            "resources/read" => params["uri"].as_str(),
            _ => params["name"].as_str(),
        };
        let name = name.map(str::to_owned);
        let ask = Self::post(modern_message(id, method, params))
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", method);
        match name {
            Some(name) => ask.with("mcp-name", &name),
            None => ask,
        }
    }

    /// Creates a modern call of a tool.
    pub(crate) fn call(tool: &str, arguments: Value) -> Self {
        Self::modern(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Creates an `initialize` request.
    pub(crate) fn initialize(revision: Revision) -> Self {
        Self::initialize_with(revision, json!({}))
    }

    /// Creates an `initialize` request of a client with these capabilities.
    pub(crate) fn initialize_with(revision: Revision, capabilities: Value) -> Self {
        Self::post(json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": revision.as_str(),
                "capabilities": capabilities,
                "clientInfo": { "name": "raw", "version": "1" },
            },
        }))
    }

    /// Creates a `GET` of the standing stream.
    pub(crate) fn get() -> Self {
        Self::new("GET", "/mcp").with("accept", "text/event-stream")
    }

    /// Sets a header.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).also(name, value)
    }

    /// Adds a header, even if the request has it already.
    pub(crate) fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Removes a header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| own != name);
        self
    }

    /// Converts the request to another modern revision.
    pub(crate) fn at_revision(self, revision: Revision) -> Self {
        let said = |text: &str| text.replace("2026-07-28", revision.as_str());
        let headers = self.headers.into_iter();
        Self {
            headers: headers.map(|(name, value)| (name, said(&value))).collect(),
            body: Vec::new(),
            ..self
        }
        .body(said(
            std::str::from_utf8(&self.body).expect("a request of ours is UTF-8"),
        ))
    }

    /// Sets the path.
    pub(crate) fn at(mut self, path: &str) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the body and its `Content-Length`.
    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        let length = self.body.len().to_string();
        self.with("content-length", &length)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        text.push_str("\r\n");
        [text.as_bytes(), &self.body].concat()
    }
}

/// A modern request, in the form that it has in the body.
pub(crate) fn modern_message(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut own = params["_meta"].take();
    match own.as_object_mut() {
        Some(own) => {
            own.extend(meta.as_object().cloned().unwrap_or_default());
            params["_meta"] = json!(own);
        }
        None => params["_meta"] = meta,
    }
    request(id, method, params)
}

/// A request, in the form that it has in the body.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A call of a tool in a session.
pub(crate) fn call(id: impl Into<Value>, tool: &str) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": {} }))
}

/// A notification.
pub(crate) fn notice(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}
