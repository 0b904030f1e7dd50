//! A server that is a program: its start, both eras, its stdout, and its end.

use std::time::Duration;

use turnbuckle::{
    Command, Revision,
    transport::{EndedBy, SpawnError},
};
use turnbuckle_base::error_chain;
use turnbuckle_command_line::style::elapsed;

use super::{
    call, cancel,
    discover::{self, Verdict},
    finding::Finding,
    handshake, listen, methods, offer,
    patience::{Patience, SLOW_START},
    report::Report,
    scope::Scope,
    table::{handshake as greeting, start, stdout},
    talk::{Pipe, Road, Speech, Stray, Talk},
};

struct Program<'r> {
    report: &'r Report,
    command: Command,
    scope: Scope,
    patience: Patience,
}

/// Examines a program.
pub(crate) async fn examine(report: &Report, command: Command, scope: Scope, patience: Patience) {
    report.know(|subject| "stdio".clone_into(&mut subject.transport));
    let program = Program {
        report,
        command: command.drop_grace(patience.ending),
        scope,
        patience,
    };
    let Some(mut talk) = program.start(Speech::Modern(Revision::LATEST)) else {
        return;
    };
    if !scope.is_modern {
        program.legacy(talk).await;
        return;
    }
    report.step("waiting for an answer to `server/discover`");
    let verdict = discover::open(&mut talk, patience.opening).await;
    match verdict {
        Verdict::Modern(result) => {
            program.opened(&talk);
            discover::look(&mut talk, &result).await;
            program.modern(&mut talk, &result["capabilities"]).await;
            program.end(talk).await;
            if scope.legacy.is_some()
                && let Some(talk) = program.start(Speech::Legacy(Revision::LATEST_LEGACY))
            {
                program.legacy_of_modern(talk).await;
            }
        }
        Verdict::Broken => program.end(talk).await,
        Verdict::Not(_) if scope.legacy.is_none() => {
            discover::missing(&talk, &verdict);
            program.end(talk).await;
        }
        Verdict::Not(_) => program.fall_back(talk).await,
    }
}

impl<'r> Program<'r> {
    fn start(&self, speech: Speech) -> Option<Talk<'r>> {
        self.report.step("starting the program");
        match Pipe::start(&self.command, self.report.wire.clone()) {
            Ok(pipe) => {
                let road = Road::Pipe(Box::new(pipe));
                Some(Talk::new(road, speech, self.patience, self.report))
            }
            Err(error) => {
                let check = match &error {
                    SpawnError::NoSuchProgram { .. } => &start::NOT_FOUND,
                    SpawnError::NoSuchInterpreter { .. } => &start::INTERPRETER,
                    SpawnError::NoSuchDirectory { .. } => &start::FOLDER,
                    SpawnError::PermissionDenied { .. } => &start::NOT_EXECUTABLE,
                    _ => &start::FAILED,
                };
                let said = error_chain::in_one_line(&error);
                let said = said.split(';').next().unwrap_or_default().to_owned();
                self.report.add(Finding::of(check, said));
                None
            }
        }
    }

    /// Says how long the first answer took.
    fn opened(&self, talk: &Talk<'_>) {
        let Road::Pipe(pipe) = &talk.road else { return };
        self.report.add(opening(pipe.started.elapsed()));
    }

    /// The server did not know `server/discover`: a client opens a session with the same process.
    async fn fall_back(&self, mut talk: Talk<'r>) {
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        talk.speech = Speech::Legacy(asked);
        self.report.step("waiting for an answer to `initialize`");
        let opening = handshake::open(&mut talk, asked, self.patience.probe).await;
        let greeting = match opening {
            Ok(greeting) => greeting,
            Err(first) => {
                let words = last_words(&talk).await;
                self.end(talk).await;
                return self.again(first, words).await;
            }
        };
        self.opened(&talk);
        self.session(talk, greeting).await;
    }

    /// Nothing came of the process that was asked `server/discover` first: one that was not asked?
    async fn again(&self, first: super::talk::Exchange, words: Vec<String>) {
        let unreadable = [
            &stdout::PRETTY,
            &stdout::FRAMING,
            &stdout::ENCODING,
            &stdout::TOO_LONG,
        ];
        if unreadable.iter().any(|check| self.report.has(check)) {
            // It may well answer; nobody can read it.
            return;
        }
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        let Some(mut talk) = self.start(Speech::Legacy(asked)) else {
            return;
        };
        self.report.step("waiting for an answer to `initialize`");
        match handshake::open(&mut talk, asked, self.patience.opening).await {
            Ok(greeting) => {
                let said = format!(
                    "after `server/discover` it answers no `initialize` ({})",
                    first.came()
                );
                let finding = Finding::of(&start::PROBE, said);
                self.report
                    .add(finding.seen_all(first.evidence()).seen_all(words));
                self.opened(&talk);
                self.session(talk, greeting).await;
            }
            Err(second) => {
                let words = last_words(&talk).await;
                let finding = match &talk.road {
                    Road::Pipe(pipe) if pipe.is_gone() => {
                        let said = format!("it ends before it answers: {}", second.came());
                        Finding::of(&start::EXITS, said)
                    }
                    _ if second.is_silent() => {
                        let said =
                            "it runs, and answers neither `server/discover` nor `initialize`";
                        Finding::of(&greeting::SILENT, said).seen_all(second.evidence())
                    }
                    _ => {
                        let said = format!("`initialize` is answered with {}", second.came());
                        Finding::of(&greeting::FAILS, said).seen_all(second.evidence())
                    }
                };
                self.report.add(finding.seen_all(words));
                self.end(talk).await;
            }
        }
    }

    /// Sessions alone were asked for.
    async fn legacy(&self, mut talk: Talk<'r>) {
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        talk.speech = Speech::Legacy(asked);
        self.report.step("waiting for an answer to `initialize`");
        match handshake::open(&mut talk, asked, self.patience.opening).await {
            Ok(greeting) => {
                self.opened(&talk);
                self.session(talk, greeting).await;
            }
            Err(first) => {
                let words = last_words(&talk).await;
                self.end(talk).await;
                self.again(first, words).await;
            }
        }
    }

    /// A server that speaks 2026-07-28 may open sessions, too.
    async fn legacy_of_modern(&self, mut talk: Talk<'r>) {
        self.report.step("waiting for an answer to `initialize`");
        match handshake::open(&mut talk, Revision::LATEST_LEGACY, self.patience.opening).await {
            Ok(greeting) => {
                handshake::look(&talk, &greeting, Revision::LATEST_LEGACY);
                methods::look(&mut talk, &greeting["capabilities"]).await;
                cancel::look(&mut talk).await;
            }
            Err(refused) => handshake::refused(self.report, &refused),
        }
        self.end(talk).await;
    }

    /// All that is looked at in a session.
    async fn session(&self, mut talk: Talk<'r>, greeting: serde_json::Value) {
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        handshake::look(&talk, &greeting, asked);
        let capabilities = &greeting["capabilities"];
        let offer = offer::look(&mut talk, capabilities).await;
        methods::look(&mut talk, capabilities).await;
        cancel::look(&mut talk).await;
        if self.scope.is_calling {
            call::look(&mut talk, &offer).await;
        }
        methods::garbage(&mut talk).await;
        self.end(talk).await;
    }

    async fn modern(&self, talk: &mut Talk<'r>, capabilities: &serde_json::Value) {
        let offer = offer::look(talk, capabilities).await;
        methods::look(talk, capabilities).await;
        cancel::look(talk).await;
        listen::look(talk, capabilities).await;
        if self.scope.is_calling {
            call::look(talk, &offer).await;
        }
        methods::garbage(talk).await;
    }

    /// Looks at what was on stdout, closes stdin, and sees whether the program ends.
    async fn end(&self, talk: Talk<'r>) {
        let words = last_words(&talk).await;
        let Road::Pipe(pipe) = talk.road else { return };
        if self.report.is_muted() {
            self.report.mute(false);
            // Where it never answered, that is what is told.
            if pipe.has_answered {
                let how = pipe.how_gone().unwrap_or_default();
                let said = format!("{how} after `{}`: the rest was not looked at", pipe.last);
                self.report
                    .add(Finding::of(&start::DIES, said).seen_all(words));
            }
        }
        for stray in &pipe.stray {
            self.report.add(stray_finding(stray));
        }
        let strays = [
            &stdout::STRAY,
            &stdout::FRAMING,
            &stdout::PRETTY,
            &stdout::ENCODING,
        ];
        if !strays.iter().any(|check| self.report.has(check)) {
            self.report.ok(&stdout::STRAY, "nothing but messages");
        }
        if pipe.is_gone() {
            return;
        }
        self.report.step("waiting for the program to end");
        let ended = pipe.finish(self.patience.ending).await;
        if ended.by == EndedBy::Itself {
            self.report
                .ok_unless_found(&start::END, "ends with its input");
        } else {
            let how = match ended.by {
                EndedBy::Terminate => "SIGTERM",
                _ => "SIGKILL",
            };
            let limit = elapsed(self.patience.ending);
            let said =
                format!("it was still there {limit} after its input was closed; {how} ended it");
            self.report.add(Finding::of(&start::END, said));
        }
    }
}

/// What is to be said of a first answer that took so long.
fn opening(took: Duration) -> Finding {
    let said = format!("first answer after {}", elapsed(took));
    if took > SLOW_START {
        Finding::of(&start::SLOW, said)
    } else {
        Finding::ok(&start::SLOW, said)
    }
}

async fn last_words(talk: &Talk<'_>) -> Vec<String> {
    match &talk.road {
        Road::Pipe(pipe) => pipe.last_words().await,
        Road::Http(_) | Road::Events(_) => Vec::new(),
    }
}

fn stray_finding(stray: &Stray) -> Finding {
    let (check, said, line) = match stray {
        Stray::Text(line) => (&stdout::STRAY, "a line on stdout is no message", line),
        Stray::Framing(line) => (
            &stdout::FRAMING,
            "messages come with headers, as of a language server",
            line,
        ),
        Stray::Piece(line) => (&stdout::PRETTY, "a message goes over several lines", line),
        Stray::Encoding(line) => (
            &stdout::ENCODING,
            "a line on stdout is no UTF-8, or begins with a byte order mark",
            line,
        ),
        Stray::TooLong => {
            let said = "a line on stdout has more than 16 MiB";
            return Finding::of(&stdout::TOO_LONG, said);
        }
    };
    Finding::of(check, said).seen(format!("stdout: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Severity;

    /// A program that takes so long would make the test as slow.
    #[test]
    fn a_first_answer_after_five_seconds_is_slow() {
        let found = opening(SLOW_START + Duration::from_millis(10));
        assert_eq!(
            (found.check.id, found.severity),
            ("start.slow", Severity::Warning)
        );
        assert_eq!(opening(SLOW_START).severity, Severity::Ok);
    }
}
