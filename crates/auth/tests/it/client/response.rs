//! The response from the browser is checked before the code is redeemed.

use serde_json::json;
use turnbuckle_auth::client::{Problem, Step};

use super::world::{Answer, World, oauth};
use turnbuckle_auth::jose::digest;

// rule: A10
/// A10: the verifier belongs to the challenge, by S256.
#[tokio::test]
async fn the_code_is_redeemed_with_the_verifier_of_its_challenge() {
    let world = World::new().await;
    world.request(&oauth()).await.unwrap();
    let (asked, redeemed) = (&world.at("/authorize")[0], &world.at("/token")[0]);
    assert_eq!(asked.param("code_challenge_method").unwrap(), "S256");
    let verifier = redeemed.param("code_verifier").unwrap();
    assert_eq!(asked.param("code_challenge").unwrap(), digest(verifier));
    assert_eq!(redeemed.param("code").unwrap(), "c0de");
    assert_eq!(redeemed.param("redirect_uri"), asked.param("redirect_uri"));
}

// rule: A10
/// A10: refuse if PKCE support is not advertised.
#[tokio::test]
async fn without_pkce_the_user_is_not_asked() {
    let world = World::new().await;
    for methods in [json!(null), json!([]), json!(["plain"])] {
        world.set_server("code_challenge_methods_supported", methods);
        let error = world.error(&oauth()).await;
        assert!(
            matches!(error.problem(), Problem::Unsupported(_)),
            "{error}"
        );
        assert!(error.advice().unwrap().contains("S256"));
    }
    assert!(world.at("/authorize").is_empty());
}

// rule: A14
/// A14: every row of the table, and exact comparison.
#[tokio::test]
async fn a_foreign_response_is_not_redeemed() {
    let world = World::new().await;
    let slash = format!("{}/", world.url);
    let upper = world.url.replace("http", "HTTP");
    for (promised, iss, is_taken) in [
        (true, Some(&*world.url), true),
        (false, Some(&*world.url), true),
        (false, None, true),
        (true, None, false),
        (true, Some("https://evil.example"), false),
        (false, Some("https://evil.example"), false),
        (true, Some(&*slash), false),
        (false, Some(&*upper), false),
    ] {
        let flag = "authorization_response_iss_parameter_supported";
        world.set_server(flag, json!(promised));
        world.plan().iss = iss.map(str::to_owned);
        let before = world.at("/token").len();
        let taken = world.request(&oauth()).await;
        assert_eq!(taken.is_ok(), is_taken, "{promised} {iss:?}");
        assert_eq!(
            world.at("/token").len() > before,
            is_taken,
            "{promised} {iss:?}"
        );
    }
}

// rule: A14
/// A14: an error in another issuer's response is not shown; an error of the expected issuer is
/// shown, with a hint.
#[tokio::test]
async fn a_refusal_of_the_person_is_told() {
    let world = World::new().await;
    let url = world.url.clone();
    world.rule(move |seen| {
        let state = seen.param("state").filter(|_| seen.path == "/authorize")?;
        let back = seen.param("redirect_uri")?;
        let to =
            format!("{back}?error=access_denied&error_description=no+way&state={state}&iss={url}");
        Some(Answer::empty(302).with("location", to))
    });
    let error = world.error(&oauth()).await;
    assert_eq!(error.step(), Step::AuthorizationResponse);
    assert_eq!(error.oauth_error(), Some("access_denied"));
    assert!(error.to_string().contains("no way") && error.advice().is_some());
    let url = world.url.clone();
    world.rule(move |seen| {
        let state = seen.param("state").filter(|_| seen.path == "/authorize")?;
        let back = seen.param("redirect_uri")?;
        let to = format!("{back}?error=evil_error&state={state}&iss={url}/");
        Some(Answer::empty(302).with("location", to))
    });
    let error = world.error(&oauth()).await.to_string();
    assert!(!error.contains("evil_error"), "{error}");
}

// rule: A20
/// A20.
#[tokio::test]
async fn an_answer_to_another_question_is_not_redeemed() {
    let world = World::new().await;
    let url = world.url.clone();
    world.rule(move |seen| {
        let back = seen
            .param("redirect_uri")
            .filter(|_| seen.path == "/authorize")?;
        let to = format!("{back}?code=c0de&state=another&iss={url}");
        Some(Answer::empty(302).with("location", to))
    });
    let error = world.error(&oauth()).await;
    assert_eq!(error.step(), Step::AuthorizationResponse);
    assert!(world.at("/token").is_empty());
}
