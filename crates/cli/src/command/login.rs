//! `turnbuckle login` and `turnbuckle logout`: tokens for a protected server.

use std::path::PathBuf;

use clap::Args;
use turnbuckle::auth::client::{Loopback, Paste, Registered, SignIn};
use turnbuckle_command_line::{
    failure::{Code, Failed, Outcome},
    sign_in,
    target::{self, without_query},
};
use turnbuckle_host::config::Launch;

use crate::runtime::block_on;

/// Sign in to a protected server, in your browser. Commands use the tokens from then on.
#[derive(Args)]
pub(crate) struct Login {
    /// The server: a URL, or a name from a config file.
    #[arg(value_name = "SERVER")]
    server: String,

    /// Look names up in this file alone.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Open no browser: the address is printed, and you paste what you are sent back to.
    #[arg(long)]
    paste: bool,

    /// Ask for this scope too (may be repeated).
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,

    /// The id of a client that you registered by hand.
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// Let the server name authorization servers in private networks and on this machine.
    #[arg(long)]
    allow_private_networks: bool,
}

/// Sign out of a protected server: tokens are given back and forgotten.
#[derive(Args)]
pub(crate) struct Logout {
    /// The server: a URL, or a name from a config file.
    #[arg(value_name = "SERVER")]
    server: String,

    /// Look names up in this file alone.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(crate) fn run(login: &Login) -> Outcome {
    let url = url(&login.server, login.config.as_ref())?;
    let store = sign_in::store()?;
    let mut oauth = sign_in::kept_in(store.clone()).scopes(login.scopes.iter().map(String::as_str));
    if let Some(id) = &login.client_id {
        oauth = oauth.client(Registered::new(id));
    }
    if login.allow_private_networks {
        oauth = oauth.allow_private_networks();
    }
    let oauth = if login.paste {
        oauth.browser(Paste::new())
    } else {
        oauth.browser(Loopback::new())
    };
    let signed = block_on(async {
        oauth
            .sign_in(&url)
            .await
            .map_err(|error| Failed::new(Code::Authorization, error))
    })?;
    let url = without_query(&url);
    match signed {
        SignIn::NotNeeded => eprintln!("{url} lets everybody in: no sign-in is needed"),
        SignIn::Already => eprintln!("you are signed in to {url} already"),
        _ => {
            eprintln!("signed in to {url}");
            if !store.is_sealed() {
                eprintln!(
                    "there is no keyring here: the tokens are in files that only you can read"
                );
            }
        }
    }
    Ok(())
}

pub(crate) fn leave(logout: &Logout) -> Outcome {
    let url = url(&logout.server, logout.config.as_ref())?;
    let oauth = sign_in::remembered()?;
    block_on(async {
        oauth
            .sign_out(&url)
            .await
            .map_err(|error| Failed::new(Code::Authorization, error))
    })?;
    eprintln!("signed out of {}", without_query(&url));
    Ok(())
}

fn url(server: &str, config: Option<&PathBuf>) -> Outcome<String> {
    match target::find(server, config)?.launch {
        Launch::Remote(remote) => Ok(remote.url),
        Launch::Command { .. } => Err(Failed::usage(format!(
            "`{server}` is a program on this machine, which nobody signs in to"
        ))),
    }
}
