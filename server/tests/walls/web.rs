//! The web: requests from pages of other sites and of other ports of this machine, and from programs without a token.

mod afterwards;
mod ahead;
mod dragged;
mod hostile;
mod names;
mod pages;
mod secrets;
mod spelling;
