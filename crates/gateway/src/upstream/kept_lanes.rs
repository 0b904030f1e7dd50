//! The sessions of one server that are kept for further calls of the same kind.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::OnceCell;

use super::Lane;

/// How long a session without calls stays open.
const IDLE: Duration = Duration::from_mins(10);

/// How many sessions one server may have at the same time, in addition to the one for its lists.
const MAX_LANES: usize = 64;

/// How many of them may belong to one caller.
const MAX_LANES_OF_CALLER: usize = 8;

/// What distinguishes sessions of one server.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LaneKey {
    pub(super) caller: Option<String>,
    pub(super) capabilities: String,
}

/// A session that is kept for further calls of the same kind, or that is being opened.
pub(super) struct KeptLane {
    pub(super) cell: Arc<OnceCell<Arc<Lane>>>,
    /// The caller that it was opened for, even if another caller uses it now.
    pub(super) opener: Option<String>,
}

/// Ordered, so that a simulation can replay every step.
pub(super) type Lanes = BTreeMap<LaneKey, KeptLane>;

/// Removes sessions that have ended or were idle for too long. A session that is being opened
/// stays, and so does one in which resources are followed.
pub(super) fn tidy(lanes: &mut Lanes) {
    lanes.retain(|_, kept| match kept.cell.get() {
        None => Arc::strong_count(&kept.cell) > 1,
        Some(lane) => {
            let is_new = || lane.idle_for().is_none_or(|idle| idle < IDLE);
            !lane.connection.is_closed() && (lane.is_followed() || is_new())
        }
    });
}

/// Makes room for another session, within the limit of this caller and the limit of all.
pub(super) fn make_room_for(
    lanes: &mut Lanes,
    caller: Option<&str>,
) -> Result<Option<KeptLane>, String> {
    let is_own = |kept: &KeptLane| kept.opener.as_deref() == caller;
    let own = lanes.values().filter(|kept| is_own(kept)).count();
    if own >= MAX_LANES_OF_CALLER {
        let ended = longest_idle(lanes, is_own);
        return ended.map(Some).ok_or_else(|| {
            format!("{MAX_LANES_OF_CALLER} of your sessions with it are in use; try again later")
        });
    }
    if lanes.len() >= MAX_LANES {
        let ended = longest_idle(lanes, |_| true);
        return ended
            .map(Some)
            .ok_or_else(|| format!("{MAX_LANES} sessions with it are in use; try again later"));
    }
    Ok(None)
}

/// Removes this session.
pub(super) fn take(lanes: &mut Lanes, lane: &Arc<Lane>) -> Option<KeptLane> {
    let is_it = |kept: &KeptLane| kept.cell.get().is_some_and(|it| Arc::ptr_eq(it, lane));
    let key = lanes.iter().find(|(_, kept)| is_it(kept))?.0.clone();
    lanes.remove(&key)
}

/// Removes the session that was idle for the longest time, of those that may be removed.
fn longest_idle(lanes: &mut Lanes, may_go: impl Fn(&KeptLane) -> bool) -> Option<KeptLane> {
    let idle = lanes.iter().filter(|(_, kept)| may_go(kept));
    let idle = idle.filter_map(|(key, kept)| Some((kept.cell.get()?.idle_for()?, key)));
    let (_, key) = idle.max_by_key(|(idle, _)| *idle)?;
    let key = key.clone();
    lanes.remove(&key)
}
