//! Reports the requests of an authorization flow while they are made.

use std::sync::Arc;

use turnbuckle_transport::http::client::{Address, StatusCode};

use super::Step;

/// One HTTP request of an authorization flow. [`OAuth::on_request`](super::OAuth::on_request)
/// reports it when it is sent, and again when it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowRequest {
    /// The step of the flow that the request belongs to.
    pub step: Step,
    /// The URL, without its query.
    pub url: String,
    /// The HTTP status of the response; `None` when the request is sent.
    pub status: Option<u16>,
}

type Callback = Arc<dyn Fn(&FlowRequest) + Send + Sync>;

/// The observer, if any. Without one, reporting costs nothing.
#[derive(Clone, Default)]
pub(crate) struct FlowObserver(Option<Callback>);

impl FlowObserver {
    pub(crate) fn new(tell: impl Fn(&FlowRequest) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn tell(&self, step: Step, address: &Address, status: Option<StatusCode>) {
        if let Some(tell) = &self.0 {
            tell(&FlowRequest {
                step,
                url: address.to_string(),
                status: status.map(|status| status.as_u16()),
            });
        }
    }
}
