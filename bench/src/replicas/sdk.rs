//! Clients of other SDKs among the clients of a run: `interop/typescript/chaos.mjs` and
//! `interop/python/chaos.py`, a process for each runtime with several clients in it.
//!
//! They report line by line what they did and what they got instead of an answer. Whether an event explains that is
//! decided here, as for all clients.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    task::JoinSet,
    time::timeout,
};

use super::{
    guest::Run,
    history::Trouble,
    tally::{Fault, Kind, REVISIONS},
};
use crate::{Result, peers::root};

/// How many SDK clients a run has by default, if the SDKs are installed.
pub(super) const CLIENTS: usize = 60;

/// How long they may take to finish their work.
const FINISHED_WITHIN: Duration = Duration::from_mins(2);

/// Packages in `interop/typescript`: one of each revision that has Streamable HTTP.
const TYPESCRIPT: [&str; 4] = ["sdk-1.12.3", "sdk-1.20.2", "sdk-1.32.2", "client-2.4.0"];

/// Versions in `interop/python`: of both generations.
const PYTHON: [&str; 2] = ["1.30.0", "2.3.0"];

/// The requested number of SDK clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// The default number, of the SDKs that are installed.
    Installed,
    /// This number; it is an error if they are not installed.
    Number(usize),
}

/// The SDK clients of a run.
pub(super) struct Plan {
    programs: Vec<Program>,
    /// Why some SDKs are missing.
    missing: Vec<String>,
}

struct Program {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    clients: usize,
}

impl Plan {
    /// Plans the clients, depending on what is installed.
    pub(super) fn of(wanted: Wanted, url: &str) -> Result<Self> {
        let number = match wanted {
            Wanted::Installed => CLIENTS,
            Wanted::Number(number) => number,
        };
        let mut plan = Self {
            programs: Vec::new(),
            missing: Vec::new(),
        };
        if number == 0 {
            plan.missing.push("`--sdk 0` says so".to_owned());
            return Ok(plan);
        }
        let each = number / (TYPESCRIPT.len() + PYTHON.len());
        if each == 0 {
            let kinds = TYPESCRIPT.len() + PYTHON.len();
            return Err(format!("there are {kinds} SDKs; `--sdk` needs at least that many").into());
        }
        let folder = root().join("interop/typescript");
        if folder.join("node_modules/.package-lock.json").exists() {
            let mut arguments = vec![text(&folder.join("chaos.mjs")), url.to_owned()];
            arguments.extend(TYPESCRIPT.map(|package| format!("{package}={each}")));
            plan.programs.push(Program {
                name: "TypeScript",
                program: "node".into(),
                arguments,
                clients: each * TYPESCRIPT.len(),
            });
        } else {
            plan.missing.push(not_installed("TypeScript"));
        }
        for version in PYTHON {
            let folder = root().join("interop/python");
            let place = folder.join(".venv").join(version);
            if !place.join("installed").exists() {
                plan.missing
                    .push(not_installed(&format!("Python {version}")));
                continue;
            }
            plan.programs.push(Program {
                name: "Python",
                program: place.join("bin/python"),
                arguments: vec![
                    text(&folder.join("chaos.py")),
                    url.to_owned(),
                    each.to_string(),
                ],
                clients: each,
            });
        }
        match (wanted, plan.missing.first()) {
            (Wanted::Number(_), Some(missing)) => Err(missing.clone().into()),
            _ => Ok(plan),
        }
    }

    pub(super) fn clients(&self) -> usize {
        self.programs.iter().map(|program| program.clients).sum()
    }

    /// How many there are, and why there are not more.
    pub(super) fn describe(&self) -> String {
        let said = format!("{} of them are clients of other SDKs", self.clients());
        if self.missing.is_empty() {
            return said;
        }
        format!("{said}, because {}", self.missing.join(", and "))
    }
}

fn not_installed(what: &str) -> String {
    format!("the SDK of {what} is not installed: `./interop/run --prepare` installs it")
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A line of a client.
#[derive(Deserialize)]
struct Line {
    guest: String,
    sdk: String,
    revision: String,
    kind: String,
    /// What it got instead of an answer.
    trouble: Option<String>,
    /// A fault.
    fault: Option<String>,
    status: Option<u16>,
    #[serde(default)]
    text: String,
    /// How many milliseconds ago that began.
    #[serde(default)]
    ms: u64,
}

/// The results of the clients of one SDK: the clients that got something done, and how often each kind was done.
#[derive(Default)]
pub(super) struct Count {
    pub(super) clients: BTreeMap<String, u64>,
    pub(super) done: BTreeMap<&'static str, u64>,
}

/// Counts by SDK.
pub(super) type Counts = BTreeMap<String, Count>;

/// Running SDK clients.
pub(super) struct SdkClients {
    run: Arc<Run>,
    counts: Arc<Mutex<Counts>>,
    running: Vec<(&'static str, Child)>,
    reading: JoinSet<()>,
}

impl SdkClients {
    /// Starts the programs of a plan. Must be called inside a local set.
    pub(super) fn start(plan: Plan, run: &Arc<Run>, logs: &Path) -> Result<Self> {
        let mut clients = Self {
            run: Arc::clone(run),
            counts: Arc::default(),
            running: Vec::new(),
            reading: JoinSet::new(),
        };
        for (number, program) in plan.programs.into_iter().enumerate() {
            let log = File::create(logs.join(format!("sdk-{number}.log")))?;
            let mut child = Command::new(&program.program)
                .args(&program.arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(log)
                .kill_on_drop(true)
                .spawn()
                .map_err(|error| format!("`{}`: {error}", program.program.display()))?;
            let stdout = child.stdout.take().ok_or("no stdout")?;
            let (run, counts) = (Arc::clone(run), Arc::clone(&clients.counts));
            clients.reading.spawn_local(async move {
                let mut lines = BufReader::new(stdout).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    take(&run, &counts, program.name, &line);
                }
            });
            clients.running.push((program.name, child));
        }
        Ok(clients)
    }

    /// Lets the clients finish their work, and returns the counts.
    pub(super) async fn end(mut self) -> Counts {
        for (name, child) in &mut self.running {
            if let Ok(Some(status)) = child.try_wait() {
                let problem = format!("the program ended by itself: {status}; see its log");
                self.run.tally.fault(Fault::Hung, name, &problem);
            }
            // They end when their input ends.
            child.stdin.take();
        }
        for (name, child) in &mut self.running {
            let problem = match timeout(FINISHED_WITHIN, child.wait()).await {
                Ok(Ok(status)) if status.success() => continue,
                Ok(Ok(status)) => format!("the program ended with {status}; see its log"),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("clients did not finish within {FINISHED_WITHIN:?}"),
            };
            self.run.tally.fault(Fault::Hung, name, &problem);
            let _ = child.kill().await;
        }
        // The pipes are closed, so their last output is read to the end.
        while self.reading.join_next().await.is_some() {}
        std::mem::take(&mut *self.counts.lock().expect("nothing panics with it"))
    }
}

/// Records a line of a client.
fn take(run: &Run, counts: &Mutex<Counts>, program: &str, line: &str) {
    let said = match serde_json::from_str::<Line>(line) {
        Ok(said) => said,
        Err(error) => {
            let problem = format!("said something odd: {error}: {line}");
            return run.tally.fault(Fault::Lost, program, &problem);
        }
    };
    let who = format!("{} ({})", said.guest, said.revision);
    let Some(kind) = kind_of(&said.kind) else {
        let problem = format!("`{}` is not known", said.kind);
        return run.tally.fault(Fault::Lost, &who, &problem);
    };
    if let Some(fault) = &said.fault {
        let known = Fault::ALL.into_iter().find(|known| known.name() == fault);
        return run
            .tally
            .fault(known.unwrap_or(Fault::Lost), &who, &said.text);
    }
    if let Some(trouble) = &said.trouble {
        let who = format!("{who}: {}", said.text);
        let began = Instant::now().checked_sub(Duration::from_millis(said.ms));
        let trouble = trouble_of(trouble, said.status, &said.text);
        return run.note(&who, kind, &trouble, began.unwrap_or_else(Instant::now));
    }
    let place = REVISIONS.iter().position(|known| *known == said.revision);
    if let Some(place) = place {
        run.tally.done(kind, place);
    }
    let mut counts = counts.lock().expect("nothing panics with it");
    let count = counts.entry(said.sdk).or_default();
    *count.clients.entry(said.guest).or_default() += 1;
    *count.done.entry(kind.name()).or_default() += 1;
}

fn kind_of(name: &str) -> Option<Kind> {
    Some(match name {
        "open" => Kind::Open,
        "call" => Kind::Call,
        "ask" => Kind::Ask,
        "cancel" => Kind::Cancel,
        "resume" => Kind::Resume,
        "update" => Kind::Update,
        "end" => Kind::End,
        _ => return None,
    })
}

fn trouble_of(name: &str, status: Option<u16>, text: &str) -> Trouble {
    match name {
        "broken" => Trouble::Broken,
        "refused" => Trouble::Refused(status.unwrap_or_default()),
        "told" => Trouble::Told,
        "error" => Trouble::Error(text.to_owned()),
        "missed" => Trouble::Missed,
        "not cancelled" => Trouble::NotCancelled,
        "no session" => Trouble::NoSession,
        "hung" => Trouble::Hung,
        _ => Trouble::Odd(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replicas::{history::History, tally::Tally};

    fn run() -> Run {
        Run {
            address: String::new(),
            tally: Tally::new(None),
            history: History::default(),
            is_over: false.into(),
        }
    }

    fn line(more: &str) -> String {
        let known = r#""guest":"sdk-1.32.2-0","sdk":"sdk-1.32.2","revision":"2025-11-25""#;
        format!("{{{known},{more}}}")
    }

    #[test]
    fn what_sdk_clients_say_counts_as_what_all_clients_do() {
        let (run, counts) = (run(), Mutex::default());
        let say = |more: &str| take(&run, &counts, "TypeScript", &line(more));
        say(r#""kind":"ask""#);
        assert_eq!(run.tally.count(Kind::Ask, 3), 1);
        assert_eq!(counts.lock().unwrap()["sdk-1.32.2"].clients.len(), 1);
        let faults = || Fault::ALL.map(|fault| run.tally.faults(fault));
        assert_eq!(faults(), [0; 4]);
        // No event explains it.
        say(r#""kind":"call","trouble":"broken","text":"reset","ms":5"#);
        say(r#""kind":"call","trouble":"hung","ms":40000"#);
        say(r#""kind":"resume","fault":"doubled","text":"step 3 after 3""#);
        say(r#""kind":"ask","fault":"wrong caller","text":"asked by another""#);
        assert_eq!(faults(), [1, 1, 1, 1]);
        let killed = run.history.begin(super::super::history::Harm::Killed);
        say(r#""kind":"call","trouble":"broken","text":"reset","ms":5"#);
        run.history.end(killed);
        assert_eq!(faults(), [1, 1, 1, 1]);
        take(&run, &counts, "TypeScript", "no JSON");
        assert_eq!(faults(), [2, 1, 1, 1]);
    }
}
