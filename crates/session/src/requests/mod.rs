//! Outgoing requests: their ids, how long each may take, and the table of those that wait.

mod deadline;
mod ids;
mod table;

pub use deadline::{DEFAULT_TIMEOUT, Deadline, MAX_TOTAL_TIME, Overdue};
pub use ids::Ids;
pub use table::{Expired, Full, MAX_PENDING, Progressed, RequestTable};
