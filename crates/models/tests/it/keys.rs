//! Keys are sent only where they belong, and are never shown.

use turnbuckle_models::{Anthropic, ApiKey, ApiSettings, ModelError, OpenAi};

#[test]
fn a_key_is_not_sent_in_the_open_to_another_machine() {
    let key = || Some(ApiKey::new("sk-sesame"));
    for url in ["http://example.com/v1", "http://192.0.2.1/v1"] {
        let outcome = OpenAi::compatible(url, "m", key(), ApiSettings::new());
        let Err(error) = outcome else {
            panic!("{url} was taken")
        };
        assert!(matches!(error, ModelError::PlainHttp { .. }), "{error}");
        assert!(Anthropic::compatible(url, "m", key(), ApiSettings::new()).is_err());
        assert!(OpenAi::compatible(url, "m", None, ApiSettings::new()).is_ok());
    }
    for url in [
        "http://localhost:1/v1",
        "http://127.0.0.1:1",
        "http://[::1]:1",
    ] {
        assert!(
            OpenAi::compatible(url, "m", key(), ApiSettings::new()).is_ok(),
            "{url}"
        );
    }
}

#[test]
fn a_key_that_cannot_be_sent_is_not_shown() {
    let key = Some(ApiKey::new("sk-ses\name"));
    let outcome = OpenAi::compatible("http://localhost:1", "m", key, ApiSettings::new());
    let Err(error) = outcome else {
        panic!("it was taken")
    };
    let said = format!("{error} {error:?}");
    assert!(!said.contains("sk-ses"), "{said}");
}

#[test]
fn blanks_around_a_key_are_no_part_of_it() {
    // A variable that is not set, and one that is set on every machine.
    assert!(ApiKey::from_environment("TURNBUCKLE_NO_SUCH_VARIABLE").is_none());
    assert!(ApiKey::from_environment("PATH").is_some());
}
