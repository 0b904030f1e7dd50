//! The time for the answer to a question if it arrives at another replica than the call.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    guest::{Guest, deadline},
    history::Trouble,
    recovery::Sorted,
    wire::Arrival,
};
use crate::{Result, process::Ran};

/// How many calls ask a question; the first ones are the warm-up.
const CALLS: usize = 1_100;
const WARM: usize = 100;

/// The pause between two calls, which keeps them below the rate limit of one caller.
const PAUSE: Duration = Duration::from_millis(6);

/// The times of replies across replicas.
pub(super) struct ReplyTimes {
    /// Milliseconds until the reply was accepted.
    pub(super) taken: Sorted,
    /// Milliseconds until the result of the call arrived.
    pub(super) result: Sorted,
    /// Microseconds of Redis's CPU time for each.
    pub(super) redis_us: f64,
}

/// Calls with one client, and replies with another one, which uses the same session at another replica.
pub(super) async fn measure(here: &Guest, there: &Guest, redis: u32) -> Result<ReplyTimes> {
    let (mut taken, mut result) = (Vec::new(), Vec::new());
    let mut before = Ran::of(redis);
    for call in 0..CALLS {
        if call == WARM {
            before = Ran::of(redis);
            taken.clear();
            result.clear();
        }
        let (took, until_result) = once(here, there)
            .await
            .map_err(|trouble| format!("a reply across replicas: {trouble}"))?;
        tokio::time::sleep(PAUSE).await;
        taken.push(took);
        result.push(until_result);
    }
    let ran = Ran::of(redis).since(&before);
    #[expect(clippy::cast_precision_loss, reason = "some thousand calls")]
    let redis_us = ran * 1e6 / (CALLS - WARM) as f64;
    Ok(ReplyTimes {
        taken: Sorted::new(taken),
        result: Sorted::new(result),
        redis_us,
    })
}

async fn once(here: &Guest, there: &Guest) -> Result<(f64, f64), Trouble> {
    let number = here.number();
    let mut stream = here.post(&here.call("ask", number), deadline()).await?;
    let question = message(&mut stream, |message| message["method"].is_string()).await?;
    let answer = json!({ "action": "accept", "content": { "word": here.name } });
    let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    let began = Instant::now();
    let status = there.post(&reply, deadline()).await?.status;
    let taken = began.elapsed();
    if status != 202 {
        return Err(Trouble::Odd(format!("status {status} for a reply")));
    }
    let answer = message(&mut stream, |message| message["id"] == number).await?;
    let result = began.elapsed();
    let expected = format!("{}: {}", here.said("ask", number), here.name);
    here.hold(&answer["result"], &expected);
    Ok((taken.as_secs_f64() * 1e3, result.as_secs_f64() * 1e3))
}

/// The first message of a stream that matches.
async fn message(stream: &mut Arrival, is_it: impl Fn(&Value) -> bool) -> Result<Value, Trouble> {
    loop {
        let event = stream.event(deadline()).await?.ok_or(Trouble::Broken)?;
        if let Some(message) = event.message()?.filter(&is_it) {
            return Ok(message);
        }
    }
}
