//! Serialises messages. Every function appends one whole message, without a line end.

use super::{IdRef, Raw, write_string};
use serde::Serialize;

/// The id in the answer to a message whose id could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadableId {
    /// `"id": null`, as JSON-RPC requires and revisions up to 2025-06-18 imply.
    Null,
    /// No `id`, as 2025-11-25 and later require.
    Omitted,
}

/// Appends a request.
pub fn write_request<P: Serialize>(
    out: &mut Vec<u8>,
    id: &IdRef<'_>,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(out);
    write_call(out, method, params)
}

/// Appends a notification.
pub fn write_notification<P: Serialize>(
    out: &mut Vec<u8>,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    write_call(out, method, params)
}

fn write_call<P: Serialize>(
    out: &mut Vec<u8>,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    out.extend_from_slice(br#","method":"#);
    serde_json::to_writer(&mut *out, method)?;
    out.extend_from_slice(br#","params":"#);
    let start = out.len();
    serde_json::to_writer(&mut *out, params)?;
    // `()` and `None` mean "no params": JSON-RPC does not allow `null` there.
    if &out[start..] == b"null" {
        out.truncate(start - br#","params":"#.len());
    }
    out.push(b'}');
    Ok(())
}

/// Appends a request with params that are already JSON.
pub fn write_raw_request(out: &mut Vec<u8>, id: &IdRef<'_>, method: &str, params: Option<Raw<'_>>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(out);
    write_raw_call(out, method, params);
}

/// Appends a notification with params that are already JSON.
pub fn write_raw_notification(out: &mut Vec<u8>, method: &str, params: Option<Raw<'_>>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    write_raw_call(out, method, params);
}

fn write_raw_call(out: &mut Vec<u8>, method: &str, params: Option<Raw<'_>>) {
    out.extend_from_slice(br#","method":"#);
    write_string(out, method);
    if let Some(params) = params {
        out.reserve(params.get().len() + 16);
        out.extend_from_slice(br#","params":"#);
        out.extend_from_slice(params.get().as_bytes());
    }
    out.push(b'}');
}

/// Appends a successful response; `write` appends the result.
pub fn write_result<E>(
    out: &mut Vec<u8>,
    id: &IdRef<'_>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    write_result_head(out, id);
    if let Err(error) = write(out) {
        out.truncate(start);
        return Err(error);
    }
    out.push(b'}');
    Ok(())
}

/// Appends a successful response up to its result. The caller appends the result and a closing brace.
pub fn write_result_head(out: &mut Vec<u8>, id: &IdRef<'_>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(out);
    out.extend_from_slice(br#","result":"#);
}

/// Appends a successful response with a result that is already JSON.
pub fn write_raw_result(out: &mut Vec<u8>, id: &IdRef<'_>, result: &[u8]) {
    // Reserve once for the whole of a large result.
    out.reserve(result.len() + 64);
    write_result_head(out, id);
    out.extend_from_slice(result);
    out.push(b'}');
}

/// Appends a response with a result or error that is already JSON.
pub fn write_raw_response(out: &mut Vec<u8>, id: &IdRef<'_>, outcome: Result<Raw<'_>, Raw<'_>>) {
    let (name, body) = match outcome {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write(out);
    out.extend_from_slice(br#",""#);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(br#"":"#);
    out.extend_from_slice(body.get().as_bytes());
    out.push(b'}');
}

/// Appends an error response.
pub fn write_error<D: Serialize>(
    out: &mut Vec<u8>,
    id: Result<&IdRef<'_>, UnreadableId>,
    error: &D,
) -> Result<(), serde_json::Error> {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    match id {
        Ok(id) => {
            out.extend_from_slice(br#","id":"#);
            id.write(out);
        }
        Err(UnreadableId::Null) => out.extend_from_slice(br#","id":null"#),
        Err(UnreadableId::Omitted) => {}
    }
    out.extend_from_slice(br#","error":"#);
    serde_json::to_writer(&mut *out, error)?;
    out.push(b'}');
    Ok(())
}
