//! The headers of a message.

use std::{borrow::Cow, collections::HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    Revision,
    envelope::text_of,
    http::{encode, header, name_of},
};
use turnbuckle_transport::http::client::{HeaderMap, HeaderName, HeaderValue};

use super::{Fault, Http, Post, session::Session};
use crate::{ends::Ends, tool::ExcludedTool};

/// The one method whose arguments may be repeated.
const TOOLS_CALL: &str = "tools/call";

/// The parts of a message that headers repeat.
#[derive(Deserialize)]
struct RepeatedFields<'a> {
    #[serde(borrow)]
    params: Option<RepeatedParams<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RepeatedParams<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<Cow<'a, str>>,
    #[serde(borrow)]
    task_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Http {
    /// The headers of a request.
    pub(super) fn headers_of(
        &self,
        post: &Post<'_>,
        session: &Session,
    ) -> Result<HeaderMap, Fault> {
        match post.modern {
            Some(revision) => modern(self, post, revision),
            // lifecycle: `initialize` opens the session, so it belongs to none yet.
            None if post.method == "initialize" => Ok(HeaderMap::new()),
            None => Ok(of_session(&self.ends, session)),
        }
    }
}

/// The headers of whatever belongs to a session.
pub(crate) fn of_session(ends: &Ends, session: &Session) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(id) = session.id() {
        headers.insert(header::SESSION_ID, id.clone());
    }
    let revision = ends.peer().map(|peer| peer.revision());
    // transports: the header came with 2025-06-18, and older servers do not expect it.
    if let Some(revision) = revision.filter(|revision| revision.rules().version_header) {
        let version = HeaderValue::from_static(revision.as_str());
        headers.insert(header::PROTOCOL_VERSION, version);
    }
    headers
}

fn modern(http: &Http, post: &Post<'_>, revision: Revision) -> Result<HeaderMap, Fault> {
    let mut headers = HeaderMap::new();
    let version = HeaderValue::from_static(revision.as_str());
    headers.insert(header::PROTOCOL_VERSION, version);
    headers.insert(header::METHOD, value(header::METHOD, post.method)?);
    let Some(member) = name_of(post.method) else {
        add_extension_name(http, post, &mut headers)?;
        return Ok(headers);
    };
    let peek: RepeatedFields<'_> =
        serde_json::from_slice(&post.message).map_err(|error| unsendable(&error))?;
    let params = peek.params.unwrap_or_default();
    let name = match member {
        "name" => &params.name,
        "uri" => &params.uri,
        _ => &params.task_id,
    };
    if let Some(name) = name {
        headers.insert(header::NAME, value(header::NAME, &encode(name))?);
    }
    if let (TOOLS_CALL, Some(tool)) = (post.method, &params.name) {
        add_params(http, tool, params.arguments, &mut headers)?;
    }
    Ok(headers)
}

/// The name of a method that an extension defines, if it has one.
fn add_extension_name(http: &Http, post: &Post<'_>, headers: &mut HeaderMap) -> Result<(), Fault> {
    #[derive(Deserialize)]
    struct AnyParams<'a> {
        #[serde(borrow)]
        params: Option<HashMap<Cow<'a, str>, &'a RawValue>>,
    }

    let Some(member) = http.names.member(post.method) else {
        return Ok(());
    };
    let any: AnyParams<'_> =
        serde_json::from_slice(&post.message).map_err(|error| unsendable(&error))?;
    let params = any.params.unwrap_or_default();
    let named = params.get(member).and_then(|raw| text_of(*raw));
    if let Some(name) = named {
        headers.insert(header::NAME, value(header::NAME, &encode(&name))?);
    }
    Ok(())
}

/// streamable-http, "Custom Headers from Tool Parameters". Tools that were never listed get no
/// headers here; if the server then reports missing headers, the tools are listed.
fn add_params(
    http: &Http,
    tool: &str,
    arguments: Option<&RawValue>,
    headers: &mut HeaderMap,
) -> Result<(), Fault> {
    let listed = http.tools.callable(tool).map_err(|excluded| {
        let ExcludedTool { name, reason } = excluded;
        unsendable(&format!(
            "tool `{name}` is not used, because its definition is wrong: {reason}"
        ))
    })?;
    let notes = listed.as_ref().and_then(|listed| listed.http.as_ref());
    let notes = notes.filter(|notes| !notes.headers.is_empty());
    let (Some(notes), Some(arguments)) = (notes, arguments) else {
        return Ok(());
    };
    let mirrored = notes
        .headers
        .headers_for(arguments)
        .map_err(|error| unsendable(&error))?;
    for (name, text) in mirrored {
        let header = HeaderName::try_from(name).map_err(|error| unsendable(&error))?;
        headers.insert(header, value(name, &text)?);
    }
    Ok(())
}

fn value(name: &str, text: &str) -> Result<HeaderValue, Fault> {
    HeaderValue::try_from(text)
        .map_err(|_| unsendable(&format!("header `{name}` cannot carry {text:?}")))
}

fn unsendable(reason: &(impl ToString + ?Sized)) -> Fault {
    Fault::Unsent(reason.to_string().into())
}
