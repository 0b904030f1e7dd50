//! `Agent`: the loop of a model with tools.

use std::sync::Arc;

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{
    CreateMessageRequestParams, SamplingContent, SamplingMessage, StopReason, ToolUseContent,
};

use super::event::{AgentOutcome, Event};
use super::race::unless;
use super::result::told;
use super::round::call_all;
use super::stop::Stop;
use super::tools::Tools;
use crate::error::ModelError;
use crate::format::Usage;
use crate::model::{Delta, Model};

/// At most 8,192 tokens in one answer.
const MAX_TOKENS: u64 = 8192;

/// At most 32 rounds in one run. Long tasks need a dozen; the limit stops a model that goes in circles.
const MAX_ROUNDS: usize = 32;

/// At most 8 concurrent calls.
const MAX_PARALLEL: usize = 8;

/// 256 KiB of text of one result: about 64,000 tokens, a third of what the larger models can read.
const MAX_RESULT: usize = 256 * 1024;

/// A model with tools. It asks the model, calls the tools that the model chooses, and repeats this
/// until the model has finished.
///
/// ```
/// # use futures_core::future::BoxFuture;
/// # use turnbuckle_models::agent::{Agent, BoxError, AgentOutcome, Event, ToolCall, Tools};
/// # use turnbuckle_models::{Delta, Scripted};
/// # use turnbuckle_protocol::{CallToolResult, StopReason, Tool};
/// struct Clock;
/// impl Tools for Clock {
///     fn tools(&self) -> BoxFuture<'_, Vec<Tool>> {
///         Box::pin(async { vec![Tool::new("now", Default::default())] })
///     }
///     fn call<'a>(&'a self, _: ToolCall<'a>) -> BoxFuture<'a, Result<CallToolResult, BoxError>> {
///         Box::pin(async { Ok(CallToolResult::text("12:00")) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = "{\"calls\": [{\"name\": \"now\"}]}\n{\"text\": \"It is {{result}}.\"}";
/// let agent = Agent::new(Scripted::parse("demo", script)?, Clock);
/// let mut said = String::new();
/// let ended = agent
///     .ask("What time is it?", |event| {
///         if let Event::Delta(Delta::Text(text)) = event {
///             said.push_str(text);
///         }
///     })
///     .await?;
/// assert_eq!(said, "It is 12:00.");
/// assert_eq!(ended, AgentOutcome::Done(StopReason::EndTurn));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    model: Arc<dyn Model>,
    tools: Arc<dyn Tools>,
    system_prompt: Option<String>,
    max_tokens: u64,
    max_rounds: usize,
    max_parallel: usize,
    max_result: usize,
    token_budget: Option<u64>,
}

impl Agent {
    /// Makes an agent with this model and these tools. The default limits are 32 rounds, 8
    /// concurrent calls, 8,192 tokens per answer, and 256 KiB of text per result. The `turnbuckle`
    /// crate has `HostTools` for the tools of a host; implement [`Tools`] for others.
    pub fn new(model: impl Model + 'static, tools: impl Tools + 'static) -> Self {
        Self {
            model: Arc::new(model),
            tools: Arc::new(tools),
            system_prompt: None,
            max_tokens: MAX_TOKENS,
            max_rounds: MAX_ROUNDS,
            max_parallel: MAX_PARALLEL,
            max_result: MAX_RESULT,
            token_budget: None,
        }
    }

    /// Replaces the tools that the model may call.
    pub fn with_tools(mut self, tools: impl Tools + 'static) -> Self {
        self.tools = Arc::new(tools);
        self
    }

    /// Sets the system prompt, which the model reads before the conversation. By default there is
    /// none. The instructions of servers are not added automatically.
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Sets the most tokens of one answer. Defaults to 8,192. An answer that reaches the limit ends
    /// with [`StopReason::MaxTokens`].
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Sets how often the model is asked in one run. Defaults to 32. After that the run ends with
    /// [`AgentOutcome::RoundLimit`].
    pub fn with_max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// Sets how many tools of one answer run at the same time. Defaults to 8. With 1 they run in
    /// the model's order.
    pub fn with_max_parallel_calls(mut self, calls: usize) -> Self {
        self.max_parallel = calls;
        self
    }

    /// Sets how many bytes of text of one result the model reads. Defaults to 256 KiB; the rest is
    /// cut off.
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result = bytes;
        self
    }

    /// Sets the most input and output tokens of one run. The run ends after the answer that exceeds
    /// the limit, with [`AgentOutcome::TokenLimit`]. By default there is no limit.
    pub fn with_token_budget(mut self, tokens: u64) -> Self {
        self.token_budget = Some(tokens);
        self
    }

    /// The model of this agent, for example to show its name.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// Runs a new conversation with this prompt until the model has finished, and returns how it
    /// ended. `report` receives the model's text and calls as events. Use [`run`](Self::run) for
    /// conversations with several prompts, or to stop a run.
    ///
    /// # Errors
    /// [`ModelError`] if the model gives no answer. A tool that fails is not an error: the model
    /// gets the failure as a result.
    ///
    /// # Cancel safety
    /// Dropping the future stops the model and cancels running calls.
    pub async fn ask(
        &self,
        prompt: &str,
        mut report: impl FnMut(Event<'_>) + Send,
    ) -> Result<AgentOutcome, ModelError> {
        let mut conversation = vec![SamplingMessage::user(prompt)];
        self.run(&mut conversation, &Stop::new(), &mut report).await
    }

    /// Continues a conversation, whose last message must be the user's, until the model has finished.
    ///
    /// New messages are added to the conversation. It is valid at any time: each call in it has its
    /// result, even if the run is stopped or fails.
    ///
    /// # Errors
    /// [`ModelError`] if the model gives no answer. The earlier rounds are in the conversation;
    /// running it again asks the model again.
    ///
    /// # Cancel safety
    /// Dropping the future stops the model and cancels running calls. The conversation then does
    /// not contain the unfinished round; use [`Stop`] to keep its messages.
    pub async fn run(
        &self,
        conversation: &mut Vec<SamplingMessage>,
        stop: &Stop,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<AgentOutcome, ModelError> {
        let report = Mutex::new(report);
        let mut usage = Usage::default();
        for round in 1..=self.max_rounds {
            let tools = self.tools.tools().await;
            if round == 1 {
                for rewrite in &self.model.rewrites(&tools) {
                    (report.lock())(Event::Rewritten(rewrite));
                }
            }
            let known: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
            let mut params = CreateMessageRequestParams::new(conversation.clone(), self.max_tokens);
            params.system_prompt.clone_from(&self.system_prompt);
            params.tools = (!tools.is_empty()).then_some(tools);
            (report.lock())(Event::Asked { round });
            let mut partial = String::new();
            let mut heard = |delta: Delta<'_>| {
                if let Delta::Text(text) = delta {
                    partial.push_str(text);
                }
                (report.lock())(Event::Delta(delta));
            };
            let answered = unless(stop.stopped(), self.model.answer(&params, &mut heard)).await;
            let Some(answer) = answered else {
                // The user has seen this text, and the next turn may refer to it.
                if !partial.is_empty() {
                    conversation.push(SamplingMessage::assistant(partial));
                }
                return Ok(AgentOutcome::Stopped);
            };
            let answer = answer?;
            usage = usage.plus(answer.charged_usage(&params));
            (report.lock())(Event::Answered(&answer));
            let calls: Vec<ToolUseContent> = answer.calls().cloned().collect();
            let reason = answer.result.stop_reason.clone();
            let said = message(answer.result.content);
            if calls.is_empty() {
                conversation.extend(said);
                return Ok(AgentOutcome::Done(reason.unwrap_or(StopReason::EndTurn)));
            }
            let width = self.max_parallel;
            let results = call_all(&self.tools, &known, &calls, width, stop, &report).await;
            let results = calls.iter().zip(&results).map(|(call, result)| {
                SamplingContent::ToolResult(told(&call.id, result, self.max_result))
            });
            let mut results: Vec<_> = results.collect();
            conversation.extend(said);
            let mut turn = SamplingMessage::user("");
            turn.content.clear();
            turn.content.append(&mut results);
            conversation.push(turn);
            if stop.is_stopped() {
                return Ok(AgentOutcome::Stopped);
            }
            if let Some(limit) = self.token_budget
                && usage.total() >= limit
            {
                return Ok(AgentOutcome::TokenLimit { limit });
            }
        }
        let limit = self.max_rounds;
        Ok(AgentOutcome::RoundLimit { limit })
    }
}

/// The model's turn as a message; `None` if it said nothing.
fn message(content: Vec<SamplingContent>) -> Option<SamplingMessage> {
    let mut content = content.into_iter();
    let mut message = SamplingMessage::assistant(content.next()?);
    message.content.extend(content);
    Some(message)
}
