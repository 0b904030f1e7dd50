//! What a server declares before it has it.

use super::Server;

impl Server {
    /// Declares tools although there may be none yet: clients that connect now are told when the
    /// [catalog](crate::Catalog) gets some.
    ///
    /// A server whose catalog is handed out declares tools, prompts and resources by itself. After
    /// a call of this method, or of [`dynamic_prompts`](Self::dynamic_prompts) or
    /// [`dynamic_resources`](Self::dynamic_resources), it declares only the lists that were named
    /// and those that have something in them.
    ///
    /// ```
    /// use turnbuckle_server::{Server, Tool};
    ///
    /// let server = Server::new("plugins", "1.0.0").dynamic_tools().build()?;
    /// // Clients that are connected by then hear of it.
    /// server.catalog().add_tool(Tool::new("lint", async || "no warnings"))?;
    /// # Ok::<(), turnbuckle_server::SetupError>(())
    /// ```
    pub fn dynamic_tools(mut self) -> Self {
        self.lists.tools = true;
        self
    }

    /// Declares prompts although there may be none yet; see [`dynamic_tools`](Self::dynamic_tools).
    pub fn dynamic_prompts(mut self) -> Self {
        self.lists.prompts = true;
        self
    }

    /// Declares resources although there may be none yet; see
    /// [`dynamic_tools`](Self::dynamic_tools).
    pub fn dynamic_resources(mut self) -> Self {
        self.lists.resources = true;
        self
    }

    /// Declares completion although nothing can be completed yet: for servers whose catalog gets
    /// prompts or templates with completers later. Clients are not told when that happens, so it is
    /// not declared without this.
    pub fn dynamic_completions(mut self) -> Self {
        self.lists.completions = true;
        self
    }

    /// Declares that layers send log messages, with [`Log::of`](crate::Log::of). Of handlers that
    /// take a [`Log`](crate::Log) the server knows by itself.
    pub fn logging(self) -> Self {
        self.logging.make();
        self
    }
}
