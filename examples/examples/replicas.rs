//! One server in several processes behind any load balancer: each request of a client may reach another
//! process, also in the middle of a call.
//!
//! ```text
//! export KITCHEN_REDIS=redis://127.0.0.1/ KITCHEN_SECRET="$(head -c 32 /dev/urandom | base64)"
//! cargo run -p examples --example replicas -- 127.0.0.1:8001
//! cargo run -p examples --example replicas -- 127.0.0.1:8002
//! ```

use std::{
    env,
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use turnbuckle::{Http, TaskSettings, prelude::*, resource, stop_signal, store::redis::Redis};

/// How long bread is in the oven, in seconds, unless `KITCHEN_BAKING` sets it.
const BAKING: u64 = 60 * 60;

/// How long one step of kneading takes.
const KNEADING: Duration = Duration::from_millis(20);

/// The ovens of this process.
#[derive(Clone, Default)]
struct Ovens(Arc<AtomicUsize>);

/// How long bread and feasts are in the oven.
#[derive(Clone, Copy)]
struct Baking(Duration);

/// An oven in use, until it is dropped.
struct Oven(Ovens, Changes);

impl Ovens {
    fn heat(&self, changes: Changes) -> Oven {
        self.0.fetch_add(1, Ordering::Relaxed);
        changes.resource("kitchen://ovens");
        Oven(self.clone(), changes)
    }
}

impl Drop for Oven {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
        self.1.resource("kitchen://ovens");
    }
}

/// How many ovens of this process are in use.
#[resource("kitchen://ovens")]
async fn ovens(State(ovens): State<Ovens>) -> String {
    ovens.0.load(Ordering::Relaxed).to_string()
}

#[derive(Form)]
struct Icing {
    /// What it tastes of.
    taste: String,
}

/// Makes a cake, and asks for the icing on the way.
#[tool(task_only)]
async fn cake(Ask(ask): Ask) -> Result<String, ToolError> {
    let icing = ask.form::<Icing>("icing", "Which icing?").await?;
    let taste = icing.accepted()?.taste;
    Ok(format!(
        "a cake with {taste}, made by {}",
        std::process::id()
    ))
}

#[derive(Form)]
struct Guest {
    /// Who it is for.
    name: String,
}

/// Makes tea, and asks in the middle of the call whom it is for.
#[tool]
async fn tea(Ask(ask): Ask) -> Result<String, ToolError> {
    let guest = ask.form::<Guest>("guest", "Whom is it for?").await?;
    Ok(format!("tea for {}", guest.accepted()?.name))
}

/// Kneads dough, step by step, until somebody cancels it.
#[tool]
async fn knead(
    #[extract] progress: Progress,
    State(ovens): State<Ovens>,
    #[extract] changes: Changes,
) -> &'static str {
    let _oven = ovens.heat(changes);
    for step in 1_u32.. {
        progress.at(f64::from(step)).await;
        tokio::time::sleep(KNEADING).await;
    }
    "dough"
}

/// Takes an order, and says which.
#[tool]
async fn order(
    /** Its number. */
    number: u64,
    /** Who it is for. */
    guest: String,
) -> String {
    format!("order {number} for {guest}")
}

/// Says what is for lunch.
#[tool]
async fn lunch(#[extract] log: Log) -> String {
    log.debug("somebody is hungry");
    format!("soup, made by {}", std::process::id())
}

/// Bakes bread, which takes long.
#[tool(task_only)]
async fn bread(
    State(ovens): State<Ovens>,
    State(baking): State<Baking>,
    #[extract] changes: Changes,
) -> &'static str {
    let _oven = ovens.heat(changes);
    tokio::time::sleep(baking.0).await;
    "bread"
}

/// Prepares a feast: orders, asks for the icing, and bakes. If this process ends, another one goes
/// on: the order is made once, the question is asked once, and baking begins again.
#[tool(task_only, restartable)]
async fn feast(
    Ask(ask): Ask,
    State(ovens): State<Ovens>,
    State(baking): State<Baking>,
    #[extract] changes: Changes,
) -> Result<String, ToolError> {
    let order = async { Ok::<_, ToolError>(std::process::id()) };
    let ordered_by = ask.memo("order", order).await?;
    let icing = ask.form::<Icing>("icing", "Which icing?").await?;
    let taste = icing.accepted()?.taste;
    let _oven = ovens.heat(changes);
    tokio::time::sleep(baking.0).await;
    let made_by = std::process::id();
    Ok(format!(
        "a feast with {taste}, ordered by {ordered_by}, made by {made_by}"
    ))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("which address to listen on?")?;
    let redis = Redis::open(&env::var("KITCHEN_REDIS")?).await?;
    let secret = env::var("KITCHEN_SECRET")?;
    let http = Http::bind(address)
        .until(stop_signal())
        .announce(|address| {
            if let Some(address) = address {
                println!("listening on http://{address}/mcp");
            }
        });
    let baking = env::var("KITCHEN_BAKING").ok();
    let baking = baking.map_or(Ok(BAKING), |seconds| seconds.parse())?;
    turnbuckle::server!()
        .state(Ovens::default())
        .state(Baking(Duration::from_secs(baking)))
        .tool(cake)
        .tool(bread)
        .tool(feast)
        .tool(tea)
        .tool(knead)
        .tool(lunch)
        .tool(order)
        .resource(ovens)
        .tasks(TaskSettings::default().poll_interval(Duration::from_millis(20)))
        .replicas(redis)
        .durable_streams()
        .secret(secret.as_bytes())
        .serve(http)
        .await?;
    Ok(())
}
