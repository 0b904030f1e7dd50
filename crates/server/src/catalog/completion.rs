//! Completion: suggestions for an argument while the user types it.

use std::{collections::HashMap, future::Future};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::Completion;

use super::suggest::suggest;
use crate::{Call, Caller, Extract, Failure, Fault, handler::Description};

/// The maximum number of values in one answer.
///
/// completion: at most 100 values in a response.
pub(crate) const MAX_VALUES: usize = 100;

/// The context of a completion: the typed text, the other arguments and the caller. Completers take
/// it as a parameter.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CompletionContext {
    /// The text that the user has typed so far.
    pub partial: String,
    /// Other arguments that the user has filled in already, by name. Empty for clients of revisions
    /// that do not send them.
    pub settled: HashMap<String, String>,
    /// The caller, for completions that not everyone may see.
    pub caller: Caller,
}

impl CompletionContext {
    /// Creates a context with this typed text and the local user, for tests of completers.
    pub fn new(partial: impl Into<String>) -> Self {
        Self {
            partial: partial.into(),
            ..Self::default()
        }
    }
}

impl Extract for CompletionContext {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let completing = call.get::<Self>().cloned();
        completing.ok_or_else(|| {
            Fault::new("`CompletionContext` can be extracted only in completers").into()
        })
    }

    fn describe(description: &mut Description) {
        description.completes = true;
    }
}

/// The future of a completer, which returns the candidates.
pub type Completed = BoxFuture<'static, Result<Vec<String>, Failure>>;

/// A completer of an argument: an async function of extractors that returns strings, the best ones
/// first, or a fixed list.
///
/// [`CompletionContext`] is an extractor, and so is everything that handlers take, such as
/// [`State`](crate::State). If the first parameter is a `String`, it gets the text typed so far.
/// From a fixed list, the values that match are [suggested](crate::suggest).
///
/// ```
/// use turnbuckle_server::{Prompt, State, suggest};
///
/// #[derive(Clone)]
/// struct Towns(Vec<String>);
///
/// async fn towns(typed: String, State(towns): State<Towns>) -> Vec<String> {
///     suggest(towns.0, &typed)
/// }
/// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Trip { town: String }
/// # async fn plan(turnbuckle_server::Args(trip): turnbuckle_server::Args<Trip>) -> String { trip.town }
///
/// let prompt = Prompt::new("plan", plan).complete("town", towns);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a completer",
    label = "neither an async function of extractors that returns strings, nor a list of strings",
    note = "write `async fn f(typed: String) -> Vec<String>`, with extractors such as `State<S>` \
            after the text"
)]
pub trait Completer<X>: Send + Sync + 'static {
    /// Adds the requirements of the completer's extractors, when the completer is registered.
    fn describe(_description: &mut Description) {}

    /// Extracts the parameters, and returns a future of the candidates. At most a hundred of them
    /// are sent; the client is told if there are more.
    ///
    /// # Errors
    /// The error of an extractor that fails.
    fn start(&self, call: &Call<'_>) -> Result<Completed, Failure>;
}

macro_rules! functions {
    ($($extractor:ident)*) => {
        impl<F, Fut, R, $($extractor,)*> Completer<fn($($extractor,)*) -> R> for F
        where
            F: Fn($($extractor,)*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = R> + Send + 'static,
            R: Candidates,
            $($extractor: Extract,)*
        {
            fn describe(_description: &mut Description) {
                $($extractor::describe(_description);)*
            }

            fn start(&self, _call: &Call<'_>) -> Result<Completed, Failure> {
                let running = self($($extractor::extract(_call)?,)*);
                Ok(Box::pin(async move { running.await.into_candidates() }))
            }
        }

        impl<F, Fut, R, $($extractor,)*> Completer<(String, fn($($extractor,)*) -> R)> for F
        where
            F: Fn(String, $($extractor,)*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = R> + Send + 'static,
            R: Candidates,
            $($extractor: Extract,)*
        {
            fn describe(_description: &mut Description) {
                $($extractor::describe(_description);)*
            }

            fn start(&self, call: &Call<'_>) -> Result<Completed, Failure> {
                let typed = CompletionContext::extract(call)?.partial;
                let running = self(typed, $($extractor::extract(call)?,)*);
                Ok(Box::pin(async move { running.await.into_candidates() }))
            }
        }
    };
}

functions!();
functions!(E1);
functions!(E1 E2);
functions!(E1 E2 E3);
functions!(E1 E2 E3 E4);
functions!(E1 E2 E3 E4 E5);
functions!(E1 E2 E3 E4 E5 E6);

macro_rules! lists {
    ($([$($generic:tt)*] $list:ty),*) => {
        $(impl<$($generic)*> Completer<$list> for $list {
            fn start(&self, call: &Call<'_>) -> Result<Completed, Failure> {
                let typed = CompletionContext::extract(call)?.partial;
                let suggested = suggest(self.iter(), &typed);
                Ok(Box::pin(std::future::ready(Ok(suggested))))
            }
        })*
    };
}

lists!(
    [const N: usize] [&'static str; N],
    [] &'static [&'static str],
    [] Vec<&'static str>,
    [] Vec<String>
);

/// The types that a completer may return: a `Vec` of texts, or a `Result` with one.
pub trait Candidates {
    /// Converts the value into the candidates.
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

type ErasedCompleter = Box<dyn Fn(&Call<'_>) -> Result<Completed, Failure> + Send + Sync>;

/// The completers of a prompt's arguments or a template's variables.
#[derive(Default)]
pub(crate) struct Completers {
    by_argument: HashMap<String, ErasedCompleter>,
    /// The combined requirements of all completers.
    pub(crate) description: Description,
}

impl Completers {
    pub(crate) fn insert<X, C: Completer<X>>(&mut self, argument: &str, completer: C) {
        C::describe(&mut self.description);
        let erased: ErasedCompleter = Box::new(move |call| completer.start(call));
        self.by_argument.insert(argument.to_owned(), erased);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_argument.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_argument.keys().map(String::as_str)
    }

    /// Starts the completer of this argument, and returns a future of the candidates.
    pub(crate) fn start(
        &self,
        argument: &str,
        call: &Call<'_>,
    ) -> Option<Result<Completed, Failure>> {
        let completer = self.by_argument.get(argument)?;
        Some(completer(call))
    }
}

/// Limits the candidates to as many as one answer may contain.
pub(crate) fn limited(mut values: Vec<String>) -> Completion {
    let total = values.len();
    values.truncate(MAX_VALUES);
    let has_more = total > values.len();
    Completion::new(values)
        .with_total(total as u64)
        .with_has_more(has_more)
}
