//! `turnbuckle lock`: manages the lock file, with the approved tools, prompts and instructions of servers.

use std::{collections::BTreeSet, path::PathBuf};

use clap::Args;
use serde_json::json;
use turnbuckle::{
    gateway::{
        Gateway, LiveGateway,
        lock::{Lock as LockFile, LockDifference, LockKind, LockMode},
    },
    host::ServerState,
};
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    style::Style,
    trust::Consent,
};
use turnbuckle_host::diff::Effect;

use super::{
    command::failed,
    pending_sign_ins::PendingSignIns,
    plan::{Plan, PlanWords},
};
use crate::{
    runtime::block_on,
    show::{Table, print, print_json},
};

/// Pin what servers offer in `turnbuckle.lock`, and show what has changed since.
///
/// The file has a digest and the definition of every tool and prompt, and the instructions of every
/// server. `turnbuckle lock` writes or overwrites it, and shows what changed. `turnbuckle lock
/// --check` writes nothing, and its exit code is 1 if anything differs. `turnbuckle lock approve`
/// approves differences: of all servers, of one server, or of one tool or prompt; with
/// `--instructions`, only those of instructions. Servers that no config file has any more are
/// removed from the file, unless `--only` is used or the config has problems.
///
/// A gateway with `lock = "enforce"` withholds what differs until it is approved, and notices that
/// without a restart.
#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct Lock {
    /// What to do; without it the file is written, or compared with `--check`.
    #[arg(value_name = "ACTION")]
    action: Option<Action>,

    /// The servers, tools or prompts to approve; everything that differs unless some are named.
    #[arg(value_name = "SERVER[/TOOL]", requires = "action")]
    which: Vec<String>,

    /// Approve instructions alone: those of the servers that are named, or of all.
    #[arg(long, requires = "action")]
    instructions: bool,

    /// Compare and write nothing.
    #[arg(long, conflicts_with = "action")]
    check: bool,

    /// The servers of this config file alone.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,

    /// This server alone (may be repeated).
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// The lock file, in place of the one beside the config.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Trust the project's config files in their present content.
    #[arg(long)]
    trust: bool,

    /// Print JSON: every difference with its server, kind, name, effect and changes.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is done with the lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Action {
    /// Approve the differences.
    Approve,
}

pub(crate) fn run(lock: &Lock) -> Outcome {
    let consent = if lock.trust {
        Consent::Given
    } else {
        Consent::Ask
    };
    let words = PlanWords {
        what: lock.config.as_deref(),
        command: &[],
        only: &lock.only,
        names: None,
        era: None,
    };
    let plan = Plan::make(&words, consent)?;
    plan.tell_problems();
    if plan.is_demo {
        return Err(Failed::usage("no config file has a server")
            .hint("`turnbuckle lock --config FILE` uses another file"));
    }
    let path = lock.file.clone().unwrap_or_else(|| plan.lock_file());
    let kept = LockFile::open(path, LockMode::Audit).map_err(Failed::usage)?;
    // The differences are shown as a table.
    let mut kept = kept.without_pinning().on_difference(|_| {});
    // A gateway would pin a server that is not in the file at its first use, whatever it offers then.
    if !lock.only.is_empty() || !plan.problems.is_empty() {
        kept = kept.keeping_other_servers();
    }
    block_on(lock.compare(&plan, kept))?;
    match plan.problems.len() {
        0 => Ok(()),
        1 => Err(Failed::usage(
            "1 problem in the config; what it concerns was not compared",
        )),
        count => {
            let said =
                format!("{count} problems in the config; what they concern was not compared");
            Err(Failed::usage(said))
        }
    }
}

impl Lock {
    async fn compare(&self, plan: &Plan, kept: LockFile) -> Outcome {
        let path = kept.path().to_owned();
        let mut gateway = Gateway::new("turnbuckle", env!("CARGO_PKG_VERSION"))
            .inherit(plan.withheld.inherited())
            .lock(kept);
        for server in &plan.servers {
            let (id, settings) = (server.id.as_str(), server.settings.clone());
            gateway = match &server.personal {
                None => gateway.server_with(id, server.spec.clone(), settings),
                // It is pinned when its first caller uses it; this command has no caller.
                Some(personal) => {
                    let access = personal.access(id, &PendingSignIns::default());
                    gateway.server_per_caller(id, access, settings)
                }
            };
        }
        let gateway = gateway.open().map_err(failed)?;
        gateway.settled().await;
        let unreachable = unreachable(&gateway);
        let done = self.act(&gateway, &path.display().to_string());
        gateway.close().await;
        for (server, reason) in &unreachable {
            tell(&format!(
                "warning: cannot compare server `{server}`: {reason}"
            ));
        }
        done?;
        match unreachable.len() {
            0 => Ok(()),
            count => Err(Failed::new(
                Code::Connect,
                format!("{count} servers could not be compared"),
            )),
        }
    }

    fn act(&self, gateway: &LiveGateway, path: &str) -> Outcome {
        let written = |error| Failed::new(Code::Output, error);
        let found = gateway.lock_differences();
        if self.action == Some(Action::Approve) {
            let approved = self.approve(gateway, &found)?;
            self.show(&approved)?;
            tell(&format!("approved {} in `{path}`", approved.len()));
            return Ok(());
        }
        self.show(&found)?;
        if !self.check {
            gateway.pin().map_err(written)?;
            tell(&format!("wrote `{path}`"));
            return Ok(());
        }
        match found.len() {
            0 => Ok(()),
            count => Err(
                Failed::new(Code::Tool, format!("{count} differences from `{path}`"))
                    .hint("`turnbuckle lock approve SERVER/TOOL` approves one of them"),
            ),
        }
    }

    /// Approves the named differences. It is an error to name something that does not differ.
    fn approve(
        &self,
        gateway: &LiveGateway,
        found: &[LockDifference],
    ) -> Outcome<Vec<LockDifference>> {
        let written = |error| Failed::new(Code::Output, error);
        let kind = self.instructions.then_some(LockKind::Instructions);
        let is_of_kind = |one: &LockDifference| kind.is_none_or(|kind| one.kind == kind);
        if self.which.is_empty() {
            gateway.approve(None, kind, None).map_err(written)?;
            return Ok(found
                .iter()
                .filter(|one| is_of_kind(one))
                .cloned()
                .collect());
        }
        let mut approved = Vec::new();
        for which in &self.which {
            let (server, name) = match which.split_once('/') {
                Some((server, name)) => (server, Some(name)),
                None => (which.as_str(), None),
            };
            if self.instructions && name.is_some() {
                let said = format!(
                    "`--instructions` applies to servers, and `{which}` is a tool or prompt"
                );
                return Err(Failed::usage(said).hint(format!("name the server: `{server}`")));
            }
            // Instructions have no name, and `crm/` does not mean them.
            let is_named =
                |one: &LockDifference| name.is_none_or(|name| !name.is_empty() && one.name == name);
            let is_meant =
                |one: &&LockDifference| one.server == server && is_of_kind(one) && is_named(one);
            let meant: Vec<_> = found.iter().filter(is_meant).cloned().collect();
            if meant.is_empty() {
                let labels: BTreeSet<String> = found
                    .iter()
                    .map(LockDifference::approve_arguments)
                    .collect();
                let labels: Vec<String> = labels.into_iter().collect();
                let failed = Failed::usage(format!("`{which}` does not differ from the lock file"));
                return Err(match labels.as_slice() {
                    [] => failed.hint("the lock file has no differences"),
                    labels => failed.hint(format!("these differ: {}", labels.join(", "))),
                });
            }
            gateway.approve(Some(server), kind, name).map_err(written)?;
            approved.extend(meant);
        }
        Ok(approved)
    }

    fn show(&self, found: &[LockDifference]) -> Outcome {
        let count = |effect| found.iter().filter(|one| one.effect == effect).count();
        let (breaking, compatible) = (count(Effect::Breaking), count(Effect::Compatible));
        let wording = count(Effect::Wording);
        if self.json {
            return print_json(&json!({
                "breaking": breaking, "compatible": compatible, "wording": wording,
                "differences": found,
            }));
        }
        table(found).lines().iter().for_each(|line| print(line));
        let sum = format!("{breaking} breaking, {compatible} compatible, {wording} wording");
        print(&Style::Dim.out(&sum));
        Ok(())
    }
}

/// The servers that did not answer, with the reasons.
fn unreachable(gateway: &LiveGateway) -> Vec<(String, String)> {
    let states = gateway.states().into_iter();
    states
        .filter_map(|(id, state)| match state {
            ServerState::Restarting { failure, .. } | ServerState::Failed { failure, .. } => {
                Some((id.to_string(), failure.reason.clone()))
            }
            _ => None,
        })
        .collect()
}

fn table(found: &[LockDifference]) -> Table {
    let mut table = Table::default();
    for one in found {
        let style = match one.effect {
            Effect::Breaking => Style::Bad,
            Effect::Compatible => Style::Good,
            Effect::Wording => Style::Dim,
        };
        table.row(vec![
            (one.effect.as_str().to_owned(), Some(style)),
            (one.kind.as_str().to_owned(), Some(Style::Dim)),
            (one.label(), Some(Style::Strong)),
            (one.description(), None),
        ]);
    }
    table
}
