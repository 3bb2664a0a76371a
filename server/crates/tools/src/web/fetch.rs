//! One GET with its redirects. At every hop the host is resolved here, all of its addresses are checked, and the
//! connection goes to exactly those, so it does not matter what a later lookup would return.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};

use protocol::PermissionDecision;
use reqwest::{
    Client, Response, StatusCode, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{ACCEPT, LOCATION},
    redirect,
};

use super::{AddressPolicy, failure::Failure};
use crate::Redirects;

const REDIRECTS_MAX: usize = 5;
const AGENT: &str = concat!("yoi/", env!("CARGO_PKG_VERSION"));
const ACCEPTED: &str = "text/html,application/xhtml+xml,text/*,application/json,*/*;q=0.5";

/// Parses what a model wrote and checks what needs no network.
pub(super) fn checked(url: &str, policy: &AddressPolicy) -> Result<Url, Failure> {
    let url = Url::parse(url).map_err(|error| Failure::BadUrl(format!("the url cannot be read: {error}")))?;
    check(&url)?;
    match known_address(&url).is_some_and(|address| !policy.allows(address)) {
        true => Err(Failure::NotPublic(host(&url).to_owned())),
        false => Ok(url),
    }
}

/// The address of a host that needs no lookup: one that is written as numbers, and this machine.
fn known_address(url: &Url) -> Option<SocketAddr> {
    let name = host(url);
    let ip = match name.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(ip) => ip,
        Err(_) if name == "localhost" || name.ends_with(".localhost") => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Err(_) => return None,
    };
    Some(SocketAddr::new(ip, url.port_or_known_default().unwrap_or(0)))
}

fn check(url: &Url) -> Result<(), Failure> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Failure::BadUrl(format!("only http and https are fetched, not {}", url.scheme())));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Failure::BadUrl("a url with a user name or a password in it is not fetched".to_owned()));
    }
    Ok(())
}

/// The response at the end of the redirects, without its body, and its URL.
pub(super) async fn follow(
    mut url: Url,
    policy: &AddressPolicy,
    redirects: Option<&Redirects>,
) -> Result<(Response, Url), Failure> {
    for _ in 0..=REDIRECTS_MAX {
        let response = get(&url, policy).await?;
        let Some(next) = redirect_of(&response, &url)? else {
            return Ok((response, url));
        };
        check(&next)?;
        if let Some(redirects) = redirects.filter(|_| !is_same_made_secure(&url, &next)) {
            judge(redirects, &url, &next)?;
        }
        url = next;
    }
    Err(Failure::TooManyRedirects { host: host(&url).to_owned(), max: REDIRECTS_MAX })
}

/// The Pod's rules decide on every address, not only on the first one.
fn judge(redirects: &Redirects, from: &Url, to: &Url) -> Result<(), Failure> {
    match redirects.decide(to.as_str()) {
        PermissionDecision::Allow => Ok(()),
        PermissionDecision::Ask => Err(Failure::Elsewhere { host: host(from).to_owned(), to: to.clone() }),
        PermissionDecision::Deny => Err(Failure::Denied { host: host(from).to_owned(), to: to.clone() }),
    }
}

/// Whether the only change is from `http` to `https`, each on its default port.
fn is_same_made_secure(from: &Url, to: &Url) -> bool {
    let mut secure = from.clone();
    from.scheme() == "http" && from.port().is_none() && secure.set_scheme("https").is_ok() && secure == *to
}

pub(super) fn host(url: &Url) -> &str {
    url.host_str().unwrap_or("")
}

fn redirect_of(response: &Response, url: &Url) -> Result<Option<Url>, Failure> {
    let is_redirect = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = response.headers().get(LOCATION).filter(|_| is_redirect) else {
        return Ok(None);
    };
    let next = location.to_str().ok().and_then(|location| url.join(location).ok());
    next.map(Some).ok_or_else(|| Failure::BadUrl(format!("{} redirects to something that is not a URL", host(url))))
}

async fn get(url: &Url, policy: &AddressPolicy) -> Result<Response, Failure> {
    let addresses = addresses(url, policy).await?;
    let client = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .user_agent(AGENT)
        .dns_resolver(Arc::new(Pinned(addresses)))
        .build()
        .map_err(|error| Failure::of(url, error))?;
    client.get(url.clone()).header(ACCEPT, ACCEPTED).send().await.map_err(|error| Failure::of(url, error))
}

/// The addresses of the host, if all of them are allowed.
async fn addresses(url: &Url, policy: &AddressPolicy) -> Result<Vec<SocketAddr>, Failure> {
    let port = url.port_or_known_default().unwrap_or(0);
    let name = host(url);
    let unknown = || Failure::UnknownHost(name.to_owned());
    // Brackets are only URL syntax.
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let found = tokio::net::lookup_host((bare, port)).await.map_err(|_| unknown())?.collect::<Vec<_>>();
    match found.iter().all(|address| policy.allows(*address)) {
        _ if found.is_empty() => Err(unknown()),
        true => Ok(found),
        false => Err(Failure::NotPublic(name.to_owned())),
    }
}

/// Answers every lookup with the addresses that were checked.
#[derive(Debug)]
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}
