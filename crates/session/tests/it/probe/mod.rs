//! Searches as transcripts: `event -> next action`.

mod failures;
mod legacy_servers;
mod modern_servers;
mod pins;
mod remembered_verdicts;
mod two_connections;

use std::time::Duration;

use turnbuckle_protocol::Revision;
use turnbuckle_session::{
    Era,
    probe::{
        Action, Asked, DetectedRevision, Event, Probe, ProbeRefusal, Reason, RevisionChoice,
        Settings,
    },
};

/// Plays the events of a transcript and compares the action after each.
fn play(settings: Settings, transcript: &str) {
    let mut probe = Probe::new(settings);
    for line in transcript
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (event, expected) = line.split_once("->").expect("event -> action");
        let actual = probe
            .on(event_of(event))
            .map_or("wait".to_owned(), |it| written(&it));
        assert_eq!(actual, expected.trim(), "after `{}`", event.trim());
    }
}

fn event_of(text: &str) -> Event {
    let words: Vec<&str> = text.split_whitespace().collect();
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    match words[..] {
        ["started"] => Event::Started,
        ["discovered", ref versions @ ..] => Event::Discovered {
            versions: owned(versions),
        },
        ["initialized", version] => Event::Initialized {
            version: version.to_owned(),
            took: Duration::from_millis(100),
        },
        ["initialized", version, "after", seconds] => Event::Initialized {
            version: version.to_owned(),
            took: Duration::from_secs(seconds.parse().expect("seconds")),
        },
        ["refused", asked, code, ref supported @ ..] => Event::Refused {
            asked: match asked {
                "discover" => Asked::Discover,
                "initialize" => Asked::Initialize,
                other => panic!("no question is called {other}"),
            },
            refusal: ProbeRefusal::Error(code.parse().expect("a code")),
            message: "no".to_owned(),
            supported: owned(supported),
        },
        ["garbage"] => Event::Garbage,
        ["timeout"] => Event::Timeout,
        ["closed"] => Event::Closed,
        ["second-closed"] => Event::SecondClosed,
        _ => panic!("no event is written `{text}`"),
    }
}

fn written(action: &Action) -> String {
    match action {
        Action::SendDiscover { version, within } => format!("discover {version} {within:?}"),
        Action::SendInitialize { version, within } => format!("initialize {version} {within:?}"),
        Action::OpenSecond { version, within } => format!("second {version} {within:?}"),
        Action::KeepSecond { within } => format!("keep-second {within:?}"),
        Action::AwaitDiscover { within } => format!("await-discover {within:?}"),
        Action::Confirm { within } => format!("confirm {within:?}"),
        Action::Reopen => "reopen".to_owned(),
        Action::Ready(detected) => format!("ready {}", detected.revision),
        Action::Fail(failure) => format!("fail {}", name(&failure.reason)),
    }
}

fn name(reason: &Reason) -> &'static str {
    match reason {
        Reason::NothingAllowed => "nothing-allowed",
        Reason::NoCommonRevision { .. } => "no-common-revision",
        Reason::UnsupportedAnswer { .. } => "unsupported-answer",
        Reason::NotModern => "not-modern",
        Reason::Refused { .. } => "refused",
        Reason::Unresponsive => "unresponsive",
        Reason::Closed => "closed",
        Reason::Odd => "odd",
        _ => "unnamed",
    }
}

fn auto() -> Settings {
    Settings::new()
}

fn remembering(revision: Revision) -> Settings {
    Settings::new().with_remembered(DetectedRevision { revision })
}

fn pinned(aim: RevisionChoice) -> Settings {
    Settings::new().with_aim(aim)
}
