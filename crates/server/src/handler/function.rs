//! Plain async functions as handlers.
//!
//! A handler is any `async fn` whose parameters are extractors and whose return type converts into
//! a result. The compiler checks both.

use std::future::Future;

use futures_core::future::BoxFuture;

use super::description::Description;
use crate::{Call, Extract, Failure, IntoOutcome};

/// A handler without its types: a function that extracts the parameters from the call at once, and
/// returns a future that borrows nothing from the message.
pub(crate) type Erased<T> =
    Box<dyn Fn(&Call<'_>) -> Result<BoxFuture<'static, Result<T, Failure>>, Failure> + Send + Sync>;

/// An async function of extractors that returns a `T`: a tool's result, a prompt, a resource.
///
/// Implemented for functions and closures with up to twelve extractors. You do not implement it
/// yourself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not an async function of extractors whose output can be sent",
    note = "each parameter must implement `Extract` (such as `Args<T>`, `State<S>`, `Progress`), \
            the output must be text, content, `Json<T>`, or a `Result` of these, and the future \
            must be `Send`",
    note = "plain parameters such as `city: String` need `#[tool]`, `#[prompt]` or `#[resource]`"
)]
pub trait Handler<X, T>: Send + Sync + 'static {
    /// Describes what the extractors need and what the handler returns, when the handler is
    /// registered.
    fn describe(description: &mut Description);

    /// Runs the extractors, and returns a future that runs the handler.
    ///
    /// # Errors
    /// The [`Failure`] of an extractor; the handler does not run then.
    fn start(&self, call: &Call<'_>) -> Result<BoxFuture<'static, Result<T, Failure>>, Failure>;
}

pub(crate) fn erase<X, T: 'static, H: Handler<X, T>>(handler: H) -> (Erased<T>, Description) {
    let mut description = Description::default();
    H::describe(&mut description);
    (Box::new(move |call| handler.start(call)), description)
}

macro_rules! functions {
    ($($extractor:ident)*) => {
        impl<F, Fut, R, T, M, $($extractor,)*> Handler<(fn($($extractor,)*) -> R, M), T> for F
        where
            F: Fn($($extractor,)*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = R> + Send + 'static,
            R: IntoOutcome<T, M>,
            T: 'static,
            $($extractor: Extract,)*
        {
            fn describe(description: &mut Description) {
                $($extractor::describe(description);)*
                R::describe(description);
            }

            #[allow(unused_variables, reason = "a handler without extractors does not look")]
            fn start(
                &self,
                call: &Call<'_>,
            ) -> Result<BoxFuture<'static, Result<T, Failure>>, Failure> {
                let running = self($($extractor::extract(call)?,)*);
                Ok(Box::pin(async move { running.await.into_outcome() }))
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
functions!(E1 E2 E3 E4 E5 E6 E7);
functions!(E1 E2 E3 E4 E5 E6 E7 E8);
functions!(E1 E2 E3 E4 E5 E6 E7 E8 E9);
functions!(E1 E2 E3 E4 E5 E6 E7 E8 E9 E10);
functions!(E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11);
functions!(E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12);
