//! The keys that encrypt `requestState`, session ids and task ids.

use turnbuckle_session::round::{
    Key, KeyRing,
    seal::{MAX_KEYS, WeakSecret},
};

use crate::SetupError;

/// Derives keys from these secrets, of which the first encrypts. `None` if there are no secrets.
pub(super) fn key_ring(
    secrets: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> Result<Option<KeyRing>, WeakSecret> {
    let keys = secrets.into_iter().take(MAX_KEYS);
    let keys: Vec<Key> = keys
        .map(|secret| Key::from_secret(secret.as_ref()))
        .collect::<Result<_, _>>()?;
    let mut keys = keys.into_iter();
    Ok(keys.next().map(|current| {
        keys.rev()
            .fold(KeyRing::new(current), KeyRing::with_older_key)
    }))
}

/// Returns random keys, which no other process has.
pub(super) fn random_keys() -> Result<KeyRing, SetupError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| SetupError::NoRandomness(error.to_string()))?;
    Ok(KeyRing::new(Key::new(bytes)))
}
