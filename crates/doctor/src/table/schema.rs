//! The checks of tools that clients and model providers reject. `breaks` names services and programs that rejected
//! such tools when they were tried; their behavior may change, the names of the checks do not.

use crate::check::checks;

checks! { Schema;
    INVALID Error "schema.invalid" {
        claim: "The input schema is valid JSON Schema: keywords have valid values, and references can be resolved.",
        rule: "2026-07-28/server/tools" "T5 J11 J12",
        fix: "Correct the schema.",
    }
    EXTERNAL Error "schema.external" {
        claim: "No reference points outside the schema.",
        breaks: "every client: nothing is fetched",
        rule: "2026-07-28/basic" "J12",
        fix: "Put the definition under `$defs`, or inline it.",
    }
    ROOT_TYPE Error "schema.root-type" {
        claim: "The root of the input schema says `\"type\": \"object\"`.",
        breaks: "OpenAI, Anthropic, and clients that check",
        rule: "2026-07-28/server/tools" "T5",
        fix: "Add `\"type\": \"object\"`.",
    }
    ROOT_UNION Warning "schema.root-union" {
        claim: "There is no `oneOf`, `anyOf`, `allOf`, `enum` or `not` at the root.",
        breaks: "Anthropic and OpenAI: the whole request is refused, with every tool in it",
        fix: "Move the choice into a property, or make all members optional and say in the description which go together.",
    }
    OUTPUT_INVALID Error "schema.output-invalid" {
        claim: "The output schema is valid JSON Schema.",
        breaks: "clients that compile it: they refuse the list or the call",
        rule: "2026-07-28/server/tools" "T4 T5",
        fix: "Correct the schema.",
    }
    OUTPUT_ROOT Error "schema.output-root" {
        claim: "Up to 2025-11-25, the root of an output schema says `\"type\": \"object\"`.",
        breaks: "clients of those revisions: they refuse the whole list",
        rule: "2025-11-25/server/tools" "T4",
        fix: "Wrap the value in an object.",
    }
    ITEMS Warning "schema.items" {
        claim: "Every array says what its items are.",
        breaks: "VS Code, OpenAI and Gemini: they refuse the tool",
        fix: "Add `items`.",
    }
    TYPE_LIST Warning "schema.type-list" {
        claim: "`type` is one word, not a list.",
        breaks: "Gemini, and converters that drop the property",
        fix: "Leave the property out of `required` instead of allowing null, or use `anyOf`.",
    }
    REFERENCE Warning "schema.reference" {
        claim: "There is no `$ref`.",
        breaks: "Gemini up to 2.5 and some gateways of Anthropic's models: they refuse it or drop the property",
        fix: "Inline the definition.",
    }
    RECURSION Warning "schema.recursion" {
        claim: "No definition contains itself.",
        breaks: "clients that inline references, Gemini, and forms",
        fix: "Bound the depth: spell out the levels that are needed, or take JSON as a string.",
    }
    UNTYPED Warning "schema.untyped" {
        claim: "Every property says what it is: a type, values, a choice or a reference.",
        breaks: "Gemini, older Gemini CLI (the tool is left out), and forms",
        fix: "Add `type`.",
    }
    BOOLEAN Warning "schema.boolean" {
        claim: "Schemas of properties and items are objects, not `true` or `false`.",
        breaks: "Gemini, OpenAI and converters that expect objects",
        fix: "Write `{}` with a description, better a type.",
    }
    ENUM Warning "schema.enum" {
        claim: "The values of `enum` are texts that are not empty.",
        breaks: "Gemini: numbers, null and empty texts in `enum` are refused",
        fix: "Use texts, or `minimum` and `maximum` for numbers.",
    }
    FORMAT Warning "schema.format" {
        claim: "`format` is one that validators know.",
        breaks: "clients with strict validators (Ajv): they refuse the schema",
        fix: "Use a format of JSON Schema, or say it in the description.",
    }
    TUPLE Warning "schema.tuple" {
        claim: "`items` is one schema, not a list of them, and there is no `prefixItems`.",
        breaks: "OpenAI and Gemini; `items` as a list is no longer JSON Schema",
        fix: "Use an object with named properties.",
    }
    PATTERN_PROPERTIES Warning "schema.pattern-properties" {
        claim: "There is no `patternProperties`, `if`, `not`, `dependentSchemas` and the like.",
        breaks: "OpenAI and Gemini, and models, which do not see the rule",
        fix: "Say it in the description, and check it in the tool.",
    }
    REQUIRED Warning "schema.required" {
        claim: "Every required name is among the properties.",
        breaks: "Gemini: the tool is refused",
        fix: "Add the property, or remove its name from `required`.",
    }
    PROPERTY_NAME Warning "schema.property-name" {
        claim: "Names of properties are 1 to 64 letters, digits, `_`, `.` and `-`.",
        breaks: "Anthropic: the whole request is refused",
        fix: "Rename the property.",
    }
    DEPTH Warning "schema.depth" {
        claim: "Objects are nested at most 5 levels deep.",
        breaks: "OpenAI and Gemini (the latter counts references, too), and models, which make more mistakes",
        fix: "Flatten the arguments.",
    }
    DEFAULT Warning "schema.default" {
        claim: "Defaults are values that their schema allows.",
        breaks: "forms and clients that fill them in, and are then refused",
        fix: "Correct the default or the schema.",
    }
    DIALECT Warning "schema.dialect" {
        claim: "The dialect is 2020-12 or draft-07.",
        breaks: "clients whose validators know no other",
        rule: "2026-07-28/basic" "J11",
        fix: "Leave `$schema` out: the default is 2020-12.",
    }
    NAME Warning "schema.name" {
        claim: "Names of tools are letters, digits, `_` and `-`.",
        breaks: "OpenAI and Anthropic (others are refused), also names with dots, which the specification allows",
        rule: "2026-07-28/server/tools" "T6",
        fix: "Rename the tool: `get_user`, not `get user` or `users/get`.",
    }
    NAME_LENGTH Warning "schema.name-length" {
        claim: "Names of tools are at most 50 characters long.",
        breaks: "Cursor (60 with the name of the server), OpenAI and VS Code (64 with a prefix)",
        rule: "2026-07-28/server/tools" "T6",
        fix: "Shorten the name; the server's name says the rest.",
    }
    NAME_CASE Warning "schema.name-case" {
        claim: "No two names differ in case or in `-` and `_` alone.",
        breaks: "clients that normalise names, and models",
        rule: "2026-07-28/server/tools" "T6",
        fix: "Rename one.",
    }
    DESCRIPTION Warning "schema.description" {
        claim: "Every tool has a description.",
        breaks: "models: they choose by it; some clients leave the tool out",
        fix: "Say what the tool does and when to use it.",
    }
    DESCRIPTION_LENGTH Warning "schema.description-length" {
        claim: "Descriptions of tools are at most 1,024 characters long.",
        breaks: "OpenAI: longer ones are refused; others cut them",
        fix: "Shorten it; details belong to the properties or to a resource.",
    }
    INVISIBLE Warning "schema.invisible" {
        claim: "Names and descriptions have no control or invisible characters.",
        breaks: "users: a person does not see what the model reads",
        fix: "Remove them; look at where they came from.",
    }
    ANNOTATIONS Warning "schema.annotations" {
        claim: "A tool that only reads is not destructive.",
        breaks: "clients that ask before destructive calls, or do not ask before reading ones",
        rule: "2026-07-28/server/tools" "",
        fix: "Decide: `readOnlyHint` or `destructiveHint`.",
    }
    HEADER Error "schema.header" {
        claim: "`x-mcp-header` names a header, once, at a string, integer or boolean that is reached by `properties` alone.",
        breaks: "clients of 2026-07-28 over HTTP: they must leave the tool out",
        rule: "2026-07-28/basic/transports/streamable-http" "X5",
        fix: "Correct the annotation or remove it.",
    }
    SECRET_HEADER Warning "schema.secret-header" {
        claim: "No argument that sounds like a secret is repeated in a header.",
        breaks: "users: headers are logged by everything between",
        rule: "2026-07-28/basic/transports/streamable-http" "X7",
        fix: "Remove `x-mcp-header` from it.",
    }
}
