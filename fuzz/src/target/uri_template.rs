//! URI templates: what a template matches, it writes again, and that matches with the same values.

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
    // The same values may be written in several ways (`%41` is `A`), but what we write matches and
    // means the same.
    let written = template
        .expand(&values)
        .expect("values that were read can be written");
    let again = template.matches(&written);
    assert_eq!(
        again.as_ref(),
        Some(&values),
        "{} {uri} {written}",
        template.as_str()
    );
}
