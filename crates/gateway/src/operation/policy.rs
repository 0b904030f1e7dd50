//! Who may see and call what, and how often.

use std::time::Duration;

use super::{
    EntryKind,
    pattern::{self, Pattern},
};

/// Who may see and call what, and how often. What a caller may not call is not in the caller's lists
/// either.
///
/// ```
/// use turnbuckle_gateway::operation::{Policy, PolicyRule, Rate};
///
/// let policy = Policy::new()
///     .rule(PolicyRule::for_all().deny(["*__delete*"]))
///     .rule(PolicyRule::for_callers(["guest-*"]).allow(["docs__*"]).rate(Rate::per_minute(60)));
/// # let _ = policy;
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "it is given to an `Operation`"]
pub struct Policy {
    rules: Vec<PolicyRule>,
}

/// A part of a policy, for some callers or all of them.
#[derive(Clone, Debug, Default)]
#[must_use = "it is given to a `Policy`"]
pub struct PolicyRule {
    callers: Option<Vec<String>>,
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
    rate: Option<Rate>,
    concurrency: Option<usize>,
}

/// How often something may happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub(super) count: u32,
    pub(super) within: Duration,
}

impl Rate {
    /// So many in a second.
    pub fn per_second(count: u32) -> Self {
        Self {
            count,
            within: Duration::from_secs(1),
        }
    }

    /// So many in a minute.
    pub fn per_minute(count: u32) -> Self {
        Self {
            count,
            within: Duration::from_mins(1),
        }
    }

    /// So many in an hour.
    pub fn per_hour(count: u32) -> Self {
        Self {
            count,
            within: Duration::from_hours(1),
        }
    }

    /// Reads `60/minute`, `5/second` or `1000/hour`; `None` for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        let (count, unit) = text.split_once('/')?;
        let count = count.trim().parse().ok().filter(|count| *count > 0)?;
        match unit.trim() {
            "s" | "sec" | "second" => Some(Self::per_second(count)),
            "m" | "min" | "minute" => Some(Self::per_minute(count)),
            "h" | "hour" => Some(Self::per_hour(count)),
            _ => None,
        }
    }
}

impl Policy {
    /// Everything is allowed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule. Something is denied if any rule for the caller denies it, or if rules for the caller
    /// have lists of what is allowed and it is in none of them.
    pub fn rule(mut self, rule: PolicyRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Whether nothing is decided here.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether a caller may see and use something.
    pub fn permits(&self, caller: Option<&str>, kind: EntryKind, name: &str) -> bool {
        let fits = |pattern: &Pattern| pattern.fits(kind, name);
        let mut is_listed = None;
        for rule in self.of(caller) {
            if rule.deny.iter().any(fits) {
                return false;
            }
            if rule.allow.iter().any(|pattern| pattern.kind == kind) {
                let is_allowed = rule.allow.iter().any(fits);
                is_listed = Some(is_listed.unwrap_or(false) || is_allowed);
            }
        }
        is_listed.unwrap_or(true)
    }

    /// The tightest rate of a caller.
    pub(super) fn rate(&self, caller: Option<&str>) -> Option<Rate> {
        let per_second = |rate: &Rate| f64::from(rate.count) / rate.within.as_secs_f64();
        let rates = self.of(caller).filter_map(|rule| rule.rate);
        rates.min_by(|one, other| per_second(one).total_cmp(&per_second(other)))
    }

    /// How many calls of a caller may run at once.
    pub(super) fn concurrency(&self, caller: Option<&str>) -> Option<usize> {
        self.of(caller).filter_map(|rule| rule.concurrency).min()
    }

    fn of<'a>(&'a self, caller: Option<&'a str>) -> impl Iterator<Item = &'a PolicyRule> {
        let is_for = move |rule: &&PolicyRule| match (&rule.callers, caller) {
            (None, _) => true,
            (Some(patterns), Some(caller)) => {
                patterns.iter().any(|glob| pattern::matches(glob, caller))
            }
            (Some(_), None) => false,
        };
        self.rules.iter().filter(is_for)
    }
}

impl PolicyRule {
    /// A rule for all callers.
    pub fn for_all() -> Self {
        Self::default()
    }

    /// A rule for callers whose names fit one of these; `*` matches any text.
    pub fn for_callers(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            callers: Some(names.into_iter().map(Into::into).collect()),
            ..Self::default()
        }
    }

    /// Allows nothing of a kind but what fits one of these: `git__*` for tools, `prompt:…`,
    /// `resource:…`.
    pub fn allow(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let patterns = patterns.into_iter();
        self.allow
            .extend(patterns.map(|it| Pattern::new(it.as_ref())));
        self
    }

    /// Denies what fits one of these.
    pub fn deny(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let patterns = patterns.into_iter();
        self.deny
            .extend(patterns.map(|it| Pattern::new(it.as_ref())));
        self
    }

    /// Limits how often each caller may call.
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Limits how many calls of each caller run at once.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = Some(calls);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deny_is_stronger_and_lists_are_for_their_kind() {
        let policy = Policy::new()
            .rule(PolicyRule::for_all().deny(["*__delete*"]))
            .rule(PolicyRule::for_callers(["guest-*"]).allow(["docs__*", "files__delete"]))
            .rule(PolicyRule::for_callers(["guest-7"]).allow(["git__log"]));
        let tool = |caller, name| policy.permits(caller, EntryKind::Tool, name);
        assert!(tool(None, "git__push"));
        assert!(!tool(None, "git__delete_branch"));
        assert!(tool(Some("guest-1"), "docs__search"));
        assert!(!tool(Some("guest-1"), "git__log"));
        assert!(tool(Some("guest-7"), "git__log"));
        assert!(!tool(Some("guest-1"), "files__delete"));
        assert!(policy.permits(Some("guest-1"), EntryKind::Resource, "file:///a"));
    }

    #[test]
    fn the_tightest_limit_counts() {
        let policy = Policy::new()
            .rule(
                PolicyRule::for_all()
                    .rate(Rate::per_second(10))
                    .concurrency(8),
            )
            .rule(
                PolicyRule::for_callers(["a"])
                    .rate(Rate::per_minute(60))
                    .concurrency(2),
            );
        assert_eq!(policy.rate(Some("a")), Some(Rate::per_minute(60)));
        assert_eq!(policy.concurrency(Some("a")), Some(2));
        assert_eq!(policy.rate(None), Some(Rate::per_second(10)));
        assert_eq!(Rate::parse("60/minute"), Some(Rate::per_minute(60)));
        assert_eq!(Rate::parse("0/minute"), None);
        assert_eq!(Rate::parse("soon"), None);
    }
}
