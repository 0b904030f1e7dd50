//! The steps of a call: checks, cache, request, questions, answer.

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{InputResponses, TaskMetadata};

use super::{
    AnswerReader, Parsed,
    begun::Begun,
    builder::{Body, Check, ClientCall, Subject},
    input_required::{self, Retry},
    list::learn_promises,
    only_argument, visit_first,
};
use crate::{
    cache::Lookup,
    error::CallError,
    future::{First, race},
    link::{Canceller, Link, OnDrop, OnProgress, Outgoing},
};

/// The params of a request during which the server may ask.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubjectParams<'a> {
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
    /// Only sent in sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a TaskMetadata>,
}

impl<'a, R> ClientCall<'a, R> {
    /// Runs the call until it is done, or until its canceller cancels it.
    pub(super) async fn run_or_cancel(self) -> Result<R, CallError> {
        let canceller = self.options.canceller.clone();
        let (link, method) = (self.link, self.method.clone());
        unless_cancelled(canceller, link, &method, self.run()).await
    }

    async fn run(mut self) -> Result<R, CallError> {
        match self.prepare().await? {
            Body::Plain(params) => self.run_once(params.as_deref()).await,
            Body::Subject(subject) => self.run_to_the_end(&subject).await,
        }
    }

    /// Checks that the call can be made, sets the log level, and takes the content out of the call.
    pub(crate) async fn prepare(&mut self) -> Result<Body, CallError> {
        if self.body.is_err() {
            // Return the error before a log level is set, because that would be a request of its own.
            return self.take_body();
        }
        if self.check == Check::Offered {
            self.link.check_offered(&self.method)?;
        }
        if let Some(level) = self.options.log_level {
            self.hear_logs(level).await?;
        }
        match self.take_body()? {
            Body::Subject(subject) if subject.plain.is_some() => {
                // Boxed, because finding the name makes another call.
                let named = Box::pin(only_argument::name(self.link, subject)).await;
                named.map(Body::Subject)
            }
            body => Ok(body),
        }
    }

    /// Returns the reader for the answer to this subject.
    pub(crate) fn reader<'s>(&'s self, subject: &'s Subject) -> AnswerReader<'s> {
        AnswerReader {
            link: self.link,
            method: &self.method,
            subject: subject.text(),
        }
    }

    /// The error of a call during which the server asked too often.
    pub(crate) fn too_many_rounds(&self) -> CallError {
        CallError::TooManyRounds {
            server: self.link.server().clone(),
            method: self.method.as_ref().into(),
            rounds: self.link.profile().settings.max_rounds,
        }
    }

    async fn run_once(mut self, params: Option<&RawValue>) -> Result<R, CallError> {
        let raw = match self.lookup(params.map_or("", RawValue::get)) {
            None => self.send(&params).await?,
            Some(lookup) => self.send_or_find(&params, lookup).await?,
        };
        let nothing = Subject::default();
        let reader = self.reader(&nothing);
        (self.read)(&reader, raw)?.done(&reader)
    }

    /// Sends the request and answers the server's questions, until there is a result or a task.
    pub(super) async fn run_rounds(
        &mut self,
        subject: &Subject,
        mut task: Option<TaskMetadata>,
    ) -> Result<Begun<R>, CallError> {
        let mut retry = Retry::default();
        let tag = self.options.tag;
        self.options.keeps_token = task.is_some();
        for round in 0..self.link.profile().settings.max_rounds {
            let params = SubjectParams::new(subject, &retry, task.as_ref());
            // caching: the result of a retry depends on more than the request, so it is not cached.
            let raw = match self.lookup(subject.text()).filter(|_| round == 0) {
                None => match self.send(&params).await {
                    Err(error) if task.is_none() && self.is_only_a_task(&error) => {
                        task = Some(TaskMetadata::default());
                        self.options.keeps_token = true;
                        continue;
                    }
                    Err(error)
                        if visit_first::visited(self.link, &error, self.options.deadline, tag)
                            .await =>
                    {
                        continue;
                    }
                    sent => sent?,
                },
                Some(lookup) => self.send_or_find(&params, lookup).await?,
            };
            if self.method == "tools/call" {
                learn_promises(self.link, &raw, self.options.deadline).await;
            }
            let reader = self.reader(subject);
            match (self.read)(&reader, raw)? {
                Parsed::Done(result) => return Ok(Begun::Done(result)),
                Parsed::Task(task) => {
                    let tool = subject.text().to_owned();
                    return Ok(Begun::Task(tool, Box::new(task)));
                }
                Parsed::Asked(asked) => {
                    retry = input_required::answer(&reader, asked, round, tag).await?;
                }
            }
        }
        Err(self.too_many_rounds())
    }

    /// Prepares the lookup in the cache, if the answer may be cached.
    fn lookup(&self, params: &str) -> Option<Lookup<'a>> {
        Lookup::new(
            &self.link.cache,
            &self.method,
            params,
            self.options.meta.as_ref(),
            self.options.freshness,
        )
    }

    /// Returns the cached answer, or sends the request and caches its answer.
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
            Err(error) => lookup.instead_of(&error, self.link.server()).ok_or(error),
        }
    }

    pub(crate) async fn send<P: Serialize + ?Sized>(
        &mut self,
        params: &P,
    ) -> Result<Box<RawValue>, CallError> {
        let answer = self.send_once(params).await;
        #[cfg(feature = "http")]
        if let Err(error) = &answer
            && super::list::is_outdated(self.link, &self.method, error)
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
            meta: self.options.meta.as_ref(),
            progress: self.options.progress.is_some(),
            canceller: self.options.canceller.as_ref(),
        };
        let deadline = self.link.profile().settings.deadline(self.options.deadline);
        let request = self
            .link
            .prepare(&outgoing, deadline, OnDrop::Cancel, params)?;
        let _tagged = self
            .options
            .tag
            .map(|tag| self.link.tags.enter(request.id().clone(), tag));
        if self.options.keeps_token && self.options.progress.is_some() {
            self.options.late_progress = Some(Box::new(request.late_progress()));
        }
        let progress = self
            .options
            .progress
            .as_mut()
            .map(|listener| &mut **listener as OnProgress<'_>);
        request.answer(progress).await
    }
}

/// Returns the result of `work`, or an error if the canceller cancels first.
pub(crate) async fn unless_cancelled<T>(
    canceller: Option<Canceller>,
    link: &Link,
    method: &str,
    work: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    let Some(canceller) = canceller else {
        return work.await;
    };
    // The canceller is polled first, so that a call that was already cancelled is not sent at all.
    match race(canceller.cancelled(), work).await {
        First::Right(result) => result,
        First::Left(reason) => Err(CallError::Cancelled {
            server: link.server().clone(),
            method: method.into(),
            reason,
        }),
    }
}

impl<'a> SubjectParams<'a> {
    pub(crate) fn new(
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
