//! `bench gateway`: all measurements of gateways, or one part.

use super::{counted, memory, programs::Program, ready, report, results::Gateways, timed};
use crate::{
    Result,
    peers::{Peer, build_own, said},
    process,
    results::{Machine, Results},
    speed::Extent,
};

/// A part of the measurements of gateways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Instructions,
    Memory,
    Ready,
    Times,
}

impl Part {
    pub(crate) const ALL: [Self; 4] = [Self::Instructions, Self::Memory, Self::Ready, Self::Times];

    /// The part with this name.
    pub(crate) fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "instructions" => Self::Instructions,
            "memory" => Self::Memory,
            "ready" => Self::Ready,
            "times" => Self::Times,
            _ => {
                return Err(format!(
                    "gateways have no part `{name}`: instructions, memory, ready or times"
                )
                .into());
            }
        })
    }
}

pub(crate) async fn command(parts: &[Part], extent: Extent) -> Result<()> {
    Peer::Turnbuckle.prepare()?;
    build_own("bench-client", "programs")?;
    let mut gateways = Gateways::new(said("date", &["-u", "+%-d %B %Y"])?, Machine::look()?);
    let mut there = Vec::new();
    for program in wanted(parts, extent)? {
        match program.prepare() {
            Ok(()) => there.push(program),
            // Some machines cannot reach every registry.
            Err(error) if program.is_peer() => {
                let failure = format!("{} could not be installed: {error}", program.name());
                eprintln!("warning: {failure}");
                gateways.failures.push(failure);
            }
            Err(error) => return Err(error),
        }
    }
    let of = |programs: &[Program]| -> Vec<Program> {
        let is_there = |it: &Program| there.contains(it);
        programs.iter().copied().filter(is_there).collect()
    };
    process::allow_files(8192)?;
    // Counting uses all cores, so it comes before the generator is restricted to one of them.
    if parts.contains(&Part::Instructions) {
        counted::measure(&of(&Program::COUNTED), extent, &mut gateways).await?;
    }
    if parts.contains(&Part::Ready) {
        gateways.ready = ready::measure(extent).await?;
    }
    process::settle()?;
    if parts.contains(&Part::Memory) {
        gateways.memory = Some(memory::measure(extent).await?);
    }
    if parts.contains(&Part::Times) {
        timed::measure(&of(&Program::TIMED), extent, &mut gateways).await?;
    }
    println!("{}", report::text(&gateways));
    if extent == Extent::Full {
        Results::update(|results| merge(results, gateways, parts))?;
    }
    Ok(())
}

/// The programs that these parts measure. With `NO_PEERS` in the environment, a quick run leaves out third-party
/// gateways, which take long to install.
fn wanted(parts: &[Part], extent: Extent) -> Result<Vec<Program>> {
    let has_no_peers = std::env::var_os("NO_PEERS").is_some();
    if has_no_peers && extent == Extent::Full {
        return Err("`NO_PEERS` is for `--quick`: what is kept has the figures of all".into());
    }
    let compares = parts.contains(&Part::Instructions) || parts.contains(&Part::Times);
    let is_wanted = |it: &Program| !it.is_peer() || (compares && !has_no_peers);
    Ok(Program::TIMED.into_iter().filter(is_wanted).collect())
}

/// Replaces the parts that were measured.
fn merge(results: &mut Results, new: Gateways, parts: &[Part]) {
    let Some(old) = &mut results.gateways else {
        results.gateways = Some(new);
        return;
    };
    if parts.contains(&Part::Instructions) {
        old.counts = new.counts;
    }
    if parts.contains(&Part::Memory) {
        old.memory = new.memory;
    }
    if parts.contains(&Part::Ready) {
        old.ready = new.ready;
    }
    if parts.contains(&Part::Times) {
        old.times = new.times;
        old.machine = new.machine;
        old.date = new.date;
    }
    old.failures.retain(|it| {
        let part = if it.starts_with("instructions of") {
            Part::Instructions
        } else {
            Part::Times
        };
        !parts.contains(&part)
    });
    old.failures.extend(new.failures);
}
