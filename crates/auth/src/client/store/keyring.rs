//! The operating system's keyring, which stores the key that encrypts the files.
//!
//! Only a key is stored there: some keyrings accept only a few kilobytes, and tokens are longer.

use std::sync::mpsc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use super::seal::{KEY_BYTES, Seal};

/// The service name of our entries in the keyring.
const SERVICE: &str = "turnbuckle";

/// 1 min for the keyring to answer: it may ask the user to unlock it.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Returns the seal of an application, if this machine has a keyring that is usable now.
///
/// The keyring is called on a separate thread: some keyrings block, and some run their own event
/// loop, which must not be nested in another.
pub(super) fn seal(application: &str) -> Option<Seal> {
    let application = application.to_owned();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(key(&application)));
    let reason = match told.recv_timeout(TIMEOUT) {
        Ok(Ok(key)) => return Some(Seal::new(&key)),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("the keyring did not answer within {TIMEOUT:?}"),
    };
    // Servers often have no keyring. Then the files are protected only by their permissions.
    tracing::info!(
        reason,
        "no keyring is available; tokens are kept in files that only their owner can read"
    );
    None
}

fn key(application: &str) -> keyring::Result<Zeroizing<[u8; KEY_BYTES]>> {
    key_of(&keyring::Entry::new(SERVICE, application)?)
}

fn key_of(entry: &keyring::Entry) -> keyring::Result<Zeroizing<[u8; KEY_BYTES]>> {
    match entry.get_password() {
        Ok(text) => {
            if let Some(key) = parse(&Zeroizing::new(text)) {
                return Ok(key);
            }
        }
        Err(keyring::Error::NoEntry) => {}
        Err(error) => return Err(error),
    }
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    SystemRandom::new()
        .fill(&mut *key)
        .expect("the system has randomness, or TLS would not work either");
    entry.set_password(&Zeroizing::new(STANDARD.encode(*key)))?;
    // Another process may have stored a key at the same time, so read the key that is there now.
    let text = Zeroizing::new(entry.get_password()?);
    Ok(parse(&text).unwrap_or(key))
}

fn parse(text: &str) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let bytes = Zeroizing::new(STANDARD.decode(text).ok()?);
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    (bytes.len() == KEY_BYTES).then(|| key.copy_from_slice(&bytes))?;
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyring_gives_a_key_that_it_keeps() {
        keyring::set_default_credential_builder(keyring::mock::default_credential_builder());
        assert!(seal("my-app").is_some());
        let entry = keyring::Entry::new(SERVICE, "kept").unwrap();
        let made = key_of(&entry).unwrap();
        assert_ne!(*made, [0; KEY_BYTES]);
        assert_eq!(key_of(&entry).unwrap(), made);
        // An entry that is not a valid key is replaced.
        entry.set_password("nonsense").unwrap();
        assert_ne!(key_of(&entry).unwrap(), made);
    }
}
