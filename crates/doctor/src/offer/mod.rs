//! What a server offers: lists, page by page, twice.

mod again;
mod hints;
mod look;
mod pages;
mod shape;
mod uri;

pub(crate) use hints::hints;
pub(crate) use look::look;
use look::place;
