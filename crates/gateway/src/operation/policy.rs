//! Policies: who may see and call which entries, and how often.

use std::{sync::Arc, time::Duration};

use turnbuckle_server::Caller;

#[cfg(feature = "cel")]
use super::condition::ConditionError;
use super::{
    EntryKind,
    condition::Condition,
    pattern::{self, Pattern},
    plain_uri::is_plain,
    subject::{Directory, Moment, Subject},
};

/// Decides which callers may use which tools, prompts and resources, and how often. An entry that a
/// caller may not use is left out of the caller's lists, and a call of it is answered as if it did
/// not exist. Give the policy to [`Operation::policy`](super::Operation::policy).
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

/// A rule of a [`Policy`], for all callers or for some of them. Patterns are matched against the
/// names that clients see, and against `SERVER__NAME` even where clients see names without a
/// prefix; `*` matches any text. `deny` and `ask` also match the server's own name. So a rule
/// keeps applying when servers are added or removed, which changes the names that clients see.
#[derive(Clone, Debug, Default)]
#[must_use = "it is given to a `Policy`"]
pub struct PolicyRule {
    callers: Option<Vec<String>>,
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
    ask: Vec<Pattern>,
    allow_if: Vec<Condition>,
    deny_if: Vec<Condition>,
    ask_if: Vec<Condition>,
    rate: Option<Rate>,
    concurrency: Option<usize>,
}

/// The decision about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The request is served.
    Allow,
    /// The request is answered as if the entry did not exist. The text names the rule.
    Deny(String),
    /// The user is asked first. The text names the rule.
    Ask(String),
}

/// The first condition that is true. A condition that cannot be evaluated has the value `on_error`.
fn holding<'a>(
    conditions: &'a [Condition],
    subject: &Subject<'_>,
    moment: Moment,
    on_error: bool,
) -> Option<&'a Condition> {
    let holds = |condition: &&Condition| match condition.holds(subject) {
        Ok(holds) => holds,
        Err(reason) => {
            let source = condition.source();
            tracing::debug!(source, reason, "could not evaluate a condition");
            on_error
        }
    };
    conditions
        .iter()
        .filter(|condition| condition.is_for(moment))
        .find(holds)
}

/// A limit on how often a caller may call: a number of calls per interval. Give it to
/// [`PolicyRule::rate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub(super) count: u32,
    pub(super) within: Duration,
}

impl Rate {
    /// A limit of this many calls per second.
    pub fn per_second(count: u32) -> Self {
        Self {
            count,
            within: Duration::from_secs(1),
        }
    }

    /// A limit of this many calls per minute.
    pub fn per_minute(count: u32) -> Self {
        Self {
            count,
            within: Duration::from_mins(1),
        }
    }

    /// A limit of this many calls per hour.
    pub fn per_hour(count: u32) -> Self {
        Self {
            count,
            within: Duration::from_hours(1),
        }
    }

    /// Parses `60/minute`, `5/second` or `1000/hour`. Returns `None` for other texts, and for a
    /// count of 0.
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
    /// Makes a policy without rules, which allows everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule. A request is denied if any rule for the caller denies it, or if some rules for
    /// the caller only allow certain entries and none of them allows this one.
    pub fn rule(mut self, rule: PolicyRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Whether the policy has no rules.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether rules can hide entries from lists.
    pub(super) fn hides_entries(&self) -> bool {
        self.rules.iter().any(PolicyRule::hides_entries)
    }

    /// Whether the rules that can hide entries from lists are the same as those of another policy.
    pub(super) fn lists_like(&self, other: &Self) -> bool {
        let own = self.rules.iter().filter(|rule| rule.hides_entries());
        let others = other.rules.iter().filter(|rule| rule.hides_entries());
        own.clone().count() == others.clone().count()
            && own.zip(others).all(|(one, other)| one.lists_like(other))
    }

    /// Whether a caller sees an entry in lists, judged by its kind and name alone. A gateway may
    /// decide differently, because it also knows the entry's server and its other names, and
    /// because expressions may use more, such as the annotations.
    pub fn permits(&self, caller: Option<&str>, kind: EntryKind, name: &str) -> bool {
        let subject = Subject {
            caller,
            kind,
            name,
            ..Subject::default()
        };
        !matches!(self.judge(&subject, Moment::List), Verdict::Deny(_))
    }

    /// Whether decisions about entries of this kind need more than the name that clients see.
    pub(super) fn needs_facts(&self, kind: EntryKind) -> bool {
        // A resource has one name, its URI.
        let has_names = kind != EntryKind::Resource;
        self.reads_arguments() || (has_names && self.rules.iter().any(|rule| rule.concerns(kind)))
    }

    /// Whether expressions or questions use the arguments of calls.
    pub(super) fn reads_arguments(&self) -> bool {
        self.rules.iter().any(|rule| {
            let conditions = [&rule.allow_if, &rule.deny_if, &rule.ask_if];
            let has_conditions = conditions.iter().any(|conditions| !conditions.is_empty());
            has_conditions || !rule.ask.is_empty()
        })
    }

    /// Whether a caller sees an entry in lists.
    pub(super) fn shows(
        &self,
        caller: &Caller,
        directory: Option<&Arc<dyn Directory>>,
        kind: EntryKind,
        name: &str,
    ) -> bool {
        let subject = Subject::entry(caller, kind, name, directory);
        !matches!(self.judge(&subject, Moment::List), Verdict::Deny(_))
    }

    /// Decides about a request, or about an entry of a list. Entries whose calls need the user's
    /// consent are listed.
    pub(super) fn judge(&self, subject: &Subject<'_>, moment: Moment) -> Verdict {
        let restricts = |pattern: &&Pattern| subject.is_restricted_by(pattern);
        if self.cannot_judge(subject) {
            return Verdict::Deny("servers may read this URI as another one".to_owned());
        }
        let mut is_listed = None;
        let mut ask = None;
        for (number, rule) in self.of(subject.caller) {
            if let Some(pattern) = rule.deny.iter().find(restricts) {
                return Verdict::Deny(format!("rule {number}: deny `{}`", pattern.glob()));
            }
            // An expression that cannot be evaluated denies the request.
            if let Some(condition) = holding(&rule.deny_if, subject, moment, true) {
                return Verdict::Deny(format!("rule {number}: deny-if `{}`", condition.source()));
            }
            let mut allow = rule.allow.iter();
            if rule.allows_only_some(subject.kind) {
                let is_allowed = allow.any(|pattern| subject.is_allowed_by(pattern))
                    || rule
                        .allow_if
                        .iter()
                        .any(|condition| !condition.is_for(moment))
                    || holding(&rule.allow_if, subject, moment, false).is_some();
                is_listed = Some(is_listed.unwrap_or(false) || is_allowed);
            }
            if moment == Moment::Call && ask.is_none() {
                let pattern = rule.ask.iter().find(restricts);
                ask = pattern
                    .map(|pattern| format!("rule {number}: ask `{}`", pattern.glob()))
                    .or_else(|| {
                        let condition = holding(&rule.ask_if, subject, moment, true)?;
                        Some(format!("rule {number}: ask-if `{}`", condition.source()))
                    });
            }
        }
        match (is_listed, ask) {
            (Some(false), _) => Verdict::Deny("no rule allows it".to_owned()),
            (_, Some(rule)) => Verdict::Ask(rule),
            (_, None) => Verdict::Allow,
        }
    }

    /// Whether rules allow a caller only some entries.
    pub(super) fn allows_only_some(&self, caller: Option<&str>) -> bool {
        let mut rules = self.of(caller);
        rules.any(|(_, rule)| !rule.allow.is_empty() || !rule.allow_if.is_empty())
    }

    /// Whether rules for the caller have patterns for resources, and the URI could be read as
    /// another one than they judge.
    fn cannot_judge(&self, subject: &Subject<'_>) -> bool {
        let has_patterns = || {
            let mut rules = self.of(subject.caller);
            rules.any(|(_, rule)| rule.concerns(EntryKind::Resource))
        };
        subject.kind == EntryKind::Resource && !is_plain(subject.name) && has_patterns()
    }

    /// The lowest rate of a caller.
    pub(super) fn rate(&self, caller: Option<&str>) -> Option<Rate> {
        let per_second = |rate: &Rate| f64::from(rate.count) / rate.within.as_secs_f64();
        let rates = self.of(caller).filter_map(|(_, rule)| rule.rate);
        rates.min_by(|one, other| per_second(one).total_cmp(&per_second(other)))
    }

    /// How many calls of a caller may run at the same time.
    pub(super) fn concurrency(&self, caller: Option<&str>) -> Option<usize> {
        self.of(caller)
            .filter_map(|(_, rule)| rule.concurrency)
            .min()
    }

    /// The rules for a caller, with their numbers.
    fn of<'a>(&'a self, caller: Option<&'a str>) -> impl Iterator<Item = (usize, &'a PolicyRule)> {
        let is_for = move |(_, rule): &(usize, &PolicyRule)| match (&rule.callers, caller) {
            (None, _) => true,
            (Some(patterns), Some(caller)) => {
                patterns.iter().any(|glob| pattern::matches(glob, caller))
            }
            (Some(_), None) => false,
        };
        (1..).zip(&self.rules).filter(is_for)
    }
}

impl PolicyRule {
    /// Whether entries of this kind are denied unless the rule allows them.
    fn allows_only_some(&self, kind: EntryKind) -> bool {
        !self.allow_if.is_empty() || self.allow.iter().any(|pattern| pattern.concerns(kind))
    }

    /// Whether the rule has patterns for this kind.
    fn concerns(&self, kind: EntryKind) -> bool {
        let mut patterns = self.allow.iter().chain(&self.deny).chain(&self.ask);
        patterns.any(|pattern| pattern.concerns(kind))
    }

    fn hides_entries(&self) -> bool {
        let has_patterns = !self.allow.is_empty() || !self.deny.is_empty();
        has_patterns || !self.allow_if.is_empty() || !self.deny_if.is_empty()
    }

    /// Whether a list looks the same under both rules.
    fn lists_like(&self, other: &Self) -> bool {
        let is_same = |one: &[Condition], other: &[Condition]| {
            let sources = one.iter().map(Condition::source);
            sources.eq(other.iter().map(Condition::source))
        };
        self.callers == other.callers
            && self.allow == other.allow
            && self.deny == other.deny
            && is_same(&self.allow_if, &other.allow_if)
            && is_same(&self.deny_if, &other.deny_if)
    }

    /// Makes a rule for all callers, including those without an id. Its methods add what it allows,
    /// denies, asks about and limits.
    pub fn for_all() -> Self {
        Self::default()
    }

    /// Makes a rule for callers whose ids match one of these patterns; `*` matches any text. It
    /// never applies to callers without an id.
    pub fn for_callers(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            callers: Some(names.into_iter().map(Into::into).collect()),
            ..Self::default()
        }
    }

    /// Allows only entries that match one of these patterns or an `allow_if` expression. A pattern
    /// is for tools, such as `git__*`, unless it begins with `prompt:` or `resource:`; kinds
    /// without a pattern are not restricted. A name that contains `:` needs its kind:
    /// `tool:a:b`. With another word before the first `:`, which may be a misspelt kind, a pattern
    /// allows only the tool of this name, and `deny` and `ask` apply it to every kind.
    pub fn allow(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let patterns = patterns.into_iter();
        self.allow
            .extend(patterns.map(|it| Pattern::new(it.as_ref())));
        self
    }

    /// Denies entries that match one of these patterns, whatever other rules allow. See
    /// [`allow`](Self::allow) for the patterns.
    pub fn deny(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let patterns = patterns.into_iter();
        self.deny
            .extend(patterns.map(|it| Pattern::new(it.as_ref())));
        self
    }

    /// Asks the user before each call of an entry that matches one of these patterns, with a form
    /// that shows the server, the tool and the arguments. If the client does not support forms
    /// (elicitation), the call is refused.
    pub fn ask(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let patterns = patterns.into_iter();
        self.ask
            .extend(patterns.map(|it| Pattern::new(it.as_ref())));
        self
    }

    /// Allows only requests for which a CEL expression is true, in addition to entries that
    /// [`allow`](Self::allow) allows. An expression that cannot be evaluated, for example because
    /// an argument is missing, allows nothing.
    ///
    /// Expressions can use `caller` (with `id` and `scopes`), `server`, `tool` (the server's own
    /// name for it), `name` (the gateway's name), `kind` (`tool`, `prompt`, `resource`), `method`,
    /// `annotations` and `arguments`. Expressions that use `arguments` apply only to calls; lists
    /// are not filtered by them.
    ///
    /// # Errors
    /// [`ConditionError`] if the expression is invalid, with the line and the column.
    #[cfg(feature = "cel")]
    pub fn allow_if(mut self, expression: &str) -> Result<Self, ConditionError> {
        self.allow_if.push(Condition::parse(expression)?);
        Ok(self)
    }

    /// Denies requests for which a CEL expression is true; see [`allow_if`](Self::allow_if). An
    /// expression that cannot be evaluated denies the request.
    ///
    /// # Errors
    /// [`ConditionError`] if the expression is invalid.
    #[cfg(feature = "cel")]
    pub fn deny_if(mut self, expression: &str) -> Result<Self, ConditionError> {
        self.deny_if.push(Condition::parse(expression)?);
        Ok(self)
    }

    /// Asks the user before calls for which a CEL expression is true; see [`ask`](Self::ask) and
    /// [`allow_if`](Self::allow_if). If an expression cannot be evaluated, the user is asked.
    ///
    /// # Errors
    /// [`ConditionError`] if the expression is invalid.
    #[cfg(feature = "cel")]
    pub fn ask_if(mut self, expression: &str) -> Result<Self, ConditionError> {
        self.ask_if.push(Condition::parse(expression)?);
        Ok(self)
    }

    /// Limits how often each caller may call. A call beyond the rate is refused with error 429. If
    /// several rules for a caller have a rate, the lowest one is used.
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Limits how many calls of each caller run at the same time. A further call is refused with
    /// error 429. If several rules for a caller have a limit, the lowest one is used.
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
