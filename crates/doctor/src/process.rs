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
    connection::{Connection, Spoken, StdioTransport, Stray, Transport},
    discover::{self, Verdict},
    finding::Finding,
    handshake,
    limits::{Limits, SLOW_START},
    listen, methods, offer,
    report::Report,
    scope::Scope,
    table::{handshake as greeting, start, stdout},
};

struct Program<'r> {
    report: &'r Report,
    command: Command,
    scope: Scope,
    limits: Limits,
}

/// Examines a program.
pub(crate) async fn examine(report: &Report, command: Command, scope: Scope, limits: Limits) {
    report.know(|subject| "stdio".clone_into(&mut subject.transport));
    let program = Program {
        report,
        command: command.drop_grace(limits.ending),
        scope,
        limits,
    };
    let spoken = Spoken::Modern(scope.modern.unwrap_or(Revision::LATEST));
    let Some(mut connection) = program.start(spoken) else {
        return;
    };
    if scope.modern.is_none() {
        program.legacy(connection).await;
        return;
    }
    report.step("waiting for an answer to `server/discover`");
    let verdict = discover::open(&mut connection, limits.opening).await;
    match verdict {
        Verdict::Modern(result) => {
            program.opened(&connection);
            discover::look(&mut connection, &result).await;
            program
                .modern(&mut connection, &result["capabilities"])
                .await;
            program.end(connection).await;
            if scope.legacy.is_some()
                && let Some(connection) = program.start(Spoken::Legacy(Revision::LATEST_LEGACY))
            {
                program.legacy_of_modern(connection).await;
            }
        }
        Verdict::Broken => program.end(connection).await,
        Verdict::Not(_) if scope.legacy.is_none() => {
            discover::missing(&connection, &verdict);
            program.end(connection).await;
        }
        Verdict::Not(_) => program.fall_back(connection).await,
    }
}

impl<'r> Program<'r> {
    fn start(&self, spoken: Spoken) -> Option<Connection<'r>> {
        self.report.step("starting the program");
        match StdioTransport::start(&self.command, self.report.wire.clone()) {
            Ok(stdio) => {
                let transport = Transport::Stdio(Box::new(stdio));
                Some(Connection::new(transport, spoken, self.limits, self.report))
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

    /// Reports how long the first answer took.
    fn opened(&self, connection: &Connection<'_>) {
        let Transport::Stdio(stdio) = &connection.transport else {
            return;
        };
        self.report.add(opening(stdio.started.elapsed()));
    }

    /// The server does not know `server/discover`: opens a session with the same process, as a client does.
    async fn fall_back(&self, mut connection: Connection<'r>) {
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        connection.spoken = Spoken::Legacy(asked);
        self.report.step("waiting for an answer to `initialize`");
        let opening = handshake::open(&mut connection, asked, self.limits.probe).await;
        let greeting = match opening {
            Ok(greeting) => greeting,
            Err(first) => {
                let words = last_words(&connection).await;
                self.end(connection).await;
                return self.again(first, words).await;
            }
        };
        self.opened(&connection);
        self.session(connection, greeting).await;
    }

    /// The process that got `server/discover` first gave no usable answer: tries a process that does not get it.
    async fn again(&self, first: super::connection::Exchange, words: Vec<String>) {
        let unreadable = [
            &stdout::PRETTY,
            &stdout::FRAMING,
            &stdout::ENCODING,
            &stdout::TOO_LONG,
        ];
        if unreadable.iter().any(|check| self.report.has(check)) {
            // It may have answered, but the answer cannot be parsed.
            return;
        }
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        let Some(mut connection) = self.start(Spoken::Legacy(asked)) else {
            return;
        };
        self.report.step("waiting for an answer to `initialize`");
        match handshake::open(&mut connection, asked, self.limits.opening).await {
            Ok(greeting) => {
                let said = format!(
                    "after `server/discover` it answers no `initialize` ({})",
                    first.came()
                );
                let finding = Finding::of(&start::PROBE, said);
                self.report
                    .add(finding.seen_all(first.evidence()).seen_all(words));
                self.opened(&connection);
                self.session(connection, greeting).await;
            }
            Err(second) => {
                let words = last_words(&connection).await;
                let finding = match &connection.transport {
                    Transport::Stdio(stdio) if stdio.is_gone() => {
                        let said =
                            format!("the process exits before it answers: {}", second.came());
                        Finding::of(&start::EXITS, said)
                    }
                    _ if second.is_silent() => {
                        let said =
                            "it runs, and answers neither `server/discover` nor `initialize`";
                        second.finding(&greeting::SILENT, said)
                    }
                    _ => {
                        let said = format!("`initialize` is answered with {}", second.came());
                        second.finding(&greeting::FAILS, said)
                    }
                };
                self.report.add(finding.seen_all(words));
                self.end(connection).await;
            }
        }
    }

    /// Examines only sessions, as requested.
    async fn legacy(&self, mut connection: Connection<'r>) {
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        connection.spoken = Spoken::Legacy(asked);
        self.report.step("waiting for an answer to `initialize`");
        match handshake::open(&mut connection, asked, self.limits.opening).await {
            Ok(greeting) => {
                self.opened(&connection);
                self.session(connection, greeting).await;
            }
            Err(first) => {
                let words = last_words(&connection).await;
                self.end(connection).await;
                self.again(first, words).await;
            }
        }
    }

    /// A server that speaks 2026-07-28 may open sessions, too.
    async fn legacy_of_modern(&self, mut connection: Connection<'r>) {
        self.report.step("waiting for an answer to `initialize`");
        match handshake::open(
            &mut connection,
            Revision::LATEST_LEGACY,
            self.limits.opening,
        )
        .await
        {
            Ok(greeting) => {
                handshake::look(&connection, &greeting, Revision::LATEST_LEGACY);
                methods::look(&mut connection, &greeting["capabilities"]).await;
                cancel::look(&mut connection).await;
            }
            Err(refused) => handshake::refused(self.report, &refused),
        }
        self.end(connection).await;
    }

    /// All checks of a session.
    async fn session(&self, mut connection: Connection<'r>, greeting: serde_json::Value) {
        let asked = self.scope.legacy.unwrap_or(Revision::LATEST_LEGACY);
        handshake::look(&connection, &greeting, asked);
        let capabilities = &greeting["capabilities"];
        let offer = offer::look(&mut connection, capabilities).await;
        methods::look(&mut connection, capabilities).await;
        cancel::look(&mut connection).await;
        if self.scope.is_calling {
            call::look(&mut connection, &offer).await;
        }
        methods::garbage(&mut connection).await;
        self.end(connection).await;
    }

    async fn modern(&self, connection: &mut Connection<'r>, capabilities: &serde_json::Value) {
        let offer = offer::look(connection, capabilities).await;
        methods::look(connection, capabilities).await;
        cancel::look(connection).await;
        listen::look(connection, capabilities).await;
        if self.scope.is_calling {
            call::look(connection, &offer).await;
        }
        methods::garbage(connection).await;
    }

    /// Checks the output on stdout, closes stdin, and checks whether the program ends.
    async fn end(&self, connection: Connection<'r>) {
        let words = last_words(&connection).await;
        let Transport::Stdio(stdio) = connection.transport else {
            return;
        };
        if self.report.is_muted() {
            self.report.mute(false);
            // If it never answered, that is reported instead.
            if stdio.has_answered {
                let how = stdio.how_gone().unwrap_or_default();
                let said = format!("{how} after `{}`: the rest was not examined", stdio.last);
                self.report
                    .add(Finding::of(&start::DIES, said).seen_all(words));
            }
        }
        for stray in &stdio.stray {
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
        if stdio.is_gone() {
            return;
        }
        self.report.step("waiting for the program to end");
        let ended = stdio.finish(self.limits.ending).await;
        if ended.by == EndedBy::Itself {
            self.report
                .ok_unless_found(&start::END, "ends with its input");
        } else {
            let how = match ended.by {
                EndedBy::Terminate => "SIGTERM",
                _ => "SIGKILL",
            };
            let limit = elapsed(self.limits.ending);
            let said =
                format!("it was still there {limit} after its input was closed; {how} ended it");
            self.report.add(Finding::of(&start::END, said));
        }
    }
}

/// The finding about a first answer that took this long.
fn opening(took: Duration) -> Finding {
    let said = format!("first answer after {}", elapsed(took));
    if took > SLOW_START {
        Finding::of(&start::SLOW, said)
    } else {
        Finding::ok(&start::SLOW, said)
    }
}

async fn last_words(connection: &Connection<'_>) -> Vec<String> {
    match &connection.transport {
        Transport::Stdio(stdio) => stdio.last_words().await,
        Transport::Http(_) | Transport::Events(_) => Vec::new(),
    }
}

fn stray_finding(stray: &Stray) -> Finding {
    let (check, said, line) = match stray {
        Stray::Text(line) => (&stdout::STRAY, "a line on stdout is not a message", line),
        Stray::Framing(line) => (
            &stdout::FRAMING,
            "messages come with headers, as of a language server",
            line,
        ),
        Stray::Piece(line) => (&stdout::PRETTY, "a message goes over several lines", line),
        Stray::Encoding(line) => (
            &stdout::ENCODING,
            "a line on stdout is not UTF-8, or begins with a byte order mark",
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

    /// A real program that takes this long would make the test just as slow.
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
