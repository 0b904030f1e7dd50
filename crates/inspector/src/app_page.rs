//! Pages of tools, kept until the frame fetches them.

use std::collections::VecDeque;

use turnbuckle::apps::host::View;
use turnbuckle_base::lock::Mutex;

use super::{
    problem::{Problem, Who},
    random,
};

/// The random bytes in the URL of a page, so that it cannot be guessed.
const NONCE_BYTES: usize = 16;

/// How many pages are kept. Each has 16 MiB at most.
const MAX_PAGES: usize = 16;

/// The pages that may be fetched.
#[derive(Default)]
pub(super) struct AppPages(Mutex<VecDeque<(String, AppPage)>>);

/// A page, with the policy under which it is shown.
#[derive(Clone)]
pub(super) struct AppPage {
    pub(super) html: bytes::Bytes,
    pub(super) policy: String,
}

impl AppPages {
    pub(super) fn page(&self, nonce: &str) -> Option<AppPage> {
        let pages = self.0.lock();
        let mut pages = pages.iter();
        pages
            .find(|(other, _)| other == nonce)
            .map(|(_, page)| page.clone())
    }

    pub(super) fn keep(&self, view: &View) -> Result<String, Problem> {
        let nonce = random::hexadecimal::<NONCE_BYTES>()
            .map_err(|error| Problem::new(Who::Transport, error.to_string()))?;
        let page = AppPage {
            html: view.html().to_owned().into(),
            policy: view.policy().to_string(),
        };
        let mut pages = self.0.lock();
        pages.push_back((nonce.clone(), page));
        if pages.len() > MAX_PAGES {
            pages.pop_front();
        }
        Ok(nonce)
    }
}
