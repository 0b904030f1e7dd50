//! The return types of handlers, and how they become results.

mod contents;
mod extension_reply;
mod json;
mod media;
mod prompt_reply;
mod tool_result;

pub(crate) use extension_reply::CacheMark;
pub use extension_reply::{Answered, ExtensionReply};
pub use json::Json;
pub use media::{Audio, Image};

use super::description::Description;
use crate::Failure;

/// Marks a `Result` whose error is a `Box<dyn Error>` that cannot be sent to another thread.
#[doc(hidden)]
pub enum Unsendable {}

/// Checks that a type can be returned. The attributes generate calls of it, so that the compiler
/// reports an error at the return type.
#[doc(hidden)]
pub fn is_outcome<R: IntoOutcome<T, M>, T, M>() {}

/// A type that a handler may return. It becomes a `T`: the result of a tool, a prompt or a
/// resource.
///
/// | returned | as a tool's result | as a prompt | as a resource |
/// |---|---|---|---|
/// | `String`, `&'static str` | text | one user message | text |
/// | numbers, `bool` | text | | |
/// | `()` | no content | | |
/// | [`Image`], [`Audio`], `ContentBlock`, `ResourceLink`, `EmbeddedResource` | that content | one user message | |
/// | `serde_json::Value` | structured content and the same as text, if it is an object; text otherwise | | JSON text |
/// | `Vec<u8>` | | | a blob |
/// | [`Json<T>`] | structured content with its schema, and the same as text | | JSON text |
/// | `Vec` of blocks, messages, contents | all of them | all of them | all of them |
/// | `Result<T, E>` | `E` becomes a [`ToolError`](crate::ToolError) | `E` becomes a [`Failure`] | the same |
///
/// `E` is any error type, `String`, `&'static str`, `Box<dyn Error>` with or without
/// `Send + Sync`, or the error of `anyhow` or `eyre`.
///
/// `M` lets the compiler distinguish kinds of `Result`. Leave it out when you implement the trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a handler that gives a `{T}`",
    label = "does not implement `IntoOutcome<{T}>`",
    note = "return text, content, `Json<T>` with `T: Serialize + JsonSchema`, or a `Result` of these"
)]
pub trait IntoOutcome<T, M = ()> {
    /// Converts the value into the result.
    ///
    /// # Errors
    /// A [`Failure`] is sent to the client in place of a result.
    fn into_outcome(self) -> Result<T, Failure>;

    /// Describes what the handler returns, such as its output schema, when it is registered. By
    /// default it describes nothing.
    fn describe(_description: &mut Description) {}
}
