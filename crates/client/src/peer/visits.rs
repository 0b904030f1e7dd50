//! Visits to URLs whose end a server may report.

use std::{
    collections::VecDeque,
    future::{Future, pending},
    sync::Arc,
};

use tokio::sync::watch;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{ElicitRequestParams, ElicitRequestUrlParams, InputRequest};

/// How many visits are remembered. Beyond that, the end of the oldest visit is not noticed. Users make
/// one visit at a time.
const MAX_VISITS: usize = 64;

/// The visits that a server requested.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visits(Arc<Mutex<VecDeque<Visit>>>);

#[derive(Debug)]
struct Visit {
    id: Box<str>,
    is_over: watch::Sender<bool>,
    /// Whether a call waits for this visit.
    is_needed_first: bool,
}

impl Visits {
    /// Remembers the visit of a request, if the request is for a visit with an id.
    pub(crate) fn expect_asked(&self, asked: &InputRequest) {
        if let InputRequest::Elicit(params) = asked
            && let ElicitRequestParams::Url(visit) = &**params
        {
            drop(self.expect(visit));
        }
    }

    /// Remembers a visit. The returned future waits for its end.
    pub(crate) fn expect(
        &self,
        visit: &ElicitRequestUrlParams,
    ) -> impl Future<Output = ()> + Send + 'static {
        let over = visit.elicitation_id.as_deref().map(|id| self.enter(id));
        async move {
            let Some(mut over) = over else {
                return pending().await;
            };
            if over.wait_for(|is_over| *is_over).await.is_err() {
                // The visit is not remembered any more, so its end will not be noticed.
                pending::<()>().await;
            }
        }
    }

    /// The same for a visit that a call needs first. If the visit with this id has ended, it starts
    /// anew, because the server still requires it.
    pub(crate) fn expect_first(
        &self,
        visit: &ElicitRequestUrlParams,
    ) -> impl Future<Output = ()> + Send + 'static {
        let id = visit.elicitation_id.as_deref();
        if let Some(id) = id {
            let mut table = self.0.lock();
            table.retain(|visit| *visit.id != *id || !*visit.is_over.borrow());
        }
        let over = self.expect(visit);
        for known in self.0.lock().iter_mut() {
            known.is_needed_first |= id.is_some_and(|id| *known.id == *id);
        }
        over
    }

    /// Whether a call waits for the visit with this id.
    pub(crate) fn is_needed_first(&self, id: &str) -> bool {
        let table = self.0.lock();
        let known = table.iter().find(|visit| *visit.id == *id);
        known.is_some_and(|visit| visit.is_needed_first)
    }

    fn enter(&self, id: &str) -> watch::Receiver<bool> {
        let mut table = self.0.lock();
        if let Some(known) = table.iter().find(|visit| *visit.id == *id) {
            return known.is_over.subscribe();
        }
        if table.len() >= MAX_VISITS {
            table.pop_front();
        }
        let (is_over, receiver) = watch::channel(false);
        let id = id.into();
        table.push_back(Visit {
            id,
            is_over,
            is_needed_first: false,
        });
        receiver
    }

    /// Records the end of a visit. Returns `false` if there is no such visit, or if it had already
    /// ended.
    pub(crate) fn end(&self, id: &str) -> bool {
        let table = self.0.lock();
        let known = table.iter().find(|visit| *visit.id == *id);
        known.is_some_and(|visit| !visit.is_over.send_replace(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(id: usize) -> ElicitRequestUrlParams {
        ElicitRequestUrlParams::new("Go", "https://a.example/").with_elicitation_id(id.to_string())
    }

    #[tokio::test]
    async fn a_visit_ends_once_for_all_who_wait() {
        let visits = Visits::default();
        let (one, other) = (visits.expect(&visit(1)), visits.expect(&visit(1)));
        assert!(!visits.is_needed_first("1"));
        assert!(!visits.end("2"));
        assert!(visits.end("1"));
        assert!(!visits.end("1"));
        tokio::join!(one, other);
        visits.expect(&visit(1)).await;
    }

    #[tokio::test]
    async fn a_visit_that_is_wanted_again_is_waited_for_again() {
        let visits = Visits::default();
        let first = visits.expect_first(&visit(1));
        assert!(visits.is_needed_first("1"));
        assert!(visits.end("1"));
        first.await;
        let mut again = std::pin::pin!(visits.expect_first(&visit(1)));
        let at_once = tokio::time::timeout(std::time::Duration::ZERO, again.as_mut());
        assert!(at_once.await.is_err());
        assert!(visits.end("1"));
        again.await;
    }

    #[test]
    fn only_so_many_are_remembered() {
        let visits = Visits::default();
        for id in 0..=MAX_VISITS {
            drop(visits.expect(&visit(id)));
        }
        assert!(!visits.end("0"));
        assert!(visits.end("1"));
    }
}
