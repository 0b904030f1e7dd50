//! Signing in to a server step by step, and signing out.

use std::sync::{Arc, atomic::Ordering};

use serde::Serialize;
use turnbuckle::auth::{
    self,
    client::{FlowRequest, OAuth},
};
use turnbuckle_host::config::Launch;

use super::{
    client,
    inspector::Inspector,
    problem::{Problem, Who},
    server::Stage,
};

/// The step that the user does.
const BROWSER: &str = "signing in in the browser";

/// One step, as the page shows it.
#[derive(Serialize)]
struct Step<'a> {
    server: &'a str,
    step: &'a str,
    state: &'a str,
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

/// Why signing in is impossible.
pub(super) enum NoLogin {
    NoServer,
    NotRemote,
}

impl Inspector {
    fn tell_step(&self, server: &str, step: &str, state: &str, detail: Option<String>) {
        let step = Step {
            server,
            step,
            state,
            detail,
            url: None,
        };
        self.events.publish("auth", &step);
    }

    /// Starts to sign in, and publishes the steps as events. Then connects to the server.
    pub(super) fn login(self: &Arc<Self>, id: &str) -> Result<(), NoLogin> {
        let url = self.remote(id)?;
        let oauth = self.new_oauth(id);
        let mut state = self.lock();
        let entry = state.server(id).ok_or(NoLogin::NoServer)?;
        entry.oauth = Some(oauth.clone());
        entry.may_sign_in.store(true, Ordering::Relaxed);
        let connection = entry.take_connection();
        let (inspector, id) = (self.clone(), id.to_owned());
        let work = tokio::spawn(async move {
            if let Some(connection) = connection {
                connection.close().await;
            }
            inspector.sign_in(&id, &url, &oauth).await;
        });
        entry.work = Some(work.abort_handle());
        Ok(())
    }

    async fn sign_in(self: &Arc<Self>, id: &str, url: &str, oauth: &OAuth) {
        self.tell_step(id, "sign in", "doing", None);
        match oauth.sign_in(url).await {
            Ok(_) => {
                self.tell_step(id, "sign in", "done", None);
                // In another task, because connecting replaces this task.
                let (inspector, id) = (self.clone(), id.to_owned());
                tokio::spawn(async move { inspector.connect(&id) });
            }
            Err(error) => {
                let problem = Problem::of(Who::Authorization, &error);
                let said = std::iter::once(problem.message.clone()).chain(problem.causes.clone());
                let detail = said.collect::<Vec<_>>().join(": ");
                self.tell_step(id, "sign in", "failed", Some(detail));
                self.change_server(id, |entry| {
                    entry.stage = Stage::Failed;
                    entry.error = Some(problem);
                });
            }
        }
    }

    /// Revokes the tokens; the connection ends too.
    pub(super) fn logout(self: &Arc<Self>, id: &str) -> Result<(), NoLogin> {
        let url = self.remote(id)?;
        let oauth = {
            let mut state = self.lock();
            let entry = state.server(id).ok_or(NoLogin::NoServer)?;
            entry.may_sign_in.store(false, Ordering::Relaxed);
            entry.oauth.take()
        };
        let oauth = oauth.unwrap_or_else(|| self.new_oauth(id));
        let (inspector, id) = (self.clone(), id.to_owned());
        tokio::spawn(async move {
            inspector.close(&id);
            let (state, detail) = match oauth.sign_out(&url).await {
                Ok(()) => ("done", None),
                Err(error) => ("failed", Some(error.to_string())),
            };
            inspector.tell_step(&id, "sign out", state, detail);
        });
        Ok(())
    }

    /// The URL of a server, if users can sign in to it.
    fn remote(&self, id: &str) -> Result<String, NoLogin> {
        let mut state = self.lock();
        let entry = state.server(id).ok_or(NoLogin::NoServer)?;
        match &entry.server.launch {
            Launch::Remote(remote) => Ok(remote.url.clone()),
            Launch::Command { .. } => Err(NoLogin::NotRemote),
        }
    }

    fn new_oauth(self: &Arc<Self>, id: &str) -> OAuth {
        let (inspector, server) = (Arc::downgrade(self), id.to_owned());
        let browser = client::browser(move |issuer, url| {
            let Some(inspector) = inspector.upgrade() else {
                return;
            };
            let step = Step {
                server: &server,
                step: BROWSER,
                state: "doing",
                detail: Some(format!("open the link to sign in at {issuer}")),
                url: Some(url),
            };
            inspector.events.publish("auth", &step);
        });
        let (inspector, server) = (Arc::downgrade(self), id.to_owned());
        let oauth = OAuth::new("turnbuckle")
            .browser(browser)
            .on_request(move |request| {
                if let Some(inspector) = inspector.upgrade() {
                    inspector.tell_request(&server, request);
                }
            });
        oauth.clone().persist_tokens().unwrap_or(oauth)
    }

    fn tell_request(&self, server: &str, request: &FlowRequest) {
        let state = match request.status {
            None => "doing",
            Some(200..=299) => "done",
            // Not at this URL: the next one is tried.
            Some(_) => "missing",
        };
        if request.step == auth::client::Step::Token && request.status.is_none() {
            // The user has come back from the browser.
            self.tell_step(server, BROWSER, "done", None);
        }
        let detail = match request.status {
            Some(status) => format!("{} · {status}", request.url),
            None => request.url.clone(),
        };
        self.tell_step(server, &request.step.to_string(), state, Some(detail));
    }
}
