//! The host's answers to requests of servers: forms, visits and sampling.
//!
//! A question is accepted only while the server works on a call. It carries the id of the server,
//! and the conversation of the call that it belongs to. Over Streamable HTTP the stream on which it
//! arrives identifies the call. On a pipe the conversation is known only if all calls in flight
//! belong to the same one.

use std::sync::Arc;

use turnbuckle_client::{Answers, Refusal, ServerAsk};
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestUrlParams, ElicitResult, ErrorObject, IncludeContext, SamplingMessage,
};

use super::shared::Shared;
use crate::{
    consent::{Action, AskingServer, Denied, FormAnswer, VisitAnswer},
    context,
    fleet::{Attribution, Origin, Upstream},
    id::{ConversationId, ServerId},
    sampling::{SamplingError, SamplingModel, SamplingRequest},
};

/// How many tokens of context are added to a sampling request. A small model can hold this many.
const MAX_CONTEXT_TOKENS: u64 = 8_192;

/// The answers for one server. Capabilities that cannot be answered are not declared.
pub(super) fn answers(shared: &Arc<Shared>, server: &Upstream) -> Answers {
    let mut answers = Answers::new().roots(server.roots.clone());
    if shared.consent.user.is_some() {
        let asked = Asked::new(shared, server);
        let form = asked.clone();
        answers = answers
            .on_form(move |ask| {
                let asked = form.clone();
                async move { asked.form(&ask.request, ask.tag).await }
            })
            .on_url(move |ask| {
                let asked = asked.clone();
                async move { asked.url(&ask).await }
            });
    }
    let Some(model) = shared.model.clone() else {
        return answers;
    };
    let asked = Asked::new(shared, server);
    let takes_tools = model.takes_tools();
    let sample = move |request: CreateMessageRequestParams, tag: Option<u64>| {
        let (asked, model) = (asked.clone(), model.clone());
        async move { asked.sample(&*model, request, tag).await }
    };
    let answers = answers.sampling_context();
    if takes_tools {
        answers.on_sample_with_tools(move |ask| sample(ask.request, ask.tag))
    } else {
        answers.on_sample(move |ask| sample(ask.request, ask.tag))
    }
}

/// The error that a server gets when the model gives no answer.
fn refusal(error: SamplingError) -> Refusal {
    match error.downcast::<ErrorObject>() {
        Ok(error) => Refusal::Error(*error),
        Err(error) => Refusal::Failed(error),
    }
}

/// A server that asks a question.
#[derive(Clone)]
struct Asked {
    shared: Arc<Shared>,
    origin: Arc<Origin>,
}

impl Asked {
    fn new(shared: &Arc<Shared>, server: &Upstream) -> Self {
        Self {
            shared: shared.clone(),
            origin: server.origin.clone(),
        }
    }

    fn asking(&self, conversation: Option<ConversationId>) -> AskingServer<'_> {
        AskingServer {
            origin: &self.origin,
            conversation,
        }
    }

    /// The conversation that a question belongs to.
    fn conversation(
        &self,
        action: &Action<'_>,
        tag: Option<u64>,
    ) -> Result<Option<ConversationId>, Refusal> {
        if let Some(tag) = tag {
            return Ok(ConversationId::of_tag(tag));
        }
        match self.origin.attribution() {
            Attribution::One(conversation) => Ok(conversation),
            Attribution::Several => Ok(None),
            Attribution::NotCalled => Err(self.refused(action, Denied::NotCalled)),
        }
    }

    fn refused(&self, action: &Action<'_>, denied: Denied) -> Refusal {
        tracing::debug!(server = %self.origin.id, %denied, "refused a question");
        self.shared
            .consent
            .denied(self.asking(None), action, denied);
        Refusal::Declined
    }

    async fn form(
        &self,
        form: &ElicitRequestFormParams,
        tag: Option<u64>,
    ) -> Result<ElicitResult, Refusal> {
        let action = Action::ShowForm { form };
        let conversation = self.conversation(&action, tag)?;
        let Some(_open) = self.origin.open_question() else {
            return Err(self.refused(&action, Denied::TooManyQuestions));
        };
        let consent = &self.shared.consent;
        match consent.form(self.asking(conversation), form).await {
            Ok(FormAnswer::Accept(values)) => Ok(ElicitResult::accept(values)),
            Ok(FormAnswer::Decline) | Err(_) => Ok(ElicitResult::decline()),
            Ok(FormAnswer::Cancel) => Ok(ElicitResult::cancel()),
        }
    }

    async fn url(&self, ask: &ServerAsk<ElicitRequestUrlParams>) -> Result<ElicitResult, Refusal> {
        let visit = &ask.request;
        let action = Action::ShowUrl { visit };
        let conversation = self.conversation(&action, ask.tag)?;
        let Some(_open) = self.origin.open_question() else {
            return Err(self.refused(&action, Denied::TooManyQuestions));
        };
        let consent = &self.shared.consent;
        match consent.visit(self.asking(conversation), visit).await {
            Ok(VisitAnswer::Accept) => {
                if ask.is_needed_first() {
                    tokio::select! {
                        () = ask.done() => {}
                        () = consent.visit_done(self.asking(conversation), visit) => ask.finish(),
                    }
                }
                Ok(ElicitResult::accept_visit())
            }
            Ok(VisitAnswer::Decline) | Err(_) => Ok(ElicitResult::decline()),
            Ok(VisitAnswer::Cancel) => Ok(ElicitResult::cancel()),
        }
    }

    /// sampling: there SHOULD be a user who can see and change the prompt before it is sent to the
    /// model, and the answer before it is sent to the server.
    async fn sample(
        &self,
        model: &dyn SamplingModel,
        mut request: CreateMessageRequestParams,
        tag: Option<u64>,
    ) -> Result<CreateMessageResult, Refusal> {
        let action = Action::SendPrompt { request: &request };
        let conversation = self.conversation(&action, tag)?;
        let Some(_open) = self.origin.open_question() else {
            return Err(self.refused(&action, Denied::TooManyQuestions));
        };
        let asking = self.asking(conversation);
        let consent = &self.shared.consent;
        if let Err(error) = model.admit(&self.origin.id, &request) {
            consent.denied(asking, &action, Denied::ByPolicy(error.to_string()));
            return Err(refusal(error));
        }
        self.add_context(asking, &mut request).await;
        let reviewed = consent.review_prompt(asking, request).await;
        let params = reviewed.map_err(|_| Refusal::Declined)?;
        let request = SamplingRequest {
            server: self.origin.id.clone(),
            conversation,
            params,
        };
        let answer = model.sample(request).await.map_err(refusal)?;
        let reviewed = consent.review_answer(asking, answer).await;
        reviewed.map_err(|_| Refusal::Declined)
    }

    /// Adds the resources of the conversation that the server asks for and may have. The server
    /// sees them only as far as the model's answer reveals them, and that answer is checked too.
    async fn add_context(
        &self,
        asking: AskingServer<'_>,
        request: &mut CreateMessageRequestParams,
    ) {
        let wanted = request.include_context.take();
        let Some(conversation) = asking.conversation else {
            return;
        };
        let all = self.shared.contexts.of(conversation);
        let attached = match wanted {
            Some(IncludeContext::ThisServer) => all
                .into_iter()
                .filter(|attachment| attachment.server == self.origin.id)
                .collect(),
            Some(IncludeContext::AllServers) => all,
            _ => return,
        };
        let chosen = context::choose(attached, MAX_CONTEXT_TOKENS);
        if chosen.is_empty() {
            return;
        }
        let mut servers: Vec<ServerId> = chosen.iter().map(|it| it.server.clone()).collect();
        servers.sort();
        servers.dedup();
        let action = Action::ShareContext { servers: &servers };
        if self.shared.consent.permit(asking, action).await.is_err() {
            return;
        }
        let texts = chosen.iter().map(|attachment| {
            let (uri, text) = (&attachment.uri, attachment.text());
            SamplingMessage::user(format!("Resource {uri}:\n{text}"))
        });
        request.messages.splice(0..0, texts.collect::<Vec<_>>());
    }
}
