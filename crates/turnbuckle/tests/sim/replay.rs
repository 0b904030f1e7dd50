//! The same seed gives the same run, byte for byte.

use turnbuckle_testing::sim::{Sim, SimulationRun};

use crate::{gateway, sockets, stdio};

/// How many seeds of each program are run twice.
const SEEDS: u64 = 10;

fn replays<F: Future<Output = ()>>(name: &str, program: impl Fn(SimulationRun) -> F) {
    let sim = Sim::new();
    for seed in 0..SEEDS {
        let (first, again) = (sim.trace(seed, &program), sim.trace(seed, &program));
        let differs = first
            .lines()
            .zip(again.lines())
            .position(|(one, other)| one != other);
        if let Some(at) = differs {
            let from = at.saturating_sub(12);
            let shown = |trace: &str| {
                let lines: Vec<_> = trace.lines().skip(from).take(16).collect();
                lines.join("\n")
            };
            panic!(
                "{name}: seed {seed} differs at line {at}\n{}\n--- and again\n{}",
                shown(&first),
                shown(&again)
            );
        }
        assert_eq!(first.len(), again.len(), "{name}: seed {seed} goes on");
        assert!(
            first.lines().count() > 20,
            "{name}: seed {seed} does little"
        );
    }
}

#[test]
fn pipes_replay() {
    replays("pipes", stdio::club_on_pipes);
}

#[test]
fn sockets_replay() {
    replays("sockets", sockets::club_on_sockets);
}

#[test]
fn gateways_replay() {
    replays("gateways", gateway::clubs_behind_a_gateway);
}
