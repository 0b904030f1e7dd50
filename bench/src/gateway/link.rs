//! The paths through a gateway: the transports and eras on its two sides.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    load::Era,
    peers::Peer,
    process::{GENERATOR_CORE, Running},
};

/// Transports in front of a gateway and behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Link {
    HttpToHttp,
    HttpToStdio,
    StdioToHttp,
}

impl Link {
    pub(crate) const ALL: [Self; 3] = [Self::HttpToHttp, Self::HttpToStdio, Self::StdioToHttp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::HttpToHttp => "HTTP→HTTP",
            Self::HttpToStdio => "HTTP→stdio",
            Self::StdioToHttp => "stdio→HTTP",
        }
    }
}

/// The eras on both sides. A third-party gateway chooses the era to servers itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    pub(crate) front: Era,
    pub(crate) behind: Option<Era>,
}

impl Cell {
    /// The four combinations between which a gateway translates.
    pub(crate) const FOUR: [Self; 4] = [
        Self::of(Era::Modern, Some(Era::Modern)),
        Self::of(Era::Legacy, Some(Era::Legacy)),
        Self::of(Era::Modern, Some(Era::Legacy)),
        Self::of(Era::Legacy, Some(Era::Modern)),
    ];

    /// The two combinations of a gateway that chooses the era to servers itself.
    pub(crate) const TWO: [Self; 2] = [Self::of(Era::Modern, None), Self::of(Era::Legacy, None)];

    const fn of(front: Era, behind: Option<Era>) -> Self {
        Self { front, behind }
    }

    pub(crate) fn name(self) -> String {
        let letter = |era| match era {
            Era::Modern => "M",
            Era::Legacy => "L",
        };
        format!("{}→{}", letter(self.front), self.behind.map_or("·", letter))
    }
}

/// The word for an era in commands.
pub(crate) fn word(era: Era) -> &'static str {
    match era {
        Era::Modern => "modern",
        Era::Legacy => "legacy",
    }
}

/// The servers behind the gateways, on the core of the generator: one that listens, and the command
/// of one over stdio.
pub(crate) struct Behind {
    pub(crate) process: Running,
    pub(crate) address: SocketAddr,
    pub(crate) stdio: Vec<String>,
}

impl Behind {
    pub(crate) async fn start() -> Result<Self> {
        let (process, address) = Running::upstream(&Peer::Turnbuckle.http()).await?;
        let pinned = ["taskset", "-c", GENERATOR_CORE].map(str::to_owned);
        Ok(Self {
            process,
            address,
            stdio: [&pinned[..], &Peer::Turnbuckle.stdio()].concat(),
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}
