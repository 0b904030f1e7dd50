//! The processes for callers and calls, of all servers of a gateway together.

use std::{
    pin::pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use turnbuckle_base::lock::Mutex;

use super::Member;

/// How often a call that waits for a place checks for idle processes.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How often a closing gateway checks whether processes have ended.
const ENDS_SOON: Duration = Duration::from_millis(20);

/// The process places of a gateway, and its servers.
pub(crate) struct Processes {
    places: Arc<ProcessPlaces>,
    members: Mutex<Vec<Weak<Member>>>,
}

impl Processes {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            places: ProcessPlaces::new(limit),
            members: Mutex::default(),
        })
    }

    /// Adds a server. Its idle processes are ended if others need a place.
    pub(crate) fn enter(&self, member: &Arc<Member>) {
        let mut members = self.members.lock();
        members.retain(|member| member.strong_count() > 0);
        members.push(Arc::downgrade(member));
    }

    /// Waits for a place.
    pub(super) async fn place(&self) -> Option<ProcessPlace> {
        let make_room = || {
            let members = self.members.lock();
            let members: Vec<_> = members.iter().filter_map(Weak::upgrade).collect();
            make_room(&self.places, members.iter().map(|member| &**member));
        };
        self.places.wait(make_room).await
    }
}

/// A limited number of places for running processes.
pub(super) struct ProcessPlaces {
    free: Arc<Semaphore>,
    /// How many calls wait for a place.
    waiting: AtomicUsize,
    /// How many places belong to processes that are ending.
    ending: AtomicUsize,
}

impl ProcessPlaces {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(limit)),
            waiting: AtomicUsize::new(0),
            ending: AtomicUsize::new(0),
        })
    }

    /// Waits for one of these places. `make_room` is called before and during the wait.
    pub(super) async fn wait(self: &Arc<Self>, make_room: impl Fn()) -> Option<ProcessPlace> {
        let _waiting = Counted::one(&self.waiting);
        let mut permit = pin!(Arc::clone(&self.free).acquire_owned());
        loop {
            make_room();
            tokio::select! {
                // Fixed order, so that a simulation can replay every step.
                biased;
                permit = &mut permit => {
                    return Some(ProcessPlace {
                        of: Arc::clone(self),
                        is_ending: false,
                        _permit: permit.ok()?,
                    });
                }
                () = time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// The number of free places.
    pub(super) fn free(&self) -> usize {
        self.free.available_permits()
    }

    /// Waits until no process is ending any more, for at most this long.
    pub(super) async fn all_ended(&self, within: Duration) {
        let until = time::Instant::now() + within;
        while self.ending.load(Ordering::Relaxed) > 0 && time::Instant::now() < until {
            time::sleep(ENDS_SOON).await;
        }
    }

    /// Whether a process has to be ended before another can start. A process that is already ending
    /// makes room for one waiting call.
    fn is_short(&self) -> bool {
        self.free() == 0
            && self.ending.load(Ordering::Relaxed) < self.waiting.load(Ordering::Relaxed)
    }
}

/// Increments a counter while this value is held.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn one(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A place that a process occupies.
pub(crate) struct ProcessPlace {
    of: Arc<ProcessPlaces>,
    is_ending: bool,
    _permit: OwnedSemaphorePermit,
}

impl ProcessPlace {
    pub(super) fn is_of(&self, places: &Arc<ProcessPlaces>) -> bool {
        Arc::ptr_eq(&self.of, places)
    }

    /// Records that the process is ending.
    pub(super) fn ends(&mut self) {
        if !self.is_ending {
            self.is_ending = true;
            self.of.ending.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for ProcessPlace {
    fn drop(&mut self) {
        if self.is_ending {
            self.of.ending.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Ends the process that was idle for the longest time, if more places are needed than are about to
/// become free. Processes in use stay.
pub(super) fn make_room<'m>(
    places: &Arc<ProcessPlaces>,
    members: impl Iterator<Item = &'m Member> + Clone,
) {
    members.clone().for_each(Member::free_closed);
    if !places.is_short() {
        return;
    }
    let idle = members.flat_map(|member| {
        let idle = member.idle(places).into_iter();
        idle.map(move |(time, lane)| (time, member, lane))
    });
    if let Some((_, member, lane)) = idle.max_by_key(|(time, ..)| *time) {
        member.end_idle(&lane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_that_is_ending_makes_room_for_one_call() {
        let places = ProcessPlaces::new(1);
        let mut first = places.wait(|| ()).await.expect("a place");
        assert!(!places.is_short(), "no call waits");
        let asked = AtomicUsize::new(0);
        let second = places.wait(|| {
            asked.fetch_add(1, Ordering::Relaxed);
        });
        let mut second = pin!(second);
        assert!(time::timeout(Duration::ZERO, &mut second).await.is_err());
        assert!(places.is_short(), "a call waits and no process is ending");
        first.ends();
        assert!(!places.is_short(), "the place is about to become free");
        assert!(time::timeout(LOOK_AGAIN * 3, &mut second).await.is_err());
        assert!(asked.load(Ordering::Relaxed) > 1, "it looks again");
        drop(first);
        assert!(second.await.is_some());
        assert_eq!(places.ending.load(Ordering::Relaxed), 0);
        assert_eq!(places.waiting.load(Ordering::Relaxed), 0);
    }
}
