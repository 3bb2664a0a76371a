//! An authorization server that consents to everything at once and forgets nothing. It checks what a client has to do:
//! PKCE with S256, the `resource` of every request, one use of each code, and rotating refresh tokens.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Json, State},
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What it does wrong, for tests of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    #[default]
    None,
    /// The browser comes back with the name of another issuer.
    OtherIssuer,
    /// Its own description names another issuer.
    OtherMetadata,
    /// Its login page is at an address that is no page.
    PageIsScript,
    /// The MCP server is described as another one.
    OtherResource,
    /// It refuses whoever wants to log in.
    Refuses,
    /// It fails when it is to revoke a token.
    KeepsTokens,
}

/// The authorization server, and what it has given out.
#[derive(Debug)]
pub struct ScriptedOauth {
    /// The origin that it shares with its MCP server.
    origin: String,
    state: Mutex<Given>,
}

#[derive(Debug, Default)]
struct Given {
    fault: Fault,
    count: u32,
    clients: BTreeMap<String, String>,
    codes: BTreeMap<String, BTreeMap<String, String>>,
    /// Access tokens and their scopes.
    access: BTreeMap<String, String>,
    /// Refresh tokens and their scopes.
    refresh: BTreeMap<String, String>,
    /// Every secret that was ever given out.
    secrets: BTreeSet<String>,
    grants: Vec<String>,
    /// The kinds of the tokens that clients had revoked.
    revoked: Vec<String>,
    complaints: Vec<String>,
}

impl ScriptedOauth {
    pub(crate) fn new(origin: String) -> Self {
        Self { origin, state: Mutex::default() }
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn resource(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    fn issuer(&self) -> String {
        format!("{}/as", self.origin)
    }

    /// Makes it do something wrong from now on.
    pub fn does(&self, fault: Fault) {
        self.given().fault = fault;
    }

    /// Lets all access tokens expire; the refresh tokens stay.
    pub fn expire(&self) {
        self.given().access.clear();
    }

    /// Lets everything expire.
    pub fn revoke(&self) {
        let mut given = self.given();
        given.access.clear();
        given.refresh.clear();
    }

    /// Returns every token, code and client secret that it ever gave out.
    pub fn secrets(&self) -> Vec<String> {
        self.given().secrets.iter().cloned().collect()
    }

    /// Returns the kinds of grants that it was asked for, in order.
    pub fn grants(&self) -> Vec<String> {
        self.given().grants.clone()
    }

    /// Returns the kinds of the valid tokens that clients had revoked, in order.
    pub fn revoked(&self) -> Vec<String> {
        self.given().revoked.clone()
    }

    /// Returns how many tokens are valid.
    pub fn valid(&self) -> usize {
        let given = self.given();
        given.access.len() + given.refresh.len()
    }

    /// Returns what clients did wrong.
    pub fn complaints(&self) -> Vec<String> {
        self.given().complaints.clone()
    }

    /// Returns the refusal of a request to the MCP server that has no valid token, or lacks the scope.
    pub(crate) fn refusal(&self, headers: &HeaderMap, scope: &str) -> Option<Response> {
        let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", self.origin);
        let granted = token.and_then(|token| self.given().access.get(token).cloned());
        let (status, challenge) = match granted {
            Some(granted) if granted.split(' ').any(|one| one == scope) => return None,
            Some(_) => {
                let words =
                    format!("error=\"insufficient_scope\", scope=\"{scope}\", resource_metadata=\"{metadata}\"");
                (StatusCode::FORBIDDEN, words)
            }
            None => (StatusCode::UNAUTHORIZED, format!("resource_metadata=\"{metadata}\", scope=\"read\"")),
        };
        Some((status, [(header::WWW_AUTHENTICATE, format!("Bearer {challenge}"))], "no").into_response())
    }
}

/// Its routes, which are added to those of its MCP server.
pub(crate) fn routes(oauth: Arc<ScriptedOauth>) -> Router {
    Router::new()
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
        .route("/.well-known/oauth-authorization-server/as", get(metadata))
        .route("/as/register", post(register))
        .route("/as/authorize", get(authorize))
        .route("/as/token", post(token))
        .route("/as/revoke", post(revoke))
        .with_state(oauth)
}

async fn resource(State(oauth): State<Arc<ScriptedOauth>>) -> Json<Value> {
    let resource = match oauth.given().fault {
        Fault::OtherResource => "https://other.example/mcp".to_owned(),
        _ => oauth.resource(),
    };
    Json(json!({ "resource": resource, "authorization_servers": [oauth.issuer()] }))
}

async fn metadata(State(oauth): State<Arc<ScriptedOauth>>) -> Json<Value> {
    let (issuer, fault) = (oauth.issuer(), oauth.given().fault);
    let page = match fault {
        Fault::PageIsScript => "javascript:alert(1)".to_owned(),
        _ => format!("{issuer}/authorize"),
    };
    let named = if fault == Fault::OtherMetadata { "https://other.example" } else { &issuer };
    Json(json!({
        "issuer": named,
        "authorization_endpoint": page,
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    }))
}

async fn register(State(oauth): State<Arc<ScriptedOauth>>, Json(wanted): Json<Value>) -> Response {
    let mut given = oauth.given();
    given.count += 1;
    let id = format!("client-{}", given.count);
    let back = wanted["redirect_uris"][0].as_str().unwrap_or_default().to_owned();
    given.clients.insert(id.clone(), back);
    (StatusCode::CREATED, Json(json!({ "client_id": id, "redirect_uris": wanted["redirect_uris"] }))).into_response()
}

fn pairs(query: &str) -> BTreeMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{query}")).expect("a query is part of an address");
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

async fn authorize(State(oauth): State<Arc<ScriptedOauth>>, uri: Uri) -> Response {
    let asked = pairs(uri.query().unwrap_or_default());
    let of = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    let mut given = oauth.given();
    let wanted = [
        ("response_type", "code".to_owned()),
        ("code_challenge_method", "S256".to_owned()),
        ("resource", oauth.resource()),
        ("redirect_uri", given.clients.get(of("client_id")).cloned().unwrap_or_default()),
    ];
    for (name, wanted) in wanted {
        if of(name) != wanted {
            let complaint = format!("{name} is \"{}\" and not \"{wanted}\"", of(name));
            given.complaints.push(complaint.clone());
            return (StatusCode::BAD_REQUEST, complaint).into_response();
        }
    }
    given.count += 1;
    let code = format!("secret-code-{}", given.count);
    given.secrets.insert(code.clone());
    let issuer = if given.fault == Fault::OtherIssuer { "https://other.example".to_owned() } else { oauth.issuer() };
    let mut back = reqwest::Url::parse(of("redirect_uri")).expect("a registered address");
    match given.fault {
        Fault::Refuses => back.query_pairs_mut().append_pair("error", "access_denied"),
        _ => back.query_pairs_mut().append_pair("code", &code),
    };
    back.query_pairs_mut().append_pair("state", of("state")).append_pair("iss", &issuer);
    given.codes.insert(code, asked.clone());
    (StatusCode::SEE_OTHER, [(header::LOCATION, back.to_string())]).into_response()
}

async fn token(State(oauth): State<Arc<ScriptedOauth>>, body: Bytes) -> Response {
    let asked = pairs(&String::from_utf8_lossy(&body));
    let of = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    let mut given = oauth.given();
    given.grants.push(of("grant_type").to_owned());
    let refused = |given: &mut Given, why: &str| {
        given.complaints.push(why.to_owned());
        (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant", "error_description": why }))).into_response()
    };
    if of("resource") != oauth.resource() {
        return refused(&mut given, "a token is for another resource");
    }
    let scope = match of("grant_type") {
        "authorization_code" => {
            let Some(begun) = given.codes.remove(of("code")) else { return refused(&mut given, "an unknown code") };
            let is_same = |name: &str| asked.get(name) == begun.get(name);
            if !is_same("redirect_uri") || !is_same("client_id") {
                return refused(&mut given, "another client than before");
            }
            if begun.get("code_challenge") != Some(&challenge(of("code_verifier"))) {
                return refused(&mut given, "the wrong verifier");
            }
            begun.get("scope").cloned().unwrap_or_default()
        }
        "refresh_token" => match given.refresh.remove(of("refresh_token")) {
            Some(scope) => scope,
            None => return refused(&mut given, "an unknown refresh token"),
        },
        _ => return refused(&mut given, "an unknown grant"),
    };
    given.count += 1;
    let (access, refresh) = (format!("secret-access-{}", given.count), format!("secret-refresh-{}", given.count));
    given.secrets.extend([access.clone(), refresh.clone()]);
    given.access.insert(access.clone(), scope.clone());
    given.refresh.insert(refresh.clone(), scope.clone());
    let token = json!({
        "access_token": access, "token_type": "Bearer", "expires_in": 3_600, "refresh_token": refresh, "scope": scope,
    });
    Json(token).into_response()
}

async fn revoke(State(oauth): State<Arc<ScriptedOauth>>, body: Bytes) -> StatusCode {
    let asked = pairs(&String::from_utf8_lossy(&body));
    let of = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
    let mut given = oauth.given();
    if given.fault == Fault::KeepsTokens {
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    if !given.clients.contains_key(of("client_id")) {
        given.complaints.push("a token is revoked by nobody".to_owned());
        return StatusCode::UNAUTHORIZED;
    }
    let (access, refresh) = (given.access.remove(of("token")), given.refresh.remove(of("token")));
    let kind = match (access, refresh) {
        (Some(_), _) => "access_token",
        (None, Some(_)) => "refresh_token",
        (None, None) => return StatusCode::OK,
    };
    if of("token_type_hint") != kind {
        given.complaints.push(format!("{} is no {kind}", of("token_type_hint")));
    }
    given.revoked.push(kind.to_owned());
    StatusCode::OK
}

/// Returns the S256 challenge of a verifier: its hash as base64url without padding.
fn challenge(verifier: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let hash = Sha256::digest(verifier);
    let mut text = String::new();
    for three in hash.chunks(3) {
        let bits = three.iter().chain([&0, &0]).take(3).fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        for at in 0..=three.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_challenge_is_that_of_the_standard() {
        let challenge = super::challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
