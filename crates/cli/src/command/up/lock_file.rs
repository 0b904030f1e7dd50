//! The lock file of a running gateway.

use turnbuckle::gateway::lock::{Lock, LockDifference, LockMode};
use turnbuckle_command_line::{
    control::{log_text, tell},
    failure::{Failed, Outcome},
};

use super::plan::Plan;

/// What to do with tools that differ from the lock file, by the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LockChoice {
    Enforce,
    Audit,
    Off,
}

/// What to do with tools that differ. By default they are reported if there is a lock file.
pub(super) fn mode(plan: &Plan, said: Option<LockChoice>) -> LockMode {
    let said = said.map(|said| match said {
        LockChoice::Enforce => LockMode::Enforce,
        LockChoice::Audit => LockMode::Audit,
        LockChoice::Off => LockMode::Off,
    });
    said.or(plan.gateway.lock).unwrap_or_else(|| {
        if plan.lock_file().is_file() {
            LockMode::Audit
        } else {
            LockMode::Off
        }
    })
}

/// The lock file of a plan. It is opened even if nothing is compared, because a changed config may turn that on.
pub(super) fn open(plan: &Plan, said: Option<LockChoice>) -> Outcome<Option<Lock>> {
    let mode = mode(plan, said);
    match Lock::open(plan.lock_file(), mode) {
        Ok(lock) => Ok(Some(lock)),
        // A file that is not used need not be valid.
        Err(_) if mode == LockMode::Off => Ok(None),
        Err(error) => Err(Failed::usage(error)),
    }
}

/// Prints a difference as one line.
pub(super) fn tell_difference(difference: &LockDifference) {
    // Names and texts are those of servers.
    let (label, said) = (
        log_text(&difference.label()),
        log_text(&difference.description()),
    );
    let effect = difference.effect.as_str();
    let kind = difference.kind.as_str();
    let end = if difference.is_withheld {
        let words = log_text(&difference.approve_arguments());
        format!("; withheld until `turnbuckle lock approve {words}`")
    } else {
        String::new()
    };
    tell(&format!("changed {label}  {kind}, {effect}: {said}{end}"));
}
