//! Clients of protected servers: OAuth flows, and where tokens are kept.
