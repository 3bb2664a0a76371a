//! What the server is set up with, and who is logged in to it.

use axum::{Extension, Json, extract::State, http::StatusCode};
use backend::CODE_LIFE;
use jiff::Timestamp;
use protocol::{
    ApiError, ErrorCode, Gathered, Listing, LoginCode, PodRules, ProfileView, ProviderTest, SessionView, ToolDefault,
    WallItem,
};
use serde::Deserialize;

use crate::{
    Api,
    answer::Problem,
    extract::{Asked, Caller, Login, Within},
    guard::ConsoleAddress,
    rest::paging::PageAsked,
};

#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    name: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Identified {
    id: String,
}

/// Asks a provider now, for the list of its models; answers within 10 s, also when the provider does not.
#[utoipa::path(post, path = "/api/v1/providers/{name}/test", tag = "runtimes",
    params(("name" = String, Path, description = "A provider's name")),
    responses((status = 200, description = "How it answered; `is_ok` says whether it works", body = ProviderTest)))]
pub(crate) async fn test_provider(
    State(api): State<Api>,
    _: Caller,
    Within(Named { name }): Within<Named>,
) -> Result<Json<ProviderTest>, Problem> {
    Ok(Json(api.backend().test_provider(&name).await?))
}

/// The configured recipes for new Pods.
#[utoipa::path(get, path = "/api/v1/profiles", tag = "runtimes", params(PageAsked),
    responses((status = 200, description = "All of them, by name", body = Listing<ProfileView>)))]
pub(crate) async fn profiles(
    State(api): State<Api>,
    _: Caller,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<ProfileView>>, Problem> {
    Ok(Json(page.of(api.backend().profiles(), |profile| profile.name.clone())?))
}

/// What stands around the commands of this server's own Pods.
#[utoipa::path(get, path = "/api/v1/walls", tag = "runtimes", params(PageAsked),
    responses((status = 200, description = "Every wall, whether it stands, and why", body = Listing<WallItem>)))]
pub(crate) async fn walls(
    State(api): State<Api>,
    _: Caller,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<WallItem>>, Problem> {
    Ok(Json(page.of(api.backend().walls().await, |item| item.wall.as_str().to_owned())?))
}

/// The tools, and what happens to a call that no rule is about.
#[utoipa::path(get, path = "/api/v1/tools", tag = "runtimes", params(PageAsked),
    responses((status = 200, description = "All of them, by name", body = Listing<ToolDefault>)))]
pub(crate) async fn tools(
    State(api): State<Api>,
    _: Caller,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<ToolDefault>>, Problem> {
    Ok(Json(page.of(api.backend().tool_defaults(), |known| known.tool.clone())?))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RulesAsked {
    /// Those of one runtime alone.
    runtime: Option<String>,
}

/// The Pods that have rules of their own; at most 500 of each runtime. `PATCH P {permissions}` changes them.
#[utoipa::path(get, path = "/api/v1/rules", tag = "lists", params(RulesAsked, PageAsked),
    responses((status = 200, description = "Each with its rules, in the order in which they are tried",
        body = Gathered<PodRules>)))]
pub(crate) async fn rules(
    State(api): State<Api>,
    _: Caller,
    Asked(RulesAsked { runtime }): Asked<RulesAsked>,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Gathered<PodRules>>, Problem> {
    let Gathered { items, absent, .. } = api.backend().rules(super::lists::runtime(runtime)?.as_ref()).await?;
    let Listing { items, next } = page.of(items, |rules| rules.pod.to_string())?;
    Ok(Json(Gathered { items, next, absent }))
}

/// The browsers that are logged in, the one that was seen last first; at most 200. Never a secret.
#[utoipa::path(get, path = "/api/v1/sessions", tag = "sessions", params(PageAsked),
    responses((status = 200, description = "All of them", body = Listing<SessionView>)))]
pub(crate) async fn sessions(
    State(api): State<Api>,
    _: Caller,
    Login(this): Login,
    Asked(page): Asked<PageAsked>,
) -> Result<Json<Listing<SessionView>>, Problem> {
    Ok(Json(page.of(api.backend().sessions(this.as_ref()).await?, |session| session.id.clone())?))
}

/// Ends a login. Its open pages are told `unauthorized`.
#[utoipa::path(delete, path = "/api/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "The login's id")),
    responses((status = 204, description = "It has ended")))]
pub(crate) async fn end(
    State(api): State<Api>,
    Caller(origin): Caller,
    Within(Identified { id }): Within<Identified>,
) -> Result<StatusCode, Problem> {
    api.backend().session_end(&origin, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends every login but the one that asks; with a token instead of a login, all.
#[utoipa::path(delete, path = "/api/v1/sessions", tag = "sessions",
    responses((status = 204, description = "They have ended")))]
pub(crate) async fn end_others(
    State(api): State<Api>,
    Caller(origin): Caller,
    Login(this): Login,
) -> Result<StatusCode, Problem> {
    api.backend().sessions_end_others(&origin, this.as_ref()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes a code that logs one browser in, once and within a minute. Only whoever has the token can: a login makes no other.
#[utoipa::path(post, path = "/api/v1/login-codes", tag = "sessions",
    responses((status = 201, description = "The code, and where it is taken", body = LoginCode)))]
pub(crate) async fn login_code(
    State(api): State<Api>,
    _: Caller,
    Login(this): Login,
    Extension(ConsoleAddress(address)): Extension<ConsoleAddress>,
) -> Result<(StatusCode, Json<LoginCode>), Problem> {
    if this.is_some() {
        let sentence = "a login makes no code; use the token, or `yoi open` on the machine of the server";
        return Err(ApiError::new(ErrorCode::PermissionDenied, sentence).into());
    }
    let code = api.codes().issue(())?;
    Ok((StatusCode::CREATED, Json(LoginCode { code, address, expires_at: Timestamp::now() + CODE_LIFE })))
}
