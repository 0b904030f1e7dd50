//! The cost of a call, compared with other implementations and with the limit of the machine.
//!
//! ```text
//! bench compare                 everything next to every peer; writes results.json and docs/performance.md
//! bench compare --quick         the same in three minutes, without growth and profiles; writes neither
//! bench building                crates and CPU of a debug build of the smallest server, next to rmcp's
//! bench docs                    docs/performance.md again, from results.json
//! bench asks                    a call that asks once next to two plain calls, over HTTP and stdio
//! bench host                    what a host adds to a call of a client, and what a merged list costs
//! bench gateway                 what gateways add to a call, next to a direct connection and to each other
//! bench gateway --quick         the same with fewer and shorter turns; not kept (NO_PEERS=1: without other gateways)
//! bench gateway PART…           of it: instructions, memory, ready, times
//! bench chaos [OPTION…]         clients of every revision while replicas and Redis are killed and stopped
//! bench replicas                what replicas cost: calls, replies across replicas, commands of Redis
//! bench listeners               what 10,000 of them weigh, and what it costs to tell them of a change
//! bench growth                  instructions of a call with more and more tools, sessions, listeners
//! bench profile                 where instructions and allocations of a call go
//! bench instructions            instructions of each path, next to the control's and rmcp's
//! bench instructions --check    fails where a path costs 3 % more than ceilings.toml allows
//! bench instructions --record   writes ceilings.toml
//! ```

mod asks;
mod building;
mod ceilings;
mod clients;
mod compare;
mod gateway;
mod growth;
mod host;
mod idle;
mod instructions;
mod listeners;
mod load;
mod measure;
mod paths;
mod peers;
mod process;
mod profile;
mod replicas;
mod report;
mod results;
mod speed;
mod startup;
mod statistics;

use std::{error::Error, process::ExitCode};

use tokio::task::LocalSet;

use crate::{
    gateway::command::Part, instructions::Purpose, report::page, results::Results, speed::Extent,
};

/// The result of a measurement. Any error is shown to the user who started it.
type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const USAGE: &str = "usage: bench compare [--quick] | building | docs | asks | host | gateway [--quick] [PART…] | chaos [OPTION…] | replicas | listeners | growth | profile | instructions [--check|--record]";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(LocalSet::new().run_until(run(&arguments))),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[&str]) -> Result<()> {
    match *arguments {
        ["compare"] => compare::command(Extent::Full).await,
        ["compare", "--quick"] => compare::command(Extent::Quick).await,
        ["building"] => building::command(),
        ["docs"] => page::write(&Results::open(Extent::Full)?),
        ["asks"] => asks::command().await,
        ["host"] => host::command(),
        ["gateway"] => gateway::command::command(&Part::ALL, Extent::Full).await,
        ["gateway", "--quick"] => gateway::command::command(&Part::ALL, Extent::Quick).await,
        ["gateway", "--quick", ref parts @ ..] => {
            gateway::command::command(&named(parts)?, Extent::Quick).await
        }
        ["gateway", ref parts @ ..] => {
            gateway::command::command(&named(parts)?, Extent::Full).await
        }
        ["forward", port, to] => gateway::forward::command(port, to).await,
        ["chaos", ref options @ ..] => replicas::chaos::command(options).await,
        ["replicas"] => replicas::figures::command().await,
        ["listeners"] => listeners::command().await,
        ["growth"] => growth::command().await,
        ["profile"] => profile::command().await,
        ["instructions"] => instructions::command(Purpose::Show).await,
        ["instructions", "--check"] => instructions::command(Purpose::Check).await,
        ["instructions", "--record"] => instructions::command(Purpose::Record).await,
        _ => Err(USAGE.into()),
    }
}

fn named(parts: &[&str]) -> Result<Vec<Part>> {
    parts.iter().map(|it| Part::named(it)).collect()
}
