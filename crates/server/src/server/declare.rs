//! Capabilities that a server declares in advance.

use turnbuckle_protocol::LoggingLevel;

use super::Server;

impl Server {
    /// Declares the tools capability even if there are no tools yet, so that clients that connect
    /// now are notified when tools are added to the [catalog](crate::Catalog).
    ///
    /// A server whose catalog is used declares tools, prompts and resources by itself. If you call
    /// this method, [`dynamic_prompts`](Self::dynamic_prompts) or
    /// [`dynamic_resources`](Self::dynamic_resources), the server declares only the lists that you
    /// chose and those that are not empty.
    ///
    /// ```
    /// use turnbuckle_server::{Server, Tool};
    ///
    /// let server = Server::new("plugins", "1.0.0").dynamic_tools().build()?;
    /// // Clients that are connected are notified.
    /// server.catalog().add_tool(Tool::new("lint", async || "no warnings"))?;
    /// # Ok::<(), turnbuckle_server::SetupError>(())
    /// ```
    pub fn dynamic_tools(mut self) -> Self {
        self.lists.tools = true;
        self
    }

    /// Declares prompts even if the server has no prompts yet, so that clients are notified when
    /// some are added; see [`dynamic_tools`](Self::dynamic_tools).
    pub fn dynamic_prompts(mut self) -> Self {
        self.lists.prompts = true;
        self
    }

    /// Declares resources even if the server has no resources yet, so that clients are notified
    /// when some are added; see [`dynamic_tools`](Self::dynamic_tools).
    pub fn dynamic_resources(mut self) -> Self {
        self.lists.resources = true;
        self
    }

    /// Declares completion even if nothing can be completed yet, for servers to whose catalog
    /// prompts or templates with completers are added later. It is not declared automatically,
    /// because clients are not notified when it becomes available.
    pub fn dynamic_completions(mut self) -> Self {
        self.lists.completions = true;
        self
    }

    /// Sets the log level of sessions that never set one. Defaults to `info`. Many clients of the
    /// revisions up to 2025-11-25 show log messages but never call `logging/setLevel`; the
    /// specification lets the server decide what they get.
    ///
    /// A request of 2026-07-28 names its own level, and gets no log messages if it does not.
    pub fn default_log_level(mut self, level: LoggingLevel) -> Self {
        self.default_log_level = Some(level);
        self
    }

    /// Sends no log messages to a session before it sets a level with `logging/setLevel`.
    pub fn no_default_log_level(mut self) -> Self {
        self.default_log_level = None;
        self
    }

    /// Keeps the head of every HTTP request, for layers that use [`Headers`](crate::Headers) or a
    /// similar type with [`Extract::extract`](crate::Extract::extract). It is not needed for
    /// handlers that take them as parameters.
    #[cfg(feature = "http")]
    pub fn keep_http_requests(self) -> Self {
        self.reads_http.set();
        self
    }

    /// Declares the logging capability for layers that send log messages with
    /// [`Log::of`](crate::Log::of). It is not needed for handlers that take a [`Log`](crate::Log).
    pub fn logging(self) -> Self {
        self.logging.make();
        self
    }
}
