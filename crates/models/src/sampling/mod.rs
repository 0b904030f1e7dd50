//! Sampling for servers: their requests are answered by a model of the host, within limits and
//! reviewed by a user.

mod account;
mod balance;
mod error;
mod review;
mod sampler;

pub use account::SamplingLimits;
pub use error::SamplingError;
pub use review::{NoReview, Review, ReviewedByHost};
pub use sampler::Sampler;
