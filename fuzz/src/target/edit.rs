//! Changes single members of an object, and checks that every other byte stays the same.

use turnbuckle_protocol::envelope::{Edit, Frame, Message, Raw, parse};

use super::Target;

pub const TARGET: Target = Target {
    name: "edit",
    run,
    seeds: &[
        br#"{"name":"x","arguments":{"n":1.0},"_meta":{"progressToken":3,"other":[ 1 ]}}"#,
        br#"{ "a" : 1 , "name" : null , "z":{"name":2} }"#,
        br#"{}"#,
        br#"{"_meta":1}"#,
    ],
    words: &[
        "\"name\":",
        "\"_meta\":",
        "\"progressToken\":",
        "\"a\":",
        "\\u006eame",
        "{}",
        "null",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    let mut text = br#"{"jsonrpc":"2.0","id":1,"method":"m","params":"#.to_vec();
    text.extend_from_slice(input);
    text.push(b'}');
    let Ok(Frame::One(Message::Request(request))) = parse(&text) else {
        return;
    };
    let Some(object) = request.params.raw() else {
        return;
    };
    let unchanged = Edit::new(object).finish().expect("an object");
    assert_eq!(
        unchanged.raw().get(),
        object.get(),
        "no change changes nothing"
    );

    if let Ok(edited) = Edit::new(object).set(&["name"], "[7]").finish() {
        let after = edited.raw();
        assert_eq!(after.member("name").map(Raw::get), Some("[7]"));
        same_but(object, after, &["name"]);
    }
    let dropped = Edit::new(object)
        .drop(&["name"])
        .finish()
        .expect("an object");
    assert!(dropped.raw().member("name").is_none());
    same_but(object, dropped.raw(), &["name"]);

    let renamed = Edit::new(object)
        .rename(&["name"], "naam")
        .finish()
        .expect("an object");
    assert_eq!(
        renamed.raw().member("naam").map(Raw::get),
        object
            .member("naam")
            .or(object.member("name"))
            .map(Raw::get)
            .filter(|_| {
                // If both names are present, the result depends on their order.
                object.member("naam").is_none() || object.member("name").is_none()
            })
            .or_else(|| renamed.raw().member("naam").map(Raw::get)),
    );
    same_but(object, renamed.raw(), &["name", "naam"]);

    if let Ok(edited) = Edit::new(object)
        .set_text(&["_meta", "progressToken"], "\u{0}\"é")
        .finish()
    {
        let after = edited.raw();
        let token = after.at(&["_meta", "progressToken"]).expect("it was set");
        assert_eq!(token.parse::<String>().ok().as_deref(), Some("\u{0}\"é"));
        same_but(object, after, &["_meta"]);
        if let (Some(before), Some(after)) = (object.member("_meta"), after.member("_meta")) {
            same_but(before, after, &["progressToken"]);
        }
    }
}

/// Asserts that all members except these are the same in the same order, byte for byte.
fn same_but(before: Raw<'_>, after: Raw<'_>, names: &[&str]) {
    let rest = |raw: Raw<'_>| -> Vec<(String, String)> {
        let members = raw.members().into_iter();
        let others = members.filter(|(name, _)| !names.contains(&&**name));
        others
            .map(|(name, value)| (name.into_owned(), value.get().to_owned()))
            .collect()
    };
    assert_eq!(
        rest(before),
        rest(after),
        "what was not to be changed stays as it was"
    );
    after
        .parse::<serde::de::IgnoredAny>()
        .expect("what was edited is JSON");
}
