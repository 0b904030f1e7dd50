//! Entry points for the fuzz targets of this repository; not for programs.

use super::challenge::Wanted;

/// Reads a `WWW-Authenticate` header: where the metadata is, and the error that it names.
pub fn read_challenge(header: &str) -> (Option<String>, Option<String>) {
    let wanted = Wanted::parse([header]);
    (wanted.resource_metadata, wanted.error)
}
