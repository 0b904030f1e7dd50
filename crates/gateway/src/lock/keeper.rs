//! The lock of a running gateway.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use turnbuckle_base::lock::Mutex;

use super::{
    Difference, LockDifference, LockKind, Offered,
    difference::differences,
    file::{LockError, LockFile, ServerPins},
    pin::Pin,
};

/// What a gateway does with tools, prompts and instructions that differ from the approved ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LockMode {
    /// Nothing is pinned or compared.
    #[default]
    Off,
    /// Changed entries are reported.
    Audit,
    /// Changed entries are reported, and withheld until they are approved.
    Enforce,
}

type OnDifference = Arc<dyn Fn(&LockDifference) + Send + Sync>;

/// A lock file: the approved definitions of tools and prompts, and the approved instructions of
/// servers. Give it to [`Gateway::lock`](crate::Gateway::lock) to detect or prevent that a server
/// changes its tools after you have reviewed them. Clones refer to the same lock.
#[derive(Clone)]
pub struct Lock {
    inner: Arc<Inner>,
    /// The number of the caller's core whose servers are compared; `None` for servers that all
    /// callers share.
    core: Option<u64>,
}

struct Inner {
    path: PathBuf,
    on_difference: Option<OnDifference>,
    pins_first_use: bool,
    /// Whether pinning removes the servers that the gateway does not have.
    removes_others: bool,
    /// The number of the next caller's core.
    next_core: AtomicU64,
    state: Mutex<State>,
}

/// A server, and the number of the caller's core that it belongs to. A core is not identified by
/// the caller's id, because one caller may have several cores, each with other entries.
type Observed = (String, Option<u64>);

struct State {
    mode: LockMode,
    file: LockFile,
    offered: BTreeMap<Observed, Offered>,
    differences: BTreeMap<Observed, Vec<LockDifference>>,
}

impl Lock {
    /// Opens the lock file at a path. It need not exist yet. It is written when a server is used
    /// for the first time, and when changes are approved.
    ///
    /// # Errors
    /// [`LockError`] if the file cannot be read, or is not a lock file.
    pub fn open(path: impl Into<PathBuf>, mode: LockMode) -> Result<Self, LockError> {
        let path = path.into();
        let file = LockFile::open(&path)?;
        let inner = Arc::new(Inner {
            path,
            on_difference: None,
            pins_first_use: true,
            removes_others: true,
            next_core: AtomicU64::new(0),
            state: Mutex::new(State {
                mode,
                file,
                offered: BTreeMap::new(),
                differences: BTreeMap::new(),
            }),
        });
        Ok(Self { inner, core: None })
    }

    /// The same file for the servers of a new caller's core. What one core is offered says nothing
    /// about another core, even if both belong to the same caller.
    pub(crate) fn for_caller_core(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            core: Some(self.inner.next_core.fetch_add(1, Ordering::Relaxed)),
        }
    }

    fn observed(&self, server: &str) -> Observed {
        (server.to_owned(), self.core)
    }

    /// Calls a function for each new difference, instead of logging a warning. Set it before the
    /// lock is used.
    #[must_use]
    pub fn on_difference(mut self, hear: impl Fn(&LockDifference) + Send + Sync + 'static) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.on_difference = Some(Arc::new(hear));
        }
        self
    }

    /// Does not add new servers to the file automatically: all entries of a server that is not in
    /// the file are reported as new. Set it before the lock is used.
    #[must_use]
    pub fn without_pinning(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.pins_first_use = false;
        }
        self
    }

    /// Keeps the entries of servers that the gateway does not have, also when
    /// [`pin`](crate::LiveGateway::pin) overwrites the file: for a gateway with only some of the
    /// servers. Set it before the lock is used.
    #[must_use]
    pub fn keeping_other_servers(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.removes_others = false;
        }
        self
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// How entries that differ are treated.
    pub fn mode(&self) -> LockMode {
        self.inner.state.lock().mode
    }

    /// Sets how entries that differ are treated.
    pub(crate) fn set_mode(&self, mode: LockMode) {
        self.inner.state.lock().mode = mode;
    }

    /// All differences from the approved definitions.
    pub(crate) fn differences(&self) -> Vec<LockDifference> {
        let state = self.inner.state.lock();
        if state.mode == LockMode::Off {
            return Vec::new();
        }
        let mut all: Vec<LockDifference> = Vec::new();
        for difference in state.differences.values().flatten() {
            let difference = LockDifference {
                is_withheld: state.mode == LockMode::Enforce && difference.what != Difference::Gone,
                ..difference.clone()
            };
            // Several callers may have the same difference.
            if !all.contains(&difference) {
                all.push(difference);
            }
        }
        all
    }

    /// Whether this entry of a server that all callers share is withheld from clients. Such a
    /// server is compared once, for all callers. Everything is withheld until then.
    pub(crate) fn withholds_shared(&self, server: &str, kind: LockKind, name: &str) -> bool {
        let state = self.inner.state.lock();
        let differences = state.differences.get(&(server.to_owned(), None));
        state.mode == LockMode::Enforce && differences.is_none_or(|all| differs(all, kind, name))
    }

    /// Whether all entries of a server must be withheld, because it was not compared yet.
    pub(crate) fn awaits(&self, server: &str) -> bool {
        let state = self.inner.state.lock();
        state.mode == LockMode::Enforce && !state.offered.contains_key(&self.observed(server))
    }

    /// Whether this entry of a caller's own server is withheld from that caller. Everything is
    /// withheld until the server was compared.
    pub(crate) fn withholds_own(&self, server: &str, kind: LockKind, name: &str) -> bool {
        let state = self.inner.state.lock();
        let differences = state.differences.get(&self.observed(server));
        state.mode == LockMode::Enforce && differences.is_none_or(|all| differs(all, kind, name))
    }

    /// Records what a server offers. A new server is pinned; any other is compared.
    pub(crate) fn observe(&self, server: &str, offered: Offered) {
        let found = {
            let mut state = self.inner.state.lock();
            if state.mode == LockMode::Off {
                return;
            }
            if self.inner.pins_first_use
                && offered.is_whole
                && !state.file.servers.contains_key(server)
            {
                self.pin_first(&mut state, server, &offered);
            }
            let observed = self.observed(server);
            let before = state.differences.remove(&observed).unwrap_or_default();
            state.offered.insert(observed.clone(), offered);
            state.compare(&observed);
            let now = state.differences.get(&observed).into_iter().flatten();
            let found = now.filter(|difference| !before.contains(difference));
            let mode = state.mode;
            found
                .cloned()
                .map(|difference| LockDifference {
                    is_withheld: mode == LockMode::Enforce && difference.what != Difference::Gone,
                    ..difference
                })
                .collect::<Vec<_>>()
        };
        for difference in &found {
            if let Some(hear) = &self.inner.on_difference {
                hear(difference);
                continue;
            }
            tracing::warn!(
                server,
                what = difference.label(),
                effect = difference.effect.as_str(),
                is_withheld = difference.is_withheld,
                "differs from the lock file: {}",
                difference.description()
            );
        }
    }

    /// Trusts a server at its first use, and pins it. Another program may have pinned it meanwhile.
    fn pin_first(&self, state: &mut State, server: &str, offered: &Offered) {
        match LockFile::open(&self.inner.path) {
            Ok(file) => state.file = file,
            Err(error) => return tracing::warn!(%error, "the lock file is not used"),
        }
        if state.file.servers.contains_key(server) {
            return;
        }
        let pins = ServerPins::of(offered);
        state.file.servers.insert(server.to_owned(), pins);
        if let Err(error) = state.file.save(&self.inner.path) {
            tracing::warn!(%error, server, "could not save the lock file; the server is pinned for this run only");
        }
    }

    /// Forgets a removed server.
    pub(crate) fn forget(&self, server: &str) {
        let mut state = self.inner.state.lock();
        let observed = self.observed(server);
        state.offered.remove(&observed);
        state.differences.remove(&observed);
    }

    /// Approves what a server currently offers: everything, or one tool or prompt. Returns the
    /// number of differences that were approved.
    pub(crate) fn approve(
        &self,
        server: Option<&str>,
        kind: Option<LockKind>,
        name: Option<&str>,
    ) -> Result<usize, LockError> {
        let mut state = self.inner.state.lock();
        state.file = LockFile::open(&self.inner.path)?;
        let is_wanted = |one: &LockDifference| {
            server.is_none_or(|server| one.server == server)
                && kind.is_none_or(|kind| one.kind == kind)
                && name.is_none_or(|name| one.name == name)
        };
        let mut wanted: Vec<(Observed, LockDifference)> = Vec::new();
        for (observed, differences) in &state.differences {
            let differences = differences.iter().filter(|one| is_wanted(one));
            wanted.extend(differences.map(|one| (observed.clone(), one.clone())));
        }
        for (observed, one) in &wanted {
            let Some(offered) = state.offered.get(observed).cloned() else {
                continue;
            };
            let pins = state.file.servers.entry(one.server.clone()).or_default();
            pins.take(one, &offered);
        }
        if !wanted.is_empty() {
            state.file.save(&self.inner.path)?;
        }
        state.compare_all();
        Ok(wanted.len())
    }

    /// Reads the file again. Returns whether the approvals have changed.
    pub(crate) fn reload(&self) -> Result<bool, LockError> {
        let file = LockFile::open(&self.inner.path)?;
        let mut state = self.inner.state.lock();
        let is_other = file != state.file;
        state.file = file;
        state.compare_all();
        Ok(is_other)
    }

    /// Pins what all servers currently offer, and removes servers that are not in `known`, unless the
    /// lock keeps them.
    pub(crate) fn pin_all(&self, known: &[String]) -> Result<(), LockError> {
        let mut state = self.inner.state.lock();
        let offered = state.offered.clone();
        for ((server, _), offered) in &offered {
            if offered.is_whole {
                let pins = ServerPins::of(offered);
                state.file.servers.insert(server.clone(), pins);
            }
        }
        if self.inner.removes_others {
            let servers = &mut state.file.servers;
            servers.retain(|server, _| known.contains(server));
        }
        state.file.save(&self.inner.path)?;
        state.compare_all();
        Ok(())
    }
}

impl std::fmt::Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lock")
            .field("path", &self.inner.path)
            .finish_non_exhaustive()
    }
}

impl State {
    fn compare(&mut self, observed: &Observed) {
        let server = observed.0.as_str();
        let found = match (self.file.servers.get(server), self.offered.get(observed)) {
            (Some(pins), Some(offered)) => differences(server, pins, offered),
            // The server could not be pinned, so none of its entries is approved.
            (None, Some(offered)) => differences(server, &ServerPins::default(), offered),
            (_, None) => Vec::new(),
        };
        self.differences.insert(observed.clone(), found);
    }

    fn compare_all(&mut self) {
        let all: Vec<Observed> = self.offered.keys().cloned().collect();
        for observed in &all {
            self.compare(observed);
        }
    }
}

impl ServerPins {
    fn of(offered: &Offered) -> Self {
        let pinned = |list: &BTreeMap<String, Value>| {
            list.iter()
                .map(|(name, value)| (name.clone(), Pin::new(value)))
                .collect()
        };
        Self {
            instructions: offered.instructions.as_deref().map(text_pin),
            tools: pinned(&offered.tools),
            prompts: pinned(&offered.prompts),
        }
    }

    /// Approves one difference.
    fn take(&mut self, difference: &LockDifference, offered: &Offered) {
        let (pins, now) = match difference.kind {
            LockKind::Instructions => {
                self.instructions = offered.instructions.as_deref().map(text_pin);
                return;
            }
            LockKind::Tool => (&mut self.tools, &offered.tools),
            LockKind::Prompt => (&mut self.prompts, &offered.prompts),
        };
        if let Some(before) = &difference.renamed_from {
            pins.remove(before);
        }
        match now.get(&difference.name) {
            Some(definition) => {
                pins.insert(difference.name.clone(), Pin::new(definition));
            }
            None => {
                pins.remove(&difference.name);
            }
        }
    }
}

/// Whether an offered entry differs from the approved one.
fn differs(differences: &[LockDifference], kind: LockKind, name: &str) -> bool {
    differences
        .iter()
        .any(|one| one.kind == kind && one.name == name && one.what != Difference::Gone)
}

fn text_pin(text: &str) -> Pin {
    Pin::new(&Value::from(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offered(about: &str) -> Offered {
        let pay = json!({ "name": "pay", "description": about });
        Offered {
            instructions: None,
            tools: BTreeMap::from([("pay".to_owned(), pay)]),
            prompts: BTreeMap::new(),
            is_whole: true,
        }
    }

    fn lock(folder: &tempfile::TempDir) -> Lock {
        let path = folder.path().join("turnbuckle.lock");
        Lock::open(path, LockMode::Enforce).expect("a lock")
    }

    #[test]
    fn a_core_that_ends_takes_nothing_from_another_core_of_its_caller() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = lock(&folder);
        let (first, second) = (lock.for_caller_core(), lock.for_caller_core());
        first.observe("crm", offered("Pays"));
        for core in [&first, &second] {
            core.observe("crm", offered("Pays somebody else"));
        }
        second.forget("crm");
        assert!(first.withholds_own("crm", LockKind::Tool, "pay"));
    }

    #[test]
    fn all_of_a_callers_own_server_is_withheld_until_it_was_compared() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = lock(&folder);
        let own = lock.for_caller_core();
        // A server that all callers shared may have had the same name.
        lock.observe("crm", offered("Pays"));
        assert!(own.withholds_own("crm", LockKind::Tool, "pay"));
        own.observe("crm", offered("Pays"));
        assert!(!own.withholds_own("crm", LockKind::Tool, "pay"));
        own.set_mode(LockMode::Audit);
        own.forget("crm");
        assert!(!own.withholds_own("crm", LockKind::Tool, "pay"));
    }
}
