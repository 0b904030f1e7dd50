//! Tests the stores of this crate with their contracts.

#[cfg(unix)]
mod redis;

use turnbuckle_store::{
    MemoryUsedStates, bus::MemoryBus, contract, event::MemoryEvents, limit::MemorySharedLimits,
    session::MemorySessions, task::MemoryTasks,
};

#[tokio::test]
async fn memory_keeps_the_contract_of_tasks() {
    contract::tasks(async || MemoryTasks::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_the_contract_of_tasks_on_several_threads() {
    contract::tasks(async || MemoryTasks::default()).await;
}

#[tokio::test]
async fn memory_keeps_the_contract_of_spent_states() {
    contract::used_states(async || MemoryUsedStates::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_the_contract_of_spent_states_on_several_threads() {
    contract::used_states(async || MemoryUsedStates::default()).await;
}

#[tokio::test]
async fn memory_keeps_the_contract_of_the_bus() {
    let bus = MemoryBus::default();
    contract::bus(async || bus.clone()).await;
}

#[tokio::test]
async fn memory_keeps_the_contract_of_notes_of_sessions() {
    contract::sessions(async || MemorySessions::default()).await;
}

#[tokio::test]
async fn memory_keeps_the_contract_of_logs_of_events() {
    contract::events(async || MemoryEvents::default()).await;
}

#[tokio::test]
async fn memory_keeps_the_contract_of_limits() {
    contract::limits(&MemorySharedLimits::default()).await;
}
