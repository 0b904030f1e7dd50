//! URI templates: a template that matches can be expanded with the values, and matches again with the same values.

use turnbuckle_uri_template::Template;

use super::Target;

pub const TARGET: Target = Target {
    name: "uri_template",
    run,
    seeds: &[
        b"file:///{+path}\nfile:///a/b",
        b"x:{a}{?b,c*}{&d}\nx:1?b=2&c=3&c=4",
        b"x:{a:3}{/b*}{;c}{#d}{.e}\nx:abc/1/2;c=3#4.5",
        b"x:%41{a}\nx:A%20",
    ],
    words: &[
        "{a}", "{+b}", "{?c}", "{&d*}", "{/e}", "{;f}", "{#g}", "{.h}", "{a:3}", "%20", "%C3%A9",
        "*",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let (template, uri) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(template) = Template::parse(template) else {
        return;
    };
    assert_eq!(
        Template::parse(template.as_str()).map(|it| it.specificity()),
        Ok(template.specificity())
    );
    let Some(values) = template.matches(uri) else {
        return;
    };
    // The same values may be written in several ways (`%41` is `A`), but the expanded URI matches with the
    // same values.
    let written = template
        .expand(&values)
        .expect("values that were read can be written");
    let has_one_way_back = !(keeps_delimiters(template.as_str()) && has_encoded_delimiter(uri))
        && groups_of_pairs_with_ampersand(template.as_str()) < 2;
    if !has_one_way_back {
        return;
    }
    let again = template.matches(&written);
    assert_eq!(
        again.as_ref(),
        Some(&values),
        "{} {uri} {written}",
        template.as_str()
    );
}

/// Whether the template has `{+name}` or `{#name}`. They copy delimiters and the text `%41` unchanged (RFC 6570,
/// 3.2.3). So a value that was read from `%2C` or `%2541` is written as `,` or `%41`, which can have another meaning.
fn keeps_delimiters(template: &str) -> bool {
    template.contains("{+") || template.contains("{#")
}

fn has_encoded_delimiter(uri: &str) -> bool {
    uri.as_bytes().windows(3).any(|it| {
        let digits = str::from_utf8(&it[1..]).unwrap_or_default();
        let octet = u8::from_str_radix(digits, 16).unwrap_or_default();
        it[0] == b'%' && b":/?#[]@!$&'()*+,;=%".contains(&octet)
    })
}

/// How many groups of pairs may begin with `&`. `{?a}{&b}` is one: without `a` it is written as `&b=1`. If another
/// group precedes it, as in `{&c}{?a}{&b}`, that text is read as the other group.
fn groups_of_pairs_with_ampersand(template: &str) -> usize {
    let mut groups = 0;
    let mut follows_query = false;
    for part in template.split_inclusive('}') {
        let follows = part.starts_with("{&") && follows_query;
        if part.contains("{&") && !follows || part.contains("{?") {
            groups += 1;
        }
        follows_query = follows || part.contains("{?") || part.contains("{&");
    }
    groups
}
