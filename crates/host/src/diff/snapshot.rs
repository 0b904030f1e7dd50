//! `Snapshot`: the lists of a server, from the server itself or from a recording.

use serde_json::{Map, Value};
use turnbuckle_protocol::method::ListKind;

/// Entries by their names, in the order of the server.
pub(super) type Named = Map<String, Value>;

/// What a server offers, to be compared with [`between`](super::between). Parts that a recording
/// does not contain are unknown, and are not compared.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub(super) server: Value,
    pub(super) instructions: Value,
    pub(super) capabilities: Option<Named>,
    pub(super) revisions: Option<Vec<String>>,
    pub(super) tools: Option<Named>,
    pub(super) prompts: Option<Named>,
    pub(super) resources: Option<Named>,
    pub(super) templates: Option<Named>,
}

impl Snapshot {
    /// Makes a snapshot from the JSON that `turnbuckle list --json` prints. `revisions` is an
    /// object with the member `supportedVersions`, the revisions that the server says it supports,
    /// if it said so.
    pub fn listed(mut list: Value, revisions: Option<&Value>) -> Self {
        let named = revisions.and_then(|revisions| texts(&revisions["supportedVersions"]));
        let spoken = list["revision"].as_str().map(|one| vec![one.to_owned()]);
        Self {
            server: list["server"].take(),
            instructions: list["instructions"].take(),
            capabilities: list["capabilities"].as_object().cloned(),
            revisions: named.or(spoken),
            tools: Some(by(&list["tools"], "name")),
            prompts: Some(by(&list["prompts"], "name")),
            resources: Some(by(&list["resources"], "uri")),
            templates: Some(by(&list["resourceTemplates"], "uriTemplate")),
        }
    }

    /// Makes a snapshot from recorded results, each given with the method of its request, such as
    /// `tools/list`. Pages of a list are joined; results of other methods are ignored.
    pub fn recorded<'a>(results: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Self {
        let mut snapshot = Self::default();
        for (method, result) in results {
            if matches!(method, "initialize" | "server/discover") {
                snapshot.greeted(result);
            }
            let Some(kind) = ListKind::of(method) else {
                continue;
            };
            let list = match kind {
                ListKind::Tools => &mut snapshot.tools,
                ListKind::Prompts => &mut snapshot.prompts,
                ListKind::Resources => &mut snapshot.resources,
                ListKind::Templates => &mut snapshot.templates,
                _ => continue,
            };
            let entries = by(&result[kind.member()], kind.key());
            list.get_or_insert_default().extend(entries);
        }
        snapshot
    }

    fn greeted(&mut self, result: &Value) {
        let modern = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        let legacy = &result["serverInfo"];
        self.server = if legacy.is_object() { legacy } else { modern }.clone();
        self.instructions = result["instructions"].clone();
        self.capabilities = result["capabilities"].as_object().cloned();
        let spoken = result["protocolVersion"].as_str();
        self.revisions =
            texts(&result["supportedVersions"]).or(spoken.map(|one| vec![one.to_owned()]));
    }

    /// The names of the lists that are unknown: some of `tools`, `prompts`, `resources` and
    /// `templates`. Empty if all lists are known.
    pub fn unknown(&self) -> Vec<&'static str> {
        let lists = [
            (self.tools.is_none(), "tools"),
            (self.prompts.is_none(), "prompts"),
            (self.resources.is_none(), "resources"),
            (self.templates.is_none(), "templates"),
        ];
        let unknown = lists.into_iter().filter(|(is_unknown, _)| *is_unknown);
        unknown.map(|(_, what)| what).collect()
    }
}

fn by(list: &Value, key: &str) -> Named {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| Some((item[key].as_str()?.to_owned(), item.clone())))
        .collect()
}

fn texts(list: &Value) -> Option<Vec<String>> {
    let items = list.as_array()?.iter();
    Some(items.filter_map(Value::as_str).map(str::to_owned).collect())
}
