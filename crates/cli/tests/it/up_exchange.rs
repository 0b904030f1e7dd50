//! Tokens of servers behind a gateway, from a real authorization server: in exchange for those of
//! callers, and for the gateway itself.

use std::time::Duration;

use tokio::runtime::Runtime;
use turnbuckle::{
    Caller, Http, Server, Tool,
    auth::server::{Guard, Identity},
    transport::http::Listener,
};
use turnbuckle_test_authorization::{AuthorizationServer, LiveAuthorizationServer};

use crate::{
    program::{Place, stderr, stdout},
    up::Gateway,
};

const SECRET: &str = "a-secret-of-the-gateway";

/// An authorization server, and a server that accepts its tokens and reports their subjects.
pub(crate) struct Guarded {
    runtime: Runtime,
    pub(crate) issuer: LiveAuthorizationServer,
    pub(crate) url: String,
}

impl Guarded {
    pub(crate) fn start(lifetime: Duration) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let (issuer, url) = runtime.block_on(async {
            let issuer = AuthorizationServer::new()
                .client("the-gateway", SECRET, Vec::<String>::new())
                .lifetime(lifetime)
                .start()
                .await
                .expect("an authorization server");
            let listener = Listener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_address().expect("an address");
            let url = format!("http://{address}/mcp");
            let guard = Guard::new(&*url).issuer(issuer.url()).build();
            let guard = guard.expect("a guard");
            let server = Server::new("crm", "1.0.0").tool(Tool::new("whoami", whoami));
            let server = server.build().expect("a server");
            tokio::spawn(async move {
                server
                    .serve(Http::listener(listener).protect(guard))
                    .await
                    .expect("it is served");
            });
            (issuer, url)
        });
        Self {
            runtime,
            issuer,
            url,
        }
    }

    /// A caller's token for the gateway.
    pub(crate) fn token(&self, subject: &str) -> String {
        let _entered = self.runtime.enter();
        self.issuer.token(subject).audience("the-gateway").mint()
    }

    /// The same, bound to a key.
    pub(crate) fn bound_token(&self, subject: &str, thumbprint: &str) -> String {
        let _entered = self.runtime.enter();
        let token = self.issuer.token(subject).audience("the-gateway");
        token.bound_to(thumbprint).mint()
    }

    /// How many tokens were requested.
    fn tokens(&self) -> usize {
        let requests = self.issuer.requests();
        let is_token = |request: &&String| request.contains("/token");
        requests.iter().filter(is_token).count()
    }

    fn gateway(&self, place: &Place, front: &str, credentials: &str) -> Gateway {
        self.gateway_with(place, front, credentials, &[])
    }

    /// The same with more arguments.
    pub(crate) fn gateway_with(
        &self,
        place: &Place,
        front: &str,
        credentials: &str,
        words: &[&str],
    ) -> Gateway {
        let (url, issuer) = (&self.url, self.issuer.url());
        place.write(
            "turnbuckle.toml",
            &format!(
                "[gateway]\nnames = \"prefixed\"\n{front}\n[servers.crm]\nurl = \"{url}\"\n\
                 credentials = {{ {credentials}, client-id = \"the-gateway\", \
                 client-secret-env = \"SECRET\", allow-private-networks = true }}\n"
            )
            .replace("ISSUER", issuer),
        );
        let words = [words, &["turnbuckle.toml"]].concat();
        Gateway::start_with(place, &words, |command| {
            command.env("SECRET", SECRET);
        })
    }
}

async fn whoami(caller: Caller) -> String {
    let identity = caller.get::<Identity>().expect("a verified token");
    let audience = identity.claim("aud").map(ToString::to_string);
    format!(
        "{} by {} for {}",
        identity.subject(),
        identity.client_id().unwrap_or_default(),
        audience.unwrap_or_default()
    )
}

pub(crate) fn whoami_of(place: &Place, gateway: &Gateway, token: &str, revision: &str) -> String {
    let header = format!("Authorization: Bearer {token}");
    let words = [
        "call",
        &gateway.url,
        "crm__whoami",
        "--header",
        &header,
        "--revision",
        revision,
    ];
    let called = place.run(&words);
    assert!(called.status.success(), "{revision}: {}", stderr(&called));
    stdout(&called).trim().to_owned()
}

const FRONT: &str = "[gateway.oauth]\nissuer = \"ISSUER\"\naudience = \"the-gateway\"";

#[test]
fn a_token_of_each_caller_is_exchanged_once_and_never_passed_on() {
    let place = Place::new();
    let server = Guarded::start(Duration::from_mins(10));
    let gateway = server.gateway(&place, FRONT, "exchange = \"ISSUER\"");
    let (status, _) = gateway.get("/mcp");
    assert_eq!(status, 401, "callers need a token");
    // Its guard only accepts tokens for this server, so the token is not the caller's own.
    let url = &server.url;
    let of = |subject: &str| format!("{subject} by the-gateway for \"{url}\"");
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let (ann, bob) = (server.token("ann"), server.token("bob"));
        assert_eq!(whoami_of(&place, &gateway, &ann, revision), of("ann"));
        assert_eq!(whoami_of(&place, &gateway, &bob, revision), of("bob"));
    }
    assert_eq!(server.tokens(), 2, "one for each caller");
    let ann = server.token("ann");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                assert_eq!(whoami_of(&place, &gateway, &ann, "2026-07-28"), of("ann"));
            });
        }
    });
    let eve = server.token("eve");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                assert_eq!(whoami_of(&place, &gateway, &eve, "2026-07-28"), of("eve"));
            });
        }
    });
    assert_eq!(server.tokens(), 3, "calls that come together share one");
}

#[test]
fn a_token_is_exchanged_again_before_it_expires() {
    let place = Place::new();
    // The lifetime is so short that the token is about to expire when it arrives.
    let server = Guarded::start(Duration::from_secs(20));
    let gateway = server.gateway(&place, FRONT, "exchange = \"ISSUER\"");
    for _ in 0..3 {
        let (before, ann) = (server.tokens(), server.token("ann"));
        let said = whoami_of(&place, &gateway, &ann, "2026-07-28");
        assert!(said.starts_with("ann by the-gateway"), "{said}");
        assert!(server.tokens() > before);
    }
}

#[test]
fn a_token_that_was_revoked_makes_way_for_the_callers_other_one() {
    let place = Place::new();
    // The lifetime is so short that the token is exchanged for each call.
    let server = Guarded::start(Duration::from_secs(20));
    let gateway = server.gateway(&place, FRONT, "exchange = \"ISSUER\"");
    let token = |minutes| {
        let _entered = server.runtime.enter();
        let token = server.issuer.token("ann").audience("the-gateway");
        token.expires_in(Duration::from_mins(minutes)).mint()
    };
    let (first, second) = (token(8 * 60), token(60));
    let said = whoami_of(&place, &gateway, &first, "2026-07-28");
    assert!(said.starts_with("ann by the-gateway"), "{said}");
    // The user has signed out and in again.
    server.issuer.revoke(&first);
    for _ in 0..2 {
        let said = whoami_of(&place, &gateway, &second, "2026-07-28");
        assert!(said.starts_with("ann by the-gateway"), "{said}");
    }
}

#[test]
fn a_gateway_has_a_token_of_its_own_by_client_credentials() {
    let place = Place::new();
    let server = Guarded::start(Duration::from_mins(10));
    let gateway = server.gateway(&place, "", "scopes = [\"crm\"]");
    gateway.hears(&["ready", "crm"]);
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let called = place.run(&["call", &gateway.url, "crm__whoami", "--revision", revision]);
        assert!(called.status.success(), "{revision}: {}", stderr(&called));
        let said = format!("the-gateway by the-gateway for \"{}\"", server.url);
        assert_eq!(stdout(&called).trim(), said);
    }
    assert_eq!(server.tokens(), 1);
}

#[test]
fn credentials_that_do_not_go_together_are_refused_in_words() {
    let place = Place::new();
    let check = |credentials: &str, front: &str| {
        place.write(
            "turnbuckle.toml",
            &format!(
                "{front}\n[servers.crm]\nurl = \"http://127.0.0.1:9/mcp\"\n\
                 credentials = {{ {credentials} }}\n"
            ),
        );
        let checked = place.run(&["up", "--check", "turnbuckle.toml"]);
        assert!(!checked.status.success(), "{credentials}");
        stderr(&checked)
    };
    for (credentials, said) in [
        (
            "env = \"HOME\", sign-in = \"caller\"",
            "`env` or `keyring` and `sign-in`",
        ),
        ("exchange = \"https://a.example\"", "need `client-id`"),
        ("scopes = [\"a\"]", "lack a secret"),
        ("sing-in = \"caller\"", "sing-in"),
        ("client-id = \"a\"", "`client-secret-env`"),
    ] {
        let found = check(credentials, "");
        assert!(found.contains(said), "{credentials}: {found}");
    }
    let exchange =
        "exchange = \"https://a.example\", client-id = \"a\", client-secret-env = \"HOME\"";
    let found = check(exchange, "");
    assert!(found.contains("[gateway.oauth]"), "{found}");
}
