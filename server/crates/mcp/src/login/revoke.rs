//! Revoking the tokens of a login (RFC 7009), as far as the authorization server can.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use tokio::time::timeout;
use url::{Url, form_urlencoded};

use super::{kept::KeptLogin, wire::Wire};

/// How long all of it may take.
const REVOKE_MAX: Duration = Duration::from_secs(10);

/// Revokes the refresh token, then the access token.
///
/// # Errors
/// A sentence, without secrets: the server has no way to do so, or does not do it.
pub(super) async fn revoke(login: &KeptLogin) -> Result<(), String> {
    let named = login.metadata.additional_fields.get("revocation_endpoint").and_then(Value::as_str);
    let named = named.ok_or("its authorization server cannot revoke tokens")?;
    let endpoint = Url::parse(named).map_err(|error| error.to_string())?;
    let base = Url::parse(&login.url).map_err(|error| error.to_string())?;
    let wire = Wire::new(&base)?;
    let all = async {
        for (kind, token) in login.tokens() {
            let status = wire.send(request(login, &endpoint, kind, &token)).await;
            let status = status.map_err(|error| error.to_string())?.status();
            if !status.is_success() {
                return Err(format!("its authorization server answers with status {}", status.as_u16()));
            }
        }
        Ok(())
    };
    timeout(REVOKE_MAX, all).await.unwrap_or_else(|_| Err("its authorization server takes too long".to_owned()))
}

fn request(login: &KeptLogin, endpoint: &Url, kind: &str, token: &str) -> reqwest::Request {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.append_pair("token", token).append_pair("token_type_hint", kind);
    let mut request = reqwest::Request::new(reqwest::Method::POST, endpoint.clone());
    let headers = request.headers_mut();
    let form = reqwest::header::HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert(reqwest::header::CONTENT_TYPE, form);
    match &login.client_secret {
        Some(secret) if takes_header(login) => {
            let part = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = STANDARD.encode(format!("{}:{}", part(&login.client_id), part(secret)));
            if let Ok(mut value) = reqwest::header::HeaderValue::try_from(format!("Basic {pair}")) {
                value.set_sensitive(true);
                headers.insert(reqwest::header::AUTHORIZATION, value);
            }
        }
        secret => {
            body.append_pair("client_id", &login.client_id);
            if let Some(secret) = secret {
                body.append_pair("client_secret", secret);
            }
        }
    }
    *request.body_mut() = Some(body.finish().into());
    request
}

/// Whether a client proves itself there in a header, as is usual, or else in the body.
fn takes_header(login: &KeptLogin) -> bool {
    let of = |field: &str| login.metadata.additional_fields.get(field).and_then(Value::as_array);
    let methods =
        of("revocation_endpoint_auth_methods_supported").or_else(|| of("token_endpoint_auth_methods_supported"));
    methods.is_none_or(|methods| methods.iter().any(|method| method == "client_secret_basic"))
}
