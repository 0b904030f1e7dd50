//! Tokens of protected servers, kept between runs.

use std::{future::Future, pin::Pin};

use turnbuckle::auth::client::{Browser, FileStore, OAuth, Visit};

use crate::exit::{Code, Failed, Outcome};

/// What people are shown when they are asked, and what the tokens are kept under.
const NAME: &str = "turnbuckle";

/// Where tokens are kept between runs.
pub(crate) fn store() -> Outcome<FileStore> {
    FileStore::open(NAME).map_err(|error| Failed::new(Code::Authorization, error))
}

/// Gets and renews tokens, and keeps them there.
pub(crate) fn kept_in(store: FileStore) -> OAuth {
    OAuth::new(NAME).store(store)
}

/// Gets and renews tokens, and keeps them between runs.
pub(crate) fn remembered() -> Outcome<OAuth> {
    store().map(kept_in)
}

/// Uses and renews the tokens that there are, and never sends anybody to a browser: a command that
/// a script runs must not wait for a person. `None` where nothing can be kept.
pub(crate) fn silent() -> Option<OAuth> {
    Some(remembered().ok()?.browser(Nobody))
}

/// Nobody signs in here.
struct Nobody;

type Prepared<'a> = Pin<
    Box<
        dyn Future<Output = Result<Box<dyn Visit>, Box<dyn std::error::Error + Send + Sync>>>
            + Send
            + 'a,
    >,
>;

impl Browser for Nobody {
    fn prepare<'a>(&'a self, _: &'a [String]) -> Prepared<'a> {
        Box::pin(async { Err("nobody has signed in to this server".into()) })
    }
}
