//! How often messages are sent, and how often they are handled.

use std::sync::atomic::AtomicUsize;

use futures_core::future::BoxFuture;
use turnbuckle_session::round::KeyRing;
use turnbuckle_store::{
    JoinGuard, MemoryReplicas, ReplicaStores, StoreError,
    bus::{Bus, Inbox, MemoryBus},
};

use super::*;
use crate::replica::{MessageHandler, StreamLife};

/// Which messages a bus delivers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carries {
    All,
    /// All except the first, which is lost although it seemed to be sent.
    AllButTheFirst,
    /// No messages, because the recipients never listen.
    Nothing,
}

struct CountingBus {
    bus: MemoryBus,
    carries: Carries,
    /// The recipient of each message that was sent.
    sent: Mutex<Vec<Recipient>>,
}

impl CountingBus {
    fn new(carries: Carries) -> Arc<Self> {
        Arc::new(Self {
            bus: MemoryBus::default(),
            carries,
            sent: Mutex::default(),
        })
    }

    fn sent_to(&self, to: Recipient) -> usize {
        let sent = self.sent.lock();
        sent.iter().filter(|sent| **sent == to).count()
    }
}

impl Bus for CountingBus {
    fn join(&self, node: NodeId, inbox: Inbox) -> JoinGuard {
        self.bus.join(node, inbox)
    }

    fn ready(&self, node: NodeId) -> BoxFuture<'_, ()> {
        self.bus.ready(node)
    }

    fn left(&self, node: NodeId) -> BoxFuture<'_, ()> {
        self.bus.left(node)
    }

    fn send(&self, to: Recipient, message: Vec<u8>) -> BoxFuture<'_, Result<Delivery, StoreError>> {
        let is_first = {
            let mut sent = self.sent.lock();
            sent.push(to);
            sent.len() == 1
        };
        match self.carries {
            Carries::Nothing => Box::pin(async { Ok(Delivery::Deaf) }),
            Carries::AllButTheFirst if is_first => Box::pin(async { Ok(Delivery::Sent) }),
            _ => self.bus.send(to, message),
        }
    }

    fn nodes(&self) -> Vec<NodeId> {
        self.bus.nodes()
    }

    fn is_gone(&self, node: NodeId) -> bool {
        self.bus.is_gone(node)
    }
}

/// Takes this long to handle each message.
struct Slow {
    takes: Duration,
    taken: AtomicUsize,
}

impl MessageHandler for Slow {
    fn take(self: Arc<Self>, message: &Message) -> Option<BoxFuture<'static, Outcome>> {
        if !matches!(message, Message::Ended { .. }) {
            return None;
        }
        let before = self.taken.fetch_add(1, Ordering::Relaxed);
        let takes = if before == 0 {
            self.takes
        } else {
            Duration::ZERO
        };
        Some(Box::pin(async move {
            sleep(takes).await;
            Outcome::Done
        }))
    }
}

fn replica(bus: &Arc<CountingBus>, number: u64, takes: Duration) -> (Arc<Replicas>, Arc<Slow>) {
    let mut stores = ReplicaStores::from(MemoryReplicas::default());
    stores.bus = Arc::clone(bus) as Arc<dyn Bus>;
    let keys = Arc::new(KeyRing::from_secret(&[7; 32]).expect("it is long enough"));
    let keys = Arc::new(move || Arc::clone(&keys));
    let replicas = Replicas::join(&stores, NodeId::new(number), StreamLife::Local, keys);
    let slow = Arc::new(Slow {
        takes,
        taken: AtomicUsize::new(0),
    });
    replicas.add_own(Arc::clone(&slow) as Arc<dyn MessageHandler>);
    (replicas, slow)
}

fn message() -> Message {
    let session = "s".repeat(1000);
    Message::Ended { session }
}

const THERE: NodeId = NodeId::new(2);

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_long_is_not_sent_over_and_over() {
    let bus = CountingBus::new(Carries::All);
    let (here, _) = replica(&bus, 1, Duration::ZERO);
    let (_there, slow) = replica(&bus, 2, Duration::from_secs(10));
    let called = here.call(THERE, message(), Duration::from_secs(20)).await;
    assert!(matches!(called, Ok(Outcome::Done)), "{called:?}");
    assert_eq!(slow.taken.load(Ordering::Relaxed), 1);
    // The message itself, and once more to learn that it arrived.
    assert_eq!(bus.sent_to(Recipient::Node(THERE)), 2);
    // The report that it arrived, and the answer.
    assert_eq!(bus.sent_to(Recipient::Node(here.node)), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_lost_is_sent_again() {
    let bus = CountingBus::new(Carries::AllButTheFirst);
    let (here, _) = replica(&bus, 1, Duration::ZERO);
    let (_there, _) = replica(&bus, 2, Duration::ZERO);
    let called = here.call(THERE, message(), Duration::from_secs(20)).await;
    assert!(matches!(called, Ok(Outcome::Done)), "{called:?}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_replica_ends_a_call_that_it_works_on() {
    let bus = CountingBus::new(Carries::All);
    let (here, _) = replica(&bus, 1, Duration::ZERO);
    let (there, _) = replica(&bus, 2, Duration::from_mins(1));
    let leaving = async {
        sleep(Duration::from_secs(5)).await;
        there.leave().await;
    };
    let calling = here.call(THERE, message(), Duration::from_mins(1));
    let begun = Instant::now();
    let (called, ()) = tokio::join!(calling, leaving);
    assert!(matches!(called, Err(CallFailed::NoSuchNode)), "{called:?}");
    assert!(begun.elapsed() < Duration::from_secs(8));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_dropped_is_taken_when_it_comes_again() {
    let bus = CountingBus::new(Carries::All);
    let (here, _) = replica(&bus, 1, Duration::ZERO);
    let (there, _) = replica(&bus, 2, Duration::ZERO);
    let all = u32::try_from(there.at_work.available_permits()).expect("a number");
    let busy = there.at_work.clone().acquire_many_owned(all).await;
    let calming = async {
        sleep(Duration::from_millis(500)).await;
        drop(busy);
    };
    let calling = here.call(THERE, message(), Duration::from_secs(20));
    let (called, ()) = tokio::join!(calling, calming);
    assert!(matches!(called, Ok(Outcome::Done)), "{called:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_to_one_that_never_listens_ends_in_time() {
    let bus = CountingBus::new(Carries::Nothing);
    let (here, _) = replica(&bus, 1, Duration::ZERO);
    let (_there, _) = replica(&bus, 2, Duration::ZERO);
    let calling = here.call(THERE, message(), Duration::from_secs(1));
    let called = timeout(Duration::from_secs(10), calling).await;
    let called = called.expect("it ends");
    assert!(matches!(called, Err(CallFailed::Late)), "{called:?}");
}

#[tokio::test(start_paused = true)]
async fn those_who_have_a_message_for_all_are_not_told_again() {
    let bus = CountingBus::new(Carries::All);
    let (here, _) = replica(&bus, 1, Duration::ZERO);
    let (_late, late) = replica(&bus, 2, Duration::from_secs(5));
    let (_quick, quick) = replica(&bus, 3, Duration::ZERO);
    let told = timeout(TOLD, here.tell_until_taken(message())).await;
    assert!(matches!(told, Ok(Ok(()))), "{told:?}");
    assert_eq!(late.taken.load(Ordering::Relaxed), 2, "one was late");
    assert_eq!(quick.taken.load(Ordering::Relaxed), 1);
    assert_eq!(bus.sent_to(Recipient::All), 1);
}
