//! A gateway between clients and two servers, one of each era. All three crash and come back.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use turnbuckle::{
    Caller, LiveServer, Revision,
    client::Target,
    gateway::{
        Gateway, Isolation, LiveGateway, UpstreamSettings,
        personal::{CallerAccess, SignIn},
    },
    host::ServerSpec,
};
use turnbuckle_server::BoxFuture;
use turnbuckle_testing::sim::{Faults, Random, Sim, SimulatedMachine, SimulationRun};

use crate::{
    afternoon, club,
    intruder::{Intruder, SeenRequests},
    ledger::Ledger,
    member::Member,
    sockets,
};

/// How long the gateway keeps calls whose clients have disappeared.
const PARKED: Duration = Duration::from_mins(2);

/// How long it may take after the network recovers until servers are connected again: the longest wait after
/// failures, and a start.
const READY: Duration = Duration::from_mins(3);

/// How long it may take until lists that could not be read are read again.
const LISTED: Duration = Duration::from_mins(1);

/// A server behind the gateway.
struct Behind {
    run: SimulationRun,
    ledger: Ledger,
    name: &'static str,
    revision: Revision,
    isolation: Isolation,
    is_pipe: bool,
    /// Whether each caller has its own credentials for the server, and its own session.
    is_personal: bool,
    /// The server, while it runs.
    live: Arc<Mutex<Option<LiveServer>>>,
    machine: Option<SimulatedMachine>,
}

impl Behind {
    fn new(run: &SimulationRun, ledger: &Ledger, random: &mut Random, is_modern: bool) -> Self {
        let all = [
            Isolation::Shared,
            Isolation::Caller,
            Isolation::Client,
            Isolation::Call,
        ];
        let (legacy, modern) = Revision::ALL.split_at(Revision::ALL.len() - 1);
        let is_pipe = random.chance(400);
        let server = Self {
            run: run.clone(),
            ledger: ledger.clone(),
            name: if is_modern { "new" } else { "old" },
            revision: *random.pick(if is_modern { modern } else { legacy }),
            isolation: *random.pick(&all),
            is_pipe,
            is_personal: !is_pipe && random.chance(500),
            live: Arc::default(),
            machine: None,
        };
        let way = match (server.is_pipe, server.is_personal) {
            (true, _) => "on a pipe",
            (_, true) => "at a URL, for each caller",
            (_, false) => "at a URL",
        };
        let Self {
            name,
            revision,
            isolation,
            ..
        } = &server;
        run.note(format_args!("{name} is {way}: {revision}, {isolation:?}"));
        server
    }

    fn start(&mut self) {
        let server = club::server_at(&self.ledger, self.name).build();
        let server = server.expect("the club is set up");
        if self.is_personal {
            let machine = self.run.serve_at(self.name, &server, |http| {
                http.settings(sockets::settings()).protect(sockets::door())
            });
            self.machine = Some(machine);
        } else if !self.is_pipe {
            let machine = self.run.serve_at(self.name, &server, |http| {
                http.settings(sockets::settings())
            });
            self.machine = Some(machine);
        }
        *self.live.lock().expect("no panic") = Some(server);
    }

    /// Checks that the server keeps nothing for a gateway that has disappeared.
    async fn forgets(&self) {
        let live = self.live.lock().expect("no panic").clone();
        let live = live.expect("it runs");
        let at = (!self.is_pipe).then_some(self.name);
        afternoon::forgets(&self.run, &live, at).await;
    }

    fn crash(&mut self) {
        self.machine.take().inspect(SimulatedMachine::crash);
        self.run.network().cut(self.name);
        self.live.lock().expect("no panic").take();
    }

    /// How the gateway reaches it.
    fn spec(&self) -> ServerSpec {
        let (run, name) = (self.run.clone(), self.name);
        if !self.is_pipe {
            return ServerSpec::from_http(move || run.target(name));
        }
        let live = Arc::clone(&self.live);
        ServerSpec::from_fn(move || match &*live.lock().expect("no panic") {
            Some(server) => run.pipe(name, server, Caller::local()),
            // The other end is closed at once, as by a program that does not start.
            None => Target::from(tokio::io::split(run.network().pair(name).0)),
        })
    }

    fn settings(&self) -> UpstreamSettings {
        UpstreamSettings::new()
            .revision(self.revision)
            .isolation(self.isolation)
    }
}

/// The credentials of each caller for a server: its name.
struct Names {
    run: SimulationRun,
    server: &'static str,
}

impl CallerAccess for Names {
    fn server_for<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        let (run, server) = (self.run.clone(), self.server);
        let name = caller.id().map(str::to_owned);
        let spec = name.map(|name| {
            ServerSpec::from_http(move || {
                run.target(server)
                    .header("authorization", format!("Bearer {name}"))
            })
        });
        Box::pin(async { spec })
    }

    fn has_sign_in(&self) -> bool {
        false
    }

    fn sign_in<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
        Box::pin(async { Err("every caller has a name".to_owned()) })
    }
}

/// The gateway, while it runs.
struct Front {
    gateway: LiveGateway,
    machine: SimulatedMachine,
}

impl Front {
    fn start(run: &SimulationRun, behind: &[Behind]) -> Self {
        let gateway = Gateway::new("front", "1.0.0")
            .secret(&[9; 32])
            .park_for(PARKED);
        let gateway = behind.iter().fold(gateway, |gateway, server| {
            let settings = server.settings();
            if server.is_personal {
                let names = Names {
                    run: run.clone(),
                    server: server.name,
                };
                gateway.server_per_caller(server.name, Arc::new(names), settings)
            } else {
                gateway.server_with(server.name, server.spec(), settings)
            }
        });
        let gateway = gateway.open().expect("the gateway is set up");
        let machine = run.serve_at("club", gateway.server(), |http| {
            http.settings(sockets::settings()).protect(sockets::door())
        });
        Self { gateway, machine }
    }

    /// Simulates a power failure: the gateway's connections to clients and servers are cut.
    fn crash(self, run: &SimulationRun, behind: &[Behind]) {
        self.machine.crash();
        for server in behind {
            run.network().cut(server.name);
        }
    }

    /// Waits until all servers are connected, with their lists.
    async fn is_ready(&self, run: &SimulationRun) {
        tokio::time::sleep(LISTED).await;
        let ready = async {
            while !self
                .gateway
                .states()
                .iter()
                .all(|(_, state)| state.is_ready())
            {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        if tokio::time::timeout(READY, ready).await.is_err() {
            let states = self.gateway.states();
            run.problem(format_args!("the servers do not come back: {states:?}"));
        }
    }

    /// Checks that nothing is kept for clients that have left.
    async fn forgets(&self, run: &SimulationRun) {
        tokio::time::sleep(PARKED + Duration::from_secs(10)).await;
        let count = self.gateway.parked();
        if count > 0 {
            run.problem(format_args!("{count} calls are parked for good"));
        }
        afternoon::forgets(run, self.gateway.server(), Some("club")).await;
    }
}

/// Members of every revision at the gateway, each of which uses one of the servers.
fn members(
    run: &SimulationRun,
    ledger: &Ledger,
    random: &mut Random,
    behind: &[Behind],
    seen: &SeenRequests,
) -> Vec<Member> {
    let mut members = sockets::members(run, ledger, random, seen);
    for member in &mut members {
        let server = random.pick(behind);
        if !server.is_personal {
            // The server knows the gateway, but not the client behind it.
            member.known_as = "somebody";
        }
        member.is_direct = false;
        member.place = server.name;
        member.asked_in = member.revision.min(server.revision);
        member.runs_once = !server.revision.is_modern();
        member.may_be_refused = server.is_pipe && !server.revision.is_modern();
    }
    members
}

pub(crate) async fn clubs_behind_a_gateway(run: SimulationRun) {
    let ledger = Ledger::new(&run);
    let mut random = run.random();
    let mut behind = [false, true].map(|era| Behind::new(&run, &ledger, &mut random, era));
    behind.iter_mut().for_each(Behind::start);
    let mut front = Front::start(&run, &behind);
    let seen = SeenRequests::default();
    let members = members(&run, &ledger, &mut random, &behind, &seen);
    let intruder = Intruder::start(&run, &seen, &["club"]);
    let crashes = async {
        for _ in 0..random.below(4) {
            run.pause(Duration::from_secs(8)).await;
            match random.below(3) {
                2 => {
                    front.crash(&run, &behind);
                    run.pause(Duration::from_secs(2)).await;
                    front = Front::start(&run, &behind);
                }
                number => {
                    let server = &mut behind[usize::from(number == 1)];
                    server.crash();
                    run.pause(Duration::from_secs(2)).await;
                    server.start();
                }
            }
        }
        front
    };
    let mut left = None;
    let meanwhile = async { left = Some(crashes.await) };
    afternoon::come_and_go(&run, &members, meanwhile).await;
    let front = left.expect("the crashes are over");
    front.is_ready(&run).await;
    afternoon::recover(&run, members).await;
    intruder.stop().await;
    front.forgets(&run).await;
    front.crash(&run, &behind);
    for server in &behind {
        server.forgets().await;
    }
    behind.iter_mut().for_each(Behind::crash);
    afternoon::end(&ledger).await;
}

#[test]
fn a_gateway_keeps_the_promises_of_the_servers_behind_it() {
    println!("{}", Sim::new().seeds(200).run(clubs_behind_a_gateway));
}

#[test]
fn a_call_through_a_gateway_is_answered_or_lost_with_a_connection() {
    let faults = Faults::default().with_half_open(0).with_slow_readers(0);
    let sim = Sim::new().seeds(60).faults(faults);
    println!("{}", sim.run(clubs_behind_a_gateway));
}
