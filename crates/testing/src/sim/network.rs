//! Servers by name, and connections to them.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};

use tokio::sync::mpsc;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::{ByteStream, Listener};

use super::{
    Faults, Random,
    trace::Trace,
    wire::{Breaker, End, connection},
};

/// The number of connections that may wait to be accepted: the usual default of systems.
const BACKLOG: usize = 128;

/// The network of a simulation. Clones refer to the same network.
#[derive(Clone)]
pub struct Network(Arc<NetworkShared>);

struct NetworkShared {
    state: Mutex<NetworkState>,
    trace: Trace,
}

struct NetworkState {
    faults: Faults,
    random: Random,
    /// Where servers listen, by name.
    listeners: BTreeMap<String, mpsc::Sender<(ByteStream, SocketAddr)>>,
    /// The connections that were opened, each with the server that it leads to.
    open: Vec<(String, Breaker)>,
    count: u64,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

impl Network {
    pub(super) fn new(faults: Faults, random: Random, trace: Trace) -> Self {
        let state = NetworkState {
            faults,
            random,
            listeners: BTreeMap::new(),
            open: Vec::new(),
            count: 0,
        };
        Self(Arc::new(NetworkShared {
            state: Mutex::new(state),
            trace,
        }))
    }

    /// Listens under a name, and replaces an earlier listener of this name.
    pub fn listen(&self, name: &str) -> Listener {
        let (sender, streams) = mpsc::channel(BACKLOG);
        let mut state = self.0.state.lock();
        state.listeners.insert(name.to_owned(), sender);
        Listener::from_streams(streams)
    }

    /// Opens a connection to a server that listens under a name.
    ///
    /// # Errors
    /// If no server listens there, or the network refuses the connection.
    pub async fn dial(&self, name: &str) -> io::Result<End> {
        let pause = self.0.state.lock().pause();
        tokio::time::sleep(pause).await;
        let listener = self.0.state.lock().listeners.get(name).cloned();
        let Some(listener) = listener.filter(|_| !self.is_refused()) else {
            self.0.trace.note(format_args!("refused {name}"));
            return Err(io::ErrorKind::ConnectionRefused.into());
        };
        let (client, server) = self.pair(name);
        // Clients are on other machines than the server, so limits per address apply to them.
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4000);
        match listener.try_send((ByteStream::new(server), address)) {
            Ok(()) => Ok(client),
            Err(_) => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }

    /// Creates two ends that are connected to each other: a pipe, like that of a server on stdio.
    pub fn pair(&self, name: &str) -> (End, End) {
        let mut state = self.0.state.lock();
        let state = &mut *state;
        state.count += 1;
        let label = format!("{name}#{}", state.count);
        let fates = [(); 2].map(|()| state.faults.draw(&mut state.random));
        let random = state.random.fork();
        let (client, server, breaker) = connection(label, fates, random, self.0.trace.clone());
        state.open.retain(|(_, breaker)| breaker.is_open());
        state.open.push((name.to_owned(), breaker));
        (client, server)
    }

    /// Cuts every connection to a server.
    pub fn cut(&self, name: &str) {
        for (server, breaker) in &self.0.state.lock().open {
            if server == name {
                breaker.cut();
            }
        }
    }

    /// Removes a server's name: new connections are refused, and open ones are cut.
    pub fn unplug(&self, name: &str) {
        self.0.state.lock().listeners.remove(name);
        self.cut(name);
    }

    /// Ends all faults: from now on the network only delays messages. Silent connections are given up at once.
    pub fn calm(&self) {
        self.0.trace.note(format_args!("the network is calm"));
        let mut state = self.0.state.lock();
        state.faults = Faults::none().with_delay(state.faults.delay);
        for (_, breaker) in &state.open {
            breaker.calm();
        }
    }

    /// Whether bytes may be held up for longer than the delay, by a silent connection or a slow reader.
    /// If not, each request is answered in time, or its connection ends with an error.
    pub fn may_stall(&self) -> bool {
        let faults = self.0.state.lock().faults;
        faults.half_open > 0 || faults.slow_readers > 0
    }

    fn is_refused(&self) -> bool {
        let mut state = self.0.state.lock();
        let refusals = state.faults.refusals;
        state.random.chance(refusals)
    }
}

impl NetworkState {
    fn pause(&mut self) -> std::time::Duration {
        self.random.time(self.faults.delay)
    }
}
