//! The operating system's keyring, which keeps the key that files are sealed with.
//!
//! Only a key is kept there: some keyrings take no more than a few kilobytes, and tokens are longer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use super::seal::{KEY_BYTES, Seal};

/// The name of our entries in the keyring.
const SERVICE: &str = "turnbuckle";

/// The seal of an application, if this machine has a keyring that can be used now.
pub(super) fn seal(application: &str) -> Option<Seal> {
    match key(application) {
        Ok(key) => Some(Seal::new(&key)),
        Err(error) => {
            // Machines without a person have none; files with owner-only permissions remain.
            tracing::info!(%error, "there is no keyring; tokens are kept in files of their owner");
            None
        }
    }
}

fn key(application: &str) -> keyring::Result<Zeroizing<[u8; KEY_BYTES]>> {
    let entry = keyring::Entry::new(SERVICE, application)?;
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
    // Another process may have made one at the same time: what is there now is what counts.
    let text = Zeroizing::new(entry.get_password()?);
    Ok(parse(&text).unwrap_or(key))
}

fn parse(text: &str) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let bytes = Zeroizing::new(STANDARD.decode(text).ok()?);
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    (bytes.len() == KEY_BYTES).then(|| key.copy_from_slice(&bytes))?;
    Some(key)
}
