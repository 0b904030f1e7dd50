//! Elicitation: asking a person, by a form or by sending them to a URL.

mod params;
mod result;
mod schema;

pub use params::{
    ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitationCompleteNotificationParams, FormMode,
};
pub use result::{ElicitAction, ElicitResult, ElicitValue};
pub use schema::{
    BooleanSchema, ElicitSchema, EnumItems, EnumOption, LegacyTitledEnumSchema, NumberKind,
    NumberSchema, PrimitiveSchema, StringFormat, StringSchema, TitledEnumItems,
    TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema,
    UntitledSingleSelectEnumSchema,
};
