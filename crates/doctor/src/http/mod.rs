//! A server at a URL: the way there, both eras, and the rules of HTTP.

mod endpoint;
mod fault;
mod headers;
mod nearby;
mod origin;
mod session;

use serde_json::{Value, json};
use turnbuckle::{
    Revision,
    protocol::http::header,
    transport::http::client::{Address, AgentSettings},
};
use turnbuckle_command_line::{
    failure::Outcome,
    target::{Options, Server},
};

use super::{
    authorization, call, cancel,
    discover::{self, Verdict},
    finding::Finding,
    handshake, listen, methods,
    network::{self, is_loopback},
    offer,
    patience::Patience,
    report::Report,
    scope::Scope,
    table::{connect, handshake as greeting, http},
    talk::{EventsRoad, Exchange, HttpRoad, NotEvents, Road, Speech, Talk},
};

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 3;

/// Examines a server at a URL.
pub(crate) async fn examine(
    report: &Report,
    server: &Server,
    url: &str,
    options: &Options,
    scope: Scope,
    patience: Patience,
) -> Outcome {
    report.know(|subject| "http".clone_into(&mut subject.transport));
    let address = match Address::parse(url) {
        Ok(address) => address,
        Err(error) => {
            report.add(Finding::of(&connect::URL, error.to_string()));
            return Ok(());
        }
    };
    let Some(target) = server.http_target(options)? else {
        return Ok(());
    };
    let settings = target
        .settings()
        .clone()
        .without_redirects()
        .with_connect_timeout(patience.probe);
    let site = Site {
        report,
        settings,
        scope,
        patience,
    };
    if network::walk(report, &site.settings, &address, patience)
        .await
        .is_some()
    {
        site.visit(server, options, address).await;
    }
    Ok(())
}

/// How others than the server are reached: with the same proxy and trust, without its headers.
fn bare(options: &Options) -> AgentSettings {
    let mut settings = AgentSettings::new();
    if let Some(proxy) = &options.proxy {
        settings = settings.with_proxy(proxy);
    }
    // A file that cannot be read was an error before.
    if let Some(pem) = options
        .cacert
        .as_ref()
        .and_then(|file| std::fs::read(file).ok())
    {
        settings = settings.with_root_certificates(pem);
    }
    if options.insecure {
        settings = settings.danger_trust_anybody();
    }
    settings
}

struct Site<'r> {
    report: &'r Report,
    settings: AgentSettings,
    scope: Scope,
    patience: Patience,
}

impl<'r> Site<'r> {
    /// Makes the first request, and goes on from what is answered.
    async fn visit(&self, server: &Server, options: &Options, address: Address) {
        let Some(mut road) = self.road(&self.settings, address) else {
            return;
        };
        let mut first = self.first(&road).await;
        for _ in 0..MAX_REDIRECTS {
            let Some(next) = fault::redirect(self.report, &road.address, &first) else {
                break;
            };
            let Some(followed) = self.road(&self.settings, next) else {
                return;
            };
            road = followed;
            first = self.first(&road).await;
        }
        if fault::is_redirect(&first) {
            return;
        }
        let (report, settings) = (self.report, &self.settings);
        if fault::cannot_talk(&road, &first, report, settings, self.patience).await {
            return;
        }
        if first.status() == Some(401) {
            let bare = bare(options);
            authorization::look(self.report, &bare, &road.address, &first, self.patience).await;
            let Some(tokens) = server.tokens(options) else {
                return authorization::needed(self.report, &first);
            };
            let settings = self.settings.clone();
            let settings = settings.with_authorize(std::sync::Arc::new(tokens));
            let Some(signed_in) = self.road(&settings, road.address.clone()) else {
                return;
            };
            let again = self.first(&signed_in).await;
            if again.status().is_none_or(|status| status == 401) {
                return authorization::needed(self.report, &first);
            }
            (road, first) = (signed_in, again);
        }
        if first.status() == Some(403) {
            return authorization::refused(self.report, &first);
        }
        self.eras(road, first).await;
    }

    fn road(&self, settings: &AgentSettings, address: Address) -> Option<HttpRoad> {
        match settings.agent(&address) {
            Ok(agent) => Some(HttpRoad::new(agent, address, self.report.wire.clone())),
            Err(error) => {
                self.report
                    .add(Finding::of(&connect::PROXY, error.to_string()));
                None
            }
        }
    }

    fn talk(&self, road: Road, speech: Speech) -> Talk<'r> {
        Talk::new(road, speech, self.patience, self.report)
    }

    /// The first request: discovery, which runs nothing by accident, or what was asked for.
    async fn first(&self, road: &HttpRoad) -> Exchange {
        self.report
            .step("waiting for an answer to the first request");
        let road = Road::Http(Box::new(road.clone()));
        let patience = self.patience.opening;
        if self.scope.is_modern {
            let mut talk = self.talk(road, Speech::Modern(Revision::LATEST));
            return talk
                .ask_within("server/discover", json!({}), patience)
                .await;
        }
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        let mut talk = self.talk(road, Speech::Legacy(asked));
        let params = Speech::initialize(asked.as_str());
        talk.ask_within("initialize", params, patience).await
    }

    async fn eras(&self, road: HttpRoad, first: Exchange) {
        let mut modern = self.talk(
            Road::Http(Box::new(road.clone())),
            Speech::Modern(Revision::LATEST),
        );
        let mut is_modern = false;
        if self.scope.is_modern {
            match discover::judge(&modern, first.clone()) {
                Verdict::Modern(result) => {
                    is_modern = true;
                    self.modern(&mut modern, &road, &result).await;
                }
                Verdict::Broken => return,
                verdict @ Verdict::Not(_) if self.scope.legacy.is_none() => {
                    if !fault::explain(self.report, &road, &[&first], self.patience).await {
                        discover::missing(&modern, &verdict);
                    }
                    return;
                }
                Verdict::Not(_) => {}
            }
        }
        if let Some(asked) = self.scope.legacy {
            // The first request opened a session where one was asked for; another is looked at.
            let opened = first.head.as_ref();
            if let Some(id) = opened.and_then(|head| head.header(header::SESSION_ID)) {
                modern.speech = Speech::Legacy(asked);
                session::end(&modern, &road, id).await;
            }
            self.legacy(road, asked, first, is_modern).await;
        }
    }

    async fn modern(&self, talk: &mut Talk<'r>, road: &HttpRoad, result: &Value) {
        discover::look(talk, result).await;
        headers::look(talk, road).await;
        if is_loopback(&road.address) {
            origin::look(talk, road).await;
        }
        let capabilities = &result["capabilities"];
        let tools = offer::look(talk, capabilities).await;
        methods::look(talk, capabilities).await;
        listen::look(talk, capabilities).await;
        endpoint::look_modern(talk, road).await;
        if self.scope.is_calling {
            call::look(talk, &tools).await;
        }
    }

    async fn legacy(&self, road: HttpRoad, asked: Revision, first: Exchange, is_modern: bool) {
        let mut talk = self.talk(Road::Http(Box::new(road.clone())), Speech::Legacy(asked));
        self.report.step("waiting for an answer to `initialize`");
        let opened = handshake::open(&mut talk, asked, self.patience.probe).await;
        let refused = match opened {
            Ok(greeting) => {
                self.session(&mut talk, &road, &greeting, is_modern).await;
                return;
            }
            Err(refused) => refused,
        };
        if is_modern {
            handshake::refused(self.report, &refused);
            endpoint::look_without_sessions(&talk, &road).await;
            return;
        }
        self.report.step("asking for a stream of events");
        let opened = EventsRoad::open(&road, self.patience.probe).await;
        match opened {
            Ok(events) => self.events(events, &road, asked).await,
            Err(why) => self.nothing(&road, &first, &refused, why).await,
        }
    }

    /// All that is looked at in a session over Streamable HTTP.
    async fn session(
        &self,
        talk: &mut Talk<'r>,
        road: &HttpRoad,
        greeting: &Value,
        is_modern: bool,
    ) {
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        handshake::look(talk, greeting, asked);
        let capabilities = &greeting["capabilities"];
        if !is_modern {
            if is_loopback(&road.address) {
                origin::look(talk, road).await;
            }
            let tools = offer::look(talk, capabilities).await;
            if self.scope.is_calling {
                call::look(talk, &tools).await;
            }
        }
        methods::look(talk, capabilities).await;
        cancel::look(talk).await;
        endpoint::look_legacy(talk).await;
        session::look(talk, road).await;
    }

    /// All that is looked at in a session over HTTP+SSE.
    async fn events(&self, events: EventsRoad, road: &HttpRoad, asked: Revision) {
        self.report
            .know(|subject| "http+sse".clone_into(&mut subject.transport));
        let road_of_events = Road::Events(Box::new(events));
        let mut talk = self.talk(road_of_events, Speech::Legacy(asked));
        let greeting = match handshake::open(&mut talk, asked, self.patience.opening).await {
            Ok(greeting) => greeting,
            Err(refused) => {
                let (check, said) = if refused.is_silent() {
                    (&greeting::SILENT, "`initialize` is not answered".to_owned())
                } else {
                    let said = format!("`initialize` is answered with {}", refused.came());
                    (&greeting::FAILS, said)
                };
                let finding = Finding::of(check, said);
                self.report.add(finding.seen_all(refused.evidence()));
                return;
            }
        };
        handshake::look(&talk, &greeting, asked);
        if is_loopback(&road.address) {
            origin::look_at_events(&talk, road).await;
        }
        let capabilities = &greeting["capabilities"];
        let tools = offer::look(&mut talk, capabilities).await;
        methods::look(&mut talk, capabilities).await;
        cancel::look(&mut talk).await;
        if self.scope.is_calling {
            call::look(&mut talk, &tools).await;
        }
    }

    /// Nothing that was tried is a server: what is it?
    async fn nothing(&self, road: &HttpRoad, first: &Exchange, refused: &Exchange, why: NotEvents) {
        if let NotEvents::NoEndpoint(what) = &why {
            let said = "a stream of events does not begin with the event `endpoint`";
            let finding = Finding::of(&greeting::FAILS, said);
            self.report.add(finding.seen(format!("← {what}")));
            return;
        }
        if fault::explain(self.report, road, &[refused, first], self.patience).await {
            return;
        }
        let (check, said) = if refused.is_silent() && first.is_silent() {
            (&http::SILENT, "requests are not answered".to_owned())
        } else {
            let said = format!("`initialize` is answered with {}", refused.came());
            (&greeting::FAILS, said)
        };
        let finding = Finding::of(check, said).seen_all(refused.evidence());
        let finding = finding.seen_all(first.evidence());
        self.report.add(match why {
            NotEvents::Other { status, media_type } => {
                finding.seen(format!("GET: HTTP {status} {media_type}"))
            }
            NotEvents::Failed(how) => finding.seen(format!("GET: {how}")),
            NotEvents::NoEndpoint(_) => finding,
        });
    }
}
