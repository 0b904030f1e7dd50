//! What the schema crate promises, tested through its public face.

mod suite;
