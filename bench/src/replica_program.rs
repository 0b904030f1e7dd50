//! A server that runs as several processes: `bench-replica PORT [OPTION…]`.
//!
//! Its tools repeat the number of the request and the caller in their answers, so that a client can check that each
//! answer belongs to it. With `--callers` each request names its caller with a bearer
//! token; with `--durable` streams outlive their process; `--clock` shifts the time of day by this many
//! seconds. Without `--redis` it is a single server, for comparison.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use turnbuckle::{
    Ask, Bearer, Caller, Changes, Form, Http, HttpSettings, ListenerLimits, MemoryBudget, Progress,
    Server, TaskSettings, ToolError,
    protocol::{CreateMessageRequestParams, SamplingMessage},
    resource, stop_signal,
    store::redis::Redis,
    tool,
    transport::http::Settings,
};
use turnbuckle_base::wall_clock;

/// The secret that all processes share.
const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

/// How many connections and sessions a process accepts: those of all clients, in case the other processes are gone.
const MAX_CONNECTIONS: usize = 16_000;

/// How many bytes may be kept for them.
const MAX_KEPT: usize = 1024 * 1024 * 1024;

/// Tasks that may run at once in one process.
const MAX_TASKS: usize = 4_000;

/// The time between two steps of a tool with several steps.
const STEP: Duration = Duration::from_millis(50);

/// The number of steps of a call that ends by itself, and of one that is cancelled.
const FEW_STEPS: u32 = 20;
const MANY_STEPS: u32 = 400;

/// How long a task works.
const WORK: Duration = Duration::from_millis(700);

/// The poll interval that clients are told.
const POLL: Duration = Duration::from_millis(250);

/// By how many milliseconds the clock of this process is shifted.
static OFFSET: AtomicI64 = AtomicI64::new(0);

/// Returns its text argument.
#[tool]
async fn echo(text: String) -> String {
    text
}

/// Answers at once.
#[tool]
async fn order(#[extract] caller: Caller, number: u64) -> String {
    about("order", &caller, number)
}

#[derive(Form)]
struct Reply {
    /// The word that the answer is to contain.
    word: String,
}

/// Asks with a form before it answers.
#[tool]
async fn ask(Ask(ask): Ask, #[extract] caller: Caller, number: u64) -> Result<String, ToolError> {
    let question = about("ask", &caller, number);
    let reply = ask.form::<Reply>("word", question.clone()).await?;
    Ok(format!("{question}: {}", reply.accepted()?.word))
}

/// Asks the model of the client before it answers.
#[tool]
async fn sample(
    Ask(ask): Ask,
    #[extract] caller: Caller,
    number: u64,
) -> Result<String, ToolError> {
    let question = about("sample", &caller, number);
    let message = SamplingMessage::user(question.clone());
    let request = CreateMessageRequestParams::new(vec![message], 100);
    let reply = ask.sample("word", request).await?;
    Ok(format!("{question}: {}", reply.text()))
}

/// Takes a while, and reports each step.
#[tool]
async fn steps(#[extract] progress: Progress, #[extract] caller: Caller, number: u64) -> String {
    go(&progress, FEW_STEPS).await;
    about("steps", &caller, number)
}

/// Takes so long that the client cancels it.
#[tool]
async fn endless(#[extract] progress: Progress, #[extract] caller: Caller, number: u64) -> String {
    go(&progress, MANY_STEPS).await;
    about("endless", &caller, number)
}

async fn go(progress: &Progress, steps: u32) {
    for step in 1..=steps {
        progress.of(step, steps).await;
        tokio::time::sleep(STEP).await;
    }
}

/// Says that the box of its caller has changed.
#[tool]
async fn touch(#[extract] changes: Changes, #[extract] caller: Caller, number: u64) -> String {
    changes.resource(format!("bench://box/{}", caller.id().unwrap_or("nobody")));
    about("touch", &caller, number)
}

/// Works as a task. If its process ends, another one goes on.
#[tool(task_only, restartable)]
async fn job(#[extract] caller: Caller, number: u64) -> String {
    tokio::time::sleep(WORK).await;
    about("job", &caller, number)
}

/// Works as a task. If its process ends, it fails.
#[tool(task_only)]
async fn chore(#[extract] caller: Caller, number: u64) -> String {
    tokio::time::sleep(WORK).await;
    about("chore", &caller, number)
}

/// Asks as a task. If its process ends, another one goes on.
#[tool(task_only, restartable)]
async fn booking(
    Ask(ask): Ask,
    #[extract] caller: Caller,
    number: u64,
) -> Result<String, ToolError> {
    let question = about("booking", &caller, number);
    let reply = ask.form::<Reply>("word", question.clone()).await?;
    Ok(format!("{question}: {}", reply.accepted()?.word))
}

/// The box of a caller.
#[resource("bench://box/{name}")]
async fn boxes(name: String) -> String {
    name
}

fn about(tool: &str, caller: &Caller, number: u64) -> String {
    format!("{tool} {number} for {}", caller.id().unwrap_or("nobody"))
}

/// The arguments of the command line.
#[derive(Default)]
struct Arguments {
    port: u16,
    redis: Option<String>,
    has_callers: bool,
    is_durable: bool,
    clock_seconds: i64,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Self {
            port: words.next()?.parse().ok()?,
            ..Self::default()
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--redis" => arguments.redis = Some(words.next()?),
                "--callers" => arguments.has_callers = true,
                "--durable" => arguments.is_durable = true,
                "--clock" => arguments.clock_seconds = words.next()?.parse().ok()?,
                _ => return None,
            }
        }
        Some(arguments)
    }
}

fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!(
            "usage: bench-replica PORT [--redis URL] [--durable] [--callers] [--clock SECONDS]"
        );
        return ExitCode::from(2);
    };
    OFFSET.store(arguments.clock_seconds * 1000, Ordering::Relaxed);
    // The runtime uses only this thread, so the whole server has this clock.
    let _clock = (arguments.clock_seconds != 0).then(|| wall_clock::replace(shifted));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(serve(arguments)),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The shifted time of day.
fn shifted() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let offset = OFFSET.load(Ordering::Relaxed);
    let by = Duration::from_millis(offset.unsigned_abs());
    let now = now.unwrap_or_default();
    if offset < 0 {
        now.saturating_sub(by)
    } else {
        now.saturating_add(by)
    }
}

async fn serve(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let mut settings = HttpSettings::default();
    settings.max_sessions = MAX_CONNECTIONS;
    settings.max_sessions_per_caller = MAX_CONNECTIONS;
    let mut http = Http::bind(format!("127.0.0.1:{}", arguments.port))
        .settings(settings)
        .connections(Settings::default().with_max_connections(MAX_CONNECTIONS))
        .until(stop_signal());
    if arguments.has_callers {
        http = http.protect(Bearer::new(async |name: String| Some(Caller::new(name))));
    }
    let listeners = ListenerLimits::default().with_total(MAX_CONNECTIONS);
    let memory = MemoryBudget::default().with_kept(MAX_KEPT);
    let tasks = TaskSettings::default().poll_interval(POLL);
    let mut server = Server::new("bench-replica", env!("CARGO_PKG_VERSION"))
        .tool(echo)
        .tool(order)
        .tool(ask)
        .tool(sample)
        .tool(steps)
        .tool(endless)
        .tool(touch)
        .tool(job)
        .tool(chore)
        .tool(booking)
        .resource(boxes)
        .tasks(tasks.max_running(MAX_TASKS))
        .listeners(listeners.with_per_caller(MAX_CONNECTIONS))
        .memory_budget(memory.with_kept_per_caller(MAX_KEPT))
        .secret(SECRET);
    if let Some(url) = arguments.redis {
        server = server.replicas(Redis::open(&url).await?);
        if arguments.is_durable {
            server = server.durable_streams();
        }
    }
    Ok(server.serve(http).await?)
}
