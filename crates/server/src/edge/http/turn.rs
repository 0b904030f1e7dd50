//! A queue of messages for several connections, of which only one reads at a time.
//!
//! Each message is sent on one stream only. If several connections read the same queue, the newest
//! gets all messages; when it ends, the next newest continues.

use std::task::{Context, Waker};

use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_transport::Outbox;

/// A queue, and its readers.
pub(super) struct Source {
    pub(super) outbox: Outbox,
    row: Mutex<Row>,
}

/// The readers, the newest last.
#[derive(Default)]
struct Row {
    next: u64,
    readers: Vec<Reader>,
}

struct Reader {
    number: u64,
    waker: Option<Waker>,
}

impl Source {
    pub(super) fn new(outbox: Outbox) -> Self {
        Self {
            outbox,
            row: Mutex::default(),
        }
    }

    /// Adds a reader, whose turn it is from now on.
    pub(super) fn join(&self) -> u64 {
        let mut row = self.row();
        let number = row.next;
        row.next += 1;
        row.readers.push(Reader {
            number,
            waker: None,
        });
        number
    }

    /// Whether it is this reader's turn. A reader that has to wait is woken when its turn comes.
    pub(super) fn is_turn(&self, number: u64, context: &Context<'_>) -> bool {
        let mut row = self.row();
        let is_turn = row.readers.last().is_some_and(|last| last.number == number);
        let own = row.readers.iter_mut().find(|own| own.number == number);
        if let Some(own) = own {
            match &mut own.waker {
                Some(waker) => waker.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
        }
        is_turn
    }

    /// Removes a reader. It is woken, and so is the reader whose turn it is now.
    pub(super) fn leave(&self, number: u64) {
        let mut row = self.row();
        let place = row.readers.iter().position(|own| own.number == number);
        let gone = place.and_then(|place| row.readers.remove(place).waker);
        let next = row.readers.last_mut().and_then(|last| last.waker.take());
        drop(row);
        gone.into_iter().chain(next).for_each(Waker::wake);
    }

    fn row(&self) -> MutexGuard<'_, Row> {
        self.row.lock()
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_transport::Limits;

    use super::*;

    #[test]
    fn the_newest_reads_and_the_next_newest_takes_over() {
        let source = Source::new(Outbox::new(Limits::default()));
        let context = Context::from_waker(Waker::noop());
        let turns = |readers: [u64; 3]| readers.map(|reader| source.is_turn(reader, &context));
        let readers = [source.join(), source.join(), source.join()];
        assert_eq!(turns(readers), [false, false, true]);
        source.leave(readers[1]);
        assert_eq!(turns(readers), [false, false, true]);
        source.leave(readers[2]);
        assert_eq!(turns(readers), [true, false, false]);
        source.leave(readers[0]);
        source.leave(readers[0]);
        assert_eq!(turns(readers), [false, false, false]);
    }
}
