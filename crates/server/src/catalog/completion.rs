//! Completion: what an argument could be, while the user types it.

use std::{collections::HashMap, future::Future, sync::Arc};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::Completion;

use crate::{Caller, Failure};

/// The most values that one answer may hold.
///
/// completion: at most 100 values in a response.
pub(crate) const MAX_VALUES: usize = 100;

/// What is known while an argument is completed.
#[derive(Clone, Debug)]
pub struct Completing {
    /// What the user has typed so far.
    pub partial: String,
    /// Other arguments that are already settled.
    pub settled: HashMap<String, String>,
    /// Who asks.
    pub caller: Caller,
}

/// Something that completes an argument: an async function of [`Completing`] (or of the text typed
/// so far) that gives strings, or a fixed list.
pub trait Completer<X>: Send + Sync + 'static {
    /// The candidates, best first. More than a hundred are cut off, and the client is told.
    fn complete(
        &self,
        completing: Completing,
    ) -> impl Future<Output = Result<Vec<String>, Failure>> + Send;
}

impl<F, Fut, R> Completer<(Completing, R)> for F
where
    F: Fn(Completing) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'static,
    R: Candidates,
{
    async fn complete(&self, completing: Completing) -> Result<Vec<String>, Failure> {
        self(completing).await.into_candidates()
    }
}

impl<F, Fut, R> Completer<(String, R)> for F
where
    F: Fn(String) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'static,
    R: Candidates,
{
    async fn complete(&self, completing: Completing) -> Result<Vec<String>, Failure> {
        self(completing.partial).await.into_candidates()
    }
}

impl<const N: usize> Completer<[&'static str; N]> for [&'static str; N] {
    async fn complete(&self, completing: Completing) -> Result<Vec<String>, Failure> {
        Ok(starting_with(self.iter().copied(), &completing.partial))
    }
}

impl Completer<Vec<String>> for Vec<String> {
    async fn complete(&self, completing: Completing) -> Result<Vec<String>, Failure> {
        Ok(starting_with(
            self.iter().map(String::as_str),
            &completing.partial,
        ))
    }
}

/// What a completing function may return.
pub trait Candidates {
    /// The candidates as text.
    fn into_candidates(self) -> Result<Vec<String>, Failure>;
}

impl<S: Into<String>> Candidates for Vec<S> {
    fn into_candidates(self) -> Result<Vec<String>, Failure> {
        Ok(self.into_iter().map(Into::into).collect())
    }
}

impl<C: Candidates, E: Into<Failure>> Candidates for Result<C, E> {
    fn into_candidates(self) -> Result<Vec<String>, Failure> {
        self.map_err(Into::into)?.into_candidates()
    }
}

fn starting_with<'a>(all: impl Iterator<Item = &'a str>, partial: &str) -> Vec<String> {
    let partial = partial.to_lowercase();
    all.filter(|value| value.to_lowercase().starts_with(&partial))
        .map(ToOwned::to_owned)
        .collect()
}

type ErasedCompleter =
    Arc<dyn Fn(Completing) -> BoxFuture<'static, Result<Vec<String>, Failure>> + Send + Sync>;

/// The completers of a prompt's arguments or a template's variables.
#[derive(Default)]
pub(crate) struct Completers(HashMap<String, ErasedCompleter>);

impl Completers {
    pub(crate) fn insert<X>(&mut self, argument: &str, completer: impl Completer<X>) {
        let completer = Arc::new(completer);
        let erased: ErasedCompleter = Arc::new(move |completing| {
            let completer = Arc::clone(&completer);
            Box::pin(async move { completer.complete(completing).await })
        });
        self.0.insert(argument.to_owned(), erased);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn get(
        &self,
        argument: &str,
        completing: Completing,
    ) -> Option<BoxFuture<'static, Result<Vec<String>, Failure>>> {
        self.0.get(argument).map(|completer| completer(completing))
    }
}

/// Cuts the candidates to what one answer may hold.
pub(crate) fn limited(mut values: Vec<String>) -> Completion {
    let total = values.len();
    values.truncate(MAX_VALUES);
    let has_more = total > values.len();
    Completion::new(values)
        .with_total(total as u64)
        .with_has_more(has_more)
}
