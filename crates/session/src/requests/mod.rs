//! Outgoing requests: their ids, their deadlines, and the table of those that wait for answers.

mod deadline;
mod ids;
mod table;

pub use deadline::{DEFAULT_TIMEOUT, Deadline, MAX_TOTAL_TIME, Overdue};
pub use ids::Ids;
pub use table::{Expired, Full, MAX_PENDING, Progressed, RequestTable};
