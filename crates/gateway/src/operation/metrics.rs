//! Counters in the format of Prometheus.

use std::{fmt::Write as _, sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use turnbuckle_host::ServerId;

use crate::{lock::LockDifference, observe::CallerCounts};

/// Upper bounds in seconds, from a fast call to one that a person answers.
const BUCKETS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0,
];

/// The counters of a gateway, for Prometheus. Their labels have few values: methods of the
/// protocol, outcomes, and servers of the config. There is no label for callers.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<MethodLabels, Histogram>,
    running: Gauge,
    parked: Gauge,
    servers: Family<ServerLabels, Gauge>,
    restarts: Family<ServerLabels, Counter>,
    lost_lines: Counter<u64, AtomicU64>,
    lock: Family<LockLabels, Gauge>,
    of_callers: Family<CallerLabels, Gauge>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallerLabels {
    server: String,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LockLabels {
    server: String,
    effect: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MethodLabels {
    method: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServerLabels {
    server: String,
}

impl Default for Metrics {
    fn default() -> Self {
        let seconds = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> _);
        let mut metrics = Self {
            registry: Registry::default(),
            requests: Family::default(),
            seconds,
            running: Gauge::default(),
            parked: Gauge::default(),
            servers: Family::default(),
            restarts: Family::default(),
            lost_lines: Counter::default(),
            lock: Family::default(),
            of_callers: Family::default(),
        };
        let registry = &mut metrics.registry;
        let prefix = |name: &str| format!("turnbuckle_gateway_{name}");
        registry.register(
            prefix("requests"),
            "Requests that were answered, denied or cancelled",
            metrics.requests.clone(),
        );
        registry.register(
            prefix("request_seconds"),
            "How long requests took",
            metrics.seconds.clone(),
        );
        registry.register(
            prefix("running_requests"),
            "Requests that are being served",
            metrics.running.clone(),
        );
        registry.register(
            prefix("parked_calls"),
            "Calls that wait for answers of a client",
            metrics.parked.clone(),
        );
        registry.register(
            prefix("server_up"),
            "Whether a server answers (1) or not (0)",
            metrics.servers.clone(),
        );
        registry.register(
            prefix("server_failures"),
            "How often a server failed",
            metrics.restarts.clone(),
        );
        registry.register(
            prefix("lost_log_lines"),
            "Lines of the access log that were not written",
            metrics.lost_lines.clone(),
        );
        registry.register(
            prefix("lock_differences"),
            "Tools, prompts and instructions that differ from the lock file",
            metrics.lock.clone(),
        );
        registry.register(
            prefix("caller_servers"),
            "Callers that have a server with credentials of their own, by its state",
            metrics.of_callers.clone(),
        );
        metrics
    }
}

impl Metrics {
    pub(super) fn began(&self) {
        self.running.inc();
    }

    pub(super) fn ended(&self) {
        self.running.dec();
    }

    pub(super) fn request(&self, method: &'static str, outcome: &'static str, took: Duration) {
        let labels = RequestLabels { method, outcome };
        self.requests.get_or_create(&labels).inc();
        let seconds = self.seconds.get_or_create(&MethodLabels { method });
        seconds.observe(took.as_secs_f64());
    }

    /// Sets whether a server is ready. Call it when the state of a server changes, for example from
    /// [`Gateway::on_state`](crate::Gateway::on_state).
    pub fn server(&self, id: &str, is_ready: bool) {
        let server = id.to_owned();
        let gauge = self.servers.get_or_create(&ServerLabels { server });
        gauge.set(is_ready.into());
    }

    /// Counts a failure of a server, and marks it as not ready.
    pub fn server_failed(&self, id: &str) {
        self.server(id, false);
        let server = id.to_owned();
        self.restarts.get_or_create(&ServerLabels { server }).inc();
    }

    /// Removes the counters of a server that the gateway no longer has.
    pub fn server_removed(&self, id: &str) {
        let labels = ServerLabels {
            server: id.to_owned(),
        };
        self.servers.remove(&labels);
        self.restarts.remove(&labels);
    }

    /// Sets the differences from the lock file, as returned by
    /// [`LiveGateway::lock_differences`](crate::LiveGateway::lock_differences).
    pub fn lock_differences(&self, differences: &[LockDifference]) {
        self.lock.clear();
        for difference in differences {
            let labels = LockLabels {
                server: difference.server.clone(),
                effect: difference.effect.as_str(),
            };
            self.lock.get_or_create(&labels).inc();
        }
    }

    /// Sets how many callers have each server that callers reach with their own credentials, as
    /// returned by [`LiveGateway::caller_servers`](crate::LiveGateway::caller_servers).
    pub fn caller_servers(&self, servers: &[(ServerId, CallerCounts)]) {
        self.of_callers.clear();
        for (server, counts) in servers {
            let states = [
                ("ready", counts.ready),
                ("starting", counts.starting),
                ("failed", counts.failed),
            ];
            for (state, count) in states {
                let labels = CallerLabels {
                    server: server.to_string(),
                    state,
                };
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                self.of_callers.get_or_create(&labels).set(count);
            }
        }
    }

    /// Sets how many calls wait for answers of their clients, as returned by
    /// [`LiveGateway::parked`](crate::LiveGateway::parked).
    pub fn parked(&self, calls: usize) {
        self.parked.set(i64::try_from(calls).unwrap_or(i64::MAX));
    }

    pub(super) fn lost_lines(&self, lines: u64) {
        let known = self.lost_lines.get();
        self.lost_lines.inc_by(lines.saturating_sub(known));
    }

    /// All counters in the text format of OpenMetrics, which Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if let Err(error) = text::encode(&mut text, &self.registry) {
            let _ = write!(text, "# {error}");
        }
        text
    }
}
