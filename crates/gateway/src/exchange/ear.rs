//! Handles messages of a server during a call: passes progress and log messages to the client that
//! requested them (G3, G13, G34), and questions to the client's session.

use serde_json::value::RawValue;
use turnbuckle_client::RelayEvent;
use turnbuckle_protocol::{
    ErrorObject, LoggingLevel, Lower, ProgressNotificationParams,
    envelope::{Edit, Raw},
};

use crate::translate::FrontRequest;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Passes on progress and log messages. Returns other events.
pub(super) async fn hear(request: &FrontRequest, event: RelayEvent) -> Option<RelayEvent> {
    if let Some(record) = &request.record {
        record.heard(&event);
    }
    match event {
        RelayEvent::Progress(params) => {
            progress(request, Raw::from(&*params)).await;
            None
        }
        RelayEvent::Notification(method, params) => {
            if &*method == "notifications/message"
                && let Some(params) = &params
            {
                log(request, Raw::from(&**params)).await;
            }
            None
        }
        other => Some(other),
    }
}

/// Asks the session of a client, and records the question and the answer.
pub(super) async fn ask(
    request: &FrontRequest,
    method: &str,
    params: Option<Raw<'_>>,
) -> Option<Result<Box<RawValue>, ErrorObject>> {
    let record = request.record.as_ref();
    let waiting = record.map(|record| record.asks(method, params));
    let answered = match request.front() {
        Some(front) => front.ask(method, params).await,
        None => None,
    };
    drop(waiting);
    if let (Some(record), Some(Ok(answer))) = (record, &answered) {
        record.answer_came(answer.get());
    }
    answered
}

async fn progress(request: &FrontRequest, params: Raw<'_>) {
    let Some(token) = &request.token else { return };
    let mut edit = Edit::new(params).set(&["progressToken"], &**token);
    if !request.revision.is_modern()
        && let Ok(mut read) = params.parse::<ProgressNotificationParams>()
        && read.message.is_some()
    {
        read.lower(request.revision);
        if read.message.is_none() {
            edit = edit.drop(&["message"]);
        }
    }
    if let Ok(params) = edit.finish() {
        tell(request, "notifications/progress", params.raw()).await;
    }
}

async fn log(request: &FrontRequest, params: Raw<'_>) {
    let wanted = if request.revision.is_modern() {
        // logging: a request without a level gets no log messages.
        let Some(level) = request.log_level else {
            return;
        };
        Some(level)
    } else {
        request.session_log_level()
    };
    let level = params.member("level");
    let level = level.and_then(|raw| raw.parse::<LoggingLevel>().ok());
    if wanted
        .zip(level)
        .is_some_and(|(wanted, level)| level < wanted)
    {
        return;
    }
    let edit = Edit::new(params).drop(&["_meta", SUBSCRIPTION]);
    if let Ok(params) = edit.finish() {
        tell(request, "notifications/message", params.raw()).await;
    }
}

async fn tell(request: &FrontRequest, method: &str, params: Raw<'_>) {
    if let Some(record) = &request.record {
        record.told(method, params);
    }
    if let Some(front) = request.front() {
        front.notify(method, Some(params)).await;
    }
}
