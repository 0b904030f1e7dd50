//! The entry of the catalog that a request names, if its caller may see it.
//!
//! An entry that the caller may not see is not found, so later code cannot distinguish it from an
//! entry that does not exist.

use std::sync::Arc;

use turnbuckle_protocol::{
    CompleteRequestParams, Reference, Revision,
    envelope::Request,
    error::{name_in_message, problem_in_message},
};

use super::{
    incoming::{Completable, Denied, Target, text},
    shared::Shared,
};
use crate::{
    Caller, Reject,
    catalog::{Offer, Snapshot},
};

/// Finds the entry that a request names.
pub(super) fn find<'a>(
    shared: &Shared,
    caller: &Caller,
    revision: Revision,
    request: &'a Request<'a>,
) -> Result<Target<'a>, Denied> {
    match &*request.method {
        "tools/call" => tool(shared, caller, request),
        "prompts/get" => prompt(shared, caller, request),
        "resources/read" => resource(shared, caller, request),
        "resources/subscribe" if !revision.is_modern() => resource(shared, caller, request),
        "completion/complete" => completion(shared, caller, request),
        method => Ok(match shared.extensions.method(method) {
            Some(entry) => Target::Extension(Arc::clone(entry)),
            None => Target::Nothing,
        }),
    }
}

/// Checks that the author gave the server this part: without tools there is no method `tools/…`.
pub(super) fn offered(is_offered: bool, method: &str) -> Result<(), Reject> {
    if is_offered {
        Ok(())
    } else {
        Err(Reject::method_not_found(method))
    }
}

/// The error for a request that cannot be served. If this caller is offered nothing of the kind, it
/// is that the method does not exist. This is checked only then, because it requires a look at all
/// entries.
struct Missing<'a> {
    catalog: &'a Snapshot,
    caller: &'a Caller,
    method: &'a str,
    part: fn(&Offer) -> bool,
}

impl Missing<'_> {
    fn or(&self, reject: Reject) -> Reject {
        let is_offered = self.catalog.offers(self.caller, self.part);
        offered(is_offered, self.method).err().unwrap_or(reject)
    }
}

fn tool<'a>(
    shared: &Shared,
    caller: &Caller,
    request: &'a Request<'a>,
) -> Result<Target<'a>, Denied> {
    let catalog = &shared.catalog();
    let method = &request.method;
    let part = |offer: &Offer| offer.tools;
    let missing = Missing {
        catalog,
        caller,
        method,
        part,
    };
    let name = text(&request.params, "name").map_err(|reject| missing.or(reject))?;
    let tool = catalog.tools.get(&name, caller);
    let tool = tool.ok_or_else(|| {
        missing.or(Reject::invalid_params(format!(
            "there is no tool `{}`",
            name_in_message(&name)
        )))
    })?;
    let tool = Arc::clone(tool);
    if !caller.has_scopes(&tool.scopes) {
        return Err(Denied::Scopes(tool));
    }
    Ok(Target::Tool(tool, name))
}

fn prompt<'a>(
    shared: &Shared,
    caller: &Caller,
    request: &'a Request<'a>,
) -> Result<Target<'a>, Denied> {
    let catalog = &shared.catalog();
    let method = &request.method;
    let part = |offer: &Offer| offer.prompts;
    let missing = Missing {
        catalog,
        caller,
        method,
        part,
    };
    let name = text(&request.params, "name").map_err(|reject| missing.or(reject))?;
    let prompt = catalog.prompts.get(&name, caller);
    let prompt = prompt.ok_or_else(|| missing.or(no_prompt(&name)))?;
    Ok(Target::Prompt(Arc::clone(prompt), name))
}

fn resource<'a>(
    shared: &Shared,
    caller: &Caller,
    request: &'a Request<'a>,
) -> Result<Target<'a>, Denied> {
    let catalog = &shared.catalog();
    let method = &request.method;
    let part = |offer: &Offer| offer.resources;
    let missing = Missing {
        catalog,
        caller,
        method,
        part,
    };
    let uri = text(&request.params, "uri").map_err(|reject| missing.or(reject))?;
    let found = catalog.resource_at(&uri, caller);
    let found = found.ok_or_else(|| missing.or(Reject::resource_not_found(&uri)))?;
    Ok(Target::Resource(Arc::new(found), uri))
}

/// The error for params that cannot be parsed.
// errors: a message SHOULD be one concise sentence.
pub(super) fn unreadable(error: &serde_json::Error) -> Reject {
    let problem = problem_in_message(error);
    Reject::invalid_params(format!("the request cannot be read: {problem}"))
}

fn completion<'a>(
    shared: &Shared,
    caller: &Caller,
    request: &'a Request<'a>,
) -> Result<Target<'a>, Denied> {
    let catalog = shared.catalog();
    let is_offered = catalog.offers(caller, |offer| offer.completions);
    offered(is_offered, &request.method)?;
    let params: CompleteRequestParams =
        request.params.parse().map_err(|error| unreadable(&error))?;
    let completable = match &params.reference {
        Reference::Prompt(prompt) => {
            let entry = catalog.prompts.get(&prompt.name, caller);
            let entry = entry.ok_or_else(|| no_prompt(&prompt.name))?;
            Completable::Prompt(Arc::clone(entry))
        }
        Reference::Resource(resource) => {
            let entry = catalog.templates.get(&resource.uri, caller);
            let entry = entry.ok_or_else(|| {
                Reject::invalid_params(format!(
                    "there is no resource template `{}`",
                    name_in_message(&resource.uri)
                ))
            })?;
            Completable::Template(Arc::clone(entry))
        }
        _ => {
            return Err(Reject::invalid_params(
                "`ref.type` must be `ref/prompt` or `ref/resource`",
            )
            .into());
        }
    };
    Ok(Target::Completion(Box::new(params), completable))
}

fn no_prompt(name: &str) -> Reject {
    Reject::invalid_params(format!("there is no prompt `{}`", name_in_message(name)))
}
