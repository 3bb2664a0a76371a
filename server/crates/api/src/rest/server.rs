//! The server itself: its identity, its settings, and who is logged in to it.

use axum::{Extension, extract::State, response::Response};
use backend::CODE_LIFE;
use jiff::Timestamp;
use protocol::{
    About, ApiError, ErrorCode, Listing, LoginCode, PROTOCOL_VERSION, Providers,
    operations::{
        Agents, EndOtherSessions, EndSession, ForgetKey, Link, MakeLoginCode, ModelProviders, Models, Profiles,
        Runtimes, Sessions, SetKey, TestProvider, Tools, Walls, WhoAreYou,
    },
};

use crate::{
    Api,
    answer::Problem,
    extract::{Caller, Login},
    guard::ConsoleAddress,
    sent::{Sent, reply},
};

fn whole<T>(items: Vec<T>) -> Listing<T> {
    Listing { items, next: None }
}

pub(crate) async fn runtimes(
    State(api): State<Api>,
    _: Caller,
    Sent(asked): Sent<Runtimes>,
) -> Result<Response, Problem> {
    reply(&asked, whole(api.backend().runtimes().list()))
}

pub(crate) async fn about(
    State(api): State<Api>,
    _: Caller,
    Sent(asked): Sent<WhoAreYou>,
) -> Result<Response, Problem> {
    let about = About {
        protocol: PROTOCOL_VERSION,
        server: api.options().server.clone(),
        name: api.backend().name().clone(),
        store_id: api.backend().store_id().to_owned(),
    };
    reply(&asked, about)
}

pub(crate) async fn link(State(api): State<Api>, _: Caller, Sent(link): Sent<Link>) -> Result<Response, Problem> {
    let answer = api.backend().links().exchange(link.body.clone()).await?;
    reply(&link, answer)
}

pub(crate) async fn providers(
    State(api): State<Api>,
    _: Caller,
    Sent(asked): Sent<ModelProviders>,
) -> Result<Response, Problem> {
    let settings = api.backend().settings();
    let (items, unconfigured) = (settings.providers().await, settings.unconfigured());
    reply(&asked, Providers { items, unconfigured, next: None })
}

pub(crate) async fn agents(State(api): State<Api>, _: Caller, Sent(asked): Sent<Agents>) -> Result<Response, Problem> {
    reply(&asked, whole(api.backend().settings().agents().await))
}

pub(crate) async fn models(State(api): State<Api>, _: Caller, Sent(asked): Sent<Models>) -> Result<Response, Problem> {
    reply(&asked, whole(api.backend().settings().models().await))
}

pub(crate) async fn test_provider(
    State(api): State<Api>,
    _: Caller,
    Sent(asked): Sent<TestProvider>,
) -> Result<Response, Problem> {
    reply(&asked, api.backend().settings().test_provider(&asked.name).await?)
}

pub(crate) async fn set_key(
    State(api): State<Api>,
    Caller(origin): Caller,
    Sent(set): Sent<SetKey>,
) -> Result<Response, Problem> {
    let provider = api.backend().keys().set(&origin, &set.name, set.body.clone()).await?;
    reply(&set, provider)
}

pub(crate) async fn forget_key(
    State(api): State<Api>,
    Caller(origin): Caller,
    Sent(forget): Sent<ForgetKey>,
) -> Result<Response, Problem> {
    api.backend().keys().forget(&origin, &forget.name).await?;
    reply(&forget, ())
}

pub(crate) async fn profiles(
    State(api): State<Api>,
    _: Caller,
    Sent(asked): Sent<Profiles>,
) -> Result<Response, Problem> {
    reply(&asked, whole(api.backend().settings().profiles()))
}

pub(crate) async fn walls(State(api): State<Api>, _: Caller, Sent(asked): Sent<Walls>) -> Result<Response, Problem> {
    reply(&asked, whole(api.backend().settings().walls().await))
}

pub(crate) async fn tools(State(api): State<Api>, _: Caller, Sent(asked): Sent<Tools>) -> Result<Response, Problem> {
    reply(&asked, whole(api.backend().settings().tool_defaults()))
}

pub(crate) async fn sessions(
    State(api): State<Api>,
    _: Caller,
    Login(this): Login,
    Sent(asked): Sent<Sessions>,
) -> Result<Response, Problem> {
    reply(&asked, whole(api.backend().sessions().list(this.as_ref()).await?))
}

pub(crate) async fn end_session(
    State(api): State<Api>,
    Caller(origin): Caller,
    Sent(end): Sent<EndSession>,
) -> Result<Response, Problem> {
    api.backend().sessions().end(&origin, &end.id).await?;
    reply(&end, ())
}

pub(crate) async fn end_other_sessions(
    State(api): State<Api>,
    Caller(origin): Caller,
    Login(this): Login,
    Sent(end): Sent<EndOtherSessions>,
) -> Result<Response, Problem> {
    api.backend().sessions().end_others(&origin, this.as_ref()).await?;
    reply(&end, ())
}

pub(crate) async fn login_code(
    State(api): State<Api>,
    _: Caller,
    Login(this): Login,
    Extension(ConsoleAddress(address)): Extension<ConsoleAddress>,
    Sent(asked): Sent<MakeLoginCode>,
) -> Result<Response, Problem> {
    if this.is_some() {
        let sentence = "a login cannot create codes; use the token, or `yoi open` on the machine of the server";
        return Err(ApiError::new(ErrorCode::PermissionDenied, sentence).into());
    }
    let code = api.codes().issue(())?;
    reply(&asked, LoginCode { code, address, expires_at: Timestamp::now() + CODE_LIFE })
}
