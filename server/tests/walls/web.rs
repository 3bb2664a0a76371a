//! The web: what pages of other sites, and of other ports of this machine, send; what programs send that have no token.

mod afterwards;
mod ahead;
mod dragged;
mod hostile;
mod names;
mod pages;
mod secrets;
mod spelling;
