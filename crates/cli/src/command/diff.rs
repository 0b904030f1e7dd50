//! `turnbuckle diff`: changes between two servers or recordings that matter to callers.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use turnbuckle_command_line::{
    control::tell,
    failure::{Code, Failed, Outcome},
    style::Style,
    target::{self, Options, Server, ServerArguments},
};
use turnbuckle_host::{
    config::Launch,
    diff::{self, Change, Effect, Snapshot},
};

use crate::{
    offer::Offer,
    recording::Recording,
    runtime::block_on,
    session::{self, Session},
    show::{Table, print, print_json},
};

/// Compare two servers, or two recordings, or one of each: what changed for a caller.
///
/// Each side is a URL, a name from a config file, or the file of a recording that has lists in it;
/// the command after `--` is the new side. A change is `breaking` if what worked may not work any
/// more, `compatible` if everything that worked works, and `wording` if only texts for people and
/// models have changed. The exit code is 1 if anything is breaking.
#[derive(Args)]
pub(crate) struct Diff {
    /// The old side and the new one.
    #[arg(value_name = "OLD NEW", required = true, num_args = 1..=2)]
    words: Vec<String>,

    /// Print JSON: every change with its effect, kind, name, path and description (`what`).
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(diff: &Diff) -> Outcome {
    let (old, new) = match (&diff.words[..], diff.server.command.is_empty()) {
        ([old, new], true) => (diff.side(old)?, diff.side(new)?),
        ([old], false) => {
            let (server, _) = diff.server.split(&[])?;
            (diff.side(old)?, Side::Live(Box::new(server)))
        }
        _ => {
            return Err(Failed::usage("name two servers or recordings")
                .hint("turnbuckle diff OLD NEW, or turnbuckle diff OLD -- command"));
        }
    };
    let mut programs = diff.server.options.clone();
    if old.is_remote() || new.is_remote() {
        // Headers are only for a side that is reached over HTTP.
        programs.headers.clear();
    }
    let (old, new) = (diff.look(&old, &programs)?, diff.look(&new, &programs)?);
    for (side, snapshot) in [("old", &old), ("new", &new)] {
        for list in snapshot.unknown() {
            tell(&format!(
                "the {side} recording has no list of {list}, so {list} are not compared"
            ));
        }
    }
    diff.tell(&diff::between(&old, &new))
}

/// One side of the comparison.
enum Side {
    Recorded(PathBuf),
    Live(Box<Server>),
}

impl Side {
    fn is_remote(&self) -> bool {
        matches!(self, Self::Live(server) if matches!(server.launch, Launch::Remote(_)))
    }
}

impl Diff {
    fn side(&self, word: &str) -> Outcome<Side> {
        let path = PathBuf::from(word);
        if path.is_file() {
            return Ok(Side::Recorded(path));
        }
        let server = target::find(word, self.server.options.lookup())?;
        Ok(Side::Live(Box::new(server)))
    }

    fn look(&self, side: &Side, programs: &Options) -> Outcome<Snapshot> {
        match side {
            Side::Recorded(path) => {
                let recording = Recording::open(path)?;
                let results = recording.exchanges.iter().filter_map(|exchange| {
                    let result = exchange.answer.get("result")?;
                    Some((exchange.method.as_str(), result))
                });
                Ok(Snapshot::recorded(results))
            }
            Side::Live(server) if side.is_remote() => live(server, &self.server.options),
            Side::Live(server) => live(server, programs),
        }
    }

    fn tell(&self, changes: &[Change]) -> Outcome {
        let count = |effect| changes.iter().filter(|one| one.effect == effect).count();
        let breaking = count(Effect::Breaking);
        let (compatible, wording) = (count(Effect::Compatible), count(Effect::Wording));
        if self.json {
            print_json(&json!({
                "breaking": breaking, "compatible": compatible, "wording": wording,
                "changes": changes,
            }))?;
        } else {
            table(changes).lines().iter().for_each(|line| print(line));
            let sum = format!("{breaking} breaking, {compatible} compatible, {wording} wording");
            print(&Style::Dim.out(&sum));
        }
        if breaking > 0 {
            return Err(Failed::new(
                Code::Tool,
                format!("clients of the old server may fail with the new one: {breaking} breaking"),
            ));
        }
        Ok(())
    }
}

/// Asks a server for everything that it offers.
fn live(server: &Server, options: &Options) -> Outcome<Snapshot> {
    let work = async |session: Session| {
        let connection = &session.connection;
        let offer = Offer::read(connection).await?;
        let discovered = session.wire.result("server/discover");
        let discovered = discovered.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let listed = offer.to_json(connection);
        Ok(Snapshot::listed(listed, discovered.as_ref()))
    };
    block_on(session::with(options, None, server, work))
}

fn table(changes: &[Change]) -> Table {
    let mut table = Table::default();
    for change in changes {
        let style = match change.effect {
            Effect::Breaking => Style::Bad,
            Effect::Compatible => Style::Good,
            Effect::Wording => Style::Dim,
        };
        let effect = change.effect.as_str().to_owned();
        let place = match change.path.as_str() {
            "" => String::new(),
            path => format!("{path}: "),
        };
        table.row(vec![
            (effect, Some(style)),
            (change.kind.to_owned(), Some(Style::Dim)),
            (change.name.clone(), Some(Style::Strong)),
            (format!("{place}{}", change.what), None),
        ]);
    }
    table
}
