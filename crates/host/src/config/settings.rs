//! Settings of an entry other than how its server is started: time limits, tools, and keys without effect.

use std::time::Duration;

use serde_json::{Map, Value};

/// The settings of an entry that do not concern starting its server, from
/// [`Entry::read_settings`](super::Entry::read_settings).
///
/// Each host has its own names for these settings, such as `timeout`, `tool_timeout_sec` or
/// `includeTools`. All of them are understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// How long the server may take to start; `None` if the entry does not set it.
    pub start_timeout: Option<Duration>,
    /// How long a call may take; `None` if the entry does not set it. A plain `timeout` is read as
    /// milliseconds if it is 1000 or more, and as seconds otherwise.
    pub call_timeout: Option<Duration>,
    /// The tools that may be used; `None` for all. `*` matches any text.
    pub included_tools: Option<Vec<String>>,
    /// Tools that may not be used. `*` matches any text.
    pub excluded_tools: Vec<String>,
    /// Tools that the file allows to be called without asking the user. A config file is not the
    /// user's consent, so this has an effect only if
    /// [`HostBuilder::trust_approvals_of_files`](crate::HostBuilder::trust_approvals_of_files) was
    /// called.
    pub approved_tools: Vec<String>,
    /// The keys of the entry that have no effect, with the reason.
    pub not_honoured: Vec<IgnoredKey>,
}

/// A key of a config file that has no effect in this host, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IgnoredKey {
    /// The key.
    pub key: String,
    /// Why it has no effect, as a clause for the user.
    pub reason: &'static str,
}

/// Keys that determine how a server is started or reached, or whether it is enabled.
const LAUNCH: [&str; 23] = [
    "name",
    "type",
    "transport",
    "transportType",
    "command",
    "cmd",
    "args",
    "env",
    "environment",
    "envs",
    "cwd",
    "workingDirectory",
    "url",
    "httpUrl",
    "serverUrl",
    "uri",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "enabled",
    "disabled",
    "source",
];

/// Keys of other hosts that have no effect here, with the reason.
const WITHOUT_EFFECT: [(&str, &str); 16] = [
    ("description", "it is a note for people"),
    (
        "envFile",
        "variables are not read from files; set them in `env`",
    ),
    (
        "env_vars",
        "the server inherits the environment of the host, except the keys of models; set those in `env`",
    ),
    ("dev", "the host watches no source files"),
    ("sandbox", "the host has no sandbox"),
    ("sandboxEnabled", "the host has no sandbox"),
    (
        "oauth",
        "sign in with `HostBuilder::reach_with`, or `turnbuckle login`",
    ),
    (
        "auth",
        "sign in with `HostBuilder::reach_with`, or `turnbuckle login`",
    ),
    ("authProviderType", "only OAuth and headers are known"),
    (
        "oauth_scopes",
        "the server itself names the scopes that it requires",
    ),
    (
        "scopes",
        "the server itself names the scopes that it requires",
    ),
    (
        "trust",
        "an entry in a file is not consent; allow the server in the policy or when asked",
    ),
    ("extension", "the host installs no extensions"),
    ("gallery", "it is a note of the editor"),
    ("version", "it is a note of the editor"),
    ("settings", "it is for the editor's own extension"),
];

impl Settings {
    /// Reads the settings of an entry. A setting of the wrong type has no effect and is reported.
    pub(crate) fn read(entry: &Map<String, Value>) -> Self {
        let mut settings = Self::default();
        for (key, value) in entry {
            if LAUNCH.contains(&key.as_str()) {
                continue;
            }
            if let Err(reason) = settings.take(key, value) {
                settings.not_honoured.push(IgnoredKey {
                    key: key.clone(),
                    reason,
                });
            }
        }
        settings
    }

    fn take(&mut self, key: &str, value: &Value) -> Result<(), &'static str> {
        match key {
            // Cline and Roo Code write seconds, Gemini CLI and Amazon Q milliseconds. A time limit
            // below a second or above a quarter of an hour is unlikely, so the number tells the
            // unit.
            "timeout" => {
                let number = number(value)?;
                let unit = if number >= 1_000.0 { 0.001 } else { 1.0 };
                self.call_timeout = Some(seconds(number * unit)?);
            }
            "tool_timeout_sec" => self.call_timeout = Some(seconds(number(value)?)?),
            "tool_timeout_ms" | "toolTimeoutMs" => {
                self.call_timeout = Some(seconds(number(value)? / 1_000.0)?);
            }
            "startup_timeout_sec" | "initTimeout" | "startupTimeout" => {
                self.start_timeout = Some(seconds(number(value)?)?);
            }
            "startup_timeout_ms" => {
                self.start_timeout = Some(seconds(number(value)? / 1_000.0)?);
            }
            "includeTools" | "enabled_tools" | "enabledTools" | "allowedTools" | "tools" => {
                self.included_tools = Some(names(value)?);
            }
            "excludeTools" | "disabled_tools" | "disabledTools" => {
                self.excluded_tools.extend(names(value)?);
            }
            "alwaysAllow" | "autoApprove" | "approved_tools" => {
                self.approved_tools.extend(names(value)?);
            }
            other => {
                let known = WITHOUT_EFFECT.iter().find(|(key, _)| *key == other);
                return Err(known.map_or("it is unknown", |(_, reason)| reason));
            }
        }
        Ok(())
    }
}

fn number(value: &Value) -> Result<f64, &'static str> {
    value
        .as_f64()
        .filter(|number| *number > 0.0)
        .ok_or("it must be a number greater than 0")
}

fn seconds(number: f64) -> Result<Duration, &'static str> {
    Duration::try_from_secs_f64(number).map_err(|_| "it is too large")
}

fn names(value: &Value) -> Result<Vec<String>, &'static str> {
    let wrong = "it must be a list of names";
    let values = value.as_array().ok_or(wrong)?;
    values
        .iter()
        .map(|name| name.as_str().map(str::to_owned).ok_or(wrong))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(entry: &Value) -> Settings {
        Settings::read(entry.as_object().expect("an object"))
    }

    #[test]
    fn time_limits_are_read_in_the_unit_of_their_host() {
        for (entry, seconds) in [
            (json!({"timeout": 60}), 60),
            (json!({"timeout": 30_000}), 30),
            (json!({"timeout": 1_000}), 1),
            (json!({"tool_timeout_sec": 90}), 90),
            (json!({"tool_timeout_ms": 5_000}), 5),
        ] {
            let read = read(&entry);
            assert_eq!(
                read.call_timeout,
                Some(Duration::from_secs(seconds)),
                "{entry}"
            );
            assert!(read.not_honoured.is_empty());
        }
        let started = read(&json!({"startup_timeout_sec": 20}));
        assert_eq!(started.start_timeout, Some(Duration::from_secs(20)));
    }

    #[test]
    fn every_key_is_honoured_or_reported() {
        let read = read(&json!({
            "command": "x", "args": [], "env": {}, "cwd": "/", "enabled": true,
            "includeTools": ["a"], "disabledTools": ["b"], "alwaysAllow": ["c"],
            "trust": true, "envFile": ".env", "colour": "red", "timeout": "soon",
        }));
        assert_eq!(read.included_tools, Some(vec!["a".to_owned()]));
        assert_eq!(read.excluded_tools, ["b"]);
        assert_eq!(read.approved_tools, ["c"]);
        let keys: Vec<_> = read.not_honoured.iter().map(|not| &*not.key).collect();
        assert_eq!(keys, ["trust", "envFile", "colour", "timeout"]);
    }
}
