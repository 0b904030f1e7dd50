//! Reads the lists of a server twice, page by page, and checks them.

mod again;
mod hints;
mod look;
mod pages;
mod shape;
mod uri;

pub(crate) use hints::hints;
pub(crate) use look::look;
use look::place;
