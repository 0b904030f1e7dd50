//! Waits for the first of two futures.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

/// Which of two futures was ready first.
#[derive(Debug)]
pub(crate) enum First<A, B> {
    /// The first argument, which also wins a tie.
    Left(A),
    /// The second argument.
    Right(B),
}

/// Waits for the first of two futures and drops the other.
pub(crate) async fn race<A: Future, B: Future>(left: A, right: B) -> First<A::Output, B::Output> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|context| {
        if let Poll::Ready(output) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(output));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}
