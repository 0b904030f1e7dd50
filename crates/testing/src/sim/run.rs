//! Runs a program once for each seed.

use std::{
    env, fmt,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
    time::{Duration, Instant},
};

use turnbuckle_base::{jitter, wall_clock};

use super::{Faults, SimulationRun};

/// The number of seeds by default. For a small program they take seconds.
const SEEDS: u64 = 200;

/// How long one run may take by default, in simulated time.
const LONGEST_RUN: Duration = Duration::from_hours(2);

/// How long tasks may run on after the program has ended and dropped everything: as long as a silent connection
/// lasts, and a little more.
const LONGEST_END: Duration = Duration::from_mins(5);

/// The start of simulated time, since 1970: 2026-01-01.
const DAY: Duration = Duration::from_hours(490_896);

/// How many of the last lines of a trace are shown, unless the seed was requested with `SIM_SEED`.
const SHOWN_LINES: usize = 60;

/// A simulation: a program that is run once for each seed.
///
/// Environment variables choose the seeds: `SIM_SEED=17` runs only this seed, `SIM_SEEDS=100000` sets how many are
/// run, and `SIM_FIRST=5000` sets the first one, instead of 0.
#[derive(Clone, Debug)]
#[must_use = "nothing runs before `run` or `find`"]
pub struct Sim {
    seeds: Range<u64>,
    faults: Faults,
    longest: Duration,
}

impl Default for Sim {
    fn default() -> Self {
        Self {
            seeds: 0..SEEDS,
            faults: Faults::default(),
            longest: LONGEST_RUN,
        }
    }
}

impl Sim {
    /// Creates a simulation of 200 seeds with the default faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many seeds to run, unless the environment sets it.
    pub fn seeds(mut self, count: u64) -> Self {
        self.seeds = 0..count;
        self
    }

    /// Sets the faults of the network: delays, cut and stalled connections.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Sets how long one run may take in simulated time. Defaults to two hours. A run that takes longer fails
    /// as hanging.
    pub fn within(mut self, time: Duration) -> Self {
        self.longest = time;
        self
    }

    /// Runs the program once for each seed.
    ///
    /// # Panics
    /// If a seed fails. The message contains the seed, the failed checks, and the command that runs it again.
    pub fn run<F: Future<Output = ()>>(self, program: impl Fn(SimulationRun) -> F) -> Report {
        match self.with_environment().find(program) {
            Ok(report) => report,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Runs the program once for each seed until one fails. Environment variables are ignored.
    ///
    /// # Errors
    /// The first seed that fails.
    pub fn find<F: Future<Output = ()>>(
        self,
        program: impl Fn(SimulationRun) -> F,
    ) -> Result<Report, Box<Failure>> {
        let began = Instant::now();
        let mut events = 0;
        let seeds = self.seeds.end - self.seeds.start;
        for seed in self.seeds.clone() {
            let (trace, problems) = self.once(seed, &program);
            events += trace.lines().count();
            if !problems.is_empty() {
                return Err(Box::new(Failure {
                    seed,
                    problems,
                    trace,
                    command: command(seed),
                }));
            }
        }
        let took = began.elapsed();
        Ok(Report {
            seeds,
            events,
            took,
        })
    }

    /// Runs one seed, and returns its trace, a line for each event. The same seed gives the same text.
    pub fn trace<F: Future<Output = ()>>(
        &self,
        seed: u64,
        program: impl Fn(SimulationRun) -> F,
    ) -> String {
        self.once(seed, &program).0
    }

    fn once<F: Future<Output = ()>>(
        &self,
        seed: u64,
        program: &impl Fn(SimulationRun) -> F,
    ) -> (String, Vec<String>) {
        // Without I/O: a simulation that opens a real socket fails.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a thread can have a runtime");
        let _jitter = jitter::seed(seed);
        let _clock = runtime.block_on(async { simulated_clock() });
        let longest = self.longest;
        let run = runtime.block_on(async { SimulationRun::new(seed, self.faults) });
        let body = AssertUnwindSafe(|| {
            runtime.block_on(async {
                let ended = tokio::time::timeout(longest, program(run.clone())).await;
                if ended.is_err() {
                    run.problem(format_args!("the run did not end within {longest:?}"));
                    return;
                }
                all_ended(&run).await;
            });
        });
        if let Err(panic) = catch_unwind(body) {
            let said = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied());
            // Outside the runtime, the trace would have the time of the real clock.
            let _inside = runtime.enter();
            run.problem(format_args!("panicked: {}", said.unwrap_or("?")));
        }
        let outcome = (run.trace(), run.problems());
        drop(runtime);
        outcome
    }

    fn with_environment(mut self) -> Self {
        let number = |name| {
            env::var(name)
                .ok()
                .and_then(|text| text.parse::<u64>().ok())
        };
        if let Some(count) = number("SIM_SEEDS") {
            self.seeds = 0..count;
        }
        if let Some(first) = number("SIM_FIRST") {
            self.seeds = first..first.saturating_add(self.seeds.end);
        }
        if let Some(seed) = number("SIM_SEED") {
            self.seeds = seed..seed.saturating_add(1);
        }
        self
    }
}

/// The command that runs one seed again. The name of the test is the name of its thread, and cargo sets the name of
/// the package.
fn command(seed: u64) -> String {
    let package = env::var("CARGO_PKG_NAME").map_or(String::new(), |name| format!(" -p {name}"));
    match thread::current().name() {
        Some(test) if test != "main" => {
            format!("SIM_SEED={seed} cargo test{package} -- --exact {test}")
        }
        _ => format!("SIM_SEED={seed}, and the same program"),
    }
}

/// Makes the time of day start with the run, and advance with its clock.
fn simulated_clock() -> wall_clock::Replaced {
    thread_local! {
        static BEGAN: std::cell::Cell<Option<tokio::time::Instant>> =
            const { std::cell::Cell::new(None) };
    }
    BEGAN.set(Some(tokio::time::Instant::now()));
    wall_clock::replace(|| DAY + BEGAN.get().map_or(Duration::ZERO, |began| began.elapsed()))
}

/// Waits until no task is left. A task that does not end is a leak.
async fn all_ended(run: &SimulationRun) {
    let metrics = tokio::runtime::Handle::current().metrics();
    let last = tokio::time::Instant::now() + LONGEST_END;
    run.network().calm();
    while metrics.num_alive_tasks() > 0 {
        if tokio::time::Instant::now() > last {
            let count = metrics.num_alive_tasks();
            run.problem(format_args!(
                "{count} tasks still run although the program has dropped everything"
            ));
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// The result of a simulation that succeeded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// How many seeds were run.
    pub seeds: u64,
    /// How many events happened in all of them.
    pub events: usize,
    /// How long the simulation took, in real time.
    pub took: Duration,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} seeds, {} events, {:.1?}",
            self.seeds, self.events, self.took
        )
    }
}

/// A seed that failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The seed. Run it again with `SIM_SEED`.
    pub seed: u64,
    /// The failed checks, in the order in which they were noticed.
    pub problems: Vec<String>,
    /// The trace of all events.
    pub trace: String,
    command: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&str> = self.trace.lines().collect();
        // If the seed was requested with `SIM_SEED`, all lines are shown.
        let most = env::var("SIM_SEED").map_or(SHOWN_LINES, |_| lines.len());
        let shown = lines.len().saturating_sub(most);
        writeln!(f, "seed {} fails:", self.seed)?;
        for problem in &self.problems {
            writeln!(f, "  {problem}")?;
        }
        writeln!(f, "the last of {} events, with times in ms:", lines.len())?;
        for line in &lines[shown..] {
            writeln!(f, "{line}")?;
        }
        write!(f, "run it again with {}", self.command)
    }
}

impl std::error::Error for Failure {}
