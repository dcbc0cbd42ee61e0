//! Turso's C ABI as a library of its own: the `turso_…` functions of turso_sdk_kit.
pub use turso_sdk_kit::capi::*;
