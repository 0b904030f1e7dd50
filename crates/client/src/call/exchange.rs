//! The course of a call: checked, sent, asked about, answered.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    Complete, CreateTaskResult, InputRequiredResult, InputResponses, Outcome, TaskMetadata,
};
use turnbuckle_session::requests::Deadline;

use super::{
    begun::Begun,
    builder::{Body, Call, Check, Subject},
    input_required::{self, Retry},
    visit_first,
};
use crate::{
    CallError,
    cache::Lookup,
    link::{Link, OnDrop, Outgoing, Progress},
};

/// What a call is about, for reading its answer.
pub(super) struct Exchange<'a> {
    pub(super) link: &'a Link,
    pub(super) method: &'a str,
    /// The tool, the prompt or the resource; empty for other calls.
    pub(super) subject: &'a str,
}

/// What an answer says.
pub(super) enum Read<R> {
    /// The result.
    Done(R),
    /// The server wants something first.
    Asked(InputRequiredResult),
    /// The result comes later.
    Task(CreateTaskResult),
}

/// The params of a request in whose middle the server may ask.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<&'a InputResponses>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<&'a str>,
    /// Only in sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a TaskMetadata>,
}

impl<'a, R> Call<'a, R> {
    pub(super) async fn run(mut self) -> Result<R, CallError> {
        if self.check == Check::Offered {
            self.link.check_offered(&self.method)?;
        }
        if let Some(level) = self.log_level {
            self.hear_logs(level).await?;
        }
        let body = std::mem::replace(&mut self.body, Ok(Body::Plain(None)))?;
        match body {
            Body::Plain(params) => self.run_once(params.as_deref()).await,
            Body::Subject(subject) => self.run_to_the_end(&subject).await,
        }
    }

    async fn run_once(mut self, params: Option<&RawValue>) -> Result<R, CallError> {
        let raw = match self.lookup(params.map_or("", RawValue::get)) {
            None => self.send(&params).await?,
            Some(lookup) => self.send_or_find(&params, lookup).await?,
        };
        let exchange = Exchange {
            link: self.link,
            method: &self.method,
            subject: "",
        };
        match (self.read)(&exchange, raw)? {
            Read::Done(result) => Ok(result),
            Read::Asked(_) | Read::Task(_) => {
                Err(exchange.malformed("nothing can be asked or put off here"))
            }
        }
    }

    /// Sends, and answers what is asked, until there is a result or a task.
    pub(super) async fn run_rounds(
        &mut self,
        subject: &Subject,
        mut task: Option<TaskMetadata>,
    ) -> Result<Begun<R>, CallError> {
        let mut retry = Retry::default();
        let max_rounds = self.link.profile.settings.max_rounds;
        for round in 0..max_rounds {
            let params = Params::new(subject, &retry, task.as_ref());
            // caching: what came of a retry depends on more than the request.
            let raw = match self.lookup(subject.text()).filter(|_| round == 0) {
                None => match self.send(&params).await {
                    Err(error) if task.is_none() && self.is_only_a_task(&error) => {
                        task = Some(TaskMetadata::default());
                        continue;
                    }
                    Err(error) if visit_first::visited(self.link, &error, self.deadline).await => {
                        continue;
                    }
                    sent => sent?,
                },
                Some(lookup) => self.send_or_find(&params, lookup).await?,
            };
            let exchange = Exchange {
                link: self.link,
                method: &self.method,
                subject: subject.text(),
            };
            match (self.read)(&exchange, raw)? {
                Read::Done(result) => return Ok(Begun::Done(result)),
                Read::Task(task) => {
                    let tool = subject.text().to_owned();
                    return Ok(Begun::Task(tool, Box::new(task)));
                }
                Read::Asked(asked) => {
                    retry = input_required::answer(&exchange, asked, round).await?;
                }
            }
        }
        Err(CallError::TooManyRounds {
            server: self.link.server().clone(),
            method: self.method.as_ref().into(),
            rounds: max_rounds,
        })
    }

    /// Where the answer is kept, if it may be.
    fn lookup(&self, params: &str) -> Option<Lookup<'a>> {
        Lookup::new(
            self.link,
            &self.method,
            params,
            self.meta.as_ref(),
            self.freshness,
        )
    }

    /// Takes what is kept, or asks and keeps the answer.
    async fn send_or_find<P: Serialize + ?Sized>(
        &mut self,
        params: &P,
        lookup: Lookup<'_>,
    ) -> Result<Box<RawValue>, CallError> {
        if let Some(found) = lookup.found() {
            return Ok(found);
        }
        match self.send(params).await {
            Ok(raw) => {
                lookup.keep(&raw);
                Ok(raw)
            }
            Err(error) => lookup.instead_of(&error).ok_or(error),
        }
    }

    pub(super) async fn send<P: Serialize + ?Sized>(
        &mut self,
        params: &P,
    ) -> Result<Box<RawValue>, CallError> {
        let answer = self.send_once(params).await;
        #[cfg(feature = "http")]
        if let Err(error) = &answer
            && self.link.is_outdated(&self.method, error)
            && super::list::refetch_tools(self.link).await
        {
            // streamable-http: after a header mismatch, list the tools again and retry.
            return self.send_once(params).await;
        }
        answer
    }

    async fn send_once<P: Serialize + ?Sized>(
        &mut self,
        params: &P,
    ) -> Result<Box<RawValue>, CallError> {
        let outgoing = Outgoing {
            method: &self.method,
            meta: self.meta.as_ref(),
            progress: self.progress.is_some(),
        };
        let deadline: Deadline = self.link.profile.settings.deadline(self.deadline);
        let request = self
            .link
            .prepare(&outgoing, deadline, OnDrop::Cancel, params)?;
        let progress = self
            .progress
            .as_mut()
            .map(|listener| &mut **listener as Progress<'_>);
        request.answer(progress).await
    }
}

impl<'a> Params<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        retry: &'a Retry,
        task: Option<&'a TaskMetadata>,
    ) -> Self {
        Self {
            name: subject.name.as_deref(),
            uri: subject.uri.as_deref(),
            arguments: subject.arguments.as_deref(),
            input_responses: retry.responses.as_ref(),
            request_state: retry.state.as_deref(),
            task,
        }
    }
}

impl Exchange<'_> {
    /// Reads an answer that can only be the result.
    pub(super) fn complete<R: DeserializeOwned>(&self, raw: &RawValue) -> Result<R, CallError> {
        if self.link.revision().is_modern() {
            self.parse::<Complete<R>>(raw).map(|complete| complete.0)
        } else {
            self.parse(raw)
        }
    }

    /// Reads an answer that may be a question.
    pub(super) fn outcome<R: DeserializeOwned>(
        &self,
        raw: &RawValue,
    ) -> Result<Read<R>, CallError> {
        if !self.link.revision().is_modern() {
            return self.parse(raw).map(Read::Done);
        }
        Ok(match self.parse::<Outcome<R>>(raw)? {
            Outcome::Complete(result) => Read::Done(result),
            Outcome::InputRequired(asked) => Read::Asked(asked),
        })
    }

    pub(super) fn parse<T: DeserializeOwned>(&self, raw: &RawValue) -> Result<T, CallError> {
        serde_json::from_str(raw.get())
            .map_err(|source| CallError::malformed(self.link.server().clone(), self.method, source))
    }

    pub(super) fn malformed(&self, problem: &str) -> CallError {
        let source = serde::de::Error::custom(problem);
        CallError::malformed(self.link.server().clone(), self.method, source)
    }
}
