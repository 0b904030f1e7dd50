//! `Check`: a stable id for scripts, the claim that is checked, and advice.

use serde::Serialize;
use turnbuckle_command_line::failure::Code;

/// How severe a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The check passed.
    Ok,
    /// Some clients will have trouble, or all clients sometimes.
    Warning,
    /// It does not work, or violates a rule.
    Error,
}

/// The area of a check. The report has the findings in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Area {
    Connect,
    Tls,
    Start,
    Stdout,
    Http,
    Auth,
    Discover,
    Handshake,
    Headers,
    Session,
    Origin,
    Methods,
    Lists,
    Cache,
    Schema,
    Cancel,
    Call,
    Time,
}

impl Area {
    pub(crate) const ALL: [Self; 18] = [
        Self::Connect,
        Self::Tls,
        Self::Start,
        Self::Stdout,
        Self::Http,
        Self::Auth,
        Self::Discover,
        Self::Handshake,
        Self::Headers,
        Self::Session,
        Self::Origin,
        Self::Methods,
        Self::Lists,
        Self::Cache,
        Self::Schema,
        Self::Cancel,
        Self::Call,
        Self::Time,
    ];

    /// The name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Start => "start",
            Self::Stdout => "stdout",
            Self::Http => "http",
            Self::Auth => "auth",
            Self::Discover => "discover",
            Self::Handshake => "handshake",
            Self::Headers => "headers",
            Self::Session => "session",
            Self::Origin => "origin",
            Self::Methods => "methods",
            Self::Lists => "lists",
            Self::Cache => "cache",
            Self::Schema => "schema",
            Self::Cancel => "cancel",
            Self::Call => "call",
            Self::Time => "time",
        }
    }

    fn code(self) -> Code {
        match self {
            Self::Connect | Self::Tls | Self::Start => Code::Connect,
            Self::Auth => Code::Authorization,
            Self::Time => Code::Timeout,
            _ => Code::Protocol,
        }
    }
}

/// A rule of the specification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The page, below `modelcontextprotocol.io/specification/`.
    pub(crate) page: &'static str,
    /// The numbers of rules in `docs/rules.md`, separated by spaces; empty if the rule has no number.
    pub(crate) numbers: &'static str,
}

impl Rule {
    /// The page of the newest revision that was spoken with the server, because rules of other revisions do
    /// not apply to it. `page` is named by the newest revision that has it.
    pub(crate) fn page_for(self, spoken: &[String]) -> String {
        let Some((date, page)) = self.page.split_once('/') else {
            return self.page.to_owned();
        };
        let newest = spoken.iter().max().filter(|newest| newest.as_str() < date);
        let Some(newest) = newest else {
            return self.page.to_owned();
        };
        // In older revisions, all transports are on one page.
        let page = match page {
            page if page.starts_with("basic/transports/") => "basic/transports",
            page => page,
        };
        format!("{newest}/{page}")
    }

    /// The URL of the page.
    pub(crate) fn url(self) -> String {
        url(self.page)
    }
}

/// The URL of a page of the specification.
pub(crate) fn url(page: &str) -> String {
    format!("https://modelcontextprotocol.io/specification/{page}")
}

/// A check.
#[derive(Debug)]
pub(crate) struct Check {
    /// `area.name`. It is never renamed, because scripts use it.
    pub(crate) id: &'static str,
    pub(crate) area: Area,
    /// How severe a failure is.
    pub(crate) severity: Severity,
    /// The claim that is checked.
    pub(crate) claim: &'static str,
    /// The clients that fail because of it, if not all of them.
    pub(crate) breaks: &'static str,
    pub(crate) rule: Option<Rule>,
    /// The advice.
    pub(crate) fix: &'static str,
}

impl Check {
    /// The exit code of a run with this problem.
    pub(crate) fn code(&self) -> Code {
        if self.id.ends_with(".silent") {
            Code::Timeout
        } else {
            self.area.code()
        }
    }
}

/// Defines a table of checks: a static for each check, and a list of all.
macro_rules! checks {
    ($area:ident; $($name:ident $severity:ident $id:literal {
        claim: $claim:literal,
        $(breaks: $breaks:literal,)?
        $(rule: $page:literal $numbers:literal,)?
        fix: $fix:literal $(,)?
    })*) => {
        $(pub(crate) static $name: $crate::check::Check = $crate::check::Check {
            id: $id,
            area: $crate::check::Area::$area,
            severity: $crate::check::Severity::$severity,
            claim: $claim,
            breaks: concat!("", $($breaks)?),
            rule: $crate::check::rule!($($page $numbers)?),
            fix: $fix,
        };)*

        pub(super) static ALL: &[&$crate::check::Check] = &[$(&$name),*];
    };
}

macro_rules! rule {
    () => {
        None
    };
    ($page:literal $numbers:literal) => {
        Some($crate::check::Rule {
            page: $page,
            numbers: $numbers,
        })
    };
}

pub(crate) use {checks, rule};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_cited_from_a_revision_that_the_server_speaks() {
        let rule = |page| Rule { page, numbers: "" };
        let spoken =
            |all: &[&str]| -> Vec<String> { all.iter().map(ToString::to_string).collect() };
        for (page, revisions, wanted) in [
            (
                "2026-07-28/server/tools",
                &["2025-11-25"][..],
                "2025-11-25/server/tools",
            ),
            (
                "2026-07-28/server/tools",
                &["2025-11-25", "2026-07-28"],
                "2026-07-28/server/tools",
            ),
            (
                "2026-07-28/basic/transports/stdio",
                &["2025-06-18"],
                "2025-06-18/basic/transports",
            ),
            (
                "2025-11-25/basic/lifecycle",
                &["2026-07-28"],
                "2025-11-25/basic/lifecycle",
            ),
            ("2026-07-28/basic", &[], "2026-07-28/basic"),
        ] {
            assert_eq!(rule(page).page_for(&spoken(revisions)), wanted);
        }
    }
}
