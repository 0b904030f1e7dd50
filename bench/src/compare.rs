//! `bench compare`: all measurements in one run.

use std::time::Instant;

use crate::{
    Result, asks, building, clients,
    gateway::programs::Program,
    growth, idle, instructions, listeners,
    paths::PATHS,
    peers::{Peer, said},
    process, profile,
    report::page,
    results::{Machine, Results},
    speed::{self, Extent},
    startup,
};

pub(crate) async fn command(extent: Extent) -> Result<()> {
    for server in Peer::ALL {
        server.prepare()?;
    }
    startup::prepare()?;
    clients::prepare()?;
    Program::Library.prepare()?;
    let began = Instant::now();
    let results = measure(extent).await?;
    results.save(extent)?;
    println!("{}", page::tables(&results)?);
    if extent == Extent::Full {
        page::write(&results)?;
    }
    eprintln!("the comparison took {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

async fn measure(extent: Extent) -> Result<Results> {
    process::allow_files(4096)?;
    let machine = Machine::look()?;
    // Counting uses all cores, so it comes before the generator is restricted to one of them.
    let servers = Peer::ALL;
    let building = building::measure(extent)?;
    let instructions = instructions::measure(&PATHS, &Peer::NATIVE, extent).await?;
    let clients = clients::measure(extent).await?;
    let (growth, profiles) = match extent {
        Extent::Quick => (Vec::new(), Vec::new()),
        Extent::Full => (growth::measure().await?, profile::measure().await?),
    };
    process::settle()?;
    Ok(Results {
        date: said("date", &["-u", "+%-d %B %Y"])?,
        command: match extent {
            Extent::Quick => "compare --quick".to_owned(),
            Extent::Full => "compare".to_owned(),
        },
        machine,
        speed: speed::measure(&servers, extent).await?,
        asks: asks::measure(extent).await?,
        idle: idle::measure(&servers, extent).await?,
        listeners: match extent {
            Extent::Quick => None,
            Extent::Full => Some(listeners::measure().await?),
        },
        startup: startup::measure(extent).await?,
        instructions,
        clients,
        building,
        growth,
        profiles,
        // They are measured by another command, and kept.
        gateways: Results::open(Extent::Full).ok().and_then(|it| it.gateways),
    })
}
