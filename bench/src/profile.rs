//! `bench profile`: where the instructions and the allocations of one call go, with a reason for each line
//! that matters.

use std::{collections::HashMap, fmt::Write, hash::Hash};

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    measure::{
        callgrind,
        crowd::Crowd,
        dhat,
        valgrind::{Tool, Transport, Trial, per_request},
    },
    paths::{PATHS, Path},
    peers::{Peer, root},
    report::{
        name::plain,
        table::{Table, count},
    },
    results::Results,
};

/// From this share of a call on, a line needs a reason.
const WORTH_A_REASON: f64 = 0.03;

/// The profiled paths, by their index among all paths: a call over HTTP, modern and with a
/// session, and over stdio.
const TAKEN_APART: [usize; 3] = [0, 2, 6];

/// How many requests are profiled.
const PROFILED: u64 = 400;

/// Places with fewer blocks of memory per call are not shown: one block in fifty calls.
const RARE: f64 = 0.02;

/// The profile of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Profile {
    pub(crate) path: String,
    total: f64,
    functions: Vec<Line>,
    /// Blocks of memory for a call, of each server.
    pub(crate) blocks: Vec<(String, f64)>,
    sites: Vec<Line>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    place: String,
    name: String,
    each: f64,
}

/// The written reasons.
#[derive(Deserialize)]
struct Reasons {
    reason: Vec<Reason>,
}

#[derive(Deserialize)]
struct Reason {
    /// The crate.
    place: String,
    /// The beginning of the function's name or, after `*`, a part of it.
    function: String,
    why: String,
}

impl Reasons {
    fn open() -> Result<Self> {
        let text = std::fs::read_to_string(root().join("bench/reasons.toml"))?;
        Ok(toml::from_str(&text)?)
    }

    fn of(&self, line: &Line) -> Option<&str> {
        let is_it = |it: &&Reason| {
            it.place == line.place
                && match it.function.strip_prefix('*') {
                    Some(part) => line.name.contains(part),
                    None => line.name.starts_with(&it.function),
                }
        };
        self.reason.iter().find(is_it).map(|it| &*it.why)
    }
}

pub(crate) async fn command() -> Result<()> {
    for server in Peer::NATIVE {
        server.prepare()?;
    }
    let profiles = measure().await?;
    println!("{}", page(&profiles)?);
    Results::update(|results| results.profiles = profiles)
}

pub(crate) async fn measure() -> Result<Vec<Profile>> {
    let mut all = Vec::new();
    for at in TAKEN_APART {
        eprintln!("taking apart: {}", PATHS[at].name);
        all.push(take_apart(&PATHS[at]).await?);
    }
    Ok(all)
}

async fn take_apart(path: &Path) -> Result<Profile> {
    let mut profile = Profile {
        path: path.name.to_owned(),
        total: 0.0,
        functions: Vec::new(),
        blocks: Vec::new(),
        sites: Vec::new(),
    };
    for server in Peer::NATIVE {
        let command = match path.transport {
            Transport::Stdio => server.stdio(),
            Transport::Http => server.http(),
        };
        let trial = Trial {
            command: &command,
            transport: path.transport,
            call: path.call,
            crowd: Crowd::Nobody,
        };
        let once = dhat::blocks(&trial.run(Tool::Dhat, PROFILED).await?.text()?)?;
        let twice = dhat::blocks(&trial.run(Tool::Dhat, 2 * PROFILED).await?.text()?)?;
        let sites = difference(&once, &twice);
        let blocks = sites.iter().map(|(_, each)| each).sum();
        profile.blocks.push((server.name().to_owned(), blocks));
        if server == Peer::Turnbuckle {
            profile.sites = lines(sites, |site| (site.place, site.function));
            let once = callgrind::costs(&trial.run(Tool::Callgrind, PROFILED).await?.text()?);
            let twice = callgrind::costs(&trial.run(Tool::Callgrind, 2 * PROFILED).await?.text()?);
            let functions = difference(&once, &twice);
            profile.total = functions.iter().map(|(_, each)| each).sum();
            profile.functions = lines(functions, |it| (it.place, it.name));
        }
    }
    Ok(profile)
}

/// The count of each key for one request.
fn difference<K: Clone + Eq + Hash>(
    once: &HashMap<K, u64>,
    twice: &HashMap<K, u64>,
) -> Vec<(K, f64)> {
    let each = |(key, more): (&K, &u64)| {
        let less = once.get(key).copied().unwrap_or(0);
        (key.clone(), per_request(less, *more, PROFILED))
    };
    twice.iter().map(each).collect()
}

fn lines<K>(all: Vec<(K, f64)>, names: fn(K) -> (String, String)) -> Vec<Line> {
    let mut lines: Vec<_> = all
        .into_iter()
        .map(|(key, each)| {
            let (place, name) = names(key);
            Line { place, name, each }
        })
        .filter(|line| line.each >= RARE)
        .collect();
    lines.sort_by(|one, other| other.each.total_cmp(&one.each));
    lines
}

/// The profiles as text.
pub(crate) fn page(profiles: &[Profile]) -> Result<String> {
    let reasons = Reasons::open()?;
    let mut page = String::new();
    for profile in profiles {
        let (path, total) = (&profile.path, count(profile.total));
        let (crates, functions) = (by_crate(profile), functions(profile, &reasons));
        let allocations = allocations(profile);
        writeln!(
            page,
            "### {path}: {total} instructions\n\n{crates}\n{functions}\n{allocations}"
        )?;
    }
    Ok(page)
}

fn by_crate(profile: &Profile) -> Table {
    let mut crates: HashMap<&str, f64> = HashMap::new();
    for line in &profile.functions {
        *crates.entry(&line.place).or_default() += line.each;
    }
    let mut crates: Vec<_> = crates.into_iter().collect();
    crates.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut table = Table::new(["in", "instructions", "share"]);
    for (place, each) in crates.iter().filter(|it| it.1 >= profile.total * 0.01) {
        table.row([
            (*place).to_owned(),
            count(*each),
            share(*each, profile.total),
        ]);
    }
    table
}

fn functions(profile: &Profile, reasons: &Reasons) -> Table {
    let mut table = Table::new(["function", "share", "why it is there"]);
    let large = profile.functions.iter();
    for line in large.filter(|it| it.each >= profile.total * WORTH_A_REASON) {
        let why = reasons
            .of(line)
            .unwrap_or("**no reason is written in bench/reasons.toml**");
        let name = format!("{}: `{}`", line.place, plain(&line.name));
        table.row([name, share(line.each, profile.total), why.to_owned()]);
    }
    table
}

fn allocations(profile: &Profile) -> String {
    let each = |(server, blocks): &(String, f64)| format!("{server} {}", count(*blocks));
    let servers: Vec<_> = profile.blocks.iter().map(each).collect();
    let mut table = Table::new(["where", "line", "blocks a call"]);
    for line in &profile.sites {
        table.row([
            format!("`{}`", line.name),
            line.place.clone(),
            count(line.each),
        ]);
    }
    format!(
        "Allocations for a call: {}. Ours:\n\n{table}\n",
        servers.join(", ")
    )
}

fn share(part: f64, whole: f64) -> String {
    format!("{:.1} %", part / whole * 100.0)
}
