//! The cost of a call for the client: instructions of our client and of rmcp's, with the same server.

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    measure::valgrind::{Place, client_instructions},
    peers::{Peer, build, build_own, built, own},
    process::Running,
    speed::Extent,
};

/// How many calls are counted.
const CALLS: u64 = 300;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClientCost {
    pub(crate) path: String,
    pub(crate) turnbuckle: f64,
    pub(crate) rmcp: f64,
}

pub(crate) fn prepare() -> Result<()> {
    eprintln!("preparing the clients");
    build_own("bench-client", "programs")?;
    build("rmcp", "rmcp-client")
}

pub(crate) async fn measure(extent: Extent) -> Result<Vec<ClientCost>> {
    let eras: &[&str] = match extent {
        Extent::Quick => &["modern"],
        Extent::Full => &["modern", "legacy"],
    };
    let (ours, theirs) = (own("bench-client"), built("rmcp", "rmcp-client"));
    let stdio = Peer::Turnbuckle.stdio();
    let (server, address) = Running::http(&Peer::Turnbuckle.http()).await?;
    let roads = [
        ("stdio", Place::Command(&stdio)),
        ("HTTP", Place::Address(address)),
    ];
    let mut all = Vec::new();
    for (road, place) in &roads {
        for era in eras {
            let path = format!("{era} {road} call, 100 B");
            eprintln!("counting: clients, {path}");
            let mut counts = [0.0; 2];
            for (count, program) in counts.iter_mut().zip([&ours, &theirs]) {
                let client = [program.to_string_lossy().into_owned(), (*era).to_owned()];
                *count = client_instructions(&client, place, CALLS).await?;
            }
            let [turnbuckle, rmcp] = counts;
            all.push(ClientCost {
                path,
                turnbuckle,
                rmcp,
            });
        }
    }
    server.end().await?;
    Ok(all)
}
