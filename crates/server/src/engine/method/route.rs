//! The router: passes an admitted request to its method.

use std::sync::Arc;

use turnbuckle_protocol::envelope::Request;

use super::{
    completion_complete, extension, initialize, list, logging_set_level, prompts_get,
    resources_list, resources_read, resources_subscribe, server_discover, subscriptions_listen,
    tools_call,
};
use crate::{
    Cached, Failure, Fault, Reject,
    client::Peer,
    engine::{
        Incoming, Served, Shared, Sink, StartedCall, Target, admission,
        answer::{ResultOf, WireResult},
        exchange,
        rates::RatedMethod,
        relayed, task,
    },
};

/// Admits a request from a line transport, and serves it.
pub(crate) fn serve_on_line(
    shared: &Arc<Shared>,
    peer: &Arc<Peer>,
    request: &Request<'_>,
    out: &mut impl Sink,
) -> Served {
    let era = admission::era_on_line(peer, request);
    match admission::admit(shared, peer, era, request) {
        Ok(incoming) => serve(shared, &incoming, out),
        Err(inadmissible) => {
            inadmissible.refuse(&request.id, out);
            Served::Done
        }
    }
}

/// Serves one request. Everything that is ready at once is appended to `out`.
pub(crate) fn serve(shared: &Arc<Shared>, incoming: &Incoming<'_>, out: &mut impl Sink) -> Served {
    // Handlers are guarded where they are called; this catches panics in other code of the author,
    // such as visibility rules.
    Fault::caught(|| route(shared, incoming, out)).unwrap_or_else(|fault| {
        incoming.refuse(fault.into_reject(), out);
        Served::Done
    })
}

fn route(shared: &Arc<Shared>, incoming: &Incoming<'_>, out: &mut impl Sink) -> Served {
    if let Some(relay) = &shared.relay
        && let Some(served) = relayed::serve(shared, relay, incoming, out)
    {
        return served;
    }
    match &incoming.target {
        Ok(Target::Tool(tool, name)) => tools_call::serve(shared, incoming, tool, name, out),
        Ok(Target::Prompt(prompt, name)) => {
            let started = prompts_get::start(shared, incoming, prompt, name);
            run(shared, incoming, started, out)
        }
        Ok(Target::Resource(_, uri)) if incoming.method == "resources/subscribe" => {
            resources_subscribe::subscribe(incoming, uri, out);
            Served::Done
        }
        Ok(Target::Resource(found, uri)) => {
            let started = resources_read::start(shared, incoming, found, uri);
            run(shared, incoming, started, out)
        }
        Ok(Target::Completion(params, completable)) => {
            let is_allowed = shared
                .allowances
                .rates
                .check(RatedMethod::Completions, incoming.peer);
            let started = is_allowed
                .map_err(Failure::from)
                .and_then(|()| completion_complete::start(shared, incoming, params, completable));
            run(shared, incoming, started, out)
        }
        Ok(Target::Extension(method)) => run(
            shared,
            incoming,
            extension::start(shared, incoming, method),
            out,
        ),
        Ok(Target::Nothing) => by_name(shared, incoming, out),
        Err(denied) => {
            incoming.refuse(denied.to_reject(), out);
            Served::Done
        }
    }
}

/// Runs a call that was started.
pub(super) fn run<T: WireResult + Send + 'static>(
    shared: &Shared,
    incoming: &Incoming<'_>,
    started: Result<StartedCall<T>, Failure>,
    out: &mut impl Sink,
) -> Served {
    exchange::run(
        &shared.responder,
        incoming.revision,
        incoming.id,
        ResultOf::Request(incoming.params),
        started,
        out,
    )
    .into()
}

/// Methods that use no entry of the catalog.
fn by_name(shared: &Arc<Shared>, incoming: &Incoming<'_>, out: &mut impl Sink) -> Served {
    let is_modern = incoming.revision.is_modern();
    match incoming.method {
        "tools/list" => list::serve(shared, incoming, Cached::Tools, |all| &all.tools, out),
        "prompts/list" => list::serve(shared, incoming, Cached::Prompts, |all| &all.prompts, out),
        "resources/list" => return resources_list::serve(shared, incoming, out),
        "resources/templates/list" => list::serve(
            shared,
            incoming,
            Cached::Templates,
            |all| &all.templates,
            out,
        ),
        "tasks/get" | "tasks/update" | "tasks/cancel" | "tasks/result" | "tasks/list" => {
            let runner = shared.task_runner(incoming.caller());
            return task::serve(runner, &shared.responder, incoming, out).into();
        }
        "subscriptions/listen" if is_modern => {
            return subscriptions_listen::serve(shared, incoming, out);
        }
        "server/discover" if is_modern => server_discover::serve(shared, incoming, out),
        "resources/unsubscribe" if !is_modern => {
            resources_subscribe::unsubscribe(shared, incoming, out);
        }
        "initialize" if !is_modern => initialize::serve(shared, incoming, out),
        "logging/setLevel" if !is_modern => logging_set_level::serve(shared, incoming, out),
        "ping" if !is_modern => incoming.answer_empty(out),
        method => incoming.refuse(Reject::method_not_found(method), out),
    }
    Served::Done
}
