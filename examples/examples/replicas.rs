//! One server in several processes: a client that starts a task, answers its questions or cancels
//! it may reach another process than the one that works on it.
//!
//! ```text
//! KITCHEN_REDIS=redis://127.0.0.1/ cargo run -p examples --example replicas -- 127.0.0.1:8001
//! KITCHEN_REDIS=redis://127.0.0.1/ cargo run -p examples --example replicas -- 127.0.0.1:8002
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

use turnbuckle::{Http, TaskSettings, prelude::*, resource, store::redis::Redis};

/// How long a loaf is in the oven.
const BAKING: Duration = Duration::from_hours(1);

/// The ovens of this process.
#[derive(Clone, Default)]
struct Ovens(Arc<AtomicUsize>);

/// One that is in use, until it is dropped.
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

/// Bakes bread, which takes long.
#[tool(task_only)]
async fn bread(State(ovens): State<Ovens>, #[extract] changes: Changes) -> &'static str {
    let _oven = ovens.heat(changes);
    tokio::time::sleep(BAKING).await;
    "bread"
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = env::args().nth(1).ok_or("which address to listen on?")?;
    let redis = Redis::open(&env::var("KITCHEN_REDIS")?).await?;
    let http = Http::bind(address).announce(|address| {
        if let Some(address) = address {
            println!("listening on http://{address}/mcp");
        }
    });
    turnbuckle::server!()
        .state(Ovens::default())
        .tool(cake)
        .tool(bread)
        .resource(ovens)
        .tasks(TaskSettings::default().poll_interval(Duration::from_millis(20)))
        .task_store(redis.tasks())
        .fanout(redis.fanout())
        .single_use(redis.spent())
        .serve(http)
        .await?;
    Ok(())
}
