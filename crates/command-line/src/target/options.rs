//! The connection options of every command that connects.

use std::{fs, path::PathBuf, time::Duration};

use clap::Args;
use turnbuckle::{
    Client, Revision,
    client::{Era, HttpTarget},
    protocol::{LoggingLevel, LoggingMessageNotificationParams},
    transport::Limits,
};
use turnbuckle_host::config::Launch;

use super::find::Lookup;
use crate::{
    control::tell,
    failure::{Failed, Outcome},
    style::Style,
    trust::Consent,
};

/// How to connect.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connection")]
pub struct Options {
    /// Look up names in this file only.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Trust the project's config file in its present content.
    #[arg(long)]
    pub trust: bool,

    /// Speak only this revision. Otherwise the newest one that both sides speak is used.
    #[arg(long, value_name = "DATE")]
    pub revision: Option<Revision>,

    /// Speak revisions of this era only: legacy (up to 2025-11-25) or modern (since 2026-07-28).
    #[arg(long, value_name = "ERA", conflicts_with = "revision")]
    pub era: Option<EraName>,

    /// Send a header with each HTTP request (may be repeated).
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    pub headers: Vec<String>,

    /// How many seconds the whole command may take, not counting the time for your own answers.
    /// Default: a request fails after a minute of silence and after an hour in total.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// Show every message on stderr, as NDJSON with times and without secrets.
    #[arg(long)]
    pub wire: bool,

    /// Write every message to this file, as `turnbuckle record` does.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Show what the server logs on stderr, of this severity and above: debug, info, notice,
    /// warning, error, critical, alert, emergency.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    pub log: Option<LoggingLevel>,

    /// Go through this proxy, instead of the one in the environment.
    #[arg(long, value_name = "URL")]
    pub proxy: Option<String>,

    /// Trust this certificate authority too.
    #[arg(long, value_name = "PEM FILE")]
    pub cacert: Option<PathBuf>,

    /// Trust any certificate. An attacker can then pretend to be the server.
    #[arg(long)]
    pub insecure: bool,
}

/// The name of an era.
#[derive(Clone, Copy, Debug, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "clap would print the words in `--help`")]
pub enum EraName {
    Legacy,
    Modern,
}

/// How long a server may be silent: a minute.
const SILENCE: Duration = Duration::from_mins(1);

/// How long a call that reports progress, or a task, may take: an hour.
const LONGEST: Duration = Duration::from_hours(1);

fn level(text: &str) -> Result<LoggingLevel, String> {
    serde_json::from_value(text.into()).map_err(|_| format!("`{text}` is not a log level"))
}

/// A log message as a line.
fn logged(server: &str, log: &LoggingMessageNotificationParams) -> String {
    let level = serde_json::to_value(log.level).unwrap_or_default();
    let data = match &log.data {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let level = Style::Dim.err(level.as_str().unwrap_or_default());
    format!(
        "{level} {}: {data}",
        log.logger.as_deref().unwrap_or(server)
    )
}

/// Parses a number of seconds, for options.
///
/// # Errors
/// What is wrong with the text.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number of seconds"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        Err(_) if seconds > 0.0 => Ok(Duration::MAX),
        _ => Err("it must be more than 0".to_owned()),
    }
}

/// The largest message, 64 MiB: results that a user asks for at a terminal or on a page may be large.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// How long a server may take to send its last messages, as for every client.
const LINGER: Duration = Duration::from_secs(1);

/// The most JSON nodes in a message, about 640 MB of values, for a server that the user chose.
const MAX_JSON_NODES: usize = 8 * 1024 * 1024;

/// The limits of a client that a user starts.
pub fn limits() -> Limits {
    Limits::default()
        .with_max_message_bytes(MAX_MESSAGE_BYTES)
        .with_max_json_nodes(MAX_JSON_NODES)
        .with_linger(LINGER)
}

impl Options {
    /// How server names are looked up. The user is asked about files that are not trusted yet.
    pub fn lookup(&self) -> Lookup<'_> {
        let consent = if self.trust {
            Consent::Given
        } else {
            Consent::Ask
        };
        Lookup {
            config: self.config.as_ref(),
            consent,
        }
    }

    /// The same, without asking the user.
    pub fn silent_lookup(&self) -> Lookup<'_> {
        Lookup {
            consent: Consent::Never,
            ..self.lookup()
        }
    }

    /// A client with these options.
    pub fn client(&self) -> Client {
        let client = Client::new("turnbuckle", env!("CARGO_PKG_VERSION"))
            .deadline(self.deadline())
            .limits(limits());
        let client = match (self.revision, self.era) {
            (Some(revision), _) => client.only(revision),
            (None, Some(EraName::Legacy)) => client.only_era(Era::Legacy),
            (None, Some(EraName::Modern)) => client.only_era(Era::Modern),
            (None, None) => client,
        };
        let client = match self.log {
            Some(level) => client.log_level(level).on_log(move |server, log| {
                // Some servers send messages below the requested level.
                if log.level >= level {
                    tell(&logged(server, log));
                }
            }),
            None => client,
        };
        // Results of tools are shown even if they violate the tool's own schema; commands report that.
        client.trust_output()
    }

    /// Whether a header on the command line already authorizes.
    pub(super) fn has_authorization(&self) -> bool {
        let mut names = self
            .headers
            .iter()
            .filter_map(|header| header.split(':').next());
        names.any(super::server::is_authorization)
    }

    /// How long a server may be silent.
    pub fn deadline(&self) -> Duration {
        self.timeout.unwrap_or(SILENCE)
    }

    /// How long a command may take, not counting the time in which the user answers questions.
    pub fn longest(&self) -> Duration {
        self.timeout.unwrap_or(LONGEST)
    }

    /// The values of headers, which are secrets.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let pairs = self.headers.iter();
        pairs.filter_map(|header| Some(header.split_once(':')?.1.trim()))
    }

    /// The headers as pairs. For a malformed one only its name is repeated in the error, because
    /// the rest may be a secret.
    pub(super) fn header_pairs(&self) -> Outcome<Vec<(&str, &str)>> {
        let pairs = self.headers.iter().map(|header| {
            let pair = header.split_once(':');
            let pair = pair.map(|(name, value)| (name.trim(), value.trim()));
            let is_header = |(name, value): &(&str, &str)| {
                name.parse::<http::HeaderName>().is_ok()
                    && value.parse::<http::HeaderValue>().is_ok()
            };
            pair.filter(is_header).ok_or_else(|| {
                let named = header.split_once(':').map(|(name, _)| name.trim());
                let said = match named {
                    Some(name) => format!("`{name}: …` is not a header"),
                    None => "the value of `--header` is not a header: it has no colon".to_owned(),
                };
                Failed::usage(said).hint("write `--header 'Name: value'`")
            })
        });
        pairs.collect()
    }

    /// Checks that these options can be used with such a server.
    pub fn suits(&self, launch: &Launch) -> Outcome {
        if matches!(launch, Launch::Command { .. }) && !self.headers.is_empty() {
            let failed = Failed::usage("`--header` is for servers at a URL, and this is a program");
            return Err(failed.hint("pass such values as arguments or environment variables"));
        }
        Ok(())
    }

    /// Adds the options for HTTP to a target.
    pub(super) fn reach(&self, target: HttpTarget) -> Outcome<HttpTarget> {
        let mut target = target;
        for (name, value) in self.header_pairs()? {
            target = target.header(name, value);
        }
        if let Some(proxy) = &self.proxy {
            target = target.proxy(proxy);
        }
        if let Some(file) = &self.cacert {
            let pem = fs::read(file).map_err(|error| {
                Failed::usage(format!("cannot read `{}`: {error}", file.display()))
            })?;
            if !String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----") {
                let said = format!("`{}` has no PEM certificate", file.display());
                return Err(Failed::usage(said));
            }
            target = target.root_certificate(pem);
        }
        if self.insecure {
            target = target.danger_accept_invalid_certs();
        }
        Ok(target)
    }
}
