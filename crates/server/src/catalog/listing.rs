//! Resources that are listed by a callback: from a database, page by page, for one caller.

use std::error::Error;

use turnbuckle_protocol as protocol;

use crate::{
    Call, Extract, Failure, Fault, IntoOutcome,
    handler::{Description, Erased, Unsendable},
};

/// The page that a [listing](crate::Resource::list) callback has to return: where it begins, and
/// how many entries it should have. The callback takes it as a parameter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Paging {
    /// The cursor of this page: the text that the callback returned as the start of the next page,
    /// or `None` for the first page. It comes from the client, so treat it as untrusted input.
    pub cursor: Option<String>,
    /// The number of entries to return, from [`Server::page_size`](crate::Server::page_size). The
    /// callback may return fewer, or a few more.
    pub limit: usize,
}

impl Paging {
    /// Creates a page request with this cursor and this limit, for tests of callbacks.
    pub fn new(cursor: Option<String>, limit: usize) -> Self {
        Self { cursor, limit }
    }
}

impl Extract for Paging {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let paging = call.get::<Self>().cloned();
        paging.ok_or_else(|| {
            Fault::new("`Paging` can be extracted only in callbacks that list resources").into()
        })
    }

    fn describe(description: &mut Description) {
        description.lists = true;
    }
}

/// One page of resources, returned by a [listing](crate::Resource::list) callback.
///
/// A `Vec` of resources converts into a page without a next page.
#[derive(Clone, Debug, Default)]
pub struct ResourcePage {
    pub(crate) resources: Vec<protocol::Resource>,
    pub(crate) next: Option<String>,
}

impl ResourcePage {
    /// Creates the last page, with these resources. If there are more, add
    /// [`with_next`](Self::with_next).
    pub fn new(resources: impl Into<Vec<protocol::Resource>>) -> Self {
        Self {
            resources: resources.into(),
            next: None,
        }
    }

    /// Sets the cursor of the next page, which the callback gets as [`Paging::cursor`].
    pub fn with_next(mut self, cursor: impl Into<Option<String>>) -> Self {
        self.next = cursor.into();
        self
    }

    /// Returns the resources of the page.
    pub fn resources(&self) -> &[protocol::Resource] {
        &self.resources
    }

    /// Returns the cursor of the next page; `None` for the last page.
    pub fn next(&self) -> Option<&str> {
        self.next.as_deref()
    }
}

impl IntoOutcome<ResourcePage> for ResourcePage {
    fn into_outcome(self) -> Result<ResourcePage, Failure> {
        Ok(self)
    }
}

impl IntoOutcome<ResourcePage> for Vec<protocol::Resource> {
    fn into_outcome(self) -> Result<ResourcePage, Failure> {
        Ok(ResourcePage::new(self))
    }
}

impl<T, E> IntoOutcome<ResourcePage> for Result<T, E>
where
    T: IntoOutcome<ResourcePage>,
    E: Into<Failure>,
{
    fn into_outcome(self) -> Result<ResourcePage, Failure> {
        self.map_err(Into::into)?.into_outcome()
    }
}

impl<T> IntoOutcome<ResourcePage, Unsendable> for Result<T, Box<dyn Error>>
where
    T: IntoOutcome<ResourcePage>,
{
    fn into_outcome(self) -> Result<ResourcePage, Failure> {
        self.map_err(Failure::of_unsendable)?.into_outcome()
    }
}

/// A callback that lists the resources of a template.
pub(crate) struct Lister {
    pub(crate) handler: Erased<ResourcePage>,
    pub(crate) description: Description,
}
