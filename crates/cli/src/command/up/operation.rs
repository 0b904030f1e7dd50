//! Policy, access log, metrics and health of a running gateway.

use std::{fs::OpenOptions, io, sync::Arc};

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use turnbuckle::{
    ExtraRoutes, TextResponse,
    gateway::{
        LiveGateway,
        observe::Recorder,
        operation::{AccessLog, ConditionError, EntryKind, Operation, Policy, PolicyRule, Rate},
    },
    host::ServerState,
};
use turnbuckle_command_line::failure::{Failed, Outcome};

use super::file::GatewaySection;

/// `[[gateway.policy]]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(super) struct PolicyEntry {
    callers: Option<Vec<String>>,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    allow_if: Option<String>,
    deny_if: Option<String>,
    ask_if: Option<String>,
    rate: Option<String>,
    concurrency: Option<usize>,
}

impl PolicyEntry {
    /// Rejects patterns with a word before `:` that is not a kind of entry.
    fn check_kinds(&self, number: usize) -> Outcome {
        for (key, patterns) in [
            ("allow", &self.allow),
            ("deny", &self.deny),
            ("ask", &self.ask),
        ] {
            for pattern in patterns {
                if let Some((word, _)) = pattern.split_once(':')
                    && EntryKind::parse(word).is_none()
                {
                    let said = format!(
                        "`{pattern}` in `{key}` of policy {number}: unknown kind `{word}`; the \
                         kinds are `tool`, `prompt` and `resource`"
                    );
                    let hint = format!("write `tool:{pattern}` for a tool with `:` in its name");
                    return Err(Failed::usage(said).hint(hint));
                }
            }
        }
        Ok(())
    }
}

/// Describes the rules that can never apply, because they are for certain callers and the gateway
/// does not identify callers.
pub(super) fn unreachable_rules(gateway: &GatewaySection) -> Vec<String> {
    if gateway.tells_callers_apart() {
        return Vec::new();
    }
    let numbered = (1..).zip(&gateway.policy);
    numbered
        .filter(|(_, entry)| entry.callers.is_some())
        .map(|(number, _)| {
            format!(
                "policy {number} has `callers` and applies to nobody: without `[[gateway.keys]]` \
                 or `[gateway.oauth]` callers are not identified"
            )
        })
        .collect()
}

/// The policy of a file.
pub(super) fn policy(entries: &[PolicyEntry]) -> Outcome<Policy> {
    let mut numbered = entries.iter().enumerate();
    numbered.try_fold(Policy::new(), |policy, (number, entry)| {
        let rule = match &entry.callers {
            Some(callers) => PolicyRule::for_callers(callers),
            None => PolicyRule::for_all(),
        };
        let number = number + 1;
        entry.check_kinds(number)?;
        let mut rule = rule.allow(&entry.allow).deny(&entry.deny).ask(&entry.ask);
        let wrong = |key: &str, error: &ConditionError| {
            Failed::usage(format!("`{key}` of policy {number}: {error}"))
                .hint("expressions are CEL: `server == \"crm\" && !annotations.readOnlyHint`")
        };
        if let Some(text) = &entry.allow_if {
            rule = rule
                .allow_if(text)
                .map_err(|error| wrong("allow-if", &error))?;
        }
        if let Some(text) = &entry.deny_if {
            rule = rule
                .deny_if(text)
                .map_err(|error| wrong("deny-if", &error))?;
        }
        if let Some(text) = &entry.ask_if {
            rule = rule.ask_if(text).map_err(|error| wrong("ask-if", &error))?;
        }
        if let Some(text) = &entry.rate {
            let rate = Rate::parse(text).ok_or_else(|| {
                Failed::usage(format!("`{text}` is not a rate"))
                    .hint("write `60/minute`, `5/second` or `1000/hour`")
            })?;
            rule = rule.rate(rate);
        }
        if let Some(calls) = entry.concurrency {
            if calls == 0 {
                let said = format!("`concurrency` of policy {number} must be at least 1");
                return Err(Failed::usage(said).hint("use `deny` to forbid all calls"));
            }
            rule = rule.concurrency(calls);
        }
        Ok(policy.rule(rule))
    })
}

/// The operation of a gateway. `log` is a file, or `-` for stderr.
pub(super) fn operation(
    policy: Policy,
    log: Option<&str>,
    recorder: Option<&Arc<Recorder>>,
) -> Outcome<Arc<Operation>> {
    let operation = Operation::new().policy(policy);
    let operation = match recorder {
        Some(recorder) => operation.recorder(Arc::clone(recorder)),
        None => operation,
    };
    let log = match log {
        None => return Ok(Arc::new(operation)),
        Some("-") => AccessLog::new(io::stderr()),
        Some(path) => {
            let file = OpenOptions::new().append(true).create(true).open(path);
            let file =
                file.map_err(|error| Failed::usage(format!("cannot write `{path}`: {error}")))?;
            AccessLog::new(file)
        }
    };
    Ok(Arc::new(operation.log(log)))
}

/// Counts the states of servers.
pub(super) fn count_state(operation: &Operation, server: &str, state: &ServerState) {
    let metrics = operation.metrics();
    match state {
        ServerState::Ready(_) => metrics.server(server, true),
        ServerState::Restarting { .. } | ServerState::Failed { .. } => {
            metrics.server_failed(server);
        }
        ServerState::Removed => metrics.server_removed(server),
        _ => metrics.server(server, false),
    }
}

/// Who may read the information about the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// Users of this machine, or of an address for operators.
    Operators,
    /// Everyone who can reach the gateway: they do not see names of servers and counters.
    Everybody,
}

/// `/metrics`, `/readyz` and `/healthz`.
pub(super) fn texts(
    gateway: LiveGateway,
    operation: Arc<Operation>,
    readers: Readers,
) -> ExtraRoutes {
    const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    const JSON: &str = "application/json";
    ExtraRoutes::new(move |uri| match uri.path() {
        "/metrics" if readers == Readers::Operators => {
            let metrics = operation.metrics();
            metrics.parked(gateway.parked());
            metrics.lock_differences(&gateway.lock_differences());
            metrics.caller_servers(&gateway.caller_servers());
            Some(TextResponse::new(
                StatusCode::OK,
                METRICS,
                operation.metrics_text(),
            ))
        }
        "/readyz" => {
            let (status, text) = readiness(&gateway, readers);
            Some(TextResponse::new(status, JSON, text))
        }
        "/healthz" => Some(TextResponse::new(
            StatusCode::OK,
            JSON,
            r#"{"status":"ok"}"#,
        )),
        _ => None,
    })
}

/// Whether each server answers. The status is 200 if all of them do.
fn readiness(gateway: &LiveGateway, readers: Readers) -> (StatusCode, String) {
    let states = gateway.states();
    let is_ready = states.iter().all(|(_, state)| {
        let is_wanted = !matches!(state, ServerState::Disabled);
        state.is_ready() || !is_wanted
    });
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    if readers == Readers::Everybody {
        return (status, json!({ "ready": is_ready }).to_string());
    }
    let mut servers: serde_json::Map<_, _> = states
        .iter()
        .map(|(id, state)| (id.to_string(), described(state)))
        .collect();
    // Problems with its lists do not make a server less ready.
    for (id, problems) in gateway.list_problems() {
        if let Some(server) = servers.get_mut(id.as_str()) {
            server["problems"] = json!(problems);
        }
    }
    let mut told = json!({ "ready": is_ready, "servers": servers });
    // Credentials of a caller that no longer work do not make the gateway less ready.
    let of_callers = gateway.caller_servers();
    if !of_callers.is_empty() {
        let of_callers = of_callers
            .iter()
            .map(|(id, counts)| (id.to_string(), json!(counts)));
        told["callerServers"] = of_callers.collect::<serde_json::Map<_, _>>().into();
    }
    (status, told.to_string())
}

fn described(state: &ServerState) -> serde_json::Value {
    match state {
        ServerState::Ready(ready) => json!({ "state": "ready", "revision": ready.revision }),
        ServerState::Restarting { failure, .. } => {
            json!({ "state": "restarting", "reason": failure.reason })
        }
        ServerState::Failed { failure, .. } => {
            json!({ "state": "failed", "reason": failure.reason })
        }
        ServerState::Idle => json!({ "state": "idle" }),
        ServerState::Disabled => json!({ "state": "disabled" }),
        ServerState::Starting => json!({ "state": "starting" }),
        _ => json!({ "state": "removed" }),
    }
}
