//! The files of a new project.

use std::path::{Path, PathBuf};

/// What kind of server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// On stdin and stdout.
    Stdio,
    /// At an HTTP endpoint.
    Http,
    /// At an HTTP endpoint, for callers with a token.
    Protected,
}

/// Where the library comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// A checkout of it.
    Checkout(PathBuf),
    /// The published crate of the version of this program.
    Published,
}

impl Library {
    /// The checkout that a program was built in, else the published crate.
    pub(super) fn of_program(program: &Path) -> Self {
        // A checkout has its programs in target/PROFILE.
        let root = program.ancestors().nth(3);
        root.and_then(Self::at).unwrap_or(Self::Published)
    }

    /// The checkout in this folder: its root, or the folder of the crate.
    pub(super) fn at(folder: &Path) -> Option<Self> {
        let places = [folder.join("crates/turnbuckle"), folder.to_owned()];
        let is_library = |place: &PathBuf| {
            let manifest = std::fs::read_to_string(place.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.contains("name = \"turnbuckle\"\n"))
        };
        let found = places.into_iter().find(is_library)?;
        Some(Self::Checkout(found.canonicalize().ok()?))
    }

    /// The dependency, with these features.
    fn dependency(&self, features: &[&str]) -> String {
        let source = match self {
            Self::Checkout(path) => format!("path = {}", text(&path.to_string_lossy())),
            Self::Published => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
        };
        if features.is_empty() {
            return format!("turnbuckle = {{ {source} }}");
        }
        let features: Vec<_> = features.iter().map(|it| text(it)).collect();
        format!(
            "turnbuckle = {{ {source}, features = [{}] }}",
            features.join(", ")
        )
    }
}

/// A text of TOML, which has the same escapes as JSON.
fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

impl Form {
    fn features(self) -> &'static [&'static str] {
        match self {
            Self::Stdio => &[],
            Self::Http => &["http"],
            // An issuer of tokens is reached over TLS.
            Self::Protected => &["auth", "http", "tls"],
        }
    }

    fn main(self) -> &'static str {
        match self {
            Self::Stdio => include_str!("../../../templates/stdio.rs"),
            Self::Http => include_str!("../../../templates/http.rs"),
            Self::Protected => include_str!("../../../templates/protected.rs"),
        }
    }

    /// How to run the server and call its tool.
    pub(super) fn commands(self, name: &str) -> Vec<String> {
        match self {
            Self::Stdio => vec![
                "cargo test".to_owned(),
                "cargo build".to_owned(),
                format!("turnbuckle call greet name=Ada -- target/debug/{name}"),
            ],
            Self::Http => vec![
                "cargo test".to_owned(),
                "cargo run".to_owned(),
                "turnbuckle call http://127.0.0.1:7250/mcp greet name=Ada".to_owned(),
            ],
            Self::Protected => vec![
                "cargo test".to_owned(),
                "PUBLIC_URL=http://127.0.0.1:7250/mcp ISSUER=https://login.example.com cargo run"
                    .to_owned(),
                "turnbuckle login http://127.0.0.1:7250/mcp".to_owned(),
                "turnbuckle call http://127.0.0.1:7250/mcp greet".to_owned(),
            ],
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Stdio => "An MCP server on stdin and stdout. Applications start it as a program.",
            Self::Http => {
                "An MCP server over HTTP. `LISTEN` sets the address, `127.0.0.1:7250` by default."
            }
            Self::Protected => {
                "An MCP server over HTTP, for callers with a token. `ISSUER` is the URL of the authorization \
                 server, `PUBLIC_URL` the URL by which clients know this server, and `LISTEN` the address, \
                 `127.0.0.1:7250` by default."
            }
        }
    }
}

/// The files of a project: their paths and contents.
pub(super) fn files(name: &str, form: Form, library: &Library) -> [(&'static str, String); 4] {
    [
        ("Cargo.toml", manifest(name, form, library)),
        ("src/main.rs", form.main().to_owned()),
        ("README.md", readme(name, form)),
        (".gitignore", "/target\n".to_owned()),
    ]
}

fn manifest(name: &str, form: Form, library: &Library) -> String {
    let rust = env!("CARGO_PKG_RUST_VERSION");
    let dependency = library.dependency(form.features());
    // The features of both sections are put together when tests are built.
    let for_tests = library.dependency(&["client"]);
    format!(
        "[package]
name = \"{name}\"
version = \"0.1.0\"
edition = \"2024\"
rust-version = \"{rust}\"

[dependencies]
{dependency}
tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}

[dev-dependencies]
serde_json = \"1\"
{for_tests}
"
    )
}

fn readme(name: &str, form: Form) -> String {
    let about = form.about();
    let commands = form.commands(name).join("\n");
    format!("# {name}\n\n{about}\n\n```sh\n{commands}\n```\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_quotes_stays_one_text() {
        let library = Library::Checkout(PathBuf::from("/a \"b\"/c"));
        let manifest = manifest("x", Form::Stdio, &library);
        let read: toml::Table = toml::from_str(&manifest).unwrap();
        let path = &read["dependencies"]["turnbuckle"]["path"];
        assert_eq!(path.as_str(), Some("/a \"b\"/c"));
    }

    #[test]
    fn a_program_outside_of_a_checkout_uses_the_published_crate() {
        let library = Library::of_program(Path::new("/usr/bin/turnbuckle"));
        assert_eq!(library, Library::Published);
        let manifest = manifest("x", Form::Protected, &library);
        let read: toml::Table = toml::from_str(&manifest).unwrap();
        let turnbuckle = &read["dependencies"]["turnbuckle"];
        assert_eq!(
            turnbuckle["version"].as_str(),
            Some(env!("CARGO_PKG_VERSION"))
        );
    }
}
