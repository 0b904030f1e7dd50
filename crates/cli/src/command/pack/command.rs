//! Asks the server for its description and tools, and writes the files.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use sha2::{Digest as _, Sha256};
use turnbuckle::protocol::Implementation;
use turnbuckle_base::replace;
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    target::{self, Lookup, Options},
};

use super::{
    bundle, input,
    manifest::{self, About, Start},
    registry,
};
use crate::{
    offer::Offer,
    runtime::block_on,
    session::{self, Session},
    show::print,
};

/// Make a bundle (MCPB) of a server, which applications install with a click.
///
/// The program after `--` is started once and asked for its name, version, description and tools. The
/// bundle has the program in it, so build it for release first; it runs on systems like this one.
/// With `--registry`, a `server.json` for the registry of MCP servers is written too.
#[derive(Args)]
pub(crate) struct Pack {
    /// Who made the server. Applications show it before they install the bundle.
    #[arg(long, value_name = "NAME")]
    author: String,

    /// What the server does, in a sentence. By default: the server's own description. The registry allows
    /// 100 characters.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// A web page about the server.
    #[arg(long, value_name = "URL")]
    homepage: Option<String>,

    /// An environment variable that the user is asked for when the bundle is installed (may be repeated).
    #[arg(long = "user-env", value_name = "NAME")]
    variables: Vec<String>,

    /// The name of the server in the registry, such as `io.github.ada/greeter`.
    #[arg(long, value_name = "NAME", requires = "url")]
    registry: Option<String>,

    /// The https URL at which the bundle can be downloaded once you have uploaded it. The official registry
    /// accepts releases on GitHub and GitLab.
    #[arg(long, value_name = "URL", requires = "registry")]
    url: Option<String>,

    /// The folder for the files.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    output: PathBuf,

    /// How many seconds the whole command may take. Default: a request fails after a minute of
    /// silence and after an hour in total.
    #[arg(long, value_name = "SECONDS", value_parser = target::seconds)]
    timeout: Option<Duration>,

    /// The program to start as the server, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(pack: &Pack) -> Outcome {
    let Some((program, arguments)) = pack.command.split_first() else {
        return Err(Failed::usage("name the program of the server")
            .hint("turnbuckle pack --author NAME -- target/release/greeter"));
    };
    let program = Path::new(program);
    if !program.is_file() {
        let place = program.display();
        return Err(Failed::usage(format!("no program at `{place}`"))
            .hint("give the path of the program; PATH is not searched"));
    }
    let platform = pack.check()?;
    let (server, _) = target::split(&[], &pack.command, Lookup::default())?;
    let work = async |session: Session| {
        let offer = Offer::read(&session.connection).await?;
        let implementation = session.connection.server().implementation().cloned();
        Ok((offer, implementation))
    };
    let options = Options {
        timeout: pack.timeout,
        ..Options::default()
    };
    let (offer, implementation) = block_on(session::with(&options, None, &server, work))?;
    let about = pack.about(implementation.as_ref())?;
    if pack.registry.is_some() {
        registry::check(&about)?;
    }
    let file = program.file_name().unwrap_or_default().to_string_lossy();
    let start = Start {
        program: &file,
        arguments,
        variables: &pack.variables,
        platform,
    };
    let manifest = manifest::write(&about, &start, &offer);
    let place = pack
        .output
        .join(format!("{}-{}.mcpb", about.name, about.version));
    let written = fs::create_dir_all(&pack.output).and_then(|()| {
        replace::shared(&place, |to| {
            bundle::write(to, &manifest, program, &manifest::path_of(&file))
        })
    });
    written.map_err(|error| not_written(&place, &error))?;
    print(&place.display().to_string());
    if let (Some(name), Some(url)) = (&pack.registry, &pack.url) {
        let digest = digest(&place).map_err(|error| not_written(&place, &error))?;
        let entry = registry::write(name, &about, url, &digest, &pack.variables);
        let place = pack.output.join("server.json");
        let written = replace::shared(&place, |to| Ok(serde_json::to_writer_pretty(to, &entry)?));
        written.map_err(|error| not_written(&place, &error))?;
        print(&place.display().to_string());
        for warning in registry::warnings(url) {
            tell(&format!("warning: {warning}"));
        }
        let folder = pack.output.display();
        tell(&format!(
            "next: upload the bundle to {url}, then run `mcp-publisher publish` in {folder}"
        ));
    }
    Ok(())
}

impl Pack {
    /// Checks everything that can be checked without the server, and returns the platform of the program.
    fn check(&self) -> Outcome<&'static str> {
        input::check_author(&self.author)?;
        input::check_variables(&self.variables)?;
        if let Some(url) = &self.homepage {
            input::check_page(url)?;
        }
        if let Some(name) = &self.registry {
            registry::check_name(name)?;
        }
        if let Some(url) = &self.url {
            input::check_download(url)?;
        }
        let system = std::env::consts::OS;
        manifest::platform(system).ok_or_else(|| {
            Failed::usage(format!("a bundle cannot have a program for {system}"))
                .hint("run this command on Linux, macOS or Windows, with a program for that system")
        })
    }

    fn about(&self, implementation: Option<&Implementation>) -> Outcome<About> {
        let Some(server) = implementation else {
            return Err(Failed::new(
                Code::Protocol,
                "the server sends no `serverInfo`, but a bundle needs its name and version",
            ));
        };
        let description = self
            .description
            .clone()
            .or_else(|| server.description.clone());
        let Some(description) = description.filter(|text| !text.trim().is_empty()) else {
            return Err(Failed::usage("the server has no description")
                .hint("pass --description TEXT, or set `description` in Cargo.toml"));
        };
        // The name becomes part of a file name.
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let name = server.name.replace(|c| !is_allowed(c), "-");
        let name = name.trim_start_matches(['.', '-']).to_owned();
        let version = server.version.replace(|c| !is_allowed(c) && c != '+', "-");
        if name.is_empty() || version.is_empty() {
            return Err(Failed::new(
                Code::Protocol,
                "the server has no name or no version, and a bundle needs both",
            ));
        }
        Ok(About {
            name,
            title: server.title.clone(),
            version,
            description,
            author: self.author.clone(),
            homepage: self.homepage.clone(),
        })
    }
}

fn digest(place: &Path) -> io::Result<String> {
    use std::{fmt::Write as _, io::Read as _};

    let mut hasher = Sha256::new();
    let mut file = fs::File::open(place)?;
    let mut piece = vec![0; 64 * 1024];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            break;
        }
        hasher.update(&piece[..length]);
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

fn not_written(place: &Path, error: &io::Error) -> Failed {
    let place = place.display();
    Failed::new(Code::Output, format!("cannot write {place}: {error}"))
}
