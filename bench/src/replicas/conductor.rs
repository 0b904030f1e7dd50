//! Carries out the events on a separate thread, because it waits for processes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::{
    event::{Event, Events},
    guest::Run,
    history::Harm,
    recovery::Kill,
    site::Replica,
    store::Store,
    tally::Fault,
};
use crate::Result;

/// The processes that can be killed and stopped.
pub(super) struct Conductor {
    pub(super) run: Arc<Run>,
    pub(super) replicas: Vec<Replica>,
    pub(super) store: Store,
    /// Where each kill of a replica is reported.
    pub(super) kills: mpsc::UnboundedSender<Kill>,
}

impl Conductor {
    /// Carries out one event after another until the time is over; returns how many.
    pub(super) fn conduct(&mut self, seed: u64, until: Instant) -> Result<usize> {
        let mut count = 0;
        for (event, calm_ms) in Events::new(seed) {
            if Instant::now() >= until {
                break;
            }
            self.run.tally.say(&event.to_string());
            self.perform(event)?;
            count += 1;
            sleep_ms(calm_ms);
        }
        Ok(count)
    }

    fn perform(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Kill { replica, down_ms } => self.kill(replica, down_ms, None),
            Event::Clock {
                replica,
                down_ms,
                seconds,
            } => self.kill(replica, down_ms, Some(seconds)),
            Event::Stop { replica, for_ms } => {
                let stopped = self.run.history.begin(Harm::Stopped);
                self.replicas[replica].signal("-STOP")?;
                sleep_ms(for_ms);
                self.replicas[replica].signal("-CONT")?;
                self.run.history.end(stopped);
                Ok(())
            }
            Event::Roll => self.roll(),
            Event::RestartRedis { down_ms } => {
                let away = self.store.away(Duration::from_millis(down_ms));
                let harm = self.run.history.begin(self.store.harm());
                let port = self.store.kill();
                std::thread::sleep(away);
                self.store.start_again(port);
                self.run.history.end(harm);
                Ok(())
            }
            Event::SleepRedis { for_ms } => {
                let harm = self.run.history.begin(Harm::Redis);
                let seconds = format!("{}.{:03}", for_ms / 1000, for_ms % 1000);
                self.store.tell(&["DEBUG", "SLEEP", &seconds]);
                self.run.history.end(harm);
                Ok(())
            }
            Event::CloseConnections => {
                let harm = self.run.history.begin(Harm::Redis);
                for kind in ["pubsub", "normal"] {
                    self.store.tell(&["CLIENT", "KILL", "TYPE", kind]);
                }
                self.run.history.end(harm);
                Ok(())
            }
            Event::KillBoth { replica, down_ms } => {
                let away = self.store.away(Duration::from_millis(down_ms));
                let harm = self.run.history.begin(self.store.harm());
                let port = self.store.kill();
                let killed = self.run.history.begin(Harm::Killed);
                self.say_killed(replica, "a replica and Redis")?;
                std::thread::sleep(away);
                self.store.start_again(port);
                self.run.history.end(harm);
                self.replicas[replica].start_again(None)?;
                self.run.history.end(killed);
                Ok(())
            }
        }
    }

    fn kill(&mut self, replica: usize, down_ms: u64, clock: Option<i64>) -> Result<()> {
        let killed = self.run.history.begin(Harm::Killed);
        self.say_killed(replica, "a replica")?;
        sleep_ms(down_ms);
        self.replicas[replica].start_again(clock)?;
        self.run.history.end(killed);
        Ok(())
    }

    fn say_killed(&mut self, replica: usize, what: &'static str) -> Result<()> {
        self.replicas[replica].kill()?;
        // At the end of the run there is no receiver any more.
        let at = tokio::time::Instant::now();
        let _ = self.kills.send(Kill { at, what });
        Ok(())
    }

    /// A rolling restart: each replica ends in order, and a new process takes its place.
    fn roll(&mut self) -> Result<()> {
        for (number, replica) in self.replicas.iter_mut().enumerate() {
            let ending = self.run.history.begin(Harm::Ending);
            if let Err(problem) = replica.end() {
                let who = format!("replica {number}");
                self.run
                    .tally
                    .fault(Fault::Hung, &who, &problem.to_string());
                replica.kill()?;
            }
            replica.start_again(None)?;
            self.run.history.end(ending);
        }
        Ok(())
    }
}

fn sleep_ms(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}
