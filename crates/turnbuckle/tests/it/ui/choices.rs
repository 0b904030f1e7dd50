#![allow(unused, reason = "the errors are what is compared")]

use turnbuckle::Choice;

#[derive(Choice)]
struct NotAnEnum;

#[derive(Choice)]
enum Nothing {}

#[derive(Choice)]
enum Holding {
    Row(u8),
}

#[derive(Choice)]
#[serde(rename_all = "lowercase")]
enum Same {
    Row,
    ROW,
}

#[derive(Choice)]
enum Option_ {
    #[form(titel = "Row")]
    Row,
}

fn main() {}
