//! Tokens of protected servers, kept between runs.

use futures_core::future::BoxFuture;
use turnbuckle::auth::client::{Browser, FileStore, OAuth, Visit};

use crate::failure::{Code, Failed, Outcome};

/// What people are shown when they are asked, and what the tokens are kept under.
const NAME: &str = "turnbuckle";

/// Where tokens are kept between runs.
pub fn store() -> Outcome<FileStore> {
    FileStore::open(NAME).map_err(|error| Failed::new(Code::Authorization, error))
}

/// Gets and renews tokens, and keeps them there.
pub fn kept_in(store: FileStore) -> OAuth {
    OAuth::new(NAME).store(store)
}

/// Gets and renews tokens, and keeps them between runs.
pub fn remembered() -> Outcome<OAuth> {
    store().map(kept_in)
}

/// Uses and renews the tokens that there are, and never sends anybody to a browser: a command that
/// a script runs must not wait for a person. `None` where nothing can be kept.
pub fn silent() -> Option<OAuth> {
    Some(remembered().ok()?.browser(Nobody))
}

/// Nobody signs in here.
struct Nobody;

type Prepared = Result<Box<dyn Visit>, Box<dyn std::error::Error + Send + Sync>>;

impl Browser for Nobody {
    fn prepare<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Prepared> {
        Box::pin(async { Err("nobody has signed in to this server".into()) })
    }
}
