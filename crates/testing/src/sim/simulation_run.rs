//! The interface for simulated programs: the network, random numbers, servers, and the checks.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::task::{AbortHandle, JoinHandle};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{Client, HttpTarget, Target};
use turnbuckle_server::{Caller, Http, LiveServer, Streams};
use turnbuckle_transport::http::ByteStream;

use super::{Faults, Network, Random, audit::Audit, trace::Trace};

/// One run of a simulation. Clones refer to the same run.
#[derive(Clone)]
pub struct SimulationRun(Arc<RunShared>);

struct RunShared {
    seed: u64,
    random: Mutex<Random>,
    network: Network,
    trace: Trace,
    problems: Mutex<Vec<String>>,
    audits: AtomicU64,
}

impl fmt::Debug for SimulationRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulationRun")
            .field("seed", &self.0.seed)
            .finish_non_exhaustive()
    }
}

impl SimulationRun {
    pub(super) fn new(seed: u64, faults: Faults) -> Self {
        let mut random = Random::new(seed);
        let trace = Trace::new();
        let network = Network::new(faults, random.fork(), trace.clone());
        Self(Arc::new(RunShared {
            seed,
            random: Mutex::new(random),
            network,
            trace,
            problems: Mutex::default(),
            audits: AtomicU64::new(0),
        }))
    }

    /// The seed of this run.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// Returns a sequence of random numbers for one part of the run.
    pub fn random(&self) -> Random {
        self.0.random.lock().fork()
    }

    /// Returns the network of this run.
    pub fn network(&self) -> &Network {
        &self.0.network
    }

    /// Writes a line into the trace of the run. It must not contain data that differs from run to run, such
    /// as session ids.
    pub fn note(&self, event: impl fmt::Display) {
        self.0.trace.note(format_args!("{event}"));
    }

    /// Reports a problem: the run fails when it ends.
    pub fn problem(&self, problem: impl fmt::Display) {
        self.0.trace.note(format_args!("PROBLEM {problem}"));
        self.0.problems.lock().push(problem.to_string());
    }

    /// Waits for a random time, at most `longest`.
    pub async fn pause(&self, longest: Duration) {
        let time = self.random().time(longest);
        tokio::time::sleep(time).await;
    }

    /// Spawns a task. If the task panics, the run fails.
    pub fn spawn<F>(&self, name: &str, work: F) -> JoinHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (run, name) = (self.clone(), name.to_owned());
        let work = tokio::spawn(work);
        tokio::spawn(async move {
            if let Err(error) = work.await
                && error.is_panic()
            {
                let panic = error.into_panic();
                let said = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied());
                run.problem(format_args!("{name} panicked: {}", said.unwrap_or("?")));
            }
        })
    }

    /// Serves over HTTP at `http://name/mcp` until the machine crashes or is stopped.
    pub fn serve(&self, name: &str, server: &LiveServer) -> SimulatedMachine {
        self.serve_at(name, server, |http| http)
    }

    /// Like [`serve`](Self::serve), with other HTTP settings, such as a guard or limits.
    pub fn serve_at(
        &self,
        name: &str,
        server: &LiveServer,
        set_up: impl FnOnce(Http) -> Http,
    ) -> SimulatedMachine {
        let http = set_up(Http::listener(self.0.network.listen(name)));
        let served = server.clone();
        let run = self.clone();
        let label = name.to_owned();
        let task = tokio::spawn(async move {
            if let Err(error) = served.serve(http).await {
                run.problem(format_args!("server `{label}` ended: {error}"));
            }
        });
        self.note(format_args!("{name} listens"));
        SimulatedMachine {
            run: self.clone(),
            name: name.to_owned(),
            task: task.abort_handle(),
        }
    }

    /// A server at its URL on this network, for [`Client::connect`].
    pub fn target(&self, name: &str) -> HttpTarget {
        self.at(format!("http://{name}/mcp"))
    }

    /// A target with any URL on this network. The host is the name of the server.
    pub fn at(&self, url: impl Into<String>) -> HttpTarget {
        let network = self.0.network.clone();
        HttpTarget::new(url).dial_with(move |host, _| {
            let network = network.clone();
            async move { network.dial(&host).await.map(ByteStream::new) }
        })
    }

    /// A server at the other end of a pipe, like one on stdio. It serves until the pipe is closed.
    pub fn pipe(&self, name: &str, server: &LiveServer, caller: Caller) -> Target {
        let (near, far) = self.0.network.pair(name);
        let (read, write) = tokio::io::split(far);
        let server = server.clone();
        tokio::spawn(async move {
            // An error is expected: the simulation may cut the pipe.
            let _ = server.serve(Streams::new(read, write).caller(caller)).await;
        });
        Target::from(tokio::io::split(near))
    }

    /// A client whose messages are [checked](super#what-is-checked). Use it for one connection.
    pub fn audited(&self, client: Client) -> Client {
        let audit = self.audit();
        client.on_wire(move |passing| audit.see(&passing))
    }

    /// Returns an audit that checks the messages of one connection, for your own [`Client::on_wire`].
    pub fn audit(&self) -> Audit {
        let number = self.0.audits.fetch_add(1, Ordering::Relaxed);
        Audit::new(self.clone(), number)
    }

    pub(super) fn problems(&self) -> Vec<String> {
        self.0.problems.lock().clone()
    }

    pub(super) fn trace(&self) -> String {
        self.0.trace.text()
    }
}

/// A simulated machine on which a server runs. Dropping it does not stop the server.
#[derive(Debug)]
pub struct SimulatedMachine {
    run: SimulationRun,
    name: String,
    task: AbortHandle,
}

impl SimulatedMachine {
    /// Simulates a power failure: connections are cut, and the server's tasks are dropped wherever they are.
    ///
    /// Drop the [`LiveServer`] as well: this ends the tasks that it runs in the background.
    pub fn crash(&self) {
        self.run.note(format_args!("{} crashes", self.name));
        self.task.abort();
        self.run.network().unplug(&self.name);
    }
}
