//! The name of a new project, which becomes the name of its package and its program.

/// Keywords of Rust, which Cargo does not accept as names.
const KEYWORDS: [&str; 47] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "unsafe", "use",
    "where", "while",
];

/// Names that Cargo uses for its own folders, and `test`, a crate of Rust.
const OF_CARGO: [&str; 5] = ["build", "deps", "examples", "incremental", "test"];

/// Crates of Rust that every program can use.
const OF_RUST: [&str; 4] = ["alloc", "core", "proc_macro", "std"];

/// The crates that a new project depends on.
const DEPENDENCIES: [&str; 3] = ["serde_json", "tokio", "turnbuckle"];

/// Checks that Cargo accepts the name.
///
/// # Errors
/// The problem with the name, as the end of a sentence.
pub(super) fn check(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if let Some(other) = name.chars().find(|c| !is_allowed(*c)) {
        return Err(format!(
            "has the character {other:?}; use ASCII letters, digits, `-` and `_`"
        ));
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err("does not start with a letter".to_owned());
    }
    if name.len() > 64 {
        return Err("has more than 64 characters".to_owned());
    }
    let taken: [(&[&str], &str); 4] = [
        (&KEYWORDS, "is a keyword of Rust"),
        (&OF_CARGO, "is a name that Cargo uses itself"),
        (&OF_RUST, "is the name of a library of Rust"),
        (
            &DEPENDENCIES,
            "is the name of a library that the project uses",
        ),
    ];
    match taken.iter().find(|(names, _)| names.contains(&name)) {
        Some((_, reason)) => Err((*reason).to_owned()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn names_that_cargo_takes_are_taken() {
        for name in ["greeter", "my-server", "Server_2"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_cargo_refuses_are_refused() {
        for name in ["", "2fast", "-x", "a b", "naïve"] {
            assert!(check(name).is_err(), "{name}");
        }
        for (name, reason) in [
            ("fn", "keyword"),
            ("test", "Cargo"),
            ("core", "library of Rust"),
            ("tokio", "the project uses"),
            ("turnbuckle", "the project uses"),
        ] {
            assert!(check(name).unwrap_err().contains(reason), "{name}");
        }
        assert!(check(&"a".repeat(65)).is_err());
    }
}
