//! The headers of a message.

use std::borrow::Cow;

use turnbuckle_protocol::{
    Revision,
    envelope::{self, Frame, Members, Message, text_of},
    http::{encode, name_of},
};
use turnbuckle_transport::http::client::{HeaderMap, HeaderName, HeaderValue};

use super::{
    Fault, Http, Post,
    header_name::{METHOD, NAME, PROTOCOL_VERSION, SESSION_ID},
    session::Session,
};
use crate::{ends::Ends, tool::ExcludedTool};

/// The only method whose arguments may be repeated in headers.
const TOOLS_CALL: &str = "tools/call";

/// The initial capacity for the headers of a request: those of the protocol, those that every request
/// has, and a few that repeat arguments.
const HEADERS: usize = 12;

impl Http {
    /// The headers of a request.
    pub(super) fn headers_of(
        &self,
        post: &Post<'_>,
        session: &Session,
    ) -> Result<HeaderMap, Fault> {
        match post.modern {
            Some(revision) => modern(self, post, revision),
            // lifecycle: `initialize` opens the session, so it is sent without session headers.
            None if post.method == "initialize" => Ok(HeaderMap::new()),
            None => Ok(of_session(&self.ends, session)),
        }
    }
}

/// The headers of every message that belongs to a session.
pub(crate) fn of_session(ends: &Ends, session: &Session) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(HEADERS);
    if let Some(id) = session.id() {
        headers.insert(&SESSION_ID, id.clone());
    }
    let revision = ends.peer().map(|peer| peer.revision());
    // transports: the header came with 2025-06-18, and older servers do not expect it.
    if let Some(revision) = revision.filter(|revision| revision.rules().version_header) {
        let version = HeaderValue::from_static(revision.as_str());
        headers.insert(&PROTOCOL_VERSION, version);
    }
    headers
}

fn modern(http: &Http, post: &Post<'_>, revision: Revision) -> Result<HeaderMap, Fault> {
    let mut headers = HeaderMap::with_capacity(HEADERS);
    let version = HeaderValue::from_static(revision.as_str());
    headers.insert(&PROTOCOL_VERSION, version);
    headers.insert(&METHOD, value(&METHOD, post.method)?);
    let Some(member) = name_of(post.method) else {
        add_extension_name(http, post, &mut headers)?;
        return Ok(headers);
    };
    // Most requests of a gateway come with their name, so the message need not be parsed for it.
    let mut params = None;
    let name = if let Some(name) = post.name {
        Cow::Borrowed(name)
    } else {
        let params = params.insert(params_of(&post.message)?);
        let Some(name) = params.get(member).filter(|name| !name.is_null()) else {
            return Ok(headers);
        };
        text_of(name).ok_or_else(|| unsendable(&format!("`params.{member}` must be a string")))?
    };
    headers.insert(&NAME, value(&NAME, &encode(&name))?);
    if post.method == TOOLS_CALL {
        add_params(http, &name, post, params, &mut headers)?;
    }
    Ok(headers)
}

/// Parses the params of a request that is about to be sent.
fn params_of(message: &[u8]) -> Result<Members<'_>, Fault> {
    match envelope::parse(message) {
        Ok(Frame::One(Message::Request(request))) => Ok(request.params),
        Ok(_) => Ok(Members::default()),
        Err(malformed) => Err(unsendable(&malformed.message)),
    }
}

/// Adds the subject of a request as a header, if an extension defines that for its method.
fn add_extension_name(http: &Http, post: &Post<'_>, headers: &mut HeaderMap) -> Result<(), Fault> {
    let Some(member) = http.names.member(post.method) else {
        return Ok(());
    };
    if let Some(name) = params_of(&post.message)?.text(member) {
        headers.insert(&NAME, value(&NAME, &encode(&name))?);
    }
    Ok(())
}

/// streamable-http, "Custom Headers from Tool Parameters". Tools that were never listed get no
/// headers here; if the server then reports missing headers, the tools are listed.
fn add_params(
    http: &Http,
    tool: &str,
    post: &Post<'_>,
    params: Option<Members<'_>>,
    headers: &mut HeaderMap,
) -> Result<(), Fault> {
    let listed = http.tools.callable(tool).map_err(|excluded| {
        let ExcludedTool { name, reason } = excluded;
        unsendable(&format!(
            "tool `{name}` cannot be called, because its definition is invalid: {reason}"
        ))
    })?;
    let notes = listed.as_ref().and_then(|listed| listed.http.as_ref());
    let Some(notes) = notes.filter(|notes| !notes.headers.is_empty()) else {
        return Ok(());
    };
    let params = match params {
        Some(params) => params,
        None => params_of(&post.message)?,
    };
    let Some(arguments) = params.get("arguments").filter(|it| !it.is_null()) else {
        return Ok(());
    };
    let mirrored = notes
        .headers
        .headers_for(arguments.value())
        .map_err(|error| unsendable(&error))?;
    for (name, text) in mirrored {
        let header = HeaderName::try_from(name).map_err(|error| unsendable(&error))?;
        let text = value(&header, &text)?;
        headers.insert(header, text);
    }
    Ok(())
}

fn value(name: &HeaderName, text: &str) -> Result<HeaderValue, Fault> {
    HeaderValue::try_from(text)
        .map_err(|_| unsendable(&format!("header `{name}` cannot have the value {text:?}")))
}

fn unsendable(reason: &(impl ToString + ?Sized)) -> Fault {
    Fault::Unsent(reason.to_string().into())
}
