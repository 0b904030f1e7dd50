//! Limits of one tool: how long a call may take, and how many may run at once.
//!
//! The handler is wrapped when the tool is registered, so a tool without limits has no overhead.

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;
use turnbuckle_protocol::CallToolResult;

use crate::{Call, Failure, handler::Erased};

/// The limits of one tool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ToolLimits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) concurrency: Option<usize>,
}

impl ToolLimits {
    /// Wraps a handler so that it keeps these limits.
    pub(crate) fn around(self, handler: Erased<CallToolResult>) -> Erased<CallToolResult> {
        let handler = match self.timeout {
            Some(limit) => timed(handler, limit),
            None => handler,
        };
        match self.concurrency {
            Some(limit) => counted(handler, limit),
            None => handler,
        }
    }
}

fn timed(handler: Erased<CallToolResult>, limit: Duration) -> Erased<CallToolResult> {
    Box::new(move |call: &Call<'_>| {
        let running = handler(call)?;
        Ok(Box::pin(async move {
            match tokio::time::timeout(limit, running).await {
                Ok(outcome) => outcome,
                Err(_) => Ok(CallToolResult::error(format!(
                    "the tool took longer than {limit:?} and was stopped"
                ))),
            }
        }))
    })
}

fn counted(handler: Erased<CallToolResult>, limit: usize) -> Erased<CallToolResult> {
    let permits = Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS)));
    Box::new(move |call: &Call<'_>| {
        let running = handler(call)?;
        let permits = Arc::clone(&permits);
        Ok(Box::pin(async move {
            let permit = permits.acquire_owned().await;
            let _permit = permit.map_err(|closed| Failure::Fault(crate::Fault::new(closed)))?;
            running.await
        }))
    })
}
