//! `Check`: an id that scripts can rely on, the claim, and the advice.

use serde::Serialize;
use turnbuckle_command_line::failure::Code;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Some clients, or some days, will have trouble.
    Warning,
    /// It does not work, or breaks a rule.
    Error,
}

/// What a check is about. Findings are told in this order.
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

    /// The word it goes by.
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
    /// The numbered rules of `docs/rules.md`, separated by blanks; none where there is no number.
    pub(crate) numbers: &'static str,
}

impl Rule {
    /// The page of the newest revision that was spoken with the server: rules of other revisions do
    /// not apply to it. Pages are named by the newest revision that has them.
    pub(crate) fn page_for(self, spoken: &[String]) -> String {
        let Some((date, page)) = self.page.split_once('/') else {
            return self.page.to_owned();
        };
        let newest = spoken.iter().max().filter(|newest| newest.as_str() < date);
        let Some(newest) = newest else {
            return self.page.to_owned();
        };
        // All transports had one page.
        let page = match page {
            page if page.starts_with("basic/transports/") => "basic/transports",
            page => page,
        };
        format!("{newest}/{page}")
    }

    /// Where to read it.
    pub(crate) fn url(self) -> String {
        url(self.page)
    }
}

/// Where a page of the specification is.
pub(crate) fn url(page: &str) -> String {
    format!("https://modelcontextprotocol.io/specification/{page}")
}

/// One thing that is looked at.
#[derive(Debug)]
pub(crate) struct Check {
    /// `area.what`: never renamed, for scripts name it.
    pub(crate) id: &'static str,
    pub(crate) area: Area,
    /// How bad it is when it fails.
    pub(crate) severity: Severity,
    /// The claim that is checked.
    pub(crate) claim: &'static str,
    /// Which peers it breaks, if not all of them.
    pub(crate) breaks: &'static str,
    pub(crate) rule: Option<Rule>,
    /// What to do.
    pub(crate) fix: &'static str,
}

impl Check {
    /// How a run ends in which this is what is wrong.
    pub(crate) fn code(&self) -> Code {
        if self.id.ends_with(".silent") {
            Code::Timeout
        } else {
            self.area.code()
        }
    }
}

/// Writes a table of checks: a static for each, and a list of all.
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
