//! Runs a target on many inputs. Inputs that reach something new are kept and mutated further.

use std::{
    fs, io,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use fastrand::Rng;

use crate::{
    coverage::Coverage,
    mutate::{MAX_BYTES, mutate},
    target::Target,
};

/// An input that takes more seconds of processor time than this is a fault of the code, on any machine.
///
/// The operating system enforces this: a thread would run code whose edges are counted, at different moments
/// in each run. Processor time, because other programs can keep this one from running for longer.
const LONGEST_SECONDS: u32 = 20;

/// An input that takes more seconds than this waits for something that never comes.
const LONGEST_WAIT_SECONDS: u32 = 600;

/// The name of a file in the current folder.
const CAREFUL_FILE: &str = "crash";

pub struct Settings {
    pub runs: u64,
    pub seed: u64,
    /// The folder with inputs that reached something new, which the next run reads again.
    pub corpus: Option<PathBuf>,
    /// Whether each input is written to [`CAREFUL_FILE`] before it is run. After a crash that no program can
    /// catch, such as a stack overflow, the file contains the input that caused it.
    pub is_careful: bool,
}

pub struct Report {
    pub runs: u64,
    pub edges: usize,
    pub edges_of_seeds: usize,
    pub kept: usize,
    pub took: Duration,
    pub found: Option<Found>,
}

/// An input on which the target fails.
pub struct Found {
    pub input: Vec<u8>,
    pub message: String,
}

pub fn run(target: &Target, settings: &Settings) -> io::Result<Report> {
    let mut random = Rng::with_seed(settings.seed);
    let mut coverage = Coverage::new();
    if coverage.total() == 0 {
        return Err(io::Error::other(
            "this program has no coverage counters; build it with ./scripts/fuzz",
        ));
    }
    let begun = Instant::now();
    let execute = |input: &[u8], coverage: &mut Coverage| -> io::Result<Verdict> {
        if settings.is_careful {
            fs::write(CAREFUL_FILE, input)?;
        }
        limit_processor_time(LONGEST_SECONDS);
        alarm(LONGEST_WAIT_SECONDS);
        coverage.clear();
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
        let is_new = coverage.collect();
        alarm(0);
        limit_processor_time(0);
        Ok(match outcome {
            Ok(()) => Verdict::Fine { is_new },
            Err(payload) => Verdict::Failed(message(&*payload)),
        })
    };

    let mut report = Report {
        runs: 0,
        edges: 0,
        edges_of_seeds: 0,
        kept: 0,
        took: Duration::ZERO,
        found: None,
    };
    let mut corpus: Vec<Vec<u8>> = Vec::new();
    let given = target.seeds.iter().map(|seed| seed.to_vec());
    let given: Vec<_> = given
        .chain(read_corpus(settings.corpus.as_deref())?)
        .collect();
    // Inputs that failed before are tried first in every later run.
    let found_before = read_corpus(Some(&found_folder(target)))?;
    let mut waiting = [found_before, given, vec![Vec::new()]].concat().into_iter();
    while report.runs < settings.runs {
        let (input, is_given) = match waiting.next() {
            Some(input) => (input, true),
            None => {
                if report.edges_of_seeds == 0 {
                    report.edges_of_seeds = coverage.reached();
                }
                (next_input(&corpus, &mut random, target), false)
            }
        };
        report.runs += 1;
        match execute(&input, &mut coverage)? {
            Verdict::Failed(message) => {
                report.found = Some(Found { input, message });
                break;
            }
            Verdict::Fine { is_new } if is_new || (is_given && corpus.is_empty()) => {
                if !is_given && let Some(folder) = &settings.corpus {
                    fs::write(folder.join(name_of(&input)), &input)?;
                }
                corpus.push(input);
            }
            Verdict::Fine { .. } => {}
        }
    }
    report.edges = coverage.reached();
    report.kept = corpus.len();
    report.took = begun.elapsed();
    Ok(report)
}

enum Verdict {
    Fine { is_new: bool },
    Failed(String),
}

fn next_input(corpus: &[Vec<u8>], random: &mut Rng, target: &Target) -> Vec<u8> {
    // Inputs in the newer half are mutated twice as often, because something was found there last.
    let first = if random.bool() { corpus.len() / 2 } else { 0 };
    let mut input = corpus[random.usize(first..corpus.len())].clone();
    let other = &corpus[random.usize(..corpus.len())];
    mutate(&mut input, random, target.words, other);
    input
}

/// The folder with the inputs on which a target failed before.
pub fn found_folder(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("found")
        .join(target.name)
}

/// A name that is the same for the same input.
pub fn name_of(input: &[u8]) -> String {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn read_corpus(folder: Option<&Path>) -> io::Result<Vec<Vec<u8>>> {
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        return Ok(Vec::new());
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    // Sorted, so that a seed always gives the same run.
    paths.sort();
    let mut inputs = Vec::new();
    for path in paths {
        let mut input = fs::read(path)?;
        input.truncate(MAX_BYTES);
        inputs.push(input);
    }
    Ok(inputs)
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

/// Makes the system end this program with a signal after this many seconds of processor time; 0 cancels that.
fn limit_processor_time(seconds: u32) {
    /// The timer that counts the time of the program and of the system for it.
    const ITIMER_PROF: i32 = 2;
    let times = [0, 0, i64::from(seconds), 0];
    // SAFETY: on systems with 64 bits, the two times of the structure are each two numbers of this size.
    unsafe { setitimer(ITIMER_PROF, &times, std::ptr::null_mut()) };
}

unsafe extern "C" {
    /// Makes the system end this program with a signal after this many seconds; 0 cancels that.
    safe fn alarm(seconds: u32) -> u32;

    /// Takes the interval after the first signal and the time until then, each in seconds and microseconds.
    fn setitimer(timer: i32, times: &[i64; 4], before: *mut [i64; 4]) -> i32;
}
