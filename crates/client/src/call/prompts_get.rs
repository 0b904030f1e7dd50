//! `prompts/get`.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::GetPromptResult;

use super::{
    ClientCall,
    arguments::object,
    builder::{Body, Subject},
};
use crate::{connection::Connection, error::CallError};

const METHOD: &str = "prompts/get";

impl Connection {
    /// Gets a prompt: its messages, filled in with these arguments, ready for a conversation with a
    /// model. The arguments are anything that serialises to an object of strings; use `()` for no
    /// arguments.
    ///
    /// ```no_run
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let prompt = server.get("review", [("language", "Rust")]).await?;
    /// println!("{} messages", prompt.messages.len());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`CallError::Rejected`] if there is no such prompt or an argument is missing, and
    /// [`CallError::Unwritable`] if an argument is not a string.
    pub fn get(
        &self,
        prompt: impl Into<String>,
        arguments: impl Serialize,
    ) -> ClientCall<'_, GetPromptResult> {
        let body = object(METHOD, &arguments)
            .and_then(texts)
            .map(|arguments| Body::Subject(Subject::named(prompt.into(), arguments)));
        ClientCall::new(self.link(), METHOD, body, |reader, raw| {
            reader.outcome(&raw)
        })
    }
}

/// prompts: arguments are strings. The server would refuse a number, so it is refused here.
fn texts(arguments: Option<Box<RawValue>>) -> Result<Option<Box<RawValue>>, CallError> {
    if let Some(arguments) = &arguments {
        serde_json::from_str::<BTreeMap<Cow<'_, str>, Cow<'_, str>>>(arguments.get())
            .map_err(|source| CallError::unwritable(METHOD, source))?;
    }
    Ok(arguments)
}
