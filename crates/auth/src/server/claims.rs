//! Checks the claims of every token, however it was verified.

use serde_json::Value;

use super::{
    clock::CLOCK_SKEW,
    identity::Identity,
    resource::Resource,
    verify::{Claims, VerifyError},
};

/// How many scopes of one token are read. Real tokens have fewer, and each scope is compared with others.
const MAX_SCOPES: usize = 256;

/// The claims that may contain the client id: the standard one, and those of older issuers.
const CLIENT_CLAIMS: [&str; 4] = ["client_id", "azp", "appid", "cid"];

/// The rules that the claims of an issuer's tokens must satisfy.
#[derive(Debug)]
pub(super) struct Rules<'a> {
    pub(super) issuer: &'a str,
    pub(super) resource: &'a Resource,
    /// Further names of the issuer for this server, besides the resource.
    pub(super) audiences: &'a [String],
    pub(super) scope_claims: &'a [String],
    pub(super) expiry: Expiry,
}

/// Whether a token must state when it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    Needed,
    Optional,
}

/// A verified token.
#[derive(Debug)]
pub(super) struct Verified {
    pub(super) identity: Identity,
    pub(super) expires: Option<u64>,
    /// The thumbprint of the key that the token is bound to.
    pub(super) key: Option<String>,
}

impl Rules<'_> {
    /// Checks claims against the rules.
    pub(super) fn check(&self, claims: Claims, now: u64) -> Result<Verified, VerifyError> {
        let issuer = claims.get("iss").map(|issuer| issuer.as_str());
        if issuer.is_some_and(|issuer| issuer != Some(self.issuer)) {
            return invalid("the token was issued by another issuer");
        }
        self.check_audience(&claims)?;
        let expires = self.check_time(&claims, now)?;
        let key = bound_key(&claims)?;
        let client_id = CLIENT_CLAIMS.iter().find_map(|name| text(&claims, name));
        let (subject, kind) = match (text(&claims, "sub"), client_id) {
            (Some(subject), _) => (subject, ""),
            // The client acts for itself. The prefix distinguishes it from a user of the same name:
            // no issuer URL begins with it, whereas a subject may begin with anything.
            (None, Some(client)) => (client, "client "),
            (None, None) => return invalid("the token has neither a subject nor a client"),
        };
        let identity = Identity {
            key: format!("{kind}{} {subject}", self.issuer),
            issuer: self.issuer.to_owned(),
            subject: subject.to_owned(),
            client_id: client_id.map(str::to_owned),
            scopes: self.scopes(&claims),
            claims,
        };
        Ok(Verified {
            identity,
            expires,
            key,
        })
    }

    /// authorization, "Token Audience Binding and Validation": a token that was not issued for this
    /// server MUST be refused.
    fn check_audience(&self, claims: &Claims) -> Result<(), VerifyError> {
        let is_ours = |audience: &Value| {
            audience.as_str().is_some_and(|audience| {
                self.resource.is_named_by(audience)
                    || self.audiences.iter().any(|own| own == audience)
            })
        };
        let is_for_us = match claims.get("aud") {
            Some(Value::Array(all)) => all.iter().any(is_ours),
            Some(one) => is_ours(one),
            None => {
                return invalid(
                    "the token has no audience: request it with the parameter `resource`",
                );
            }
        };
        if is_for_us {
            return Ok(());
        }
        invalid("the token is for another audience: request it with the parameter `resource`")
    }

    fn check_time(&self, claims: &Claims, now: u64) -> Result<Option<u64>, VerifyError> {
        let time = |name: &'static str| match claims.get(name) {
            None => Ok(None),
            Some(value) => match seconds(value) {
                Some(seconds) => Ok(Some(seconds)),
                None => invalid(&format!("`{name}` of the token is not a time")),
            },
        };
        let expires = time("exp")?;
        match expires {
            Some(expires) if now >= expires.saturating_add(CLOCK_SKEW) => {
                return invalid("the token has expired");
            }
            None if self.expiry == Expiry::Needed => {
                return invalid("the token has no expiry (`exp`)");
            }
            _ => {}
        }
        if time("nbf")?.is_some_and(|begins| begins > now.saturating_add(CLOCK_SKEW)) {
            return invalid("the token is not valid yet");
        }
        Ok(expires)
    }

    fn scopes(&self, claims: &Claims) -> Vec<String> {
        let mut scopes: Vec<String> = Vec::new();
        let values = self.scope_claims.iter().filter_map(|name| claims.get(name));
        let words = values.flat_map(|value| match value {
            Value::String(text) => text.split(' ').collect::<Vec<_>>(),
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        });
        for word in words.filter(|word| !word.is_empty()).take(MAX_SCOPES) {
            if !scopes.iter().any(|scope| scope == word) {
                scopes.push(word.to_owned());
            }
        }
        scopes
    }
}

/// The thumbprint of the key that a token is bound to (RFC 9449, 6). A token that is bound in an
/// unknown way must be refused, or a thief could use it as a bearer token.
fn bound_key(claims: &Claims) -> Result<Option<String>, VerifyError> {
    let Some(confirmation) = claims.get("cnf") else {
        return Ok(None);
    };
    match confirmation.get("jkt").and_then(Value::as_str) {
        Some(key) => Ok(Some(key.to_owned())),
        None => invalid("the token is bound to a key in a way that is not supported"),
    }
}

fn text<'a>(claims: &'a Claims, name: &str) -> Option<&'a str> {
    let text = claims.get(name).and_then(Value::as_str);
    text.filter(|text| !text.is_empty())
}

/// A time, which may have a fraction.
fn seconds(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is not negative, and what is too large becomes the largest"
        )]
        Some(seconds as u64)
    })
}

fn invalid<T>(reason: &str) -> Result<T, VerifyError> {
    Err(VerifyError::Invalid(reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn check(claims: &Value) -> Result<Verified, VerifyError> {
        let resource = Resource::parse("https://mcp.example/mcp").unwrap();
        let rules = Rules {
            issuer: "https://login.example",
            resource: &resource,
            audiences: &["api://notes".into()],
            scope_claims: &["scope".into(), "scp".into()],
            expiry: Expiry::Needed,
        };
        rules.check(claims.as_object().cloned().unwrap(), NOW)
    }

    fn good() -> Value {
        json!({
            "iss": "https://login.example", "aud": "https://mcp.example/mcp",
            "sub": "ann", "exp": NOW + 10, "scope": "a b", "azp": "app",
        })
    }

    fn but(name: &str, value: impl Into<Value>) -> Value {
        let mut claims = good();
        match value.into() {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value,
        }
        claims
    }

    #[test]
    fn a_good_token_says_who_and_what() {
        let verified = check(&good()).unwrap();
        let identity = &verified.identity;
        assert_eq!(identity.subject(), "ann");
        assert_eq!(identity.client_id(), Some("app"));
        assert_eq!(identity.scopes(), ["a", "b"]);
        assert_eq!(identity.key(), "https://login.example ann");
        let others = [
            but("aud", json!(["x", "api://notes"])),
            but("iss", Value::Null),
            but("exp", json!(1_800_000_000.5)),
            but("exp", NOW - CLOCK_SKEW + 1),
            but("nbf", NOW + CLOCK_SKEW),
        ];
        for claims in others {
            check(&claims).unwrap_or_else(|error| panic!("{claims}: {error}"));
        }
        let scopes = but("scp", json!(["b", "c", 4]));
        assert_eq!(check(&scopes).unwrap().identity.scopes(), ["a", "b", "c"]);
        let program = but("sub", Value::Null);
        let program = check(&program).unwrap().identity;
        assert_eq!(program.key(), "client https://login.example app");
        for name in ["app", "client:app", "client app"] {
            let person = check(&but("sub", name)).unwrap().identity;
            assert_ne!(person.key(), program.key());
        }
    }

    #[test]
    fn a_token_that_breaks_a_rule_is_refused() {
        let table = [
            (but("iss", "https://login.example/"), "another issuer"),
            (but("iss", 3), "another issuer"),
            (but("aud", Value::Null), "no audience"),
            (but("aud", "https://other.example/mcp"), "another audience"),
            (but("aud", json!([])), "another audience"),
            (but("aud", json!({ "a": 1 })), "another audience"),
            (but("exp", Value::Null), "has no expiry"),
            (but("exp", NOW - CLOCK_SKEW), "has expired"),
            (but("exp", "soon"), "not a time"),
            (but("nbf", NOW + CLOCK_SKEW + 1), "not valid yet"),
            (but("cnf", json!({ "x5t#S256": "x" })), "not supported"),
            (but("cnf", "x"), "not supported"),
        ];
        for (claims, expected) in table {
            let error = check(&claims).unwrap_err().to_string();
            assert!(error.contains(expected), "{claims}: {error}");
        }
        let nameless = json!({ "aud": "api://notes", "exp": NOW });
        let error = check(&nameless).unwrap_err().to_string();
        assert!(error.contains("neither a subject nor a client"), "{error}");
    }
}
