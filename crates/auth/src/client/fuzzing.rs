//! Entry points for the fuzz targets of this repository. They are not for other programs.

use super::challenge::Wanted;

/// Parses a `WWW-Authenticate` header. Returns the URL of the metadata and the error code.
pub fn read_challenge(header: &str) -> (Option<String>, Option<String>) {
    let wanted = Wanted::parse([header]);
    (wanted.resource_metadata, wanted.error)
}
