//! The stores of this crate under their contracts.

#[cfg(unix)]
mod redis;

use turnbuckle_store::{MemorySpent, contract, task::MemoryTasks};

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
    contract::spent(async || MemorySpent::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_the_contract_of_spent_states_on_several_threads() {
    contract::spent(async || MemorySpent::default()).await;
}
