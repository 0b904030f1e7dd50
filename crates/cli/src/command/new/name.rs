//! The name of a new project, which becomes the name of a package and of a program.

/// Words that Cargo does not take, because of the language or of folders that it makes itself.
const RESERVED: [&str; 52] = [
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "unsafe",
    "use",
    "where",
    "while",
];

/// Checks that Cargo takes the name.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
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
    if RESERVED.contains(&name) || name == "turnbuckle" {
        return Err("is reserved for something else".to_owned());
    }
    Ok(())
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
        for name in [
            "",
            "2fast",
            "-x",
            "a b",
            "naïve",
            "fn",
            "test",
            "turnbuckle",
        ] {
            assert!(check(name).is_err(), "{name}");
        }
        assert!(check(&"a".repeat(65)).is_err());
    }
}
