//! Our guard and our client with a real OpenID provider. Prints one line for each check, in the form
//! that `interop/run` reads.
//!
//! ```text
//! interop-provider URL
//! ```

mod guarded;
mod people;
#[path = "../report.rs"]
mod report;

use std::{process::ExitCode, time::Duration};

use turnbuckle::{
    auth::{
        client::{Dpop, OAuth, Registered},
        server::{Guard, Issuer},
    },
    client::{Client, HttpTarget},
};

use crate::{
    guarded::{Guarded, Person, request_token, revoke},
    people::Visitor,
    report::{Checked, Report, chain, same},
};

const GUARD_SECRET: &str = "guard's secret: / + %";

#[tokio::main]
async fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        eprintln!("usage: interop-provider URL");
        return ExitCode::from(2);
    };
    let issuer = url.trim_end_matches('/').to_owned();
    let mut report = Report::default();
    for path in ["/rs256", "/es256", "/eddsa"] {
        let name = format!("a program with a token of {}", &path[1..]);
        report.check(&name, program(&issuer, path)).await;
    }
    report
        .check("a program with an opaque token", opaque(&issuer))
        .await;
    report
        .check("a token for another server", foreign(&issuer))
        .await;
    report
        .check("an opaque token that is revoked", revoked(&issuer))
        .await;
    report
        .check("a token that is bound to a key", bound(&issuer))
        .await;
    report
        .check(
            "a person, who lets more happen when it is needed",
            person(&issuer),
        )
        .await;
    report
        .check(
            "a person with a token that is bound to a key",
            bound_person(&issuer),
        )
        .await;
    report.done()
}

fn robot(issuer: &str) -> OAuth {
    let robot = Registered::new("robot").with_secret("robot's secret");
    OAuth::new("interop").client_credentials(robot.at_issuer(issuer))
}

fn introspecting(issuer: &str) -> Issuer {
    // Nothing is believed for longer than it takes to answer.
    Issuer::new(issuer)
        .introspect("guard", GUARD_SECRET)
        .cache_for(Duration::ZERO)
}

/// Whom the server saw.
async fn who(server: &Guarded, oauth: OAuth, tool: &str) -> Result<Person, String> {
    let target = HttpTarget::new(&server.url).authorize(oauth);
    let connection = Client::new("interop", "1.0.0").connect(target).await;
    let connection = connection.map_err(|error| chain(&error))?;
    let output = connection
        .call(tool, ())
        .await
        .map_err(|error| chain(&error))?;
    let person = serde_json::from_str(&output.text()).map_err(|error| error.to_string());
    connection.close().await;
    person
}

async fn program(issuer: &str, path: &str) -> Checked {
    let guard = |guard: Guard| guard.issuer(issuer).scopes(["notes:read"]);
    let server = Guarded::start(path, guard).await?;
    let person = who(&server, robot(issuer), "whoami").await?;
    same(&person.subject.as_str(), &"robot")?;
    same(&person.issuer.as_str(), &issuer)?;
    same(&person.scopes, &vec!["notes:read".to_owned()])
}

async fn opaque(issuer: &str) -> Checked {
    let server = Guarded::start("/opaque", |guard| {
        guard.issuer(introspecting(issuer)).scopes(["notes:read"])
    })
    .await?;
    let person = who(&server, robot(issuer), "whoami").await?;
    same(&person.client.as_deref(), &Some("robot"))
}

async fn foreign(issuer: &str) -> Checked {
    let server = Guarded::start("/mcp", |guard| guard.issuer(issuer)).await?;
    let good = request_token(issuer, &server.url).await?;
    same(&server.status(&good).await?, &200)?;
    let other = request_token(issuer, "http://127.0.0.1:1/mcp").await?;
    same(&server.status(&other).await?, &401)
}

async fn revoked(issuer: &str) -> Checked {
    let server = Guarded::start("/opaque", |guard| guard.issuer(introspecting(issuer))).await?;
    let token = request_token(issuer, &server.url).await?;
    same(&server.status(&token).await?, &200)?;
    revoke(issuer, &token).await?;
    same(&server.status(&token).await?, &401)
}

async fn bound(issuer: &str) -> Checked {
    let guard = |guard: Guard| guard.issuer(issuer).require_dpop().nonces();
    let server = Guarded::start("/mcp", guard).await?;
    let oauth = robot(issuer).dpop(Dpop::Required);
    let person = who(&server, oauth, "whoami").await?;
    same(&person.subject.as_str(), &"robot")?;
    let bare = request_token(issuer, &server.url).await?;
    same(&server.status(&bare).await?, &401)
}

async fn person(issuer: &str) -> Checked {
    let guard = |guard: Guard| {
        let guard = guard.issuer(issuer).scopes(["notes:read"]);
        guard.implies("notes:write", ["notes:read"])
    };
    let server = Guarded::start("/mcp", guard).await?;
    let visitor = Visitor::new("ann");
    let oauth = OAuth::new("interop").browser(visitor.clone());
    let person = who(&server, oauth.clone(), "whoami").await?;
    same(&person.subject.as_str(), &"ann")?;
    same(&visitor.visits(), &1)?;
    let person = who(&server, oauth.clone(), "write").await?;
    same(&person.scopes.contains(&"notes:write".to_owned()), &true)?;
    same(&visitor.visits(), &2)?;
    who(&server, oauth.clone(), "write").await?;
    same(&visitor.visits(), &2)?;
    oauth
        .sign_out(&server.url)
        .await
        .map_err(|error| chain(&error))
}

async fn bound_person(issuer: &str) -> Checked {
    let guard = |guard: Guard| {
        let guard = guard.issuer(introspecting(issuer)).offer_dpop();
        guard.scopes(["notes:read"])
    };
    let server = Guarded::start("/opaque", guard).await?;
    let oauth = OAuth::new("interop").browser(Visitor::new("bea"));
    let person = who(&server, oauth.dpop(Dpop::Required), "whoami").await?;
    same(&person.subject.as_str(), &"bea")
}
