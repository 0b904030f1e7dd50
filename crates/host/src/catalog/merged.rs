//! `HostCatalog`: the lists of all servers, merged into one list of each kind.

use std::{collections::HashMap, fmt, sync::Arc};

use turnbuckle_protocol::Tool;
use turnbuckle_uri_template::Template;

use super::{CatalogPrompt, CatalogResource, CatalogTemplate, CatalogTool};
use crate::{
    fleet::{Lists, ToolFilter},
    id::ServerId,
    names::{Collision, Namer, PROVIDER_LIMIT, Prefix},
};

/// A problem of the catalog that the user should know about, from [`HostCatalog::problems`]. Its
/// `Display` is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Two tools or prompts would have had the same name, so the second one got another name.
    Names(Collision),
    /// Two servers have a resource with the same URI. [`Host::read`](crate::Host::read) reads it
    /// from the first server; use [`Host::read_from`](crate::Host::read_from) for the second.
    SameUri {
        /// The URI.
        uri: String,
        /// The server that the resource is read from.
        first: ServerId,
        /// The server that has the same URI but is not asked.
        second: ServerId,
    },
    /// Something about the lists of one server: a list that could not be read, or an entry that was
    /// left out or is malformed.
    Server {
        /// The server.
        server: ServerId,
        /// The problem.
        problem: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Names(collision) => write!(
                f,
                "`{}` of server `{}` is called `{}`, because `{}` is taken by `{}` of server `{}`",
                collision.second.1,
                collision.second.0,
                collision.given,
                collision.wanted,
                collision.first.1,
                collision.first.0,
            ),
            Self::SameUri { uri, first, second } => write!(
                f,
                "servers `{first}` and `{second}` both have the resource `{uri}`; it is read from `{first}`"
            ),
            Self::Server { server, problem } => write!(f, "server `{server}`: {problem}"),
        }
    }
}

/// All tools, prompts, resources and templates that the servers of a host offer at one moment, in
/// one list of each kind.
///
/// The catalog is a snapshot and does not change. [`Host::catalog`](crate::Host::catalog) returns
/// the newest one, and [`Host::catalog_after`](crate::Host::catalog_after) waits for the next.
///
/// With one enabled server, tools and prompts have the server's own names; with several they have a
/// prefix, as in `git__log`. Names do not change when a server fails.
#[derive(Debug, Default)]
pub struct HostCatalog {
    tools: Vec<Arc<CatalogTool>>,
    tools_by_name: HashMap<Arc<str>, usize>,
    prompts: Vec<Arc<CatalogPrompt>>,
    prompts_by_name: HashMap<Arc<str>, usize>,
    resources: Vec<Arc<CatalogResource>>,
    resources_by_uri: HashMap<String, usize>,
    templates: Vec<Arc<CatalogTemplate>>,
    problems: Vec<Problem>,
}

impl HostCatalog {
    /// All tools that may be used, in the order of the servers and of their lists. Tools that the
    /// policy denies and tools that the settings of a server exclude are left out.
    ///
    /// ```no_run
    /// # fn run(host: turnbuckle_host::Host) {
    /// // The tools in the form in which a model is given them.
    /// let catalog = host.catalog();
    /// let for_model: Vec<_> = catalog.tools().iter().map(|tool| tool.to_tool()).collect();
    /// # drop(for_model);
    /// # }
    /// ```
    pub fn tools(&self) -> &[Arc<CatalogTool>] {
        &self.tools
    }

    /// Finds a tool by its name in the host. Returns `None` if it is unknown;
    /// [`Host::why_missing`](crate::Host::why_missing) tells whether its server has failed.
    pub fn tool(&self, name: &str) -> Option<&Arc<CatalogTool>> {
        self.tools_by_name
            .get(name)
            .map(|index| &self.tools[*index])
    }

    /// All prompts, in the order of the servers and of their lists.
    pub fn prompts(&self) -> &[Arc<CatalogPrompt>] {
        &self.prompts
    }

    /// Finds a prompt by its name in the host; `None` if it is unknown.
    pub fn prompt(&self, name: &str) -> Option<&Arc<CatalogPrompt>> {
        let index = self.prompts_by_name.get(name)?;
        Some(&self.prompts[*index])
    }

    /// All resources that servers list, in the order of the servers and of their lists. If two
    /// servers list the same URI, both entries are included. Use
    /// [`search_resources`](Self::search_resources) to search them.
    pub fn resources(&self) -> &[Arc<CatalogResource>] {
        &self.resources
    }

    /// Finds a listed resource by its URI. Resources that match a template may exist without being
    /// listed; [`owner`](Self::owner) finds the server for those too.
    pub fn resource(&self, uri: &str) -> Option<&Arc<CatalogResource>> {
        let index = self.resources_by_uri.get(uri)?;
        Some(&self.resources[*index])
    }

    /// All resource templates, in the order of the servers and of their lists.
    pub fn templates(&self) -> &[Arc<CatalogTemplate>] {
        &self.templates
    }

    /// The server that [`Host::read`](crate::Host::read) asks for a URI: the server that lists it,
    /// otherwise one with a matching template, otherwise the only server that lists URIs of the
    /// same scheme. Returns `None` if there is no such server; then name the server with
    /// [`Host::read_from`](crate::Host::read_from).
    pub fn owner(&self, uri: &str) -> Option<&ServerId> {
        if let Some(resource) = self.resource(uri) {
            return Some(&resource.server);
        }
        if let Some(template) = self.templates.iter().find(|it| it.matches(uri)) {
            return Some(&template.server);
        }
        let scheme = uri.split_once(':')?.0;
        let has_scheme = |other: &str| {
            other
                .split_once(':')
                .is_some_and(|(other, _)| other.eq_ignore_ascii_case(scheme))
        };
        let listed = self
            .resources
            .iter()
            .filter(|it| has_scheme(&it.resource().uri))
            .map(|it| &it.server);
        let families = self
            .templates
            .iter()
            .filter(|it| has_scheme(&it.template().uri_template))
            .map(|it| &it.server);
        let mut owners = listed.chain(families);
        let first = owners.next()?;
        owners.all(|other| other == first).then_some(first)
    }

    /// Problems to show to the user: changed names, entries that were left out, and lists that
    /// could not be read. The `Display` of each is a sentence.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// The entries of one server, from which the catalog is merged.
pub(crate) struct Part<'a> {
    pub(crate) server: &'a ServerId,
    pub(crate) lists: &'a Lists,
    pub(crate) filter: &'a ToolFilter,
}

/// Merges the lists of all servers into one catalog.
pub(crate) fn merge(
    parts: &[Part<'_>],
    prefix: Prefix,
    may_list: impl Fn(&ServerId, &Tool) -> bool,
) -> HostCatalog {
    let mut catalog = HostCatalog::default();
    let mut tools = Namer::new(prefix, PROVIDER_LIMIT);
    let mut prompts = Namer::new(prefix, PROVIDER_LIMIT);
    let count = parts
        .iter()
        .map(|part| part.lists.tools.entries.len())
        .sum();
    tools.reserve(count);
    catalog.tools.reserve(count);
    catalog.tools_by_name.reserve(count);
    for part in parts {
        let allowed = part.lists.tools.entries.iter().filter(|listed| {
            part.filter.admits(&listed.value.name) && may_list(part.server, &listed.value)
        });
        for listed in allowed {
            let (name, collision) = tools.name(part.server, &listed.value.name);
            catalog.problems.extend(collision.map(Problem::Names));
            catalog.add_tool(CatalogTool {
                name,
                server: part.server.clone(),
                listed: listed.clone(),
            });
        }
        for listed in &part.lists.prompts.entries {
            let (name, collision) = prompts.name(part.server, &listed.value.name);
            catalog.problems.extend(collision.map(Problem::Names));
            catalog.add_prompt(CatalogPrompt {
                name,
                server: part.server.clone(),
                listed: listed.clone(),
            });
        }
        catalog.add_resources(part);
        catalog.add_problems(part);
    }
    catalog
}

impl HostCatalog {
    fn add_tool(&mut self, tool: CatalogTool) {
        self.tools_by_name
            .insert(tool.name.clone(), self.tools.len());
        self.tools.push(Arc::new(tool));
    }

    fn add_prompt(&mut self, prompt: CatalogPrompt) {
        self.prompts_by_name
            .insert(prompt.name.clone(), self.prompts.len());
        self.prompts.push(Arc::new(prompt));
    }

    fn add_resources(&mut self, part: &Part<'_>) {
        for listed in &part.lists.resources.entries {
            let uri = &listed.value.uri;
            if let Some(first) = self.resource(uri) {
                let problem = Problem::SameUri {
                    uri: uri.clone(),
                    first: first.server.clone(),
                    second: part.server.clone(),
                };
                self.problems.push(problem);
            } else {
                self.resources_by_uri
                    .insert(uri.clone(), self.resources.len());
            }
            self.resources.push(Arc::new(CatalogResource {
                server: part.server.clone(),
                listed: listed.clone(),
            }));
        }
        for listed in &part.lists.templates.entries {
            let template = Template::parse(&listed.value.uri_template);
            if let Err(error) = &template {
                self.problem(
                    part.server,
                    format!("the template `{}`: {error}", listed.value.uri_template),
                );
            }
            self.templates.push(Arc::new(CatalogTemplate {
                server: part.server.clone(),
                listed: listed.clone(),
                template: template.ok().map(Arc::new),
            }));
        }
    }

    fn add_problems(&mut self, part: &Part<'_>) {
        let Lists {
            tools,
            prompts,
            resources,
            templates,
            failures,
            ..
        } = part.lists;
        let each = [
            &tools.problems,
            &prompts.problems,
            &resources.problems,
            &templates.problems,
            failures,
        ];
        for problem in each.into_iter().flatten() {
            self.problem(part.server, problem.clone());
        }
    }

    fn problem(&mut self, server: &ServerId, problem: String) {
        self.problems.push(Problem::Server {
            server: server.clone(),
            problem,
        });
    }
}
