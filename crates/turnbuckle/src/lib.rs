//! The Model Context Protocol in Rust: one typed server and one client for every revision and every transport.
