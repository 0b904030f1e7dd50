//! Answers a server's questions: from the command line first, then from the user at the terminal, or else with
//! an error.

use std::collections::BTreeSet;

use serde_json::json;
use turnbuckle::client::{NotificationStream, Roots, ServerNotification};
use turnbuckle::protocol::{
    ElicitAction, ElicitRequestParams, InputRequest, InputRequests, InputResponse, InputResponses,
    ListRootsResult,
};
use turnbuckle_command_line::{
    control::{one_line, tell},
    failure::{Code, Failed, Outcome},
    style::Style,
};

use super::{form, prepared::Prepared, sample, url};

/// Answers the questions of a server in the middle of a call.
#[derive(Debug)]
pub(crate) struct Answerer {
    pub(super) prepared: Prepared,
    pub(super) roots: Roots,
    /// Whether pages are opened after the user has agreed.
    pub(super) opens: bool,
    /// Whether a user is at the terminal.
    pub(super) is_attended: bool,
}

/// A question without an answer: what was asked, and why there is no answer.
pub(crate) struct Unanswered {
    pub(crate) asked: serde_json::Value,
    pub(crate) failed: Failed,
}

impl Answerer {
    /// Reports answers on the command line that no question asked for: they may be misspelled.
    pub(crate) fn tell_unasked(&self) {
        for name in self.prepared.unasked() {
            let said = format!("warning: `--answer {name}=…` not used: nothing asked for `{name}`");
            tell(&Style::Warn.err(&said));
        }
    }

    /// Answers all questions of a round, one after the other.
    pub(crate) async fn answer(
        &self,
        server: &str,
        asks: &InputRequests,
    ) -> Result<InputResponses, Box<Unanswered>> {
        let mut responses = InputResponses::new();
        for (key, ask) in asks {
            let answered = self.one(server, key, ask).await.map_err(|failed| {
                Box::new(Unanswered {
                    asked: json!({ "inputRequests": asks }),
                    failed,
                })
            })?;
            responses.insert(key.clone(), answered);
        }
        Ok(responses)
    }

    /// Waits until the visits that a call requires are done: either the server reports their end, or the user at the
    /// terminal does.
    pub(crate) async fn visited(
        &self,
        asks: &InputRequests,
        answers: &InputResponses,
        mut news: NotificationStream,
    ) -> Outcome {
        let is_agreed = |key: &&String| {
            let answer = answers.get(*key).and_then(InputResponse::as_elicitation);
            answer.is_some_and(|answer| answer.action == ElicitAction::Accept)
        };
        let mut open: BTreeSet<&str> = asks.keys().filter(is_agreed).map(|key| &**key).collect();
        if open.len() < asks.len() {
            // The user declined, so there is nothing to wait for.
            return Ok(());
        }
        let told = async {
            while !open.is_empty() {
                match news.next().await {
                    Some(ServerNotification::Visited { id }) => drop(open.remove(&*id)),
                    Some(_) => {}
                    None => return,
                }
            }
        };
        if !self.is_attended {
            // The user has agreed to it before.
            return Ok(());
        }
        tokio::select! {
            () = told => Ok(()),
            done = url::ask_done("there") => done,
        }
    }

    async fn one(&self, server: &str, key: &str, ask: &InputRequest) -> Outcome<InputResponse> {
        if let InputRequest::ListRoots(_) = ask {
            return Ok(ListRootsResult::new(self.roots.current().await).into());
        }
        if let Some(answer) = self.prepared.answer(key, ask)? {
            return Ok(answer);
        }
        if !self.is_attended {
            self.tell_unasked();
            return Err(self.unattended(server, key, ask));
        }
        match ask {
            InputRequest::Elicit(elicit) => match &**elicit {
                ElicitRequestParams::Form(form) => {
                    Ok(form::ask(server, form, &self.prepared, key).await?.into())
                }
                ElicitRequestParams::Url(visit) => {
                    Ok(url::ask(server, visit, self.opens).await?.into())
                }
                _ => Err(unknown(server)),
            },
            InputRequest::CreateMessage(request) => Ok(sample::ask(server, request).await?.into()),
            _ => Err(unknown(server)),
        }
    }

    /// The error when input is needed but there is no terminal. The hint shows an option that would
    /// have answered the question.
    fn unattended(&self, server: &str, key: &str, ask: &InputRequest) -> Failed {
        let (what, examples) = match ask {
            InputRequest::Elicit(elicit) => match &**elicit {
                ElicitRequestParams::Form(form) => (
                    form.message.clone(),
                    form::examples(key, form, &self.prepared),
                ),
                ElicitRequestParams::Url(visit) => (
                    format!("{} ({})", visit.message, visit.url),
                    vec![format!("{key}=accept")],
                ),
                other => (other.message().to_owned(), vec![format!("{key}=decline")]),
            },
            _ => (
                "what would your model say?".to_owned(),
                vec![format!("{key}=TEXT")],
            ),
        };
        let examples = examples.join(" --answer ");
        Failed::new(
            Code::Input,
            format!(
                "`{server}` needs input, and there is no terminal to ask on: {}",
                one_line(&what)
            ),
        )
        .hint(format!("pass --answer {examples}"))
    }
}

fn unknown(server: &str) -> Failed {
    let what = format!("`{server}` sent a question of a kind that this version does not support");
    Failed::new(Code::Input, what)
}
