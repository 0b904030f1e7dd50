//! Replicas whose time of day jumps, while that of Redis does not.

use super::{Redis, Replica, failover::Site};
use crate::{faulty_libc, program::Place};

const HOUR: i64 = 60 * 60;

/// The jumping clock of all replicas.
struct Clock {
    place: Place,
    library: String,
}

impl Clock {
    fn new() -> Self {
        let place = Place::new();
        let library = faulty_libc::library(&place);
        let clock = Self { place, library };
        clock.set(0);
        clock
    }

    fn set(&self, offset: i64) {
        self.place.write("offset", &offset.to_string());
    }

    fn site(&self, redis: &Redis) -> Site {
        Site::start_by(&redis.url, &["serve", "--no-page"], |command| {
            command.env("LD_PRELOAD", &self.library);
            command.env("CLOCK_OFFSET_FILE", self.place.file("offset"));
        })
    }

    fn is_loaded_by(replica: &Replica) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", replica.child.id()));
        maps.is_ok_and(|maps| maps.contains("libfaulty.so"))
    }
}

#[test]
fn a_clock_that_jumps_ends_no_session_and_no_question_of_replicas() {
    let (place, clock) = (Place::new(), Clock::new());
    let redis = Redis::start(&place);
    let site = clock.site(&redis);
    assert!(site.replicas().iter().all(Clock::is_loaded_by));
    for offset in [0, 24 * HOUR, -24 * HOUR, 400 * 24 * HOUR, 0] {
        let (asked, id) = site.ask(2);
        clock.set(offset);
        site.answer(0, asked, &id, "Eve");
        site.works();
    }
}

/// Tasks have a lifetime of ten minutes by the time of day.
#[test]
fn a_clock_that_jumps_by_less_than_the_lifetime_of_a_task_does_not_end_it() {
    let (place, clock) = (Place::new(), Clock::new());
    let redis = Redis::start(&place);
    let site = clock.site(&redis);
    for offset in [300, -300, 0, -24 * HOUR] {
        let task = site.bake(0, 1500).expect("a task begins");
        clock.set(offset);
        site.baked(1, &task);
        site.works();
    }
    // A task that is too old is unknown at once, at every replica, and everything else works.
    let task = site.bake(0, 1500).expect("a task begins");
    clock.set(0);
    for replica in 0..3 {
        let refused = site.task(replica, &task).expect_err("it has expired");
        assert!(refused.contains("unknown or expired task"), "{refused}");
    }
    site.works();
    // It was not ended, and is there again when the time of day is right.
    clock.set(-24 * HOUR);
    site.baked(2, &task);
}
