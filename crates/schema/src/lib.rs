//! JSON Schema 2020-12 for tool arguments: plain schemas from Rust types, validation, coercion, and errors a model can act on.
