//! A notification of an extension that clients send.

use turnbuckle_protocol::{envelope::Members, method::NotificationMethod};

use crate::{Caller, Fault};

type NoticeListener =
    Box<dyn Fn(&Members<'_>, &Caller) -> Result<(), serde_json::Error> + Send + Sync>;

/// A notification that clients send, and its handler.
pub(crate) struct Notice {
    pub(crate) name: &'static str,
    listener: NoticeListener,
}

impl Notice {
    pub(crate) fn new<N: NotificationMethod>(
        listener: impl Fn(N::Params, &Caller) + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: N::NAME,
            listener: Box::new(move |params, caller| {
                listener(params.parse()?, caller);
                Ok(())
            }),
        }
    }

    pub(crate) fn tell(&self, params: &Members<'_>, caller: &Caller) {
        match Fault::caught(|| (self.listener)(params, caller)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::debug!(method = self.name, %error, "a notification cannot be read");
            }
            Err(fault) => {
                let reject = fault.into_reject();
                tracing::error!(
                    method = self.name,
                    %reject,
                    "the handler of a notification panicked"
                );
            }
        }
    }
}
