//! Elicitation: asking a user with a form, or sending the user to a URL.

mod choice;
mod params;
mod result;
mod schema;
mod visit_host;

pub use choice::{
    EnumItems, EnumOption, LegacyTitledEnumSchema, TitledEnumItems, TitledMultiSelectEnumSchema,
    TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
pub use params::{
    ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitationCompleteNotificationParams, FormMode,
};
pub use result::{ElicitAction, ElicitResult, ElicitValue};
pub use schema::{
    BooleanSchema, ElicitSchema, NumberKind, NumberSchema, PrimitiveSchema, StringFormat,
    StringSchema,
};
