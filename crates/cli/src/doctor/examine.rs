//! One examination, from the first packet to the last.

use tokio::time::timeout;
use turnbuckle::Revision;
use turnbuckle_host::config::Launch;

use super::{finding::Finding, http, patience::Patience, process, report::Report, table::time};
use crate::{
    exit::Outcome,
    show::elapsed,
    target::{EraName, Options, Server, command},
};

/// What is to be looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Whether 2026-07-28 is spoken.
    pub(crate) is_modern: bool,
    /// Which revision a session is asked for, if one is.
    pub(crate) legacy: Option<Revision>,
    /// Whether tools that only read are called.
    pub(crate) is_calling: bool,
}

impl Wanted {
    pub(crate) fn new(options: &Options, is_calling: bool) -> Self {
        let newest = Some(Revision::LATEST_LEGACY);
        let (is_modern, legacy) = match (options.revision, options.era) {
            (Some(revision), _) if revision.is_modern() => (true, None),
            (Some(revision), _) => (false, Some(revision)),
            (None, Some(EraName::Modern)) => (true, None),
            (None, Some(EraName::Legacy)) => (false, newest),
            (None, None) => (true, newest),
        };
        Self {
            is_modern,
            legacy,
            is_calling,
        }
    }
}

/// Examines a server. Whatever it does, this ends within the time.
pub(crate) async fn examine(
    report: &Report,
    server: &Server,
    options: &Options,
    wanted: Wanted,
    patience: Patience,
) -> Outcome {
    let walk = async {
        match &server.launch {
            Launch::Command {
                program,
                arguments,
                environment,
                folder,
            } => {
                let command = command(program, arguments, environment, folder.as_deref());
                process::examine(report, command, wanted, patience).await;
                Ok(())
            }
            Launch::Remote(remote) => {
                http::examine(report, server, &remote.url, options, wanted, patience).await
            }
        }
    };
    if let Ok(outcome) = timeout(patience.total, walk).await {
        return outcome;
    }
    let limit = elapsed(patience.total);
    let said = format!("not done within {limit}: it was {}", report.current_step());
    report.mute(false);
    report.add(Finding::of(&time::TOTAL, said));
    Ok(())
}
