//! `completion/complete`.

use turnbuckle_protocol::{CompleteRequestParams, CompleteResult, Completion, Lower, Reference};

use super::{
    Call, Parsed,
    builder::{Body, object},
};
use crate::connection::Connection;

const METHOD: &str = "completion/complete";

impl Connection {
    /// Asks for completions of an argument of a prompt or of a variable of a resource template.
    ///
    /// ```no_run
    /// use turnbuckle_client::protocol::Reference;
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let completion = server.complete(Reference::prompt("review"), "language", "ru").await?;
    /// println!("{:?}", completion.values);
    /// # Ok(()) }
    /// ```
    pub fn complete(
        &self,
        reference: Reference,
        argument: impl Into<String>,
        typed: impl Into<String>,
    ) -> Call<'_, Completion> {
        self.complete_with(CompleteRequestParams::new(reference, argument, typed))
    }

    /// The same, with the values of other arguments.
    pub fn complete_with(&self, mut params: CompleteRequestParams) -> Call<'_, Completion> {
        params.lower(self.link().revision());
        let body = object(METHOD, &params).map(Body::Plain);
        Call::new(self.link(), METHOD, body, |reader, raw| {
            reader
                .complete::<CompleteResult>(&raw)
                .map(|result| Parsed::Done(result.completion))
        })
    }
}
