//! A search ends whatever a server does.

use std::time::Duration;

use proptest::prelude::*;
use turnbuckle_protocol::Revision;
use turnbuckle_session::{
    Era,
    probe::{
        Action, Asked, DetectedRevision, Event, Probe, ProbeRefusal, Reason, RevisionChoice,
        Settings,
    },
};

/// Four times `server/discover` (first, other version, second look, after the restart), three times
/// `initialize` (two connections, other version), one restart, one end; and with a second connection:
/// opening it, one more wait, and keeping it or giving it up.
const MOST_ACTIONS: usize = 12;

fn versions() -> impl Strategy<Value = Vec<String>> {
    let version = prop_oneof![
        proptest::sample::select(Revision::ALL).prop_map(|it| it.as_str().to_owned()),
        Just("2031-01-01".to_owned()),
        Just("nonsense".to_owned()),
    ];
    proptest::collection::vec(version, 0..4)
}

fn events() -> impl Strategy<Value = Event> {
    let asked = prop_oneof![Just(Asked::Discover), Just(Asked::Initialize)];
    let code = proptest::sample::select(&[-32020, -32021, -32022, -32601, -32602, -32603, 1][..]);
    let refusal = prop_oneof![
        6 => code.prop_map(ProbeRefusal::Error),
        1 => Just(ProbeRefusal::Status(404)),
        1 => Just(ProbeRefusal::NoAnswer),
    ];
    let version = versions().prop_map(|it| it.into_iter().next().unwrap_or_default());
    prop_oneof![
        2 => Just(Event::Started),
        1 => versions().prop_map(|versions| Event::Discovered { versions }),
        1 => (version, 0_u64..90).prop_map(|(version, seconds)| {
            Event::Initialized { version, took: Duration::from_secs(seconds) }
        }),
        4 => (asked, refusal, versions()).prop_map(|(asked, refusal, supported)| {
            Event::Refused { asked, refusal, message: "no".to_owned(), supported }
        }),
        1 => Just(Event::Garbage),
        3 => Just(Event::Timeout),
        2 => Just(Event::Closed),
        1 => Just(Event::SecondClosed),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let aim = prop_oneof![
        4 => Just(RevisionChoice::Auto),
        1 => prop_oneof![Just(Era::Legacy), Just(Era::Modern)].prop_map(RevisionChoice::Era),
        1 => proptest::sample::select(Revision::ALL).prop_map(RevisionChoice::Revision),
    ];
    let supported = proptest::sample::subsequence(Revision::ALL.to_vec(), 0..=5);
    let remembered = proptest::option::of(proptest::sample::select(Revision::ALL));
    (
        aim,
        prop_oneof![Just(Revision::ALL.to_vec()), supported],
        remembered,
        0..3,
    )
        .prop_map(|(aim, supported, remembered, way)| {
            let settings = Settings::new().with_aim(aim).with_supported(supported);
            let settings = match way {
                0 => settings,
                1 => settings.with_second_way(),
                _ => settings.with_second_connection(),
            };
            match remembered {
                Some(revision) => settings.with_remembered(DetectedRevision { revision }),
                None => settings,
            }
        })
}

fn is_end(action: &Action) -> bool {
    matches!(action, Action::Ready(_) | Action::Fail(_))
}

/// The requests that the server has received.
#[derive(Default)]
struct Wire {
    discovers: usize,
    initializes_here: usize,
    reopens: usize,
    seconds: usize,
}

impl Wire {
    fn take(&mut self, action: &Action) {
        match action {
            Action::SendDiscover { .. } => self.discovers += 1,
            Action::SendInitialize { .. } => self.initializes_here += 1,
            Action::Reopen => {
                self.reopens += 1;
                self.initializes_here = 0;
            }
            Action::KeepSecond { .. } => self.initializes_here = 1,
            Action::OpenSecond { .. } => self.seconds += 1,
            Action::AwaitDiscover { .. }
            | Action::Confirm { .. }
            | Action::Ready(_)
            | Action::Fail(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_events_makes_it_act_without_end(
        settings in settings(),
        events in proptest::collection::vec(events(), 0..40),
    ) {
        let mut probe = Probe::new(settings);
        let mut wire = Wire::default();
        let mut actions = Vec::new();
        for event in events {
            if let Some(action) = probe.on(event) {
                prop_assert!(!actions.last().is_some_and(is_end), "{actions:?} then {action:?}");
                wire.take(&action);
                actions.push(action);
            }
        }
        prop_assert!(actions.len() <= MOST_ACTIONS, "{actions:?}");
        prop_assert!(wire.discovers <= 4 && wire.reopens <= 1, "{actions:?}");
        prop_assert!(wire.seconds <= 1, "{actions:?}");
        prop_assert!(wire.initializes_here <= 2, "{actions:?}");
    }

    #[test]
    fn a_server_that_falls_silent_at_any_point_ends_the_search(
        settings in settings(),
        events in proptest::collection::vec(events(), 0..20),
    ) {
        let mut probe = Probe::new(settings);
        let mut last = probe.on(Event::Started);
        for event in events {
            last = probe.on(event).or(last);
        }
        for _ in 0..MOST_ACTIONS {
            let event = match &last {
                Some(end) if is_end(end) => break,
                Some(Action::Reopen) => Event::Started,
                _ => Event::Timeout,
            };
            last = probe.on(event).or(last);
        }
        prop_assert!(last.as_ref().is_some_and(is_end), "{last:?}");
    }

    #[test]
    fn it_only_asks_and_ends_within_what_is_allowed(
        aim in prop_oneof![
            Just(RevisionChoice::Era(Era::Modern)),
            Just(RevisionChoice::Era(Era::Legacy)),
            proptest::sample::select(Revision::ALL).prop_map(RevisionChoice::Revision),
        ],
        remembered in proptest::sample::select(Revision::ALL),
        events in proptest::collection::vec(events(), 0..30),
    ) {
        let fits = |revision: Revision| match aim {
            RevisionChoice::Auto => true,
            RevisionChoice::Era(era) => Era::from(revision) == era,
            RevisionChoice::Revision(pinned) => revision == pinned,
        };
        let remembered = DetectedRevision { revision: remembered };
        let mut probe = Probe::new(Settings::new().with_aim(aim).with_remembered(remembered));
        for event in std::iter::once(Event::Started).chain(events) {
            match probe.on(event) {
                Some(Action::SendDiscover { version, .. }) => {
                    prop_assert!(version.is_modern() && fits(version));
                }
                Some(Action::SendInitialize { version, .. }) => {
                    prop_assert!(!version.is_modern() && fits(version));
                }
                Some(Action::Ready(detected)) => prop_assert!(fits(detected.revision)),
                Some(Action::Fail(failure)) => {
                    prop_assert!(failure.reason != Reason::NothingAllowed);
                }
                Some(Action::OpenSecond { version, .. }) => {
                    prop_assert!(!version.is_modern() && fits(version));
                }
                Some(
                    Action::Reopen
                    | Action::KeepSecond { .. }
                    | Action::AwaitDiscover { .. }
                    | Action::Confirm { .. },
                )
                | None => {}
            }
        }
    }
}
