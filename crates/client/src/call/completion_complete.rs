//! `completion/complete`.

use turnbuckle_protocol::{CompleteRequestParams, CompleteResult, Completion, Lower, Reference};

use super::{ClientCall, Parsed, arguments::object, builder::Body};
use crate::connection::Connection;

const METHOD: &str = "completion/complete";

impl Connection {
    /// Asks for completions of an argument of a prompt or of a variable of a resource template.
    /// Returns the values that the server proposes for the text typed so far. Use
    /// [`input_completion`](Self::input_completion) for a field in which the user types.
    ///
    /// ```no_run
    /// use turnbuckle_client::protocol::Reference;
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let completion = server.complete(Reference::prompt("review"), "language", "ru").await?;
    /// println!("{:?}", completion.values);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`CallError::NotOffered`](crate::CallError::NotOffered) if the server has no completion, and
    /// [`CallError::Rejected`](crate::CallError::Rejected) if there is no such prompt or template.
    pub fn complete(
        &self,
        reference: Reference,
        argument: impl Into<String>,
        typed: impl Into<String>,
    ) -> ClientCall<'_, Completion> {
        self.complete_with(CompleteRequestParams::new(reference, argument, typed))
    }

    /// Does the same as [`complete`](Self::complete), and also sends the values of other arguments, on
    /// which the proposals may depend. These values are not sent to servers of revisions that do not
    /// define them.
    pub fn complete_with(&self, mut params: CompleteRequestParams) -> ClientCall<'_, Completion> {
        params.lower(self.link().revision());
        let body = object(METHOD, &params).map(Body::Plain);
        ClientCall::new(self.link(), METHOD, body, |reader, raw| {
            reader
                .complete::<CompleteResult>(&raw)
                .map(|result| Parsed::Done(result.completion))
        })
    }
}
