//! API keys of models: from the environment or the keyring only.

use std::io::{self, IsTerminal as _, Read as _};

use turnbuckle::models::{ApiKey, NamedModel};
use turnbuckle_command_line::{
    control::tell,
    failure::{Failed, Outcome},
};

/// The longest key: 64 KiB.
const MAX_KEY: u64 = 64 * 1024;

/// Where a key is stored.
pub(super) struct KeyPlace {
    /// The environment variable.
    variable: &'static str,
    /// The account in the keyring.
    account: String,
}

impl KeyPlace {
    /// Where the key of a model is stored; `None` for a script.
    pub(super) fn of(model: &NamedModel) -> Option<Self> {
        Some(Self {
            variable: model.key_variable()?,
            account: format!("model:{}", model.key_account()?),
        })
    }
}

/// The key, if there is one.
pub(super) fn find(place: &KeyPlace) -> Option<ApiKey> {
    ApiKey::from_environment(place.variable).or_else(|| ring::read(&place.account))
}

/// Reads a key from stdin and stores it in the keyring.
pub(super) fn save(model: &NamedModel) -> Outcome {
    let Some(place) = KeyPlace::of(model) else {
        return Err(Failed::usage("a script needs no key"));
    };
    if io::stdin().is_terminal() {
        return Err(Failed::usage(
            "the key cannot be typed at a terminal, where others could see it",
        )
        .hint("pipe it: `pass show key | turnbuckle chat --model NAME --save-key`"));
    }
    let mut key = String::new();
    let read = io::stdin().lock().take(MAX_KEY).read_to_string(&mut key);
    read.map_err(Failed::usage)?;
    if key.trim().is_empty() {
        return Err(Failed::usage("there is no key on stdin"));
    }
    ring::write(&place.account, key.trim())?;
    tell("the key is in the keyring");
    Ok(())
}

#[cfg(feature = "keyring")]
mod ring {
    use std::{sync::mpsc, thread, time::Duration};

    use super::{ApiKey, Failed, Outcome};

    /// The name of our entries in the keyring.
    const SERVICE: &str = "turnbuckle";

    /// How long the keyring may take to answer: it may ask the user to unlock it.
    const TIMEOUT: Duration = Duration::from_mins(1);

    /// Calls the keyring on a separate thread: some implementations block, and some run their own event loop.
    fn ask<T: Send + 'static>(
        work: impl FnOnce() -> keyring::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let (tell, told) = mpsc::channel();
        thread::spawn(move || tell.send(work()));
        match told.recv_timeout(TIMEOUT) {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            Err(_) => Err(format!(
                "the keyring did not answer within {} s",
                TIMEOUT.as_secs()
            )),
        }
    }

    pub(super) fn read(account: &str) -> Option<ApiKey> {
        let account = account.to_owned();
        let read = ask(move || keyring::Entry::new(SERVICE, &account)?.get_password());
        match read {
            Ok(key) => Some(ApiKey::new(key)),
            Err(reason) => {
                tracing::debug!(reason, "the keyring has no key");
                None
            }
        }
    }

    pub(super) fn write(account: &str, key: &str) -> Outcome {
        let (account, key) = (account.to_owned(), key.to_owned());
        ask(move || keyring::Entry::new(SERVICE, &account)?.set_password(&key)).map_err(|reason| {
            Failed::usage(format!("could not save the key in the keyring: {reason}"))
                .hint("put it into the environment instead")
        })
    }
}

#[cfg(not(feature = "keyring"))]
mod ring {
    use super::{ApiKey, Failed, Outcome};

    pub(super) fn read(_: &str) -> Option<ApiKey> {
        None
    }

    pub(super) fn write(_: &str, _: &str) -> Outcome {
        Err(
            Failed::usage("this binary was built without the feature `keyring`")
                .hint("put the key into the environment instead"),
        )
    }
}
