//! Outcomes on their way out: what this revision may see of them, as bytes.

use serde::Serialize;
use turnbuckle_protocol::{
    CallToolResult, CompleteResult, ContentBlock, ErrorObject, GetPromptResult, IdRef, Lower, Meta,
    ReadResourceResult, Revision, envelope, revision::ArgumentErrors,
};
use turnbuckle_session::round::Paused;

use crate::{Cached, Failure, Reject, shared::Shared, sink::Wrote};

/// A result that a client gets.
pub(crate) trait Answer: Serialize + Lower + Sized {
    fn meta_mut(&mut self) -> &mut Option<Meta>;

    /// Appends the answer as JSON.
    fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        serde_json::to_writer(out, self)
    }

    /// What only a modern answer carries.
    fn modernise(&mut self, _shared: &Shared) {}

    /// A client that cannot be asked what is needed.
    fn unaskable(reject: Reject, _revision: Revision) -> Result<Self, Reject> {
        Err(reject)
    }

    /// Arguments that do not fit.
    fn misfit(text: String, _revision: Revision) -> Result<Self, Reject> {
        Err(Reject::invalid_params(text))
    }
}

impl Answer for CallToolResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        Self::write(self, out)
    }

    // mrtr: a modern client is told which capability is missing; of an older one, the model is.
    fn unaskable(reject: Reject, revision: Revision) -> Result<Self, Reject> {
        if revision.is_modern() {
            return Err(reject);
        }
        Ok(Self::error(reject.as_error().message.as_str()))
    }

    // tools: from 2025-11-25 on a model reads what was wrong with its arguments; before, they were
    // a protocol error.
    fn misfit(text: String, revision: Revision) -> Result<Self, Reject> {
        match revision.rules().argument_errors {
            ArgumentErrors::Protocol => Err(Reject::invalid_params(text)),
            ArgumentErrors::Result => Ok(Self {
                content: vec![ContentBlock::text(text)],
                is_error: Some(true),
                ..Self::default()
            }),
        }
    }
}

impl Answer for GetPromptResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }
}

impl Answer for CompleteResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }
}

impl Answer for ReadResourceResult {
    fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    // caching: complete results of resources/read carry a hint.
    fn modernise(&mut self, shared: &Shared) {
        let hint = shared.settings.cache.of(Cached::Reads);
        self.ttl_ms.get_or_insert(hint.ttl_ms);
        self.cache_scope.get_or_insert(hint.scope);
    }
}

/// What a client gets of an outcome: an answer, or an error of the protocol.
pub(crate) fn settle<T: Answer>(
    outcome: Result<T, Failure>,
    revision: Revision,
) -> Result<T, Reject> {
    match outcome {
        Ok(answer) => Ok(answer),
        Err(Failure::Arguments(text)) => T::misfit(text, revision),
        Err(Failure::Reject(reject)) => Err(reject),
        Err(Failure::Unaskable(reject)) => T::unaskable(reject, revision),
        Err(Failure::Fault(fault)) => Err(fault.into_reject()),
    }
}

/// Appends the response to a request.
pub(crate) fn write<T: Answer>(
    shared: &Shared,
    revision: Revision,
    id: &IdRef<'_>,
    outcome: Result<T, Failure>,
    out: &mut Vec<u8>,
) -> Wrote {
    let written = settle(outcome, revision).and_then(|answer| {
        envelope::write_result(out, id, |out| write_body(shared, revision, answer, out))
            .map_err(|error| crate::Fault::new(error).into_reject())
    });
    match written {
        Ok(()) => Wrote::Result,
        Err(reject) => write_reject(revision, id, reject, out),
    }
}

fn write_body<T: Answer>(
    shared: &Shared,
    revision: Revision,
    mut answer: T,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    if !revision.is_modern() {
        answer.lower(revision);
        return answer.write(out);
    }
    answer.modernise(shared);
    if let Some(meta) = answer.meta_mut() {
        let own = std::mem::take(meta);
        *meta = own.with_server_info(&shared.info);
        answer.write(out)?;
        splice(out, br#""resultType":"complete"}"#);
    } else {
        answer.write(out)?;
        splice(out, &shared.modern_tail);
    }
    Ok(())
}

/// Appends a response that says what is missing.
pub(crate) fn write_paused(
    shared: &Shared,
    id: &IdRef<'_>,
    result: &Paused,
    out: &mut Vec<u8>,
) -> Wrote {
    let written = envelope::write_result(out, id, |out| {
        serde_json::to_writer(&mut *out, result)?;
        splice(out, &shared.paused_tail);
        Ok::<(), serde_json::Error>(())
    });
    match written {
        Ok(()) => Wrote::Result,
        Err(error) => write_reject(
            Revision::LATEST,
            id,
            crate::Fault::new(error).into_reject(),
            out,
        ),
    }
}

/// Reopens the object that was just written and ends it with `tail`.
pub(crate) fn splice(out: &mut Vec<u8>, tail: &[u8]) {
    let closing = out.pop();
    debug_assert_eq!(closing, Some(b'}'), "results are objects");
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    out.extend_from_slice(tail);
}

/// Appends an error response.
pub(crate) fn write_reject(
    revision: Revision,
    id: &IdRef<'_>,
    reject: Reject,
    out: &mut Vec<u8>,
) -> Wrote {
    let mut error = reject.into_error();
    error.lower(revision);
    write_error(Ok(id), &error, out)
}

/// Appends an error response, also to a message whose id could not be read.
pub(crate) fn write_error(
    id: Result<&IdRef<'_>, envelope::UnreadableId>,
    error: &ErrorObject,
    out: &mut Vec<u8>,
) -> Wrote {
    envelope::write_error(out, id, error).expect("an error object is plain JSON");
    Wrote::Error(error.code)
}
