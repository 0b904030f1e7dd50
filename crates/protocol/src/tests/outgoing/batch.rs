//! Batches, which only 2025-03-26 has.

use serde_json::Value;

use crate::tests::generator::Generator;

/// The minimum number of messages of a kind for a useful batch.
const ENOUGH: usize = 20;

pub(super) fn batches(g: &mut Generator) {
    let of = |name: &str| -> Vec<Value> {
        let named = g.cases.iter().filter(|case| case.exact.contains(&name));
        named.map(|case| case.json.clone()).collect()
    };
    let calls = [of("JSONRPCRequest"), of("JSONRPCNotification")].concat();
    let answers = [of("JSONRPCResponse"), of("JSONRPCError")].concat();
    assert!(calls.len() > ENOUGH && answers.len() > ENOUGH);
    g.push(&["JSONRPCBatchRequest"], &["JSONRPCMessage"], calls.into());
    g.push(
        &["JSONRPCBatchResponse"],
        &["JSONRPCMessage"],
        answers.into(),
    );
}
