//! The checks of starting a server as a program.

use crate::check::checks;

checks! { Start;
    NOT_FOUND Error "start.not-found" {
        claim: "The program exists.",
        fix: "Check its spelling and PATH (a desktop application has a shorter one than a shell), or give its full path.",
    }
    INTERPRETER Error "start.interpreter" {
        claim: "The interpreter that a script names in its first line exists.",
        fix: "Correct the first line (`#!/usr/bin/env python3`), or start the interpreter with the script as its argument. Line ends of Windows in that line do the same harm.",
    }
    FOLDER Error "start.folder" {
        claim: "The working directory exists.",
        fix: "Create it, or correct `cwd` in the config file.",
    }
    NOT_EXECUTABLE Error "start.not-executable" {
        claim: "The program may be executed.",
        fix: "`chmod +x` it, or start the interpreter with the file as its argument.",
    }
    FAILED Error "start.failed" {
        claim: "The operating system starts the program.",
        fix: "Read what the system said.",
    }
    EXITS Error "start.exits" {
        claim: "The program goes on running until its input is closed.",
        rule: "2026-07-28/basic/transports/stdio" "S2",
        fix: "Read the end of its stderr; often a module, a variable of the environment or an argument is missing.",
    }
    PROBE Error "start.probe" {
        claim: "The program survives a request that it does not know, before any handshake.",
        breaks: "every client that detects the revision of a server with `server/discover`",
        rule: "2026-07-28/basic/transports/stdio" "M8 J4",
        fix: "Answer unknown methods with error -32601, also before `initialize`, and go on.",
    }
    DIES Error "start.dies" {
        claim: "The program survives every request.",
        rule: "2026-07-28/basic/transports/stdio" "S2",
        fix: "Read the end of its stderr; answer with an error instead of exiting.",
    }
    SLOW Warning "start.slow" {
        claim: "The first answer is there within 5 s.",
        breaks: "clients that wait 5 to 10 s for a server, then give up",
        fix: "Install ahead what `npx` or `uvx` would fetch at each start, and load what is heavy after the handshake.",
    }
    END Warning "start.end" {
        claim: "The program ends by itself when its input is closed.",
        breaks: "hosts that close the input and wait: they leave processes behind, or kill them",
        rule: "2026-07-28/basic/transports/stdio" "S2",
        fix: "Read stdin to its end, then exit. Threads and timers that go on must not keep the process alive.",
    }
}
