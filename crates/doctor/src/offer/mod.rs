//! What a server offers: lists, page by page, twice.

mod again;
mod hints;
mod kind;
mod pages;
mod shape;
mod uri;

pub(crate) use hints::hints;
pub(crate) use kind::{Kind, look};
