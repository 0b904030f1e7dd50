//! The interface for authors of servers: handlers, their parameters and their return types.

pub(crate) mod arguments;
pub(crate) mod ask;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod description;
pub(crate) mod extract;
pub(crate) mod function;
pub(crate) mod layer;
pub(crate) mod log;
pub(crate) mod log_offer;
pub(crate) mod outcome;
pub(crate) mod output_check;
pub(crate) mod states;
pub(crate) mod task_channel;

pub(crate) use arguments::Arguments;
pub use arguments::{Leniency, Patterns};
pub use ask::{
    Answer, Asker, BooleanField, Choice, ChoiceField, ChoiceOption, ChoicesField, Form, FormField,
    FormSchema, FormValues, NumberField, Question, ScriptedAnswers, TextField, Visit, form_limit,
    link_tokens::{LinkTokenError, LinkTokens},
};
pub use call::Call;
pub(crate) use context::CallContext;
pub use description::Description;
pub use extract::{
    AnyPatterns, Args, Ask, Background, CallMeta, CancelHandle, Cancelled, Declared, Detach,
    Extract, Named, NamedArgs, Notify, Params, Ping, PingError, Plain, PlainPatterns, Progress,
    ProgressRecord, ProgressReport, RawArgs, State, Step, TypeOf, Uri,
};
#[cfg(feature = "http")]
pub use extract::{Headers, HttpExtension, PeerAddress};
pub(crate) use function::Erased;
pub use function::Handler;
pub use layer::{Layer, Next, Reply};
#[cfg(feature = "tracing-layer")]
pub use log::ClientLog;
pub use log::{Log, LogRecord};
pub(crate) use log_offer::{LogOffer, is_forwarding};
pub use outcome::{
    Answered, Audio, ExtensionReply, Image, IntoOutcome, Json, Unsendable, is_outcome,
};
pub(crate) use output_check::OutputCheck;
pub(crate) use states::{ReadsHttp, StateMap, StateTypes};
pub(crate) use task_channel::TaskChannel;
