//! Creates the folder of a new project.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
};

use super::{
    name,
    project::{Form, Library, files},
};
use crate::show::print;

/// The checkout that this program was built in, which may be gone or on another machine. A release has none: it must
/// not use whatever a user's machine has at that path.
const CHECKOUT: Option<&str> = match option_env!("TURNBUCKLE_RELEASE") {
    Some(_) => None,
    None => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
};

/// Create a server project, with a test.
///
/// The last part of PATH is the name of the package and of the program. The server has one tool, and a
/// test that calls it as a client does. Without options it serves on stdin and stdout.
#[derive(Args)]
pub(crate) struct New {
    /// The folder to make. It must not exist yet.
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Serve over HTTP.
    #[arg(long)]
    http: bool,

    /// Serve over HTTP, and let in only callers with a token of an OAuth authorization server.
    #[arg(long)]
    auth: bool,

    /// Use the library in this checkout. By default: the checkout that this program was built in, if it
    /// exists, otherwise the published crate.
    #[arg(long, value_name = "FOLDER")]
    library: Option<PathBuf>,
}

pub(crate) fn run(new: &New) -> Outcome {
    let folder = &new.path;
    let Some(name) = folder.file_name() else {
        let place = folder.display();
        return Err(Failed::usage(format!("`{place}` has no name"))
            .hint("write the path of a new folder, such as `my-server`"));
    };
    let name = name.to_string_lossy();
    name::check(&name).map_err(|reason| {
        Failed::usage(format!("the name `{name}` {reason}"))
            .hint("the last part of the path is the name of the package")
    })?;
    let form = match (new.auth, new.http) {
        (true, _) => Form::Protected,
        (false, true) => Form::Http,
        (false, false) => Form::Stdio,
    };
    let library = new.library()?;
    let files = files(&name, form, &library);
    // Creating the folder also checks that nothing is overwritten.
    fs::create_dir(folder).map_err(|error| not_made(folder, &error))?;
    for (path, content) in &files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, content))
            .map_err(|error| {
                let place = path.display();
                Failed::new(Code::Output, format!("cannot write {place}: {error}"))
            })?;
    }
    print(&format!("created {}", folder.display()));
    for (path, _) in &files {
        print(&format!("  {path}"));
    }
    print("next:");
    print(&format!("  cd {}", folder.display()));
    for command in form.commands(&name) {
        print(&format!("  {command}"));
    }
    if let Some(note) = library.note() {
        tell(&note);
    }
    if let Some(workspace) = workspace_around(folder) {
        tell(&format!(
            "note: {} is a workspace: add the new package to its `members`",
            workspace.display()
        ));
    }
    Ok(())
}

impl New {
    fn library(&self) -> Outcome<Library> {
        if let Some(folder) = &self.library {
            return Library::at(folder).ok_or_else(|| {
                let place = folder.display();
                Failed::usage(format!("{place} is not a checkout of Turnbuckle"))
                    .hint("name the folder that has crates/turnbuckle in it")
            });
        }
        let program = std::env::current_exe().unwrap_or_default();
        Ok(Library::of_program(&program, CHECKOUT.map(Path::new)))
    }
}

fn not_made(folder: &Path, error: &io::Error) -> Failed {
    let place = folder.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => Failed::usage(format!("`{place}` already exists"))
            .hint("choose another name, or remove it first"),
        io::ErrorKind::NotFound => {
            let parent = folder.parent().unwrap_or(folder).display();
            Failed::usage(format!("the folder {parent} does not exist")).hint("create it first")
        }
        _ => Failed::new(Code::Output, format!("cannot make {place}: {error}")),
    }
}

/// The manifest of the workspace that contains the folder, if there is one.
fn workspace_around(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let manifests = folder.ancestors().skip(1).map(|it| it.join("Cargo.toml"));
    let mut manifests = manifests.filter(|it| it.is_file());
    manifests.find(|it| {
        let text = fs::read_to_string(it).unwrap_or_default();
        let read: Result<toml::Table, _> = toml::from_str(&text);
        read.is_ok_and(|table| table.contains_key("workspace"))
    })
}
