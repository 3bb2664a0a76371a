//! The address of the console: its own name, unless it is served to other machines or somebody wants it elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::config::{Config, base_url};

/// Names that all servers on this machine share.
const SHARED: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The address to open. On loopback that is the console's own name, unless `--allow-host` keeps it at a shared one.
pub(super) fn url(config: &Config, address: SocketAddr, own_name: &str) -> String {
    match shared_name(config) {
        _ if !has_own_name(address) => base_url(address),
        Some(name) => format!("http://{name}:{}", address.port()),
        None => format!("http://{own_name}:{}", address.port()),
    }
}

/// Logs what is unusual about it, and what a browser needs that cannot resolve the name.
pub(super) fn log(config: &Config, address: SocketAddr, own_name: &str) {
    match shared_name(config) {
        Some(name) => tracing::warn!(
            "the console stays on {name}, as --allow-host says: any other server of this machine that is opened under that name \
             is sent its login"
        ),
        None if has_own_name(address) => {
            tracing::info!(
                "a browser that cannot find {own_name} needs --allow-host 127.0.0.1; docs/operations.md says why"
            );
        }
        None => (),
    }
}

fn has_own_name(address: SocketAddr) -> bool {
    matches!(address.ip(), IpAddr::V4(Ipv4Addr::LOCALHOST) | IpAddr::V6(Ipv6Addr::LOCALHOST))
}

/// The loopback name that is listed for the console, if there is one.
fn shared_name(config: &Config) -> Option<&'static str> {
    let names_it = |listed: &String, name: &str| {
        let rest = listed.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    SHARED.into_iter().find(|name| config.allow_hosts.iter().any(|listed| names_it(&listed.to_ascii_lowercase(), name)))
}
