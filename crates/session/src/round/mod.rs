//! Asking the client during a request: what is known so far, which questions are open, and how both are
//! kept until the client's answers come.
//!
//! A *round* is one run of a handler. If a handler in a modern exchange needs an answer that it does
//! not have, it is dropped, the client gets the questions, and the client's retry starts the next round
//! with the [`Journal`] of the earlier ones. Between two rounds the client holds the journal, encrypted
//! ([`seal`]) so that only this server can read it. In a session and in a task the same [`Round`] keeps
//! track of the questions, which are sent as requests or listed in the task.
//!
//! ```
//! use serde_json::json;
//! use turnbuckle_protocol::{
//!     ClientCapabilities, ElicitRequestFormParams, ElicitSchema, Revision, StringSchema,
//!     envelope::{Frame, Message, parse},
//! };
//! use turnbuckle_session::round::{AskOutcome, Binding, KeyRing, RequestDigest, Round};
//!
//! // What a handler does each time it runs.
//! let seat = || {
//!     let schema = ElicitSchema::new().with_required("seat", StringSchema::default());
//!     ElicitRequestFormParams::new("Which seat?", schema)
//! };
//! let client = ClientCapabilities::new().with_form_elicitation();
//! let keys = KeyRing::from_secret(b"32 random bytes from the settings")?;
//! let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book"}}"#;
//! let Ok(Frame::One(Message::Request(request))) = parse(text) else { panic!("a request") };
//! let request = RequestDigest::of(&request.method, &request.params);
//! let binding = Binding::new(request).with_caller("alice");
//!
//! let mut round = Round::new(Revision::LATEST, client.clone());
//! assert!(matches!(round.ask("seat", &seat().into())?, AskOutcome::Open));
//! let pause = round.pause().expect("one ask is open");
//! let reply = pause.seal(&keys, &binding, 1_800_000_600, [7; 24]);
//!
//! // The retry, perhaps on another machine.
//! let opened = keys.open(&reply.request_state, &binding, 1_800_000_060)?;
//! let mut round = Round::resume(Revision::LATEST, client, opened.journal);
//! round.merge([("seat", json!({"action": "accept", "content": {"seat": "12A"}}))])?;
//! assert!(matches!(round.ask("seat", &seat().into())?, AskOutcome::Answered(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod asks;
mod canonical;
mod declared;
mod form;
mod format;
mod impossible;
mod journal;
mod journal_error;
mod journal_text;
#[cfg(not(feature = "seal"))]
mod no_digest;
mod node;
mod offered;
mod open_asks;
mod question;
mod question_draft;
pub mod seal;
mod secret;

pub use answer::{BadAnswer, check_answer};
pub use asks::{AskError, AskOutcome, MAX_OPEN_ASKS, Pause, Paused, Round};
pub use declared::Declared;
pub use impossible::{Impossible, Need};
pub use journal::{Journal, MAX_JOURNAL_BYTES, MAX_JOURNAL_ENTRIES};
pub use journal_error::{Entry, JournalError};
pub use offered::{NotOffered, check_method, check_offered};
pub use open_asks::OpenAsks;
pub use question::{Fingerprint, Kind, tool_fault};
pub use question_draft::{FormSchema, QuestionDraft};
pub use seal::{BadState, Binding, Key, KeyRing, Opened, RequestDigest};
