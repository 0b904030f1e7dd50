//! The loop.

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

/// 8,192 tokens of one answer.
const MAX_TOKENS: u64 = 8192;

/// 32 rounds of one run: long work needs a dozen, and a model that goes in circles is stopped.
const MAX_ROUNDS: usize = 32;

/// 8 calls at the same time.
const MAX_PARALLEL: usize = 8;

/// 256 KiB of text of one result: about 64,000 tokens, a third of what the larger models read.
const MAX_RESULT: usize = 256 * 1024;

/// A model with tools: asks the model, calls the tools that it chooses, and repeats this until the
/// model is done.
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
    /// A model with these tools: 32 rounds, 8 calls at the same time, 8,192 tokens an answer, and
    /// 256 KiB of text of one result, unless set. The `turnbuckle` crate has `HostTools` for the
    /// tools of a host; implement [`Tools`] for others.
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
    /// none. The instructions of servers are not added by themselves.
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Sets the most tokens of one answer. Defaults to 8,192. An answer that reaches it ends with
    /// [`StopReason::MaxTokens`].
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

    /// Sets how many tools of one answer run at the same time. Defaults to 8; 1 runs them in the
    /// model's order.
    pub fn with_max_parallel_calls(mut self, calls: usize) -> Self {
        self.max_parallel = calls;
        self
    }

    /// Sets how much text of one result the model reads, in bytes. Defaults to 256 KiB; the rest is
    /// cut off.
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result = bytes;
        self
    }

    /// Sets the most tokens, read and written, of one run. It ends after the answer that passes it,
    /// with [`AgentOutcome::TokenLimit`]. By default there is no limit.
    pub fn with_token_budget(mut self, tokens: u64) -> Self {
        self.token_budget = Some(tokens);
        self
    }

    /// The model that is asked, for example to show its name.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// Runs a conversation of this one prompt until the model is done, and returns how it ended.
    /// `report` receives the model's text and calls as events. [`run`](Self::run) is for
    /// conversations with several prompts, and can be stopped.
    ///
    /// # Errors
    /// [`ModelError`] if the model gives no answer. A tool that fails is not an error: the model
    /// reads the failure.
    ///
    /// # Cancel safety
    /// Dropping the future stops the model and cancels open calls.
    pub async fn ask(
        &self,
        prompt: &str,
        mut report: impl FnMut(Event<'_>) + Send,
    ) -> Result<AgentOutcome, ModelError> {
        let mut conversation = vec![SamplingMessage::user(prompt)];
        self.run(&mut conversation, &Stop::new(), &mut report).await
    }

    /// Continues a conversation, whose last message is the user's, until the model is done.
    ///
    /// New messages are added to the conversation, which is valid at every time: each call in it has
    /// its result, also when the run is stopped or fails.
    ///
    /// # Errors
    /// If the model gives no answer. The rounds before are in the conversation; running again asks
    /// the model again.
    ///
    /// # Cancel safety
    /// Dropping the future stops the model and cancels open calls. The round that it was in is not
    /// in the conversation then; [`Stop`] keeps its messages.
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
                // What was already said was seen, and the next turn may speak of it.
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

/// A turn of the model; none if it said nothing.
fn message(content: Vec<SamplingContent>) -> Option<SamplingMessage> {
    let mut content = content.into_iter();
    let mut message = SamplingMessage::assistant(content.next()?);
    message.content.extend(content);
    Some(message)
}
