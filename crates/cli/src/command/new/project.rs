//! The files of a new project.

use std::path::{Path, PathBuf};

/// The kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Serves on stdin and stdout.
    Stdio,
    /// Serves at an HTTP endpoint.
    Http,
    /// Serves at an HTTP endpoint, for callers with a token.
    Protected,
}

/// The source of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// A checkout of the repository.
    Checkout(PathBuf),
    /// The published crate of the version of this program.
    Published,
}

impl Library {
    /// The checkout that contains the program or that it was built in, or else the published crate.
    pub(super) fn of_program(program: &Path, built_in: Option<&Path>) -> Self {
        // In a checkout, programs are in target/PROFILE.
        let around = program.ancestors().nth(3).and_then(Self::at);
        // A program that was copied or installed is not in its checkout.
        let built_in = || built_in.filter(|root| is_ours(root)).and_then(Self::at);
        around.or_else(built_in).unwrap_or(Self::Published)
    }

    /// A note for the author of the project.
    pub(super) fn note(&self) -> Option<String> {
        let version = env!("CARGO_PKG_VERSION");
        (*self == Self::Published).then(|| {
            format!(
                "note: the project uses turnbuckle {version} from crates.io; \
                 to use a checkout, pass --library FOLDER"
            )
        })
    }

    /// The checkout in this folder, which is its root or the folder of the crate.
    pub(super) fn at(folder: &Path) -> Option<Self> {
        let places = [folder.join("crates/turnbuckle"), folder.to_owned()];
        let is_library = |place: &PathBuf| {
            let manifest = std::fs::read_to_string(place.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.contains("name = \"turnbuckle\"\n"))
        };
        let found = places.into_iter().find(is_library)?;
        Some(Self::Checkout(found.canonicalize().ok()?))
    }

    /// The dependency with these features, as a line of the manifest.
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

/// Whether a folder is a checkout of this version of the workspace.
fn is_ours(root: &Path) -> bool {
    let has = |manifest: &str, line: &str| {
        let text = std::fs::read_to_string(root.join(manifest)).unwrap_or_default();
        text.lines().any(|it| it == line)
    };
    let name = concat!("name = \"", env!("CARGO_PKG_NAME"), "\"");
    let version = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");
    has("crates/cli/Cargo.toml", name) && has("Cargo.toml", version)
}

/// A string of TOML, which has the same escapes as JSON.
fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

impl Form {
    fn features(self) -> &'static [&'static str] {
        match self {
            Self::Stdio => &[],
            Self::Http => &["http"],
            // The issuer of tokens is reached over TLS.
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

    /// The commands that run the server and call its tool.
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
                "PUBLIC_URL=http://127.0.0.1:7250/mcp ISSUER=https://YOUR-ISSUER cargo run"
                    .to_owned(),
                "turnbuckle login http://127.0.0.1:7250/mcp".to_owned(),
                "turnbuckle call http://127.0.0.1:7250/mcp greet".to_owned(),
            ],
        }
    }

    /// The description of the package, which is also the server's description.
    fn description(self) -> &'static str {
        match self {
            Self::Stdio | Self::Http => "Greets people by name.",
            Self::Protected => "Greets callers who have signed in.",
        }
    }

    /// The dependencies of the test, besides the library.
    fn test_dependencies(self) -> &'static str {
        match self {
            Self::Stdio | Self::Http => "serde_json = \"1\"\n",
            Self::Protected => "",
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
                 `127.0.0.1:7250` by default. To try it without an account anywhere, run \
                 `cargo run -p examples --example authorization_server` in a checkout of Turnbuckle."
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
    // When tests are built, Cargo merges the features of both sections.
    let for_tests = library.dependency(&["client"]);
    let description = form.description();
    let only_for_tests = form.test_dependencies();
    format!(
        "[package]
name = \"{name}\"
version = \"0.1.0\"
description = \"{description}\"
edition = \"2024\"
rust-version = \"{rust}\"

[dependencies]
{dependency}
tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}

[dev-dependencies]
{only_for_tests}{for_tests}
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
    fn an_installed_program_uses_the_checkout_that_it_was_built_in() {
        let program = Path::new("/usr/bin/turnbuckle");
        let checkout = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let library = Library::of_program(program, Some(checkout));
        assert_eq!(Some(&library), Library::at(checkout).as_ref());
        assert_eq!(library.note(), None);

        // Another folder with a package of that name is not a checkout.
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("crates/turnbuckle");
        std::fs::create_dir_all(&other).unwrap();
        let manifest = "[package]\nname = \"turnbuckle\"\n";
        std::fs::write(other.join("Cargo.toml"), manifest).unwrap();
        assert!(Library::at(folder.path()).is_some());
        let library = Library::of_program(program, Some(folder.path()));
        assert_eq!(library, Library::Published);
    }

    #[test]
    fn a_program_outside_of_a_checkout_uses_the_published_crate() {
        let program = Path::new("/usr/bin/turnbuckle");
        let gone = Path::new("/no/such/checkout");
        let library = Library::of_program(program, Some(gone));
        assert_eq!(library, Library::Published);
        assert!(library.note().unwrap().contains("--library"));
        let manifest = manifest("x", Form::Protected, &library);
        let read: toml::Table = toml::from_str(&manifest).unwrap();
        let turnbuckle = &read["dependencies"]["turnbuckle"];
        assert_eq!(
            turnbuckle["version"].as_str(),
            Some(env!("CARGO_PKG_VERSION"))
        );
    }
}
