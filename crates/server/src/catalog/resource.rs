//! `Resource`, the builder of a resource or a resource template.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use turnbuckle_protocol::{Annotations, CacheHint, CacheScope, Icon, Meta, ReadResourceResult};

use super::{ResourcePage, caching, completion::Completers, listing::Lister, tool::Visible};
use crate::{
    Caller, Completer, Handler, Layer,
    handler::{Description, Erased, function},
};

/// A resource: a URI or a URI template (RFC 6570), a handler that reads it, and its description.
///
/// `#[resource("…")]` makes one from a function; use this to make one without the attribute. The
/// variables of a template are arguments: the handler takes them with `Args<T>`, whose type has a
/// field for each.
///
/// ```
/// use turnbuckle_server::{Resource, Server};
///
/// let clock = Resource::new("clock://now", async || "noon")
///     .about("The time of day.")
///     .mime_type("text/plain");
/// let server = Server::new("clock", "1.0.0").resource(clock);
/// # server.build().unwrap();
/// ```
pub struct Resource {
    pub(crate) uri: String,
    pub(crate) name: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) about: Option<String>,
    pub(crate) mime_type: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) annotations: Option<Annotations>,
    pub(crate) icons: Option<Vec<Icon>>,
    pub(crate) meta: Option<Meta>,
    pub(crate) handler: Erased<ReadResourceResult>,
    pub(crate) description: Description,
    pub(crate) completers: Completers,
    pub(crate) visible: Option<Visible>,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
    pub(crate) any_path: bool,
    pub(crate) lister: Option<Lister>,
    pub(crate) cache: Option<CacheHint>,
}

impl Resource {
    /// Creates a resource with this URI, or a template with this URI template. The handler reads
    /// it: an async function of extractors that returns text, bytes or contents. Building the
    /// server fails if the URI or the template is malformed.
    pub fn new<X, H: Handler<X, ReadResourceResult>>(uri: impl Into<String>, handler: H) -> Self {
        let (handler, description) = function::erase(handler);
        Self {
            uri: uri.into(),
            name: None,
            title: None,
            about: None,
            mime_type: None,
            size: None,
            annotations: None,
            icons: None,
            meta: None,
            handler,
            description,
            completers: Completers::default(),
            visible: None,
            layers: Vec::new(),
            any_path: false,
            lister: None,
            cache: None,
        }
    }

    /// Sets the name. Defaults to the URI.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets a title, which clients show to people in place of the name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description: what the resource contains. People and models read it.
    pub fn about(mut self, description: impl Into<String>) -> Self {
        self.about = Some(description.into());
        self
    }

    /// Sets the media type. It is also used for contents that have no media type of their own.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size in bytes, from which hosts estimate how much of a model's context the resource
    /// takes. Templates have no size.
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Sets the annotations: for whom the resource is meant (`audience`), how important it is
    /// (`priority`), and when it was last changed.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Adds an icon, which clients may show. Call it several times for several sizes.
    pub fn icon(mut self, icon: impl Into<Icon>) -> Self {
        self.icons.get_or_insert_default().push(icon.into());
        self
    }

    /// Adds an entry to the resource's `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta
            .get_or_insert_default()
            .0
            .insert(key.into(), value.into());
        self
    }

    /// Sets a completer for a variable of the template, for clients that complete while the user
    /// types.
    pub fn complete<X>(mut self, variable: &str, completer: impl Completer<X>) -> Self {
        self.completers.insert(variable, completer);
        self
    }

    /// Lists the resources of the template, for example from a database. The callback is an async
    /// function of extractors that returns a [`ResourcePage`](crate::ResourcePage) or a `Vec` of
    /// resources, for [one page](crate::Paging) and for the current caller. In the list they follow
    /// the resources that were added one by one. Report with [`Changes`](crate::Changes) when the
    /// list or a resource in it changes.
    ///
    /// ```
    /// use turnbuckle_protocol as protocol;
    /// use turnbuckle_server::{Paging, Resource, ResourcePage, State};
    /// # #[derive(Clone)] struct Notes;
    /// # impl Notes {
    /// #     async fn after(&self, id: u64, limit: usize) -> Vec<u64> { vec![1] }
    /// # }
    /// # async fn read() -> &'static str { "" }
    ///
    /// async fn list(State(notes): State<Notes>, page: Paging) -> ResourcePage {
    ///     let after = page.cursor.and_then(|id| id.parse().ok()).unwrap_or(0);
    ///     let ids = notes.after(after, page.limit).await;
    ///     let next = (ids.len() == page.limit).then(|| ids.last().map(u64::to_string)).flatten();
    ///     let resources: Vec<_> = ids
    ///         .iter()
    ///         .map(|id| protocol::Resource::new(format!("note://{id}"), format!("Note {id}")))
    ///         .collect();
    ///     ResourcePage::new(resources).with_next(next)
    /// }
    ///
    /// let notes = Resource::new("note://{id}", read).list(list);
    /// ```
    pub fn list<X, H: Handler<X, ResourcePage>>(mut self, callback: H) -> Self {
        let (handler, description) = function::erase(callback);
        self.lister = Some(Lister {
            handler,
            description,
        });
        self
    }

    /// Restricts the resource to callers for whom this function returns `true`. For others it does
    /// not exist: it is not listed, and reading it fails as if it were unknown.
    pub fn visible(mut self, to: impl Fn(&Caller) -> bool + Send + Sync + 'static) -> Self {
        self.visible = Some(Box::new(to));
        self
    }

    /// Sets how long clients of 2026-07-28 may cache the contents, and whether caches may share
    /// them. Defaults to the [server's](crate::Server::cache) setting. If a read returns its own
    /// hint, that hint is used.
    ///
    /// Use `Public` only if the contents are the same for every caller.
    pub fn cache(mut self, fresh_for: Duration, scope: CacheScope) -> Self {
        self.cache = Some(caching::hint(fresh_for, scope));
        self
    }

    /// Adds a layer (middleware) around this resource. Layers of the server run outside of it. See
    /// [`Layer`].
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// Allows variables that look like paths out of a folder, such as `..` and absolute paths. By
    /// default a URI with such a variable does not match.
    ///
    /// Use it only if the handler does not turn variables into paths.
    pub fn allow_any_path(mut self) -> Self {
        self.any_path = true;
        self
    }
}
