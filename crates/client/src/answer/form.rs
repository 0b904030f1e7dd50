//! Checks the answer to a form against the form.

use turnbuckle_protocol::{ElicitAction, ElicitResult, ElicitSchema};
use turnbuckle_schema::Schema;

use super::Refusal;

/// elicitation: clients SHOULD validate their answer against the schema of the form. With a schema that
/// cannot be compiled the answer is sent unchecked, and the server will check it.
pub(crate) fn check(schema: &ElicitSchema, answer: ElicitResult) -> Result<ElicitResult, Refusal> {
    let compiled = serde_json::to_value(schema)
        .ok()
        .and_then(|schema| Schema::compile(&schema).ok());
    let (ElicitAction::Accept, Some(schema)) = (answer.action, compiled) else {
        return Ok(answer);
    };
    let content = serde_json::to_value(answer.content.clone().unwrap_or_default())?;
    match schema.check(&content) {
        Ok(()) => Ok(answer),
        Err(violations) => {
            let problems: Vec<_> = violations.iter().map(ToString::to_string).collect();
            Err(Refusal::failed(format!(
                "the answer does not match the form: {}",
                problems.join("; ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::{ElicitValue, NumberSchema, StringSchema};

    use super::*;

    fn schema() -> ElicitSchema {
        ElicitSchema::new()
            .with_required("seat", StringSchema::default())
            .with("row", NumberSchema::default())
    }

    fn filled(name: &str, value: ElicitValue) -> ElicitResult {
        ElicitResult::accept([(name, value)])
    }

    // rule: E4
    #[test]
    fn only_what_fits_the_form_is_sent() {
        assert!(check(&schema(), filled("seat", "12A".into())).is_ok());
        for wrong in [
            filled("seat", 12.into()),
            filled("row", 12.into()),
            ElicitResult::accept_visit(),
        ] {
            let Err(Refusal::Failed(reason)) = check(&schema(), wrong) else {
                panic!("it is wrong")
            };
            assert!(reason.to_string().contains("seat"), "{reason}");
        }
    }

    #[test]
    fn saying_no_needs_no_content() {
        assert!(check(&schema(), ElicitResult::decline()).is_ok());
        assert!(check(&schema(), ElicitResult::cancel()).is_ok());
    }
}
