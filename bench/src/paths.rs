//! The measured paths through a server, with the aim of each.

use crate::{
    load::{Call, Operation},
    measure::valgrind::Transport,
};

/// A path through a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) name: &'static str,
    pub(crate) transport: Transport,
    pub(crate) call: Call,
    /// How many requests are counted: enough that differences between starts do not matter.
    pub(crate) counted: u64,
    /// The aim: instructions as a multiple of the control's, and rmcp's CPU time as a multiple of ours.
    pub(crate) aim: Option<Aim>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    pub(crate) of_control: f64,
    pub(crate) against_rmcp: f64,
}

/// The paths whose instructions are counted.
pub(crate) const PATHS: [Path; 9] = [
    Path {
        name: "modern HTTP call, 100 B",
        transport: Transport::Http,
        call: Call::modern(Operation::Echo(100)),
        counted: 400,
        aim: aim(1.3, 3.0),
    },
    Path {
        name: "modern HTTP call with output schema",
        transport: Transport::Http,
        call: Call::modern(Operation::Add),
        counted: 400,
        aim: aim(1.5, 3.0),
    },
    Path {
        name: "legacy HTTP call, 100 B",
        transport: Transport::Http,
        call: Call::legacy(Operation::Echo(100)),
        counted: 400,
        aim: aim(1.45, 2.8),
    },
    Path {
        name: "modern HTTP list of 100 tools",
        transport: Transport::Http,
        call: Call::modern(Operation::List),
        counted: 200,
        aim: aim(1.1, 6.0),
    },
    Path {
        name: "legacy HTTP list of 100 tools",
        transport: Transport::Http,
        call: Call::legacy(Operation::List),
        counted: 200,
        aim: None,
    },
    Path {
        name: "modern HTTP call, 100 KB",
        transport: Transport::Http,
        call: Call::modern(Operation::Echo(100_000)),
        counted: 40,
        aim: aim(1.0, 1.5),
    },
    Path {
        name: "modern stdio call, 100 B",
        transport: Transport::Stdio,
        call: Call::modern(Operation::Echo(100)),
        counted: 1000,
        aim: aim(2.5, 5.0),
    },
    Path {
        name: "legacy stdio call, 100 B",
        transport: Transport::Stdio,
        call: Call::legacy(Operation::Echo(100)),
        counted: 1000,
        aim: None,
    },
    Path {
        name: "modern stdio list of 100 tools",
        transport: Transport::Stdio,
        call: Call::modern(Operation::List),
        counted: 200,
        aim: aim(1.3, 10.0),
    },
];

#[expect(clippy::unnecessary_wraps, reason = "the field is optional")]
const fn aim(of_control: f64, against_rmcp: f64) -> Option<Aim> {
    Some(Aim {
        of_control,
        against_rmcp,
    })
}
