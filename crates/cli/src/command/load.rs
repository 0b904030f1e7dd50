//! `turnbuckle load`: makes many calls, and measures how long they take.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use clap::Args;
use serde_json::json;
use turnbuckle_command_line::{
    failure::{Code, Failed, Outcome},
    style::elapsed,
    target::{Server, ServerArguments},
};

use super::call::{self, Misspelt};
use crate::{
    runtime::block_on,
    session::{self, Session},
    show::{print, print_json},
};

/// Call a tool many times, several at once, and print percentiles.
#[derive(Args)]
pub(crate) struct Load {
    /// The server, the tool, and its arguments, as for `call`.
    #[arg(value_name = "SERVER TOOL KEY=VALUE")]
    words: Vec<String>,

    /// How many calls.
    #[arg(long, short = 'n', value_name = "N", default_value = "500", value_parser = count)]
    calls: usize,

    /// How many at once.
    #[arg(long, short = 'c', value_name = "N", default_value = "8", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(load: &Load) -> Outcome {
    let (server, rest) = load.server.split(&load.words)?;
    let (tool, words) = rest
        .split_first()
        .ok_or_else(|| Failed::usage("no tool was named"))?;
    let work = async |session: Session| load.on(&server, &session, tool, words).await;
    block_on(session::open_ended(
        &load.server.options,
        None,
        &server,
        work,
    ))
}

impl Load {
    async fn on(
        &self,
        server: &Server,
        session: &Session,
        name: &str,
        words: &[String],
    ) -> Outcome {
        let tools = session.connection.tools().await?;
        let tool = call::find(server, &tools, name)?;
        let arguments = call::arguments(tool, words, Misspelt::Sent)?;
        let left = Cell::new(self.calls);
        let times = RefCell::new(Vec::with_capacity(self.calls.min(MAX_TIMES)));
        let errors = Errors::default();
        let started = Instant::now();
        let caller = async || {
            while left.get() > 0 {
                left.set(left.get() - 1);
                let sent = Instant::now();
                match session.connection.call(name, &*arguments).await {
                    Ok(output) if output.is_error == Some(true) => {
                        errors.add(|| Failed::new(Code::Tool, output.text()));
                    }
                    Ok(_) => times.borrow_mut().push(sent.elapsed()),
                    Err(error) => {
                        errors.add(|| Failed::from(error).as_it_came(session.wire.errors()));
                    }
                }
            }
        };
        let mut callers: Vec<_> = (0..self.concurrency).map(|_| Box::pin(caller())).collect();
        std::future::poll_fn(|context| {
            callers.retain_mut(|caller| caller.as_mut().poll(context).is_pending());
            if callers.is_empty() {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        drop(callers);
        self.tell(times.into_inner(), errors, started.elapsed())
    }

    fn tell(&self, mut times: Vec<Duration>, errors: Errors, took: Duration) -> Outcome {
        let (failures, first) = (errors.count.get(), errors.first.into_inner());
        times.sort_unstable();
        let [p50, p90, p99, most] = [50, 90, 99, 100].map(|percent| at(&times, percent));
        #[expect(
            clippy::cast_precision_loss,
            reason = "a rate is shown in whole numbers"
        )]
        let rate = (times.len() as f64 / took.as_secs_f64()).round();
        if self.json {
            // If no call succeeded, there is no time to report.
            let ms = |time: Duration| (!times.is_empty()).then_some(time.as_secs_f64() * 1000.0);
            let mut told = json!({
                "calls": times.len() + failures, "errors": failures, "perSecond": rate,
                "p50": ms(p50), "p90": ms(p90), "p99": ms(p99), "max": ms(most),
            });
            if let Some(first) = &first {
                told["firstError"] = first.to_json()["error"].take();
            }
            print_json(&told)?;
        } else {
            let failed = match failures {
                0 => String::new(),
                count => format!(", {count} of them failed"),
            };
            let calls = times.len() + failures;
            let took = elapsed(took);
            print(&format!(
                "{calls} calls in {took}{failed}, {rate} a second without errors"
            ));
            if !times.is_empty() {
                let [p50, p90, p99, most] = [p50, p90, p99, most].map(elapsed);
                print(&format!("p50 {p50}  p90 {p90}  p99 {p99}  max {most}"));
            }
        }
        match first {
            Some(first) => Err(Failed::new(
                Code::Tool,
                format!("{failures} calls failed, the first with: {}", first.said()),
            )),
            None => Ok(()),
        }
    }
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("it must be a number of calls, 1 or more".to_owned()),
        Ok(count) => Ok(count),
    }
}

/// Failed calls: how many, and the error of the first.
#[derive(Default)]
struct Errors {
    count: Cell<usize>,
    first: RefCell<Option<Failed>>,
}

impl Errors {
    fn add(&self, failed: impl FnOnce() -> Failed) {
        self.count.set(self.count.get() + 1);
        let mut first = self.first.borrow_mut();
        if first.is_none() {
            *first = Some(failed());
        }
    }
}

/// Memory is reserved for this many durations.
const MAX_TIMES: usize = 100_000;

/// The time within which this percentage of the calls ended.
fn at(sorted: &[Duration], percent: usize) -> Duration {
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times: Vec<_> = (1..=100).map(Duration::from_millis).collect();
        assert_eq!(at(&times, 50), Duration::from_millis(50));
        assert_eq!(at(&times, 99), Duration::from_millis(99));
        assert_eq!(at(&times, 100), Duration::from_millis(100));
        assert_eq!(at(&[], 50), Duration::ZERO);
    }
}
