//! The inspector's page: one document with its modules and styles, as `build/` joins them.

/// The entity tag of the page, without quotes.
pub const TAG: &str = include_str!(concat!(env!("OUT_DIR"), "/page.tag"));

/// The SHA-256 of the script in base64, for the content security policy.
pub const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.script"));

/// The SHA-256 of the style in base64, for the content security policy.
pub const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.style"));

/// The document.
pub const PLAIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.html"));

/// The document, compressed with brotli.
pub const BROTLI: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.html.br"));

/// The document, compressed with gzip.
pub const GZIP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.html.gz"));
