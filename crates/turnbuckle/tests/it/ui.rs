//! What the compiler says. After a change of wording: `TRYBUILD=overwrite cargo test -p turnbuckle --test it ui`,
//! then read every difference.

// rule: E4
#[test]
fn messages_point_at_the_mistake_and_say_what_to_write() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/it/ui/*.rs");
    cases.pass("tests/it/ui/pass/*.rs");
}
