//! Files and folders that only their owner may read.

use std::{io, path::Path};

pub use turnbuckle_base::private::{create, create_new, make_folder};

/// Creates a folder with a random name inside another folder. Only its owner can open it.
///
/// # Errors
/// If it cannot be created, or the operating system provides no random bytes.
pub fn make_unique_folder(below: &Path, start: &str) -> io::Result<std::path::PathBuf> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let path = below.join(format!("{start}-{:016x}", u64::from_ne_bytes(random)));
    // If a folder of this name exists, this fails instead of using it.
    turnbuckle_base::private::folder_builder().create(&path)?;
    Ok(path)
}
