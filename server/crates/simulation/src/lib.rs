//! For tests only: what a store and its hosts do when everything below them fails.

pub mod disk;
