//! Applies changes of the config files while the gateway runs.
//!
//! The files are checked every second, on SIGHUP, and when the page requests it. A new plan is completed before
//! anything changes; if that fails, the old plan stays. Servers that are the same in both plans keep their
//! connections.

use std::{
    collections::{HashMap, HashSet},
    fs,
    future::poll_fn,
    path::PathBuf,
    sync::Arc,
    task::Poll,
    time::{Duration, SystemTime},
};

use futures_core::future::BoxFuture;
use tokio::sync::Notify;
use turnbuckle::{
    gateway::{
        LiveGateway,
        lock::LockMode,
        operation::{Operation, Policy},
    },
    host::ServerId,
};
use turnbuckle_command_line::{
    control::tell,
    failure::{Failed, Outcome},
};

use super::{
    command::Up,
    front_guard::{self, LiveFront},
    lock_file, operation,
    own_urls::OwnUrls,
    pending_sign_ins::PendingSignIns,
    plan::Plan,
    used_files::UsedFiles,
    withheld::Withheld,
};

/// How often the files are checked.
const LOOK: Duration = Duration::from_secs(1);

/// How long a changed file must stay as it is before it is read. Many programs empty a file before they write it, and
/// an empty file has no servers.
const SETTLED_FOR: Duration = Duration::from_millis(200);

/// How often files that keep changing are checked before they are read anyway.
const MAX_CHECKS: usize = 10;

/// The state of a file when it was read.
type Stamp = Option<(SystemTime, u64)>;

/// Keeps a gateway up to date for as long as it is polled.
pub(super) struct Reload<'a> {
    up: &'a Up,
    gateway: LiveGateway,
    parts: ReloadParts,
    own: OwnUrls,
    /// The running servers, each with the value that distinguishes it from others of the same name.
    running: HashMap<String, String>,
    files: HashMap<PathBuf, Stamp>,
    /// The config files of the running servers, if they were found at the usual places.
    used: UsedFiles,
    /// Whether the demo server is served, because there was no config file.
    is_demo: bool,
    lock_file: PathBuf,
    /// Settings for tools that their servers do not have, which were reported.
    missing: HashSet<(ServerId, String)>,
    /// The variables that servers do not inherit, of this plan and all before it.
    withheld: Withheld,
}

/// The parts that are needed to apply a new plan.
pub(super) struct ReloadParts {
    operation: Arc<Operation>,
    pending: PendingSignIns,
    front: LiveFront,
    /// Notified when the page requests a reload.
    asked: Arc<Notify>,
    hangup: Hangup,
}

impl ReloadParts {
    pub(super) fn new(
        operation: Arc<Operation>,
        pending: &PendingSignIns,
        front: LiveFront,
        asked: Arc<Notify>,
        hangup: Hangup,
    ) -> Self {
        Self {
            operation,
            pending: pending.clone(),
            front,
            asked,
            hangup,
        }
    }
}

impl<'a> Reload<'a> {
    pub(super) fn new(
        up: &'a Up,
        gateway: LiveGateway,
        parts: ReloadParts,
        plan: &Plan,
        own: OwnUrls,
    ) -> Self {
        let running = plan.servers.iter();
        Self {
            up,
            gateway,
            parts,
            own,
            running: running
                .map(|server| (server.id.clone(), server.identity.clone()))
                .collect(),
            files: stamps(&watched(plan)),
            used: plan.used.clone(),
            is_demo: plan.is_demo,
            lock_file: plan.lock_file(),
            missing: HashSet::new(),
            withheld: plan.withheld.clone(),
        }
    }

    /// Applies changes until the gateway ends.
    pub(super) async fn run(mut self) {
        loop {
            let is_asked = tokio::select! {
                () = tokio::time::sleep(LOOK) => false,
                () = self.parts.hangup.heard() => true,
                () = self.parts.asked.notified() => true,
            };
            self.tell_missing();
            let names: Vec<_> = self.files.keys().cloned().collect();
            let mut now = stamps(&names);
            let is_changed = now != self.files;
            if is_changed && !is_asked {
                now = settled(&names, now).await;
            }
            // A lock file that appears may turn on that tools are compared.
            let is_lock_new = self.gateway.lock_mode() == LockMode::Off
                && self.files.get(&self.lock_file) == Some(&None);
            let is_lock_alone = is_changed
                && !is_asked
                && !is_lock_new
                && now.iter().all(|(file, stamp)| {
                    *file == self.lock_file || self.files.get(file) == Some(stamp)
                });
            if is_asked || is_changed {
                self.files = now;
                self.reload_lock();
            }
            if is_asked || (is_changed && !is_lock_alone) {
                self.reload().await;
            }
        }
    }

    /// Reports settings for tools that do not exist: with a misspelled name, `hide` would hide nothing.
    fn tell_missing(&mut self) {
        for (server, tool) in self.gateway.missing_tools() {
            if self.missing.insert((server.clone(), tool.clone())) {
                tell(&format!(
                    "warning: `[servers.{server}.tools.{tool}]` has no effect: server `{server}` has no tool \
                     `{tool}`"
                ));
            }
        }
    }

    /// Applies approvals that were written to the lock file in the meantime.
    fn reload_lock(&self) {
        match self.gateway.reload_lock() {
            Ok(false) => {}
            Ok(true) => {
                let left = self.gateway.lock_differences().len();
                tell(&format!(
                    "reloaded the lock file: {left} differences remain"
                ));
            }
            Err(error) => tell(&format!(
                "warning: {error}; the earlier approvals stay in effect"
            )),
        }
    }

    async fn reload(&mut self) {
        let (mut plan, policy) = match self.plan_again() {
            Ok(made) => made,
            Err(failed) => {
                return tell(&format!(
                    "warning: {}; the servers are unchanged",
                    failed.said()
                ));
            }
        };
        // Stamps of files that were watched before were taken before the plan was read, so that later changes are
        // noticed. Those of other files cannot be taken earlier than here.
        for (file, stamp) in stamps(&watched(&plan)) {
            self.files.entry(file).or_insert(stamp);
        }
        plan.without(&self.own);
        // The guard is still the one that the gateway started with, whatever the file says now.
        if self.parts.front.tells_callers_apart() {
            plan.isolate_callers();
        }
        plan.tell_problems();
        self.used = plan.used.clone();
        self.carry_out(plan, policy).await;
    }

    /// The plan of the files as they are now.
    fn plan_again(&self) -> Outcome<(Plan, Policy)> {
        let plan = Plan::make_again(&self.up.words(), &self.used)?;
        front_guard::check(&plan)?;
        // Reported before the check, which may reject the plan because such a change has not taken effect.
        let differing = self.parts.front.differing(&plan);
        if !differing.is_empty() {
            let names = differing.join("`, `");
            tell(&format!(
                "warning: changes of `{names}` take effect after a restart"
            ));
        }
        self.parts.front.check(&plan)?;
        self.check_lock(&plan)?;
        let policy = operation::policy(&plan.gateway.policy)?;
        Ok((plan, policy))
    }

    /// Rejects a plan whose lock file is not open: it was damaged when the gateway started, and not needed.
    fn check_lock(&self, plan: &Plan) -> Outcome {
        let mode = lock_file::mode(plan, self.up.lock());
        if mode == LockMode::Off || self.gateway.lock_path().is_some() {
            return Ok(());
        }
        let said = format!(
            "`lock` cannot be turned on, because `{}` could not be read when the gateway started; restart it",
            self.lock_file.display()
        );
        Err(Failed::usage(said))
    }

    /// The servers that will be running, each with the value that distinguishes it from others of the same name.
    fn names(&self, plan: &Plan) -> HashMap<String, String> {
        if self.is_demo {
            return self.running.clone();
        }
        // A server whose entry has a mistake stays as it was.
        let stay = plan.broken.iter().filter_map(|id| {
            let identity = self.running.get(id)?;
            Some((id.clone(), identity.clone()))
        });
        let planned = plan.servers.iter();
        stay.chain(planned.map(|server| (server.id.clone(), server.identity.clone())))
            .collect()
    }

    /// Changes the servers and the policy to those of a plan.
    async fn carry_out(&mut self, plan: Plan, policy: Policy) {
        // The demo server stays until there is another.
        self.is_demo &= plan.servers.is_empty();
        let names = self.names(&plan);
        let gone: Vec<_> = self.running.keys().cloned().collect();
        let (mut added, mut changed, mut removed) = (0, 0, 0);
        let gateway = &self.gateway;
        let mut removals: Vec<BoxFuture<'_, ()>> = Vec::new();
        for id in gone.into_iter().filter(|id| !names.contains_key(id)) {
            removed += 1;
            removals.push(Box::pin(async move {
                gateway.remove(id.as_str()).await;
                tell(&format!("removed {id}  no longer served"));
            }));
        }
        // Before servers are added. Programs that run already keep their environment.
        self.withheld.add(&plan.withheld);
        self.gateway.inherit(self.withheld.inherited());
        let mode = lock_file::mode(&plan, self.up.lock());
        let changes = async {
            // Before servers are added, so that nothing is offered that the new policy denies.
            self.parts.operation.set_policy(policy);
            // It fails only for a gateway without a lock file, and then the mode is off.
            let _ = gateway.set_lock_mode(mode);
            let mut replacements: Vec<BoxFuture<'_, ()>> = Vec::new();
            for server in plan.servers {
                match self.running.get(&server.id) {
                    Some(identity) if *identity == server.identity => continue,
                    Some(_) => changed += 1,
                    None => added += 1,
                }
                let (id, settings) = (server.id, server.settings);
                match server.personal {
                    None => gateway.add(id.as_str(), server.spec, settings),
                    Some(personal) => {
                        let access = personal.access(&id, &self.parts.pending);
                        replacements.push(Box::pin(async move {
                            gateway.add_per_caller(id.as_str(), access, settings).await;
                        }));
                    }
                }
            }
            all(replacements).await;
        };
        // The first poll of a removal takes the server out of the lists. A program may need seconds to end, and
        // everything else must not wait for that.
        tokio::join!(biased; all(removals), changes);
        self.running = names;
        tell(&format!(
            "reloaded: {added} added, {changed} changed, {removed} removed"
        ));
    }
}

/// Runs futures concurrently until all are ready. The first poll polls each of them.
async fn all(mut futures: Vec<BoxFuture<'_, ()>>) {
    poll_fn(|context| {
        futures.retain_mut(|future| future.as_mut().poll(context).is_pending());
        if futures.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// The files that are watched for changes.
fn watched(plan: &Plan) -> Vec<PathBuf> {
    let mut files = plan.files.clone();
    files.push(plan.lock_file());
    files
}

fn stamps(files: &[PathBuf]) -> HashMap<PathBuf, Stamp> {
    let stamp = |file: &PathBuf| {
        let about = fs::metadata(file).ok()?;
        Some((about.modified().ok()?, about.len()))
    };
    files
        .iter()
        .map(|file| (file.clone(), stamp(file)))
        .collect()
}

/// Waits until files have stopped changing. Returns their last states.
async fn settled(files: &[PathBuf], mut last: HashMap<PathBuf, Stamp>) -> HashMap<PathBuf, Stamp> {
    for _ in 0..MAX_CHECKS {
        tokio::time::sleep(SETTLED_FOR).await;
        let now = stamps(files);
        if now == last {
            break;
        }
        last = now;
    }
    last
}

/// SIGHUP, on systems that have signals. Without a listener, the signal would end the process.
pub(super) struct Hangup {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangup {
    #[cfg(unix)]
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        Self {
            signal: signal(SignalKind::hangup()).ok(),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> Self {
        Self {}
    }

    async fn heard(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_read_when_its_writer_is_done() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [folder.path().join("turnbuckle.toml")];
        // An editor empties the file, and writes it a moment later.
        fs::write(&files[0], "").expect("written");
        let emptied = stamps(&files);
        let writing = async {
            tokio::time::sleep(SETTLED_FOR / 2).await;
            fs::write(&files[0], "[servers]").expect("written");
        };
        let ((), last) = tokio::join!(biased; writing, settled(&files, emptied.clone()));
        assert_ne!(last, emptied);
        assert_eq!(last, stamps(&files));
    }
}
