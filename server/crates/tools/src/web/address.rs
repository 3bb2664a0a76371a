//! Which addresses a fetch may connect to: those of the public internet. A model must not reach through us what is only
//! reachable from here: this machine, its networks, a cloud's metadata service.

use std::net::SocketAddr;

use pod::is_public;

/// Where fetches may connect to.
#[derive(Debug, Clone, Default)]
pub struct AddressPolicy {
    also: Vec<SocketAddr>,
}

impl AddressPolicy {
    /// Any public address.
    pub fn public() -> Self {
        Self::default()
    }

    /// Allows exactly this address as well, whatever it is.
    #[must_use]
    pub fn and(mut self, address: SocketAddr) -> Self {
        self.also.push(address);
        self
    }

    pub(super) fn allows(&self, address: SocketAddr) -> bool {
        is_public(address.ip()) || self.also.contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_one_address_and_port() {
        let policy = AddressPolicy::public().and("127.0.0.1:80".parse().unwrap());
        assert!(policy.allows("127.0.0.1:80".parse().unwrap()));
        assert!(!policy.allows("127.0.0.1:81".parse().unwrap()));
        assert!(!policy.allows("[::ffff:127.0.0.1]:80".parse().unwrap()));
    }
}
