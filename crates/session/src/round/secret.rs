//! Data that must not pass through a client: secrets that a form asks for, and credentials in a link.
//!
//! Both are recognised by their names. So this does not stop an author with bad intentions; it warns
//! authors who did not know the rule, or forgot it.

use turnbuckle_protocol::{ElicitSchema, PrimitiveSchema};

use super::format::is_email;

/// Endings of names of secrets, without the separators between their words.
const ENDINGS: [&str; 19] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "secretkey",
    "credential",
    "credentials",
    "apikey",
    "accesskey",
    "privatekey",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "sessiontoken",
    "cardnumber",
    "securitycode",
    "cvv",
];

/// Names that mean a secret in a form if they are the whole name. In a link they are often the number
/// of an order or of a visit: `checkoutnow?token=…` is a usual payment link.
const WHOLE: [&str; 4] = ["token", "pin", "otp", "cvc"];

/// Whether a form asks for a secret: a text field with the name of a secret.
///
/// A choice, a checkbox or a number is never a secret, whatever its name.
pub(super) fn is_asked_for(schema: &ElicitSchema) -> bool {
    schema.properties.iter().any(|(name, field)| match field {
        PrimitiveSchema::String(text) => {
            is_named(name) || text.title.as_deref().is_some_and(is_named)
        }
        _ => false,
    })
}

/// Whether a link contains credentials or personal data: a user with or without a password, a parameter
/// with the name of a secret, an e-mail address.
pub(super) fn is_given_away(url: &str) -> bool {
    let rest = url.split_once(':').map_or(url, |(_, rest)| rest);
    let rest = rest.trim_start_matches('/');
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let parameters = rest.split(['?', '#']).skip(1);
    authority.contains('@')
        || parameters
            .flat_map(|query| query.split('&'))
            .filter_map(|pair| pair.split_once('='))
            .any(|(name, value)| {
                !value.is_empty()
                    && (is_credential(&plain(name)) || is_email(&value.replace("%40", "@")))
            })
}

/// Whether this is a name of a secret: `db_password`, `apiKey`, `Access token`.
fn is_named(name: &str) -> bool {
    let name = plain(name);
    WHOLE.contains(&&*name) || is_credential(&name)
}

/// Whether a name always means a credential.
fn is_credential(plain: &str) -> bool {
    ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

/// The letters and digits of a name, in lower case.
fn plain(name: &str) -> String {
    let is_part = |one: &char| one.is_alphanumeric();
    let name: String = name.chars().filter(is_part).collect();
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::{BooleanSchema, StringSchema};

    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "password",
            "db_password",
            "newPassword",
            "API key",
            "apiKey",
            "x-api-key",
            "access_token",
            "client_secret",
            "Credit card number",
            "cvv",
            "token",
            "PIN",
        ] {
            assert!(is_named(name), "{name}");
        }
        for name in [
            "",
            "name",
            "password_policy",
            "maxTokens",
            "token_count",
            "secretary",
            "key",
            "keyboard",
            "card",
            "spin",
            "pinned",
        ] {
            assert!(!is_named(name), "{name}");
        }
    }

    #[test]
    fn only_what_is_typed_is_a_secret() {
        let text = StringSchema::new();
        let asks = |schema| is_asked_for(&schema);
        assert!(asks(ElicitSchema::new().with("password", text.clone())));
        let titled = text.with_title("Your password");
        assert!(asks(ElicitSchema::new().with("p", titled)));
        let ticked = BooleanSchema::new();
        assert!(!asks(ElicitSchema::new().with("forgot_password", ticked)));
    }

    #[test]
    fn links_give_nothing_away() {
        for url in [
            "https://ada:hunter2@example.com/",
            "https://ada@example.com/pay",
            "https://example.com/pay?access_token=x",
            "https://example.com/pay?a=1&apiKey=x",
            "https://example.com/pay#access_token=x",
            "https://example.com/in?login=ada%40example.com",
            "https://example.com/in?login=ada@example.com",
        ] {
            assert!(is_given_away(url), "{url}");
        }
        for url in [
            "https://example.com/",
            "https://example.com/@ada",
            "https://example.com/pay?order=7&visit=Zm9v",
            "https://example.com/pay?access_token=",
            "https://example.com/checkoutnow?token=EC-7",
            "https://example.com/password",
        ] {
            assert!(!is_given_away(url), "{url}");
        }
    }
}
