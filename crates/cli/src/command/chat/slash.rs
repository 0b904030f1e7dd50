//! The commands that begin with a slash.

use turnbuckle::{
    host::{Grant, ServerId, ServerState},
    models::format::attachment,
    protocol::SamplingContent,
};
use turnbuckle_base::error_chain::in_one_line;
use turnbuckle_command_line::{
    control::{is_order, one_line},
    failure::{Code, Failed, Outcome},
    style::Style,
};

use super::{allow::Permission, prompt, session::ChatSession, unready::Unready, words};
use crate::show::{self, print, print_shown, tell};

const HELP: &str = "\
/tools                list the tools, and those that the model's API does not accept
/servers              list the servers and their states
/prompt [NAME k=v…]   list the prompts, or use one
/resource [@URI]      list the resources, or attach one to your next message;
                      `/resource SERVER @URI` names the server
/allow [SERVER/TOOL]  list what is allowed, or allow something in this chat
/revoke SERVER/TOOL   take back what is allowed, permanently or in this chat
/show NUMBER          show a call and its result in full
/history              list what you typed; !NUMBER, !START or !! repeats a line
/new                  forget the conversation, and what was allowed for it
/quit                 end, as Ctrl-D does

Ctrl-D says no to a question and declines a form. Ctrl-C stops the model and cancels its calls.";

/// How many lines of history are listed.
const MAX_HISTORY: usize = 20;

/// Lines that Tab completes to.
pub(super) fn completions(session: &ChatSession) -> Vec<String> {
    let host = session.conversation.host();
    let catalog = host.catalog();
    let commands = HELP
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.starts_with('/'));
    let mut lines: Vec<String> = commands.map(str::to_owned).collect();
    let names = catalog.prompts().iter().map(|prompt| prompt.name());
    lines.extend(names.map(|name| format!("/prompt {name}")));
    let listed = catalog.resources().iter();
    lines.extend(listed.map(|listed| format!("/resource @{}", listed.resource().uri)));
    let tools = catalog.tools().iter();
    lines.extend(tools.map(|tool| format!("/allow {}/{}", tool.server(), tool.tool().name)));
    let granted = host.grants();
    let granted = granted.iter();
    lines.extend(granted.map(|grant| format!("/revoke {}", granted_name(grant))));
    // Names from servers are not offered if a user could not type them.
    lines.retain(|line| !line.contains(is_order) && !line.contains('\n'));
    lines
}

/// A grant in the syntax of `/revoke`.
fn granted_name(grant: &Grant) -> String {
    let subject = if grant.subject.is_empty() {
        "*"
    } else {
        &grant.subject
    };
    format!("{}:{}/{subject}", grant.kind, grant.server)
}

/// What to do after a command.
pub(super) enum Next {
    /// Read the next line.
    Line,
    /// Let the model answer: a message was added.
    Model,
    /// End the chat.
    Quit,
}

/// Runs a line that begins with a slash.
pub(super) async fn run(session: &mut ChatSession, line: &str) -> Outcome<Next> {
    let words = words::split(line);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (command, rest) = words
        .split_first()
        .map_or(("", &[][..]), |(first, rest)| (*first, rest));
    match (command, rest) {
        ("/help" | "/?", _) => print(HELP),
        ("/quit" | "/exit", _) => return Ok(Next::Quit),
        ("/new", _) => session.forget(),
        ("/tools", _) => tools(session),
        ("/servers", _) => servers(session),
        ("/history", _) => {
            for (number, line) in session.history.last(MAX_HISTORY) {
                print(&format!("{number:>4}  {line}"));
            }
        }
        ("/show", [number]) => whole(session, number)?,
        ("/prompt", []) => list(
            &prompt::list(&session.conversation.host().catalog()),
            "prompts",
        ),
        ("/prompt", [name, arguments @ ..]) => {
            let messages = prompt::get(&session.conversation, name, arguments).await?;
            session.say_all(messages);
            return Ok(Next::Model);
        }
        ("/resource", []) => resources(session),
        ("/resource", [uri]) => {
            let uri = uri.trim_start_matches('@');
            let server = owner(session, uri)?;
            attach(session, server, uri).await?;
        }
        ("/resource", [server, uri]) => {
            attach(session, ServerId::new(*server), uri.trim_start_matches('@')).await?;
        }
        ("/allow", []) => grants(session),
        ("/allow", permissions) => {
            for text in permissions {
                let permission = Permission::parse(text)?;
                session.allowed.add(&permission);
                print(&format!("allowed in this chat: {permission}"));
            }
        }
        ("/revoke", [text]) => revoke(session, text)?,
        (command, _) => {
            return Err(Failed::usage(format!(
                "`{command}` is not a command, or an argument is missing"
            ))
            .hint("`/help` lists the commands"));
        }
    }
    Ok(Next::Line)
}

fn list(lines: &[String], what: &str) {
    if lines.is_empty() {
        print(&format!("there are no {what}"));
    }
    for line in lines {
        print(line);
    }
}

fn tools(session: &ChatSession) {
    let catalog = session.conversation.host().catalog();
    let lines: Vec<_> = catalog
        .tools()
        .iter()
        .map(|tool| {
            let about = tool.tool().description.as_deref().unwrap_or_default();
            let about = about.lines().next().unwrap_or_default();
            format!("{}  {}", Style::Strong.out(tool.name()), one_line(about))
        })
        .collect();
    list(&lines, "tools");
    for problem in catalog.problems() {
        print(&format!("! {}", one_line(&problem.to_string())));
    }
    for rewrite in session.folded.rewrites() {
        print(&format!("! {}", one_line(&rewrite.to_string())));
    }
}

fn servers(session: &ChatSession) {
    let host = session.conversation.host();
    let lines: Vec<_> = host
        .servers()
        .iter()
        .flat_map(|server| {
            let state = match &server.state {
                ServerState::Ready(ready) => format!("ready ({})", ready.revision),
                ServerState::Idle => "idle".to_owned(),
                ServerState::Starting => "starting".to_owned(),
                ServerState::Disabled => "disabled".to_owned(),
                ServerState::Restarting { failure, .. } => {
                    format!("restarting: {}", one_line(&failure.reason))
                }
                ServerState::Failed { failure, .. } => {
                    format!("failed: {}", one_line(&failure.reason))
                }
                _ => "removed".to_owned(),
            };
            let line = format!(
                "{}  {state}  {}",
                Style::Strong.out(&one_line(server.id.as_str())),
                one_line(&server.launch)
            );
            let unready = Unready::new(server);
            let stderr = unready.map_or_else(Vec::new, |unready| unready.stderr_lines().collect());
            std::iter::once(line).chain(stderr)
        })
        .collect();
    list(&lines, "servers");
    for note in host.notes() {
        print(&format!("! {}", one_line(&note.to_string())));
    }
}

fn resources(session: &ChatSession) {
    let catalog = session.conversation.host().catalog();
    let mut lines = Vec::new();
    for listed in catalog.resources() {
        let resource = listed.resource();
        lines.push(resource_line(
            &resource.uri,
            &resource.name,
            listed.server(),
        ));
    }
    for listed in catalog.templates() {
        let template = listed.template();
        lines.push(resource_line(
            &template.uri_template,
            &template.name,
            listed.server(),
        ));
    }
    list(&lines, "resources");
}

fn resource_line(uri: &str, name: &str, server: &ServerId) -> String {
    let server = Style::Dim.out(&format!("of {}", one_line(server.as_str())));
    format!("@{}  {}  {server}", one_line(uri), one_line(name))
}

/// The server of a resource. If several servers list it, the user has to name one: otherwise a server could get
/// requests meant for another by listing the same URIs.
fn owner(session: &ChatSession, uri: &str) -> Outcome<ServerId> {
    let catalog = session.conversation.host().catalog();
    let listed = catalog.resources().iter();
    let mut owners: Vec<&ServerId> = listed
        .filter(|listed| listed.resource().uri == uri)
        .map(|listed| listed.server())
        .collect();
    owners.dedup();
    if owners.len() > 1 {
        let names: Vec<_> = owners
            .iter()
            .map(|server| format!("`/resource {server} @{uri}`"))
            .collect();
        let said = format!("{} servers have `{uri}`", owners.len());
        return Err(Failed::usage(said).hint(format!("type {}", names.join(" or "))));
    }
    let owner = catalog.owner(uri).cloned();
    owner.ok_or_else(|| {
        Failed::usage(format!("no server is known to have `{uri}`"))
            .hint("`/resource` lists the resources; `/resource SERVER @URI` names the server")
    })
}

async fn attach(session: &mut ChatSession, server: ServerId, uri: &str) -> Outcome {
    let attached = session.conversation.attach_from(server, uri).await;
    let attached = attached.map_err(|error| Failed::new(Code::Protocol, error))?;
    let parts: Vec<SamplingContent> = attached.contents.iter().map(attachment).collect();
    session.attach(parts);
    print(&format!(
        "attached {uri} to your next message (of server `{}`, about {} tokens)",
        one_line(attached.server.as_str()),
        attached.tokens
    ));
    Ok(())
}

fn grants(session: &ChatSession) {
    let grants = session.conversation.host().grants();
    let lines: Vec<_> = grants
        .iter()
        .map(|grant| format!("{}  since {}", granted_name(grant), grant.since))
        .chain(
            session
                .allowed
                .list()
                .iter()
                .map(|permission| format!("{permission}  in this chat")),
        )
        .collect();
    list(&lines, "grants");
}

fn revoke(session: &ChatSession, text: &str) -> Outcome {
    let permission = Permission::parse(text)?;
    let host = session.conversation.host();
    let revoked = host.revoke(|grant| permission.fits(grant.kind, &grant.server, &grant.subject));
    let count = revoked.map_err(|error| Failed::usage(in_one_line(&error)))?;
    let count = count + session.allowed.remove(&permission);
    print(&format!("revoked {count}"));
    Ok(())
}

fn whole(session: &ChatSession, number: &str) -> Outcome {
    let found = number
        .parse()
        .ok()
        .and_then(|number| session.folded.find(number));
    let (call, result) =
        found.ok_or_else(|| Failed::usage(format!("there is no call {number}")))?;
    tell(&format!(
        "{} {}",
        call.name,
        serde_json::Value::Object(call.input)
    ));
    print_shown(&show::tool_result(&result, &show::Media::default()));
    Ok(())
}
