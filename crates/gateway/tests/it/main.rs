//! Tests the gateway between real clients and real servers: over sockets, over pipes, and with
//! child processes.

mod asks;
mod attribution;
mod attribution_of_anybody;
mod by_hand;
mod cells;
mod child;
mod circles;
mod endings;
mod faults;
mod fleet;
mod lock;
#[cfg(target_os = "linux")]
mod memory;
mod observe;
mod parking;
mod personal;
mod personal_changes;
mod policy;
mod policy_limits;
mod policy_names;
mod policy_resources;
mod policy_updates;
mod process_tasks;
mod raw_child;
mod raw_site;
mod reach;
mod scopes;
mod site;
mod spans;
mod starting;
mod task_child;
mod task_lists;
mod tasks;
mod tools;
mod unnamed;
mod upstream;
