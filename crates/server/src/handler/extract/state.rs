//! Values that the server was given with `.state(…)`.

use std::any::TypeId;

use super::Extract;
use crate::{Call, Failure, Fault, handler::Description};

/// Extracts a value that was given to the server with [`Server::state`](crate::Server::state). The
/// value is cloned; wrap it in an `Arc` if cloning is expensive.
///
/// If a handler needs a state that was not given, building the server fails.
///
/// ```
/// use turnbuckle_server::{Server, State, Tool};
///
/// #[derive(Clone)]
/// struct Database(&'static str);
///
/// async fn name(State(database): State<Database>) -> String {
///     database.0.to_owned()
/// }
///
/// let server = Server::new("s", "1.0.0").state(Database("notes")).tool(Tool::new("name", name));
/// # server.build().unwrap();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct State<S>(pub S);

impl<S: Clone + Send + Sync + 'static> Extract for State<S> {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        call.context
            .states
            .get::<S>()
            .cloned()
            .map(Self)
            .ok_or_else(|| {
                Failure::Fault(Fault::new(format!(
                    "no state of type `{}` was added; add it with `.state(…)`",
                    std::any::type_name::<S>()
                )))
            })
    }

    fn describe(description: &mut Description) {
        description
            .states
            .push((TypeId::of::<S>(), std::any::type_name::<S>()));
    }
}
