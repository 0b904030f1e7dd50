//! The fuzz targets. A target panics if a promise does not hold.

mod challenge;
mod command_line;
mod config;
mod edit;
mod envelope;
mod http_answer;
mod http_reference;
mod http_wire;
mod jose;
mod members;
mod pattern;
mod pattern_oracle;
mod planted;
mod request_state;
mod schema;
mod session_id;
mod sse;
mod typed;
mod uri_template;

pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// The initial inputs.
    pub seeds: &'static [&'static [u8]],
    /// Pieces that have a meaning for the target.
    pub words: &'static [&'static str],
    /// Whether it contains a mistake on purpose, which must be found.
    pub is_planted: bool,
}

pub const ALL: &[Target] = &[
    planted::TARGET,
    envelope::TARGET,
    members::TARGET,
    edit::TARGET,
    typed::TARGET,
    sse::TARGET,
    http_answer::TARGET,
    uri_template::TARGET,
    schema::TARGET,
    pattern::TARGET,
    jose::TARGET,
    challenge::TARGET,
    request_state::TARGET,
    session_id::TARGET,
    config::TARGET,
    command_line::TARGET,
];
