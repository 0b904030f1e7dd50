//! The servers to serve, and how each of them is reached.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use turnbuckle::{
    client::Era,
    gateway::{Isolation, Naming, UpstreamSettings},
    host::ServerSpec,
};
use turnbuckle_command_line::{
    control::tell,
    failure::{Failed, Outcome},
    target::{self, EraName, Lookup, Options, Server},
    trust::Consent,
};
use turnbuckle_host::config::{ConfigError, ConfigFiles, Entry, Launch, Settings};

use super::{
    credentials::Credentials,
    file::{EraChoice, GatewayFile, GatewaySection, IsolationName, NamesName, OwnKeys},
    nesting,
    own_urls::OwnUrls,
    personal::PersonalPlan,
    used_files::UsedFiles,
    withheld::Withheld,
    written::{home, is_file, short_name},
};
use crate::demo;

/// The keys of a server that only the gateway uses.
const OWN_KEYS: [&str; 5] = ["era", "isolation", "processes", "credentials", "tools"];

/// The servers and settings of a gateway.
pub(super) struct Plan {
    pub(super) servers: Vec<PlannedServer>,
    pub(super) naming: Naming,
    /// Whether the only server is the demo server.
    pub(super) is_demo: bool,
    /// The settings in `turnbuckle.toml` for the gateway itself.
    pub(super) gateway: GatewaySection,
    /// All files whose changes can change the plan.
    pub(super) files: Vec<PathBuf>,
    /// The files at the usual places that are used.
    pub(super) used: UsedFiles,
    /// Messages about entries that could not be used.
    pub(super) problems: Vec<String>,
    /// The names of servers whose entries have a mistake.
    pub(super) broken: Vec<String>,
    /// The variables that servers do not inherit.
    pub(super) withheld: Withheld,
    /// Messages about settings without effect.
    notes: Vec<String>,
    /// The file with the settings in `gateway`.
    own_file: Option<PathBuf>,
    /// The chain of gateways for the variable of started programs.
    chain: String,
}

/// The settings of a command line that concern the servers.
pub(super) struct PlanWords<'a> {
    pub(super) what: Option<&'a str>,
    pub(super) command: &'a [String],
    pub(super) only: &'a [String],
    pub(super) names: Option<NamesName>,
    pub(super) era: Option<EraChoice>,
}

/// One server.
pub(super) struct PlannedServer {
    pub(super) id: String,
    pub(super) spec: ServerSpec,
    pub(super) settings: UpstreamSettings,
    /// Whether the file sets which callers share a session.
    is_isolation_chosen: bool,
    /// Set if callers reach the server with their own credentials.
    pub(super) personal: Option<PersonalPlan>,
    /// How the server is reached, without secrets.
    pub(super) shown: String,
    /// The URL, for a server that has one.
    pub(super) url: Option<String>,
    /// Distinguishes this server from others with the same name: if it is the same in a new plan, the server keeps its
    /// connection.
    pub(super) identity: String,
}

impl Plan {
    /// The name of the first server with such credentials of callers.
    pub(super) fn personal_server(&self, is_kind: impl Fn(&PersonalPlan) -> bool) -> Option<&str> {
        let mut servers = self.servers.iter();
        let found = servers.find(|server| server.personal.as_ref().is_some_and(&is_kind));
        found.map(|server| server.id.as_str())
    }

    /// Makes the plan for a command line. `consent` says what to do with files of a project that the user has not
    /// trusted. If no config file has a server, the plan has the demo server.
    pub(super) fn make(up: &PlanWords<'_>, consent: Consent) -> Outcome<Self> {
        let mut plan = Self::read(up, consent, &UsedFiles::default())?;
        if plan.servers.is_empty() && up.what.is_none() && up.command.is_empty() {
            if !plan.problems.is_empty() {
                plan.tell_problems();
                let said = "no server of the config files can be used";
                return Err(Failed::usage(said).hint(
                    "mend the files, or agree to those of a project: `turnbuckle servers` shows what they start, \
                     `--trust` agrees to them as they are now",
                ));
            }
            plan.servers.push(demo_server()?);
            plan.is_demo = true;
        }
        Ok(plan)
    }

    /// Makes the plan for a gateway that runs with the plan of these files. It cannot ask the user, and does not
    /// begin to serve the demo server.
    pub(super) fn make_again(up: &PlanWords<'_>, before: &UsedFiles) -> Outcome<Self> {
        Self::read(up, Consent::Never, before)
    }

    fn read(up: &PlanWords<'_>, consent: Consent, before: &UsedFiles) -> Outcome<Self> {
        let mut plan = Self {
            servers: Vec::new(),
            naming: Naming::Auto,
            is_demo: false,
            gateway: GatewaySection::default(),
            files: Vec::new(),
            used: UsedFiles::default(),
            problems: Vec::new(),
            broken: Vec::new(),
            withheld: Withheld::default(),
            notes: Vec::new(),
            own_file: None,
            chain: nesting::chain(up)?,
        };
        match (up.what, up.command) {
            (None, []) => plan.add_found(consent, before)?,
            (None, command) => {
                let (server, _) = target::split(&[], command, Lookup::default())?;
                plan.add_one(server)?;
            }
            (Some(word), _) if word.contains("://") => {
                plan.add_one(target::find(word, Lookup::default())?)?;
            }
            // The user named the file, and so agrees to what it imports.
            (Some(word), _) if is_file(word) => plan.add_file(Path::new(word), |_, _| Ok(true))?,
            (Some(word), _) => {
                let lookup = Lookup {
                    config: None,
                    consent,
                };
                let server = target::find(word, lookup)?;
                match server.entry.clone() {
                    Some(entry) => plan.add_named(&entry)?,
                    None => plan.add_one(server)?,
                }
            }
        }
        plan.choose(up)?;
        Ok(plan)
    }

    /// Adds a single named server, whose tools keep their own names.
    fn add_one(&mut self, server: Server) -> Outcome {
        let id = short_name(&server.name);
        self.naming = Naming::Bare;
        self.add(
            id,
            (server.launch, server.shown),
            &OwnKeys::default(),
            UpstreamSettings::new().bare(),
        )
    }

    /// Adds a single server of a config file with the settings of its entry. Its tools keep their own names.
    fn add_named(&mut self, entry: &Entry) -> Outcome {
        let own = GatewayFile::open(&entry.file)?;
        self.withheld.add_file(&own);
        self.naming = Naming::Bare;
        self.add_entry(entry, &own);
        match self.problems.pop() {
            Some(problem) => Err(Failed::usage(problem)),
            None => Ok(()),
        }
    }

    /// Adds all servers of a file, and of the files that it imports and that may be used.
    pub(super) fn add_file(
        &mut self,
        path: &Path,
        may_import: impl Fn(&mut Self, &Path) -> Outcome<bool>,
    ) -> Outcome {
        let own = GatewayFile::open(path)?;
        self.withheld.add_file(&own);
        self.files.push(path.to_owned());
        match ConfigFiles::only(path) {
            Ok(config_files) => {
                for (_, entry) in config_files.entries() {
                    self.add_entry(entry, &own);
                }
            }
            // A file may contain only imports, and one at a usual place only settings.
            Err(_) if !own.import.is_empty() => {}
            Err(ConfigError::NoServers { .. }) if self.used.own.is_some() => {}
            Err(error) => return Err(Failed::usage(error)),
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        for import in &own.import {
            // Without `.`, so that a file has one name in messages.
            let path: PathBuf = folder.join(home(import)).components().collect();
            self.files.push(path.clone());
            let config_files = ConfigFiles::only(&path).map_err(Failed::usage)?;
            if !may_import(self, &path)? {
                continue;
            }
            for (_, entry) in config_files.entries() {
                self.add_entry(entry, &own);
            }
        }
        self.gateway = own.gateway;
        self.own_file = Some(path.to_owned());
        Ok(())
    }

    /// Adds the server of an entry, unless a nearer entry has its name.
    pub(super) fn add_entry(&mut self, entry: &Entry, own: &GatewayFile) {
        self.withheld.add_entry(entry);
        // A nearer entry with a mistake counts: a farther one of the same name is another server.
        let is_taken = self.servers.iter().any(|other| other.id == entry.name)
            || self.broken.contains(&entry.name);
        if is_taken {
            return;
        }
        let server = match target::configured(entry, &entry.name, Some(&entry.file)) {
            Ok(server) => server,
            Err(error) => {
                let said = format!(
                    "server `{}` of `{}`: {error}",
                    entry.name,
                    entry.file.display()
                );
                self.broken.push(entry.name.clone());
                return self.problems.push(said);
            }
        };
        let keys = own.keys_of(&entry.name);
        let settings = entry.read_settings();
        for not in &settings.not_honoured {
            let is_of_gateway = OWN_KEYS.contains(&&*not.key);
            if is_of_gateway && own.has_keys_of(&entry.name) {
                continue;
            }
            let reason = if is_of_gateway {
                "it has no effect here; it belongs in `turnbuckle.toml`"
            } else {
                not.reason
            };
            let (key, name, file) = (&not.key, &entry.name, entry.file.display());
            let said = format!("`{key}` of server `{name}` in `{file}`: {reason}");
            self.notes.push(said);
        }
        let shown = entry.launch_as_written().unwrap_or(server.shown);
        let added = self.add(
            entry.name.clone(),
            (server.launch, shown),
            &keys,
            UpstreamSettings::new(),
        );
        if let (Ok(()), Some(added)) = (&added, self.servers.last_mut()) {
            let _ = write!(added.identity, " {settings:?} {}", entry.is_enabled);
            let spec = with_settings(added.spec.clone(), &settings);
            added.spec = if entry.is_enabled {
                spec
            } else {
                spec.disabled()
            };
        }
        if let Err(failed) = added {
            self.broken.push(entry.name.clone());
            self.problems
                .push(format!("server `{}`: {}", entry.name, failed.said()));
        }
    }

    fn add(
        &mut self,
        id: String,
        (mut launch, shown): (Launch, Launch),
        keys: &OwnKeys,
        mut settings: UpstreamSettings,
    ) -> Outcome {
        if let Some(isolation) = keys.isolation {
            settings = settings.isolation(match isolation {
                IsolationName::Shared => Isolation::Shared,
                IsolationName::Caller => Isolation::Caller,
                IsolationName::Client => Isolation::Client,
                IsolationName::Call => Isolation::Call,
            });
        }
        if keys.processes.is_some() && matches!(launch, Launch::Remote(_)) {
            let said = "`processes` applies to programs only; remove it from a server at a URL";
            return Err(Failed::usage(said));
        }
        settings.max_processes = keys.processes;
        for (tool, keys) in &keys.tools {
            settings = settings.tool(tool, keys.settings());
        }
        if let Some(era) = keys.era.and_then(EraChoice::name) {
            settings = settings.era(era_of(era));
        }
        let identity = format!("{launch:?} {keys:?}");
        let url = match &launch {
            Launch::Remote(remote) => Some(remote.url.clone()),
            Launch::Command { .. } => None,
        };
        if let Launch::Command { environment, .. } = &mut launch {
            environment.push((nesting::VARIABLE.to_owned(), self.chain.clone()));
        }
        let personal = PersonalPlan::read(&launch, keys.credentials.as_ref())?;
        let spec = spec_of(&mut launch, keys.credentials.as_ref(), &identity)?;
        let spec = spec.written_as(&launch, &shown).shown_as(shown);
        self.servers.push(PlannedServer {
            personal,
            id,
            shown: spec.to_redacted_string(),
            spec,
            settings,
            is_isolation_chosen: keys.isolation.is_some(),
            url,
            identity,
        });
        Ok(())
    }

    /// Keeps the requested servers, and applies the settings of the command line to all of them.
    fn choose(&mut self, up: &PlanWords<'_>) -> Outcome {
        let only = if up.only.is_empty() {
            self.gateway.only.as_slice()
        } else {
            up.only
        };
        for name in only {
            if !self.servers.iter().any(|server| server.id == *name) {
                // An entry that cannot be used is not among the servers; the problems have the reason.
                self.tell_problems();
                if self.broken.contains(name) {
                    let said = format!("the entry of server `{name}` cannot be used");
                    return Err(Failed::usage(said).hint("see the warning about it above"));
                }
                let known: Vec<_> = self.servers.iter().map(|server| &*server.id).collect();
                let said = format!("unknown server `{name}`");
                let hint = match known.as_slice() {
                    [] => "no config file has a server; `turnbuckle servers` lists them".to_owned(),
                    known => format!("configured servers: {}", known.join(", ")),
                };
                return Err(Failed::usage(said).hint(hint));
            }
        }
        if !only.is_empty() {
            self.servers.retain(|server| only.contains(&server.id));
            self.broken.retain(|id| only.contains(id));
        }
        if let Some(era) = up.era.or(self.gateway.era).and_then(EraChoice::name) {
            for server in &mut self.servers {
                if server.settings.era.is_none() {
                    server.settings.era = Some(era_of(era));
                }
                let _ = write!(server.identity, " {era:?}");
            }
        }
        if let Some(names) = up.names.or(self.gateway.names) {
            self.naming = match names {
                NamesName::Auto => self.naming,
                NamesName::Bare => Naming::Bare,
                NamesName::Prefixed => Naming::Prefixed,
            };
            for server in &mut self.servers {
                server.settings.is_bare &= names != NamesName::Prefixed;
            }
        }
        Ok(())
    }

    /// Gives each caller its own session, unless the file says otherwise, so that one caller does not get questions
    /// that a server asks another. This is for a gateway whose guard distinguishes callers.
    pub(super) fn isolate_callers(&mut self) {
        for server in &mut self.servers {
            if !server.is_isolation_chosen {
                server.settings.isolation = Isolation::Caller;
            }
        }
    }

    /// Removes servers that are this gateway itself, which a config file may contain.
    pub(super) fn without(&mut self, own: &OwnUrls) {
        let is_own = |server: &PlannedServer| server.url.as_deref().is_some_and(|url| own.has(url));
        let (dropped, kept) = std::mem::take(&mut self.servers)
            .into_iter()
            .partition(is_own);
        self.servers = kept;
        let said = dropped.iter().map(|server: &PlannedServer| {
            format!(
                "server `{}` is this gateway itself and is left out",
                server.id
            )
        });
        self.problems.extend(said);
    }

    /// The path of the lock file: as in the config, or beside the config, or in the current folder.
    pub(super) fn lock_file(&self) -> PathBuf {
        let folder = self.own_file.as_deref().and_then(Path::parent);
        let folder = folder.unwrap_or(Path::new(""));
        match &self.gateway.lock_file {
            Some(path) => folder.join(home(path)),
            None => folder.join("turnbuckle.lock"),
        }
    }

    /// Prints what could not be used.
    pub(super) fn tell_problems(&self) {
        for problem in &self.problems {
            tell(&format!("warning: {problem}"));
        }
        for note in &self.notes {
            tell(&format!("note: {note}"));
        }
    }
}

fn era_of(era: EraName) -> Era {
    match era {
        EraName::Legacy => Era::Legacy,
        EraName::Modern => Era::Modern,
    }
}

/// How a server is reached. Tokens of an earlier sign-in are used, unless the file has other credentials.
fn spec_of(
    launch: &mut Launch,
    credentials: Option<&Credentials>,
    identity: &str,
) -> Outcome<ServerSpec> {
    let Launch::Remote(remote) = launch else {
        if credentials.is_some() {
            let said = "`credentials` are for servers at a URL; use `env` for a program";
            return Err(Failed::usage(said));
        }
        return Ok(ServerSpec::from(launch.clone()));
    };
    let mut tokens = None;
    if let Some(credentials) = credentials {
        tokens = credentials.apply(remote)?;
    } else {
        let reached = Server::at(launch.clone());
        tokens = reached.tokens(&Options::default()).or(tokens);
    }
    let Some(tokens) = tokens else {
        return Ok(ServerSpec::from(launch.clone()));
    };
    let reached = Server::at(launch.clone());
    let target = reached.http_target(&Options::default())?;
    let Some(target) = target else {
        return Ok(ServerSpec::from(launch.clone()));
    };
    let spec = ServerSpec::from_http(move || target.clone().authorize(tokens.clone()));
    Ok(spec.kept_as(identity))
}

fn demo_server() -> Outcome<PlannedServer> {
    let live = demo::server().build().map_err(Failed::usage)?;
    let spec = ServerSpec::from_fn(move || {
        let live = live.clone();
        turnbuckle::Target::on_demand("demo".to_owned(), move || live.connect())
    });
    Ok(PlannedServer {
        id: "demo".to_owned(),
        spec,
        is_isolation_chosen: false,
        settings: UpstreamSettings::new(),
        personal: None,
        shown: "the demo server".to_owned(),
        url: None,
        identity: "demo".to_owned(),
    })
}

/// Adds the settings of an entry besides how its server is started.
fn with_settings(mut spec: ServerSpec, settings: &Settings) -> ServerSpec {
    if let Some(timeout) = settings.start_timeout {
        spec = spec.start_timeout(timeout);
    }
    if let Some(timeout) = settings.call_timeout {
        spec = spec.call_timeout(timeout);
    }
    if let Some(names) = &settings.included_tools {
        spec = spec.include_tools(names);
    }
    spec.exclude_tools(&settings.excluded_tools)
}
