//! Outgoing requests: answers, progress, cancellation and deadlines.

use std::time::{Duration, Instant};

use turnbuckle_protocol::Id;
use turnbuckle_session::requests::{Deadline, Full, Ids, Overdue, Progressed, RequestTable};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn expired<T>(table: &mut RequestTable<T>, now: Instant) -> Vec<T> {
    table.expire(now).map(|expired| expired.payload).collect()
}

// rule: J2, J3, N6
#[test]
fn ids_start_at_one_and_are_never_used_again() {
    // base protocol, 2024-11-05 to 2025-11-25: an id MUST NOT be reused within a session.
    let now = Instant::now();
    let mut table = RequestTable::new();
    for number in 1..100 {
        let id = table.insert((), Deadline::never(), now).unwrap();
        assert_eq!(id, Id::Int(number));
        match number % 3 {
            0 => assert!(table.complete(&id.as_ref()).is_some()),
            1 => assert!(table.cancel(&id.as_ref()).is_some()),
            _ => {}
        }
    }
    table.drain().count();
    assert_eq!(table.insert((), Deadline::never(), now), Ok(Id::Int(100)));
}

#[test]
fn late_second_and_invented_answers_are_nobodys() {
    let now = Instant::now();
    let mut table = RequestTable::new();
    let first = table.insert("first", Deadline::default(), now).unwrap();
    let second = table.insert("second", Deadline::default(), now).unwrap();
    assert_eq!(table.complete(&first.as_ref()), Some("first"));
    assert_eq!(table.complete(&first.as_ref()), None);
    assert_eq!(table.cancel(&second.as_ref()), Some("second"));
    assert_eq!(table.complete(&second.as_ref()), None);
    for invented in [
        Id::Int(0),
        Id::Int(-1),
        Id::Int(3),
        Id::from("1"),
        Id::from(""),
    ] {
        assert_eq!(table.complete(&invented.as_ref()), None, "{invented}");
    }
}

#[test]
fn ids_of_several_machines_do_not_meet() {
    let now = Instant::now();
    let mut here = RequestTable::with_ids(Ids::prefixed("a-"));
    let mut there = RequestTable::with_ids(Ids::prefixed("b-"));
    let (ours, theirs) = (
        here.insert("ours", Deadline::never(), now).unwrap(),
        there.insert("theirs", Deadline::never(), now).unwrap(),
    );
    assert_eq!(ours, Id::from("a-1"));
    assert_eq!(here.complete(&theirs.as_ref()), None);
    assert_eq!(here.complete(&ours.as_ref()), Some("ours"));
}

#[test]
fn a_full_table_gives_the_payload_back_and_uses_no_id() {
    let now = Instant::now();
    let mut table = RequestTable::new().with_limit(1);
    let id = table.insert('a', Deadline::never(), now).unwrap();
    assert_eq!(
        table.insert('b', Deadline::never(), now),
        Err(Full {
            limit: 1,
            payload: 'b'
        })
    );
    table.complete(&id.as_ref());
    assert_eq!(table.insert('b', Deadline::never(), now), Ok(Id::Int(2)));
}

#[test]
fn requests_expire_in_the_order_of_their_deadlines() {
    let now = Instant::now();
    let mut table = RequestTable::new();
    table
        .insert("slow", Deadline::after(secs(30)), now)
        .unwrap();
    table
        .insert("quick", Deadline::after(secs(10)), now)
        .unwrap();
    table.insert("open", Deadline::never(), now).unwrap();
    assert_eq!(table.next_deadline(), Some(now + secs(10)));
    assert_eq!(expired(&mut table, now + secs(9)), [""; 0]);
    assert_eq!(expired(&mut table, now + secs(40)), ["quick", "slow"]);
    assert_eq!(table.next_deadline(), None);
    assert_eq!(table.len(), 1);
}

#[test]
fn an_expired_request_says_what_to_cancel_and_why() {
    let now = Instant::now();
    let mut table = RequestTable::new();
    let id = table.insert((), Deadline::after(secs(10)), now).unwrap();
    let expired = table.expire(now + secs(10)).next().unwrap();
    assert_eq!(
        (expired.id, expired.overdue),
        (id.clone(), Overdue::Silent(secs(10)))
    );
    assert_eq!(expired.overdue.to_string(), "no answer within 10s");
    assert_eq!(table.complete(&id.as_ref()), None);
}

#[test]
fn dropping_the_expired_early_keeps_the_rest_due() {
    let now = Instant::now();
    let mut table = RequestTable::new();
    table.insert(1, Deadline::after(secs(1)), now).unwrap();
    table.insert(2, Deadline::after(secs(2)), now).unwrap();
    assert_eq!(
        table.expire(now + secs(5)).next().map(|it| it.payload),
        Some(1)
    );
    assert_eq!(table.next_deadline(), Some(now + secs(2)));
    assert_eq!(expired(&mut table, now + secs(5)), [2]);
}

#[test]
fn progress_renews_the_deadline_but_not_beyond_the_maximum() {
    // cancellation: a maximum timeout SHOULD be enforced regardless of progress.
    let now = Instant::now();
    let mut table = RequestTable::new();
    let deadline = Deadline::after(secs(10)).with_maximum(secs(25));
    let token = table.insert("work", deadline, now).unwrap();
    for (at, due) in [(8_u32, 18), (17, 25), (24, 25)] {
        let news = table.progress(&token.as_ref(), f64::from(at), now + secs(u64::from(at)));
        assert_eq!(news, Progressed::News(&mut "work"));
        assert_eq!(table.next_deadline(), Some(now + secs(due)), "after {at} s");
    }
    let expired = table.expire(now + secs(25)).next().unwrap();
    assert_eq!(expired.overdue, Overdue::Total(secs(25)));
    assert_eq!(
        expired.overdue.to_string(),
        "no answer within 25s, although there was progress"
    );
}

#[test]
fn progress_that_does_not_increase_is_dropped_and_renews_nothing() {
    // progress: the value MUST increase with each notification.
    let now = Instant::now();
    let mut table = RequestTable::new();
    let token = table
        .insert("work", Deadline::after(secs(10)), now)
        .unwrap();
    assert_eq!(
        table.progress(&token.as_ref(), 5.0, now),
        Progressed::News(&mut "work")
    );
    for stale in [5.0, 4.9, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            table.progress(&token.as_ref(), stale, now + secs(9)),
            Progressed::Stale
        );
    }
    assert_eq!(table.next_deadline(), Some(now + secs(10)));
}

#[test]
fn progress_of_nothing_that_waits_is_dropped() {
    let now = Instant::now();
    let mut table = RequestTable::new();
    let token = table.insert("work", Deadline::default(), now).unwrap();
    table.complete(&token.as_ref());
    assert_eq!(
        table.progress(&token.as_ref(), 1.0, now),
        Progressed::Unknown
    );
    assert_eq!(
        table.progress(&Id::from("1").as_ref(), 1.0, now),
        Progressed::Unknown
    );
}

#[test]
fn progress_of_a_request_without_a_deadline_gives_it_none() {
    let now = Instant::now();
    let mut table = RequestTable::new();
    let token = table.insert("work", Deadline::never(), now).unwrap();
    assert_eq!(
        table.progress(&token.as_ref(), 1.0, now),
        Progressed::News(&mut "work")
    );
    assert_eq!(table.next_deadline(), None);
}

#[test]
fn the_end_of_a_connection_returns_everything_oldest_first() {
    let now = Instant::now();
    let mut table = RequestTable::new();
    table.insert('a', Deadline::after(secs(9)), now).unwrap();
    table.insert('b', Deadline::after(secs(1)), now).unwrap();
    let drained: Vec<_> = table.drain().collect();
    assert_eq!(drained, [(Id::Int(1), 'a'), (Id::Int(2), 'b')]);
    assert_eq!((table.len(), table.next_deadline()), (0, None));
}
