//! One chat: the messages so far, and the next step.

use std::{sync::Arc, time::Duration};

use turnbuckle::{
    host::{Conversation, Host, Problem},
    models::{
        HostTools,
        agent::{Agent, AgentOutcome, Event, Stop},
    },
    protocol::{Role, SamplingContent, SamplingMessage, StopReason},
};
use turnbuckle_command_line::{
    control::one_line,
    failure::{Code, Failed, Outcome},
    style::Style,
};

use super::{
    allow::Allowed,
    events,
    history::History,
    model, person,
    screen::{Folded, Screen},
    servers,
    slash::{self, Next},
    unready::{self, Unready},
};
use crate::{ask::Line, runtime::stop_signal, show::tell};

/// How often to check the servers that are starting.
const LOOK: Duration = Duration::from_secs(1);

/// How long to wait for servers to start before the user can type, and before a program is told about them.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// How many problems with servers are shown when a chat begins.
const MAX_PROBLEMS: usize = 5;

/// Who the output is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Text,
    Json,
}

/// One chat.
pub(super) struct ChatSession {
    agent: Agent,
    pub(super) conversation: Arc<Conversation>,
    pub(super) allowed: Allowed,
    pub(super) folded: Folded,
    pub(super) history: History,
    messages: Vec<SamplingMessage>,
    /// Content that is sent with the next message.
    attached: Vec<SamplingContent>,
    last_said: Said,
    output: Output,
}

/// The last turn, which is removed if the model does not answer.
#[derive(Clone, Copy, Default)]
struct Said {
    /// The number of messages before it.
    before: usize,
    /// How many content blocks of its first message were attached.
    attached: usize,
}

impl ChatSession {
    pub(super) fn new(
        agent: Agent,
        conversation: Arc<Conversation>,
        allowed: Allowed,
        output: Output,
    ) -> Self {
        Self {
            agent,
            conversation,
            allowed,
            folded: Folded::default(),
            history: History::default(),
            messages: Vec::new(),
            attached: Vec::new(),
            last_said: Said::default(),
            output,
        }
    }

    /// Sends one prompt, prints the answer and ends.
    pub(super) async fn once(&mut self, prompt: &str) -> Outcome {
        tokio::select! {
            () = ready(&self.conversation, None, self.output) => {}
            () = stop_signal() => return Err(Failed::interrupted()),
        }
        self.report(&unready::find(self.conversation.host()));
        self.say(prompt);
        match self.run().await? {
            ended @ AgentOutcome::Done(_) => {
                if self.output == Output::Text {
                    self.tell_end(&ended);
                }
                Ok(())
            }
            AgentOutcome::Stopped => Err(Failed::interrupted()),
            AgentOutcome::RoundLimit { limit } => {
                let said = format!("the model did not finish after {limit} requests");
                Err(Failed::new(Code::Tool, said).hint("raise --max-rounds"))
            }
            _ => Err(Failed::new(Code::Tool, "the model did not finish")),
        }
    }

    /// Continues until the user ends the chat.
    pub(super) async fn converse(&mut self) -> Outcome {
        self.history = History::open(servers::data_folder()?.join("chat-history"));
        tokio::select! {
            () = ready(&self.conversation, Some(MAX_WAIT), self.output) => {}
            () = stop_signal() => return Err(Failed::interrupted()),
        }
        self.greet();
        loop {
            let earlier = self.history.lines().to_vec();
            let asked = Line::new("> ").of_conversation(earlier, slash::completions(self));
            let line = tokio::select! {
                line = asked.read() => line?,
                () = stop_signal() => return Err(Failed::interrupted()),
            };
            let Some(line) = line else { return Ok(()) };
            let next = tokio::select! {
                next = self.take(line.trim()) => next,
                () = stop_signal() => {
                    tell("");
                    continue;
                }
            };
            match next {
                Ok(Next::Quit) => return Ok(()),
                Ok(Next::Line) => {}
                Ok(Next::Model) => match self.run().await {
                    Ok(ended) => self.tell_end(&ended),
                    // The chat continues: the user can send the same again.
                    Err(failed) => tell(&failed.to_string()),
                },
                Err(failed) => tell(&failed.to_string()),
            }
        }
    }

    fn greet(&self) {
        let host = self.conversation.host();
        let servers = host.servers();
        let ready = servers
            .iter()
            .filter(|server| server.state.is_ready())
            .count();
        let tools = host.catalog().tools().len();
        let model = self.agent.model().name();
        let said = format!(
            "{model}, {tools} tools of {ready} of {} servers; /help lists the commands",
            servers.len()
        );
        tell(&Style::Dim.err(&said));
        let mut unready = unready::find(host);
        // Servers that are still starting were named before.
        unready.retain(|server| !server.is_starting());
        self.report(&unready);
    }

    /// Reports problems with config files, with servers and with their tools, prompts and resources.
    fn report(&self, unready: &[Unready]) {
        let host = self.conversation.host();
        let notes = host.notes();
        let catalog = host.catalog();
        let mut problems: Vec<&Problem> = catalog.problems().iter().collect();
        // If several servers have the same URI, a chat asks which one is meant when the URI is used.
        problems.retain(|problem| !matches!(problem, Problem::SameUri { .. }));
        match self.output {
            Output::Json => {
                notes.iter().for_each(events::note);
                unready.iter().for_each(events::unready);
                problems.into_iter().for_each(events::problem);
            }
            Output::Text => {
                for note in notes {
                    let note = one_line(&note.to_string());
                    tell(&Style::Dim.err(&format!("note: {note}")));
                }
                unready.iter().for_each(Unready::tell);
                tell_problems(&problems);
            }
        }
    }

    /// Handles a line that was typed.
    async fn take(&mut self, line: &str) -> Outcome<Next> {
        let line = match line.strip_prefix('!') {
            Some(wanted) => {
                let found = self.history.find(wanted).map(str::to_owned);
                let found = found.ok_or_else(|| {
                    Failed::usage(format!("the history has no `{wanted}`"))
                        .hint("`/history` lists it")
                })?;
                tell(&Style::Dim.err(&format!("> {found}")));
                found
            }
            None => line.to_owned(),
        };
        if line.is_empty() {
            return Ok(Next::Line);
        }
        self.history.add(&line);
        if line.starts_with('/') {
            return slash::run(self, &line).await;
        }
        self.say(&line);
        Ok(Next::Model)
    }

    /// Adds a message with the attached content.
    fn say(&mut self, text: &str) {
        let mut message = SamplingMessage::user(text);
        let attached = std::mem::take(&mut self.attached);
        self.last_said = Said {
            before: self.messages.len(),
            attached: attached.len(),
        };
        message.content.splice(0..0, attached);
        self.messages.push(message);
    }

    pub(super) fn say_all(&mut self, messages: Vec<SamplingMessage>) {
        self.last_said = Said {
            before: self.messages.len(),
            attached: 0,
        };
        self.messages.extend(messages);
    }

    /// Removes the last message. Content that was attached to it goes with the next message.
    fn take_back(&mut self) {
        let Said { before, attached } = std::mem::take(&mut self.last_said);
        if before >= self.messages.len() {
            return;
        }
        let mut said = self.messages.split_off(before);
        if let Some(first) = said.first_mut() {
            let attached = attached.min(first.content.len());
            self.attached.splice(0..0, first.content.drain(..attached));
        }
    }

    pub(super) fn attach(&mut self, parts: Vec<SamplingContent>) {
        self.attached.extend(parts);
    }

    /// Starts another conversation: earlier messages and permissions of the conversation are forgotten.
    pub(super) fn forget(&mut self) {
        let conversation = Arc::new(self.conversation.host().conversation());
        let tools = HostTools::new(Arc::clone(&conversation));
        self.agent = self.agent.clone().with_tools(tools);
        self.conversation = conversation;
        self.messages.clear();
        self.attached.clear();
        self.last_said = Said::default();
    }

    /// Lets the model answer. Ctrl-C stops it, and cancels its calls.
    async fn run(&mut self) -> Outcome<AgentOutcome> {
        let stop = Stop::new();
        let mut screen = Screen::new(self.folded.clone());
        let output = self.output;
        let mut report = |event: Event<'_>| match output {
            Output::Text => screen.show(&event),
            Output::Json => events::show(&event),
        };
        let before = self.messages.len();
        let ended = {
            let work = self.agent.run(&mut self.messages, &stop, &mut report);
            let mut work = std::pin::pin!(work);
            loop {
                tokio::select! {
                    ended = &mut work => break ended,
                    () = stop_signal(), if !stop.is_stopped() => stop.stop(),
                }
            }
        };
        let ended = ended.map_err(model::failed);
        if output == Output::Text {
            screen.end_line();
        }
        match ended {
            Ok(ended) => {
                if output == Output::Json {
                    events::end(&ended);
                }
                Ok(ended)
            }
            Err(failed) => {
                if self.messages.len() == before {
                    // There is no answer, so the prompt is removed from the conversation.
                    self.take_back();
                }
                if output == Output::Json {
                    events::failed(&failed.said());
                }
                Err(failed)
            }
        }
    }

    /// Reports how a run ended, if it did not end with a complete answer.
    fn tell_end(&self, ended: &AgentOutcome) {
        let said = match ended {
            AgentOutcome::Stopped => "stopped".to_owned(),
            AgentOutcome::RoundLimit { limit } => {
                format!("not finished after {limit} requests; type `go on`, or raise --max-rounds")
            }
            AgentOutcome::Done(StopReason::MaxTokens) => {
                "cut off: the answer reached the token limit; raise --max-tokens".to_owned()
            }
            AgentOutcome::Done(StopReason::EndTurn | StopReason::StopSequence) => {
                let last = self.messages.last();
                if last.is_some_and(|message| message.role == Role::Assistant) {
                    return;
                }
                "the model gave no answer".to_owned()
            }
            AgentOutcome::Done(reason) => {
                let reason = one_line(reason.as_str());
                format!("the answer may be incomplete: the API ended it with `{reason}`")
            }
            _ => return,
        };
        tell(&Style::Warn.err(&said));
    }
}

/// Reports problems with the tools, prompts and resources of servers.
fn tell_problems(problems: &[&Problem]) {
    for problem in problems.iter().take(MAX_PROBLEMS) {
        let problem = one_line(&problem.to_string());
        tell(&Style::Dim.err(&format!("note: {problem}")));
    }
    let rest = problems.len().saturating_sub(MAX_PROBLEMS);
    if rest > 0 {
        let said = format!("note: {rest} more problems; `/tools` lists all");
        tell(&Style::Dim.err(&said));
    }
}

/// Waits until all servers are ready or have failed, and says which servers it waits for. A user waits at most
/// `limit`; the tools of slower servers are added later. A script waits as long as a server may take to
/// start.
async fn ready(conversation: &Conversation, limit: Option<Duration>, output: Output) {
    let host = conversation.host();
    let mut ready = std::pin::pin!(host.ready());
    let mut waited = Duration::ZERO;
    loop {
        tokio::select! {
            () = &mut ready => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        if person::is_asked() {
            // The user is being asked, so this time does not count.
            continue;
        }
        waited += LOOK;
        let is_over = limit.is_some_and(|limit| waited >= limit);
        match output {
            Output::Text if is_over => {
                let names = starting(host).join("`, `");
                let said =
                    format!("still starting: `{names}`; their tools follow when they are ready");
                tell(&Style::Dim.err(&said));
            }
            Output::Text if waited == LOOK || waited == MAX_WAIT => {
                let names = starting(host).join("`, `");
                tell(&Style::Dim.err(&format!("starting: `{names}`")));
            }
            Output::Json if waited == MAX_WAIT => events::starting(&starting(host)),
            Output::Text | Output::Json => {}
        }
        if is_over {
            return;
        }
    }
}

/// The servers that are not ready yet.
fn starting(host: &Host) -> Vec<String> {
    let servers = host.servers().into_iter();
    let starting = servers.filter(|server| !server.state.is_settled());
    starting
        .map(|server| one_line(server.id.as_str()))
        .collect()
}
