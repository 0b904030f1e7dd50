//! The manual: the text of `--help` as pages for `man` and for the repository.

mod markdown;
mod page;

pub(crate) use page::{Format, page, write_all};
