//! Continues a task whose replica has ended or has handed it over.

use std::{sync::Arc, time::Duration};

use turnbuckle_base::wall_clock;
use turnbuckle_session::round::Journal;
use turnbuckle_store::task::{
    Changed, JournalChange, Restart, RunChange, TaskChange, TaskKey, TaskRecord, TasksError,
};

use super::{
    RunningTasks, ending,
    restart::{Restarts, Turn},
    stored_call::StoredCall,
    work::Work,
};
use crate::{
    engine::{StartedCall, answer::ResultOf},
    handler::TaskChannel,
};

/// How long a task that this replica cannot read is left to replicas with another version or
/// another secret.
const LEFT_TO_OTHERS: Duration = Duration::from_secs(30);

/// How long to wait before asking the store again whether a task was taken over.
const CLAIM_AGAIN: Duration = Duration::from_millis(500);

/// Continues a task, unless another replica does. It does not wait. Must be called inside a
/// runtime.
pub(super) fn adopt(tasks: &Arc<RunningTasks>, restarts: &Arc<Restarts>, record: Arc<TaskRecord>) {
    if tasks.closing.is_set() {
        return;
    }
    let Some(adopting) = restarts.adopt(&record.task.task_id) else {
        return;
    };
    let (tasks, restarts) = (Arc::clone(tasks), Arc::clone(restarts));
    // This task ends with the MCP task, or at once if that is not run here.
    tokio::spawn(async move {
        let Some(restart) = whole(&tasks, &record).await else {
            return;
        };
        let Some((call, _)) = restarts.read(&record, &restart) else {
            if adopting.leave() {
                let (key, turn) = (record.key(), restart.turn);
                // Both may be large.
                drop((record, restart));
                leave_to_others(&tasks, &key, turn).await;
            }
            return;
        };
        let work = take(&tasks, &restarts, &record, restart.turn, call).await;
        drop((adopting, record, restart));
        if let Some((work, record)) = work {
            work.run(record).await;
        }
    });
}

/// Reads the data for continuing a task; `None` if another replica has continued it in the
/// meantime. If the store cannot be read, the task is tried again later.
async fn whole(tasks: &RunningTasks, record: &TaskRecord) -> Option<Restart> {
    let seen = record.restart.as_ref()?.turn;
    match tasks.store.restart(&record.key(), wall_clock::now()).await {
        Ok(restart) => restart.filter(|restart| restart.turn == seen),
        Err(error) => {
            tracing::warn!(task = record.task.task_id, %error, "the call of a task cannot be read");
            None
        }
    }
}

/// Reads the journal of a task that was taken over. It is read again because the previous replica
/// may have added to it until the takeover; after that it cannot. `None` if the journal cannot be
/// read.
async fn journal(
    tasks: &RunningTasks,
    restarts: &Restarts,
    record: &TaskRecord,
    turn: u32,
) -> Option<Journal> {
    loop {
        let restart = tasks.store.restart(&record.key(), wall_clock::now()).await;
        match restart {
            Ok(restart) => {
                let restart = restart.filter(|restart| restart.turn == turn)?;
                return restarts.read(record, &restart).map(|(_, journal)| journal);
            }
            Err(TasksError::Store(error)) if !tasks.closing.is_set() => {
                tracing::warn!(%error, "the journal of a task cannot be read yet");
                tokio::time::sleep(CLAIM_AGAIN).await;
            }
            Err(error) => {
                tracing::warn!(%error, "the journal of a task cannot be read");
                return None;
            }
        }
    }
}

/// Takes over a task, if no other replica has done so and it can run here.
async fn take(
    tasks: &Arc<RunningTasks>,
    restarts: &Arc<Restarts>,
    record: &TaskRecord,
    turn: u32,
    call: StoredCall,
) -> Option<(Work, Arc<TaskRecord>)> {
    let starter = restarts.starter()?;
    let responder = starter.responder()?;
    let weight = call.arguments.as_ref().map_or(0, |raw| raw.get().len());
    let mut slot = match tasks.enter(&call.caller(), call.payer(), weight) {
        Ok(slot) => slot,
        Err(reject) => {
            let reason = &reject.as_error().message;
            tracing::warn!(
                task = record.task.task_id,
                reason,
                "a task of another replica cannot be taken over"
            );
            return None;
        }
    };
    let record = claim(tasks, restarts, record, turn).await?;
    let turn = turn + 1;
    let Some(journal) = journal(tasks, restarts, &record, turn).await else {
        give_up(tasks, restarts, &record, turn).await;
        return None;
    };
    slot.take(&record.task.task_id);
    tracing::info!(
        task = record.task.task_id,
        tool = call.tool,
        "a task of another replica continues on this one"
    );
    let channel = Arc::new(TaskChannel::of_task(&record.task.task_id));
    let started = starter.start(&call, journal, Arc::clone(&channel));
    let (run, guard) = started.unwrap_or_else(StartedCall::failed).into_run();
    if let Some(asking) = run.asking() {
        asking.on_task(&channel);
    }
    let work = Work {
        tasks: Arc::clone(tasks),
        slot,
        channel,
        run,
        guard,
        revision: call.revision,
        responder,
        tool: ResultOf::Named(Some(call.tool.as_str().into())),
        standing: None,
        turn: Some(Turn {
            restarts: Arc::clone(restarts),
            number: turn,
        }),
        deadline: None,
    };
    Some((work, record))
}

/// Stores that the task continues on this replica. If several replicas try, one succeeds.
async fn claim(
    tasks: &RunningTasks,
    restarts: &Restarts,
    record: &TaskRecord,
    turn: u32,
) -> Option<Arc<TaskRecord>> {
    let node = restarts.leased.node();
    let changed = loop {
        let change = TaskChange::TakeOver { turn, node };
        let changed = tasks
            .store
            .change(&record.key(), change, wall_clock::now())
            .await;
        match changed {
            // The change may have been stored nevertheless; then no other replica takes over the
            // task.
            Err(TasksError::Store(error)) if !tasks.closing.is_set() => {
                tracing::warn!(%error, "it is not known yet whether a task was taken over");
                tokio::time::sleep(CLAIM_AGAIN).await;
            }
            changed => break changed,
        }
    };
    match changed {
        // If an answer of the store was lost and the change was sent again, the task is already
        // taken over by this replica.
        Ok(Changed::Now(record) | Changed::Over(record)) => {
            let restart = record.restart.as_ref()?;
            let is_ours = restart.node == Some(node) && restart.turn == turn + 1;
            is_ours.then_some(record)
        }
        Ok(Changed::Unknown) => None,
        Err(error) => {
            tracing::warn!(%error, "a task cannot be taken over");
            None
        }
    }
}

/// Ends a task that was taken over but cannot run. If this replica is shutting down, another one
/// finds the task.
async fn give_up(tasks: &RunningTasks, restarts: &Arc<Restarts>, record: &TaskRecord, number: u32) {
    if tasks.closing.is_set() {
        return;
    }
    let turn = Turn {
        restarts: Arc::clone(restarts),
        number,
    };
    let end = TaskChange::End(ending::unreadable());
    let end = turn.change(JournalChange::Same, Some(end));
    let key = record.key();
    let ended = tasks.store.change(&key, end, wall_clock::now()).await;
    if let Err(error) = ended {
        tracing::warn!(%error, "the end of a task could not be stored");
    }
}

/// Leaves a task that this replica cannot read to replicas with another version or another secret.
/// If none of them takes it over in time, the task fails.
async fn leave_to_others(tasks: &RunningTasks, key: &TaskKey, turn: u32) {
    tokio::time::sleep(LEFT_TO_OTHERS).await;
    let now = wall_clock::now();
    let turn_of = |record: &TaskRecord| record.restart.as_ref().map(|restart| restart.turn);
    match tasks.store.get(key, now).await {
        Ok(Some(found)) if !found.is_over() && turn_of(&found) == Some(turn) => {
            // Another replica may take it over at this moment, and then this change has no effect.
            let end = TaskChange::Run(RunChange {
                turn,
                journal: JournalChange::Same,
                change: Some(Box::new(TaskChange::End(ending::unreadable()))),
            });
            if let Err(error) = tasks.store.change(key, end, now).await {
                tracing::warn!(%error, "the end of a task could not be stored");
            }
        }
        _ => {}
    }
}
