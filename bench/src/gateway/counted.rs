//! Instructions of a gateway for a call, and of a server and a client that communicate directly.

use super::{
    link::{Behind, Cell, Link},
    programs::Program,
    results::{Counted, Gateways},
    timed::lists,
};
use crate::{
    Result,
    load::{self, Call, Era, Operation, Until},
    measure::{
        crowd::Crowd,
        valgrind::{
            OUTSTANDING, Place, Profile, Tool, Transport, Trial, client_instructions, per_request,
        },
    },
    peers::{Peer, own},
    process::{Running, SERVER_CORE},
    speed::Extent,
};

/// The sizes: name, bytes, and number of counted requests.
const SIZES: [(&str, usize, u64); 3] = [
    (SMALL, 100, 300),
    ("100 KB", 100_000, 40),
    ("4 MB", 4_000_000, 4),
];

pub(crate) const SMALL: &str = "100 B";

/// The name of a direct connection among the counts.
pub(crate) const DIRECT: &str = "direct: server and client";

/// The cell of a direct connection.
pub(crate) fn direct_cell(era: Era) -> String {
    match era {
        Era::Modern => "M".to_owned(),
        Era::Legacy => "L".to_owned(),
    }
}

/// The cost of a direct call for both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    pub(crate) server: f64,
    pub(crate) client: f64,
}

pub(crate) async fn measure(
    programs: &[Program],
    extent: Extent,
    gateways: &mut Gateways,
) -> Result<()> {
    let behind = Behind::start().await?;
    for era in [Era::Modern, Era::Legacy] {
        eprintln!("counting: a direct call, {}", direct_cell(era));
        let direct = direct(era, extent, &behind).await?;
        gateways.counts.push(Counted {
            program: DIRECT.to_owned(),
            link: Link::HttpToHttp,
            cell: direct_cell(era),
            size: SMALL.to_owned(),
            instructions: direct.server + direct.client,
        });
    }
    for program in programs.iter().copied() {
        let links = program.links().iter().copied();
        for link in links.filter(|it| *it != Link::StdioToHttp) {
            for cell in program.cells().iter().copied() {
                for (size, bytes, requests) in sizes(extent) {
                    let name = format!(
                        "{}, {}, {}, {size}",
                        program.name(),
                        link.name(),
                        cell.name()
                    );
                    eprintln!("counting: {name}");
                    let way = Way {
                        program,
                        link,
                        cell,
                        behind: &behind,
                    };
                    match way.instructions(bytes, requests).await {
                        Ok(instructions) => gateways.counts.push(Counted {
                            program: program.name().to_owned(),
                            link,
                            cell: cell.name(),
                            size: size.to_owned(),
                            instructions,
                        }),
                        Err(error) => {
                            let failure = format!("instructions of {name}: {error}");
                            eprintln!("warning: {failure}");
                            gateways.failures.push(failure);
                        }
                    }
                }
            }
        }
    }
    behind.process.end().await
}

fn sizes(extent: Extent) -> impl Iterator<Item = (&'static str, usize, u64)> {
    let count = match extent {
        Extent::Quick => 1,
        Extent::Full => SIZES.len(),
    };
    SIZES.into_iter().take(count)
}

/// The instructions of a plain server and of a plain client for a call of 100 bytes over HTTP.
pub(crate) async fn direct(era: Era, extent: Extent, behind: &Behind) -> Result<Direct> {
    let requests = match extent {
        Extent::Quick => 100,
        Extent::Full => 300,
    };
    let server = Trial {
        command: &Peer::Turnbuckle.http(),
        transport: Transport::Http,
        call: Call::new(era, Operation::Echo(100)),
        crowd: Crowd::Nobody,
    };
    let word = super::link::word(era).to_owned();
    let client = [own("bench-client").to_string_lossy().into_owned(), word];
    let place = Place::Address(behind.address);
    Ok(Direct {
        server: server.instructions(requests).await?,
        client: client_instructions(&client, &place, requests).await?,
    })
}

/// A path through a gateway under valgrind.
pub(crate) struct Way<'a> {
    pub(crate) program: Program,
    pub(crate) link: Link,
    pub(crate) cell: Cell,
    pub(crate) behind: &'a Behind,
}

impl Way<'_> {
    /// Instructions for one request.
    pub(crate) async fn instructions(&self, bytes: usize, requests: u64) -> Result<f64> {
        let once = self.run(bytes, requests).await?.instructions()?;
        let twice = self.run(bytes, 2 * requests).await?.instructions()?;
        Ok(per_request(once, twice, requests))
    }

    /// Sends this number of requests.
    pub(crate) async fn run(&self, bytes: usize, requests: u64) -> Result<Profile> {
        let profile = Profile::new()?;
        let command = |port| {
            let command = self
                .program
                .command(self.link, self.cell, self.behind, port)?;
            Ok(profile.under(Tool::Callgrind, &command))
        };
        let (process, address) = Running::http_with(SERVER_CORE, &command).await?;
        let front = self.program.front();
        lists(address, front, self.cell.front).await?;
        let call = Call {
            front,
            ..Call::new(self.cell.front, Operation::Echo(bytes))
        };
        // The largest requests are sent one after another.
        let clients = if bytes > 1_000_000 { 1 } else { OUTSTANDING };
        let at = (process.pid, address);
        load::http::drive(at, call, clients, Until::Requests(requests)).await?;
        process.end_with_others().await?;
        Ok(profile)
    }
}
