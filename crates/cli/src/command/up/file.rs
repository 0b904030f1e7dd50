//! `turnbuckle.toml`: the settings besides how servers are started.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use serde::{
    Deserialize, Deserializer,
    de::{self, Error as _},
};
use turnbuckle::gateway::{ToolSettings, lock::LockMode};
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    target::EraName,
};
use turnbuckle_host::config::problem_at;

use crate::listen;

use super::{
    credentials::Credentials, front_guard::OAuthEntry, keys::KeyEntry, operation::PolicyEntry,
};

/// The part of the file that other hosts do not know.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(expecting = "a table")]
pub(super) struct GatewayFile {
    /// Files of other hosts whose servers are served too, relative to this file.
    #[serde(default)]
    pub(super) import: Vec<PathBuf>,
    #[serde(default)]
    pub(super) gateway: GatewaySection,
    #[serde(default)]
    servers: BTreeMap<String, OwnKeys>,
}

/// `[gateway]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(super) struct GatewaySection {
    pub(super) listen: Option<String>,
    pub(super) names: Option<NamesName>,
    pub(super) era: Option<EraChoice>,
    #[serde(default)]
    pub(super) only: Vec<String>,
    #[serde(default, deserialize_with = "hosts")]
    pub(super) allow_hosts: Vec<String>,
    #[serde(default, deserialize_with = "origins")]
    pub(super) allow_origins: Vec<String>,
    /// The URL at which browsers reach the gateway, if it is not its address.
    #[serde(default, deserialize_with = "public_url")]
    pub(super) public_url: Option<String>,
    /// A separate address for `/metrics`, `/readyz` and `/healthz`.
    pub(super) admin: Option<String>,
    /// What to do with tools that differ from the lock file.
    pub(super) lock: Option<LockMode>,
    /// The lock file. Defaults to `turnbuckle.lock` beside this file.
    pub(super) lock_file: Option<PathBuf>,
    /// A file that gets a line of JSON about each request, or `-` for stderr.
    pub(super) access_log: Option<String>,
    /// How long a client may take to answer a server's question in the middle of a call.
    #[serde(default, deserialize_with = "park_seconds")]
    pub(super) park_seconds: Option<u64>,
    /// How many processes for callers and calls may run at a time, for all servers together.
    #[serde(default, deserialize_with = "processes")]
    pub(super) processes: Option<usize>,
    #[serde(default)]
    pub(super) policy: Vec<PolicyEntry>,
    #[serde(default)]
    pub(super) keys: Vec<KeyEntry>,
    /// The authorization server that issues the tokens of callers.
    pub(super) oauth: Option<OAuthEntry>,
}

impl GatewaySection {
    /// Whether the gateway distinguishes callers.
    pub(super) fn tells_callers_apart(&self) -> bool {
        !self.keys.is_empty() || self.oauth.is_some()
    }
}

/// The keys of a server that only the gateway uses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", expecting = "a table")]
pub(super) struct OwnKeys {
    pub(super) era: Option<EraChoice>,
    pub(super) isolation: Option<IsolationName>,
    /// How many processes of this server may run at a time.
    #[serde(default, deserialize_with = "processes")]
    pub(super) processes: Option<usize>,
    pub(super) credentials: Option<Credentials>,
    /// A key of `credentials` that is at the wrong place, where it would have no effect.
    #[serde(
        default,
        rename = "allow-private-networks",
        deserialize_with = "inside_credentials"
    )]
    _allow_private_networks: (),
    /// Changes to how tools are offered, by the tools' names on the server.
    #[serde(default)]
    pub(super) tools: BTreeMap<String, ToolKeys>,
}

/// `[servers.x.tools.y]`: how one tool is offered.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(super) struct ToolKeys {
    name: Option<String>,
    #[serde(default)]
    hide: bool,
    /// Arguments that the gateway sets.
    #[serde(default)]
    fixed: BTreeMap<String, serde_json::Value>,
}

impl ToolKeys {
    pub(super) fn settings(&self) -> ToolSettings {
        let mut settings = ToolSettings::new();
        settings.name.clone_from(&self.name);
        settings.is_hidden = self.hide;
        for (argument, value) in &self.fixed {
            settings = settings.fixed(argument, value.clone());
        }
        settings
    }
}

/// The longest time that a call may wait for its client: calls end after an hour anyway.
const MAX_PARK_SECONDS: u64 = 3600;

fn park_seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    number(from, "park-seconds", 1..=MAX_PARK_SECONDS)
}

fn inside_credentials<'de, D: Deserializer<'de>>(_: D) -> Result<(), D::Error> {
    let said = "`allow-private-networks` belongs in `credentials`: \
                `credentials = { …, allow-private-networks = true }`";
    Err(D::Error::custom(said))
}

fn origins<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?.into_iter();
    let origins = texts.map(|text| parsed(&text, "allow-origins", listen::origin));
    origins.collect()
}

fn hosts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?.into_iter();
    let hosts = texts.map(|text| parsed(&text, "allow-hosts", listen::host));
    hosts.collect()
}

fn public_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    parsed(&text, "public-url", listen::public_url).map(Some)
}

/// The text of a key, if it is what the key needs.
fn parsed<E: de::Error>(
    text: &str,
    key: &str,
    parse: impl Fn(&str) -> Result<String, String>,
) -> Result<String, E> {
    parse(text).map_err(|said| E::custom(format!("`{text}` in `{key}`: {said}")))
}

/// The most processes that can be allowed. Each takes tens of megabytes.
const MAX_PROCESSES: usize = 1024;

fn processes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    number(from, "processes", 2..=MAX_PROCESSES)
}

/// The number of a key, if it is allowed.
fn number<'de, D, N>(from: D, key: &str, allowed: RangeInclusive<N>) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + PartialOrd + Display,
{
    let number = N::deserialize(from)?;
    if allowed.contains(&number) {
        return Ok(Some(number));
    }
    let (least, most) = allowed.into_inner();
    let said = format!("`{key}` must be from {least} to {most}");
    Err(D::Error::custom(said))
}

/// How tools are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NamesName {
    Auto,
    Bare,
    Prefixed,
}

/// The era to use with servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EraChoice {
    Auto,
    Legacy,
    Modern,
}

/// Which callers share a session with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum IsolationName {
    Shared,
    Caller,
    Client,
    Call,
}

impl EraChoice {
    /// The era, if one is set.
    pub(super) fn name(self) -> Option<EraName> {
        match self {
            Self::Auto => None,
            Self::Legacy => Some(EraName::Legacy),
            Self::Modern => Some(EraName::Modern),
        }
    }
}

impl GatewayFile {
    /// Reads a file. Only TOML files have keys of the gateway.
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        if path.extension().is_none_or(|extension| extension != "toml") {
            return Ok(Self::default());
        }
        let shown = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| Failed::usage(format!("cannot read `{shown}`: {error}")))?;
        Self::parse(&text).map_err(|problem| Failed::usage(format!("`{shown}`: {problem}")))
    }

    fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text)
            .map_err(|error: toml::de::Error| problem_at(text, error.message(), error.span()))
    }

    /// The environment variables with the keys of callers and the credentials of servers.
    pub(super) fn secret_variables(&self) -> impl Iterator<Item = &str> {
        let keys = self.gateway.keys.iter().map(KeyEntry::variable);
        let servers = self.servers.values();
        let credentials = servers.filter_map(|server| server.credentials.as_ref());
        keys.chain(credentials.flat_map(Credentials::variables))
    }

    /// Whether the file has a table for a server.
    pub(super) fn has_keys_of(&self, server: &str) -> bool {
        self.servers.contains_key(server)
    }

    /// The keys of a server that only the gateway uses.
    pub(super) fn keys_of(&self, server: &str) -> OwnKeys {
        self.servers.get(server).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_ours_are_read_beside_those_of_every_host() {
        let file = GatewayFile::parse(
            r#"
            import = ["mcp.json"]

            [gateway]
            listen = "127.0.0.1:0"
            names = "prefixed"
            era = "auto"
            only = ["git"]

            [servers.git]
            command = "uvx"
            args = ["mcp-server-git"]
            era = "legacy"
            isolation = "caller"
            processes = 20

            [servers.git.tools.git_push]
            hide = true

            [servers.git.tools.git_log]
            name = "log"
            fixed = { max_count = 20 }

            [servers.crm]
            url = "https://crm.example/mcp"
            credentials = { header = "x-key", env = "CRM_KEY" }
            "#,
        )
        .expect("a sound file");
        assert_eq!(file.import, [PathBuf::from("mcp.json")]);
        assert_eq!(file.gateway.names, Some(NamesName::Prefixed));
        assert_eq!(file.keys_of("git").era, Some(EraChoice::Legacy));
        assert_eq!(file.keys_of("git").isolation, Some(IsolationName::Caller));
        assert_eq!(file.keys_of("git").processes, Some(20));
        let tools = file.keys_of("git").tools;
        assert!(tools["git_push"].settings().is_hidden);
        let log = tools["git_log"].settings();
        assert_eq!(log.name.as_deref(), Some("log"));
        assert_eq!(log.fixed["max_count"], 20);
        assert!(file.keys_of("crm").credentials.is_some());
        assert!(file.keys_of("other").era.is_none());
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        for (text, part) in [
            ("[gateway]\nlistn = \"x\"", "listn"),
            ("[gateway]\nnames = \"short\"", "short"),
            ("[servers.a]\nera = \"new\"", "new"),
            ("[gateway]\npark-seconds = 0", "from 1 to 3600"),
            ("[gateway]\npublic-url = \"mcp.example\"", "public-url"),
            ("[gateway]\nallow-hosts = [\"http://x/\"]", "allow-hosts"),
            ("[gateway]\nallow-origins = [\"x\"]", "allow-origins"),
            (
                "[servers.a]\nallow-private-networks = true",
                "belongs in `credentials`",
            ),
            (
                "[servers.a]\ncredentials = { headr = \"x\" }",
                "credentials",
            ),
        ] {
            let said = GatewayFile::parse(text).expect_err(text);
            assert!(said.contains(part) && said.contains("line 2"), "{said}");
        }
    }

    #[test]
    fn a_mistake_is_shown_without_the_secrets_beside_it() {
        let text = "[servers.a]\ncredentials = { env = \"A\", token = \"sk-secret\" }";
        let said = GatewayFile::parse(text).expect_err("`token` is unknown");
        assert!(
            said.contains("`token`") && said.contains("line 2 column 28"),
            "{said}"
        );
        assert!(!said.contains("sk-secret"), "{said}");
    }

    #[test]
    fn a_text_in_the_place_of_a_table_may_be_a_secret() {
        for (text, part) in [
            (
                "[servers.a]\ncredentials = \"sk-secret\"",
                "a table, such as `{ env = \"TOKEN\" }` on line 2",
            ),
            (
                "[gateway]\nkeys = [\"sk-secret\"]",
                "a table, such as `{ name = \"ada\", env = \"ADA_KEY\" }` on line 2",
            ),
            ("[gateway]\nkeys = \"sk-secret\"", "expected an array"),
            ("[gateway]\noauth = \"sk-secret\"", "expected a table"),
            ("[gateway]\npolicy = [\"sk-secret\"]", "expected a table"),
            ("[servers]\na = \"sk-secret\"", "expected a table"),
            (
                "[servers.a.tools.b]\nfixed = \"sk-secret\"",
                "expected a table",
            ),
            ("[servers.a]\ntools.b = \"sk-secret\"", "expected a table"),
        ] {
            let said = GatewayFile::parse(text).expect_err(text);
            assert!(said.contains(part) && said.contains("line 2"), "{said}");
            assert!(!said.contains("sk-secret"), "{said}");
        }
    }
}
