//! `turnbuckle login` and `turnbuckle logout`: tokens for a protected server.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use turnbuckle::auth::client::{Loopback, Paste, Registered, SignIn};
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    sign_in,
    target::{self, Lookup, without_query},
    trust::Consent,
};
use turnbuckle_host::config::Launch;

use super::caller_tokens::{self, TokenOwner, UnchangedStore};
use crate::{
    runtime::block_on,
    show::{print, print_json},
};

/// Sign in to a protected server, in your browser. Commands use the tokens from then on.
#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct Login {
    /// The server: a URL, or a name from a config file.
    #[arg(value_name = "SERVER")]
    server: String,

    /// Look up names in this file only.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Trust the project's config file in its present content.
    #[arg(long)]
    trust: bool,

    /// Open no browser: print the URL to visit, and ask for the URL that the browser is sent to at
    /// the end.
    #[arg(long)]
    paste: bool,

    /// Ask for this scope too (may be repeated).
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,

    /// The id of a client that you registered by hand.
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// Sign out, and register with the authorization server again. Use it if the page of the authorization server
    /// says that the client is unknown. You may have to sign in again to other servers that use it.
    #[arg(long, conflicts_with = "client_id")]
    register_again: bool,

    /// Let the server name authorization servers in private networks and on this machine.
    #[arg(long)]
    allow_private_networks: bool,
}

/// Sign out of a protected server: revoke its tokens and delete them.
#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct Logout {
    /// The server: a URL, or a name from a config file.
    #[arg(value_name = "SERVER")]
    server: Option<String>,

    /// List the callers of `turnbuckle up` that have signed in, and the servers.
    #[arg(long, conflicts_with_all = ["server", "caller", "config", "trust"])]
    callers: bool,

    /// Sign this caller of `turnbuckle up` out, of all servers or of SERVER.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["config", "trust"])]
    caller: Option<String>,

    /// Delete the tokens of the caller even if the authorization server does not take them back.
    #[arg(long, requires = "caller")]
    force: bool,

    /// Print JSON.
    #[arg(long, requires = "callers")]
    json: bool,

    /// Look up names in this file only.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Trust the project's config file in its present content.
    #[arg(long)]
    trust: bool,
}

pub(crate) fn run(login: &Login) -> Outcome {
    let url = url(&login.server, lookup(login.config.as_ref(), login.trust))?;
    let store = sign_in::store()?;
    let checked = sign_in::CheckedStore::new(store.clone());
    let mut oauth =
        sign_in::kept_in(checked.clone()).scopes(login.scopes.iter().map(String::as_str));
    if let Some(id) = &login.client_id {
        oauth = oauth.client(Registered::new(id));
    }
    if login.allow_private_networks {
        oauth = oauth.allow_private_networks();
    }
    if login.register_again {
        oauth = oauth.register_again();
    }
    let oauth = if login.paste {
        oauth.browser(Paste::new())
    } else {
        oauth.browser(Loopback::new())
    };
    let signed = block_on(async {
        if login.register_again {
            // The tokens are deleted here even if the authorization server, which may not know them, does not revoke them.
            let _ = oauth.sign_out(&url).await;
        }
        oauth
            .sign_in(&url)
            .await
            .map_err(|error| Failed::new(Code::Authorization, error))
    })?;
    let url = without_query(&url);
    if let Some(error) = checked.failure() {
        let said = format!("signed in to {url}, but the tokens could not be kept: {error}");
        return Err(Failed::new(Code::Output, said));
    }
    match signed {
        SignIn::NotNeeded => tell(&format!("{url} does not ask for a sign-in")),
        SignIn::Already => tell(&format!("you are signed in to {url} already")),
        _ => {
            tell(&format!("signed in to {url}"));
            if !store.is_sealed() {
                tell("no keyring is available, so the tokens are in files that only you can read");
            }
        }
    }
    Ok(())
}

pub(crate) fn leave(logout: &Logout) -> Outcome {
    if logout.callers {
        return block_on(list_callers(logout.json));
    }
    let server = logout.server.as_deref();
    if server.is_none() && logout.caller.is_none() {
        return Err(Failed::usage("no server was named")
            .hint("write `turnbuckle logout SERVER`, or `--callers` or `--caller NAME` for callers of `turnbuckle up`"));
    }
    if let Some(caller) = &logout.caller {
        return block_on(leave_as_caller(caller, server, logout.force));
    }
    let url = url(
        server.unwrap_or_default(),
        lookup(logout.config.as_ref(), logout.trust),
    )?;
    let store = sign_in::CheckedStore::new(sign_in::store()?);
    let oauth = sign_in::kept_in(store.clone());
    block_on(async {
        oauth
            .sign_out(&url)
            .await
            .map_err(|error| Failed::new(Code::Authorization, error))
    })?;
    let url = without_query(&url);
    if store.has_found() {
        tell(&format!("signed out of {url}"));
    } else {
        tell(&format!("you were not signed in to {url}"));
    }
    Ok(())
}

async fn list_callers(is_json: bool) -> Outcome {
    let all = caller_tokens::all().await.map_err(unreadable)?;
    if is_json {
        let all = all.iter().map(|(owner, _)| {
            json!({ "caller": owner.caller, "server": owner.server, "url": without_query(&owner.url) })
        });
        return print_json(&all.collect::<serde_json::Value>());
    }
    for (owner, _) in all {
        let caller = owner.caller.as_deref().unwrap_or_default();
        print(&format!(
            "{caller}\t{}\t{}",
            owner.server,
            without_query(&owner.url)
        ));
    }
    Ok(())
}

async fn leave_as_caller(caller: &str, server: Option<&str>, is_forced: bool) -> Outcome {
    let all = caller_tokens::all().await.map_err(unreadable)?;
    let is_meant = |owner: &TokenOwner| {
        owner.caller.as_deref().unwrap_or_default() == caller
            && server.is_none_or(|server| owner.server == server || owner.url == server)
    };
    let mut outcome = Err(
        Failed::usage(format!("caller `{caller}` has not signed in there"))
            .hint("`turnbuckle logout --callers` lists who has signed in"),
    );
    for (owner, store) in all.into_iter().filter(|(owner, _)| is_meant(owner)) {
        let unchanged = UnchangedStore(store.clone());
        let oauth = sign_in::kept_in(unchanged).allow_private_networks();
        let TokenOwner { server, .. } = &owner;
        if let Err(error) = oauth.sign_out(&owner.url).await {
            let said = format!("could not revoke the tokens of `{server}`: {error}");
            if !is_forced {
                let hint = "the tokens are still stored; `--force` deletes them anyway";
                return Err(Failed::new(Code::Authorization, said).hint(hint));
            }
            tell(&format!("warning: {said}"));
        }
        store.delete().map_err(unreadable)?;
        tell(&format!("signed caller `{caller}` out of `{server}`"));
        outcome = Ok(());
    }
    outcome
}

fn unreadable(error: std::io::Error) -> Failed {
    Failed::new(Code::Authorization, error)
}

fn lookup(config: Option<&PathBuf>, is_trusted: bool) -> Lookup<'_> {
    let consent = if is_trusted {
        Consent::Given
    } else {
        Consent::Ask
    };
    Lookup { config, consent }
}

fn url(server: &str, lookup: Lookup<'_>) -> Outcome<String> {
    match target::find(server, lookup)?.launch {
        Launch::Remote(remote) => Ok(remote.url),
        Launch::Command { .. } => Err(Failed::usage(format!(
            "`{server}` is a program on this machine; it needs no sign-in"
        ))),
    }
}
