//! Sampling for servers: their requests go to a model of the host, within limits and under the eyes
//! of a user.

mod account;
mod balance;
mod error;
mod review;
mod sampler;

pub use account::SamplingLimits;
pub use error::SamplingError;
pub use review::{NoReview, Review, ReviewedByHost};
pub use sampler::Sampler;
