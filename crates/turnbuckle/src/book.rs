//! Doc tests of the README, the pages of `docs/` and the texts of the attributes. Their code has to compile,
//! and it runs unless it is marked `no_run`. `scripts/book` fails if a page with Rust code is missing here.
//!
//! The pages need features that are off by default; `cargo test --workspace --doc` turns all features on.
//! Pages whose features are off are left out.

#[doc = include_str!("../../../README.md")]
mod readme {}

#[cfg(feature = "server")]
mod servers {
    #[doc = include_str!("../../../docs/first-server.md")]
    mod first_server {}

    #[doc = include_str!("../../../docs/tools.md")]
    mod tools {}

    #[doc = include_str!("../../../docs/resources.md")]
    mod resources {}

    #[doc = include_str!("../../../docs/prompts.md")]
    mod prompts {}

    #[doc = include_str!("../../../docs/asking.md")]
    mod asking {}

    #[doc = include_str!("../../../docs/catalog.md")]
    mod catalog {}

    #[doc = include_str!("../../../docs/middleware.md")]
    mod middleware {}

    #[doc = include_str!("../../../docs/errors.md")]
    mod errors {}

    #[doc = include_str!("../../../docs/logging.md")]
    mod logging {}

    #[doc = include_str!("../../../docs/testing.md")]
    mod testing {}

    #[doc = include_str!("../../../docs/limits.md")]
    mod limits {}

    #[doc = include_str!("../../../docs/from-rmcp.md")]
    mod from_rmcp {}
}

#[cfg(all(feature = "server", feature = "http"))]
mod servers_over_http {
    #[doc = include_str!("../../../docs/http.md")]
    mod http {}

    #[doc = include_str!("../../../docs/axum.md")]
    mod axum {}
}

#[cfg(all(feature = "server", feature = "redis"))]
#[doc = include_str!("../../../docs/scaling.md")]
mod scaling {}

#[cfg(all(feature = "server", feature = "auth"))]
#[doc = include_str!("../../../docs/authorization.md")]
mod authorization {}

#[cfg(feature = "client")]
mod clients {
    #[doc = include_str!("../../../docs/first-client.md")]
    mod first_client {}

    #[doc = include_str!("../../../docs/client.md")]
    mod client {}
}

#[cfg(all(feature = "client", feature = "http"))]
#[doc = include_str!("../../../docs/http-client.md")]
mod http_client {}

#[cfg(all(feature = "client", feature = "auth"))]
#[doc = include_str!("../../../docs/signing-in.md")]
mod signing_in {}

#[cfg(feature = "host")]
#[doc = include_str!("../../../docs/host.md")]
mod host {}

#[cfg(all(feature = "gateway", feature = "http"))]
#[doc = include_str!("../../../docs/gateway.md")]
mod gateway {}

#[cfg(feature = "models")]
#[doc = include_str!("../../../docs/models.md")]
mod models {}

#[cfg(all(feature = "server", feature = "client", feature = "redis"))]
#[doc = include_str!("../../../docs/tasks.md")]
mod tasks {}

#[cfg(all(feature = "apps", feature = "skills", feature = "opentelemetry"))]
#[doc = include_str!("../../../docs/extensions.md")]
mod extensions {}

#[cfg(feature = "server")]
mod attributes {
    #[doc = include_str!("../../macros/src/docs/tool.md")]
    mod tool {}

    #[doc = include_str!("../../macros/src/docs/prompt.md")]
    mod prompt {}

    #[doc = include_str!("../../macros/src/docs/resource.md")]
    mod resource {}

    #[doc = include_str!("../../macros/src/docs/handlers.md")]
    mod handlers {}

    #[doc = include_str!("../../macros/src/docs/form.md")]
    mod form {}

    #[doc = include_str!("../../macros/src/docs/choice.md")]
    mod choice {}
}
