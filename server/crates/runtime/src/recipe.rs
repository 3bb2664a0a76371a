//! The spec of a new Pod: explicit settings, then the profile's, then the defaults; resolved once and kept with the
//! Pod.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use acp::Unusable;
use pod::{Guide, PodSpec, Scope, SkillOffer};
use pod_store::PodRow;
use protocol::{
    Access, ApiError, Budget, CreatePod, ErrorCode, Mode, PatchPod, RuntimeId, ScopeRule, Thinking, WorktreeWish,
};
use provider::Providers;
use tools::guides::Guides;

use crate::{
    actor::Patch,
    git::Repository,
    options::Profile,
    trees::{Grown, Trees},
    view,
};

/// What specs are made from besides explicit settings.
#[derive(Debug)]
pub(crate) struct Recipes {
    /// The working directory of a Pod that names none.
    pub(crate) cwd: String,
    pub(crate) profiles: BTreeMap<String, Profile>,
    pub(crate) providers: Providers,
    pub(crate) agents: acp::Agents,
    /// Finds instructions and skills.
    pub(crate) guides: Guides,
    pub(crate) trees: Arc<Trees>,
}

/// What a Pod asks for its child. The scope is what the child is lent, already checked.
#[derive(Debug)]
pub(crate) struct ChildAsked {
    pub(crate) profile: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) scope: Vec<ScopeRule>,
    /// A work tree of its own.
    pub(crate) grown: Option<Grown>,
}

/// A Pod that a person wants, and the work tree that was made for it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) spec: PodSpec,
    pub(crate) grown: Option<Grown>,
}

/// The command's own fields take precedence over the profile's, and those over the defaults.
///
/// A work tree that was made has to be removed if the Pod is not created.
pub(crate) async fn of_person(recipes: &Recipes, create: &CreatePod) -> Result<Asked, ApiError> {
    if let Some(runtime_id) = create.runtime_id.as_ref().filter(|id| **id != RuntimeId::local()) {
        return Err(ApiError::new(ErrorCode::RuntimeNotFound, format!("no runtime is called \"{runtime_id}\"")));
    }
    let profile = profile(recipes, create.profile.as_deref())?;
    let Answering { agent, provider, model } = answering(recipes, create, &profile).await?;
    check_budget(create.budget)?;
    let thinking = create.thinking.or(profile.thinking);
    check_thinking(recipes, &provider, &model, thinking)?;
    let cwd = cwd(recipes, create.cwd.as_deref())?;
    let template = profile.scope.as_deref().map(|rules| within(&cwd, rules));
    let rules = create.scope.as_deref().or(template.as_deref());
    let rules = rules.map(|rules| rules.iter().map(real_rule).collect::<Result<Vec<_>, _>>()).transpose()?;
    // Last, because everything before it may be refused.
    let grown = match create.worktree.as_ref().and_then(WorktreeWish::options) {
        Some(wish) => Some(recipes.trees.grow(&cwd, &create.name, &wish).await?),
        None => None,
    };
    let whole = |path: &str| vec![ScopeRule { path: path.to_owned(), access: Access::Write, recursive: true }];
    let (cwd, scope) = match (&grown, rules) {
        (None, rules) => (cwd.clone(), rules.unwrap_or_else(|| whole(&cwd))),
        (Some(grown), None) => (grown.cwd.clone(), whole(&grown.tree.path)),
        (Some(grown), Some(rules)) => (grown.cwd.clone(), grown.moved(rules)),
    };
    let (guides, skills) = guides_for(recipes, &cwd, &scope).await;
    let spec = PodSpec {
        provider,
        model,
        agent,
        agent_mode: None,
        profile: create.profile.clone(),
        instructions: create.instructions.clone().or_else(|| profile.instructions.clone()),
        thinking,
        budget: create.budget,
        fallback: profile.fallback.clone(),
        auto_resume: profile.auto_resume.unwrap_or_default(),
        agents_md: None,
        guides,
        skills,
        cwd,
        scope,
        worktree: grown.as_ref().map(|grown| grown.tree.clone()),
        peer_policy: create.peer_policy.or(profile.peer_policy).unwrap_or_default(),
        wake_on_peer: create.wake_on_peer.or(profile.wake_on_peer).unwrap_or(true),
        permissions: profile.permissions.clone().unwrap_or_default(),
        ceilings: Vec::new(),
        network: create.network.or(profile.network).unwrap_or_default(),
        mode: create.mode.or(profile.mode).unwrap_or_default(),
        reasoning: create.reasoning.or(profile.reasoning).unwrap_or_default(),
        tools: profile.tools.clone(),
        mcp: profile.mcp.clone(),
        agent_is_confined: false,
        has_run_end_hooks: false,
        shared_rules: Arc::default(),
        server_rules: Arc::default(),
        shell_is_unconfined: false,
        leaders: None,
        sights: pod::Sights::default(),
    };
    Ok(Asked { spec, grown })
}

/// Who answers in a Pod.
struct Answering {
    agent: Option<String>,
    provider: String,
    model: String,
}

impl Answering {
    /// Lets this agent answer. It chooses its own model, unless one is named.
    fn by_agent(recipes: &Recipes, agent: String, model: Option<String>) -> Result<Self, ApiError> {
        recipes.agents.check(&agent).map_err(|unusable| match unusable {
            Unusable::Unknown(refusal) => ApiError::invalid(refusal.sentence),
            Unusable::Missing(sentence) => ApiError::invalid(format!("the agent {agent} cannot be used: {sentence}")),
        })?;
        Ok(Self { agent: Some(agent), provider: protocol::ACP.to_owned(), model: model.unwrap_or_default() })
    }
}

/// Returns the requested agent or provider, or else the profile's, or else the server's default.
async fn answering(recipes: &Recipes, create: &CreatePod, profile: &Profile) -> Result<Answering, ApiError> {
    match (&create.agent, &create.provider) {
        (Some(_), Some(_)) => {
            return Err(ApiError::invalid("a Pod has an `agent` or a `provider`, not both; leave one out"));
        }
        (Some(agent), None) => return Answering::by_agent(recipes, agent.clone(), create.model.clone()),
        (None, Some(_)) => (),
        (None, None) => {
            if let Some(agent) = &profile.agent {
                let model = create.model.clone().or_else(|| profile.model.clone());
                return Answering::by_agent(recipes, agent.clone(), model);
            }
        }
    }
    let provider = match create.provider.clone().or_else(|| profile.provider.clone()) {
        Some(provider) => provider,
        None => recipes.providers.default_name().await,
    };
    let model = create.model.clone().or_else(|| profile.model_of(&provider));
    let model = known_model(recipes, &provider, model).await?;
    Ok(Answering { agent: None, provider, model })
}

/// A child's settings come from its profile, otherwise from its parent. It is never allowed more than its parent.
pub(crate) async fn of_child(recipes: &Recipes, parent: &PodSpec, asked: ChildAsked) -> Result<PodSpec, ApiError> {
    let profile = profile(recipes, asked.profile.as_deref())?;
    let Answering { agent, provider, model } = answering_in_child(recipes, parent, asked.model, &profile).await?;
    let is_same = provider == parent.provider && model == parent.model;
    let thinking = profile.thinking.or(parent.thinking.filter(|_| is_same));
    check_thinking(recipes, &provider, &model, thinking)?;
    let own = asked.grown.as_ref();
    let cwd = own.map(|grown| grown.cwd.clone()).or_else(|| child_cwd(&asked.scope));
    let cwd = cwd.unwrap_or_else(|| parent.cwd.clone());
    let whole = own.map(|grown| {
        let path = grown.tree.path.clone();
        // What the parent may not touch in its folder, the child may not touch in the work tree.
        let denied = parent.scope.iter().filter(|rule| rule.access == Access::Deny).cloned().collect();
        let whole = ScopeRule { path, access: Access::Write, recursive: true };
        std::iter::once(whole).chain(grown.moved(denied))
    });
    let tools = fewer(profile.tools.clone(), &parent.tools);
    let (guides, skills) = guides_for(recipes, &cwd, &asked.scope).await;
    Ok(PodSpec {
        provider,
        model,
        agent,
        agent_mode: None,
        profile: asked.profile,
        instructions: profile.instructions.clone(),
        thinking,
        // A child spends its parent's budget.
        budget: None,
        fallback: if profile.fallback.is_empty() { parent.fallback.clone() } else { profile.fallback },
        auto_resume: profile.auto_resume.unwrap_or(parent.auto_resume),
        agents_md: None,
        guides,
        skills,
        cwd,
        scope: asked.scope.into_iter().chain(whole.into_iter().flatten()).collect(),
        worktree: asked.grown.map(|grown| grown.tree),
        peer_policy: profile.peer_policy.unwrap_or(parent.peer_policy),
        wake_on_peer: profile.wake_on_peer.unwrap_or(parent.wake_on_peer),
        permissions: profile.permissions.clone().unwrap_or_else(|| parent.permissions.clone()),
        ceilings: std::iter::once(parent.permissions.clone()).chain(parent.ceilings.clone()).collect(),
        network: profile.network.unwrap_or(parent.network).min(parent.network),
        mode: profile.mode.unwrap_or(parent.mode).min(parent.mode),
        reasoning: profile.reasoning.unwrap_or(parent.reasoning),
        tools,
        mcp: fewer(profile.mcp.clone(), &parent.mcp),
        agent_is_confined: false,
        has_run_end_hooks: false,
        shared_rules: Arc::default(),
        server_rules: Arc::default(),
        shell_is_unconfined: false,
        leaders: None,
        sights: pod::Sights::default(),
    })
}

/// Returns what a profile names, as far as the parent has it. `None` means all.
fn fewer(named: Option<Vec<String>>, held: &Option<Vec<String>>) -> Option<Vec<String>> {
    match (named, held) {
        (Some(names), Some(held)) => Some(names.into_iter().filter(|name| held.contains(name)).collect()),
        (Some(names), None) => Some(names),
        (None, held) => held.clone(),
    }
}

/// Returns the profile's agent or provider, or else what answers in the parent.
async fn answering_in_child(
    recipes: &Recipes,
    parent: &PodSpec,
    model: Option<String>,
    profile: &Profile,
) -> Result<Answering, ApiError> {
    let inherited = parent.agent.clone().filter(|_| profile.provider.is_none());
    if let Some(agent) = profile.agent.clone().or(inherited) {
        let is_same = parent.agent.as_ref() == Some(&agent);
        let model = model.or_else(|| profile.model.clone()).or_else(|| is_same.then(|| parent.model.clone()));
        return Answering::by_agent(recipes, agent, model);
    }
    let provider = profile.provider.clone().unwrap_or_else(|| parent.provider.clone());
    let inherited = (provider == parent.provider).then(|| parent.model.clone());
    let model = model.or_else(|| profile.model.clone()).or(inherited);
    let model = known_model(recipes, &provider, model).await?;
    Ok(Answering { agent: None, provider, model })
}

/// A person's changes to a Pod: with the settings of the profile that they name, the provider's default where no model
/// is named, and canonical paths.
pub(crate) async fn of_patch(recipes: &Recipes, row: &PodRow, mut asked: PatchPod) -> Result<Patch, ApiError> {
    let is_by_profile = asked.profile.is_some();
    let mut profile = profile(recipes, asked.profile.as_deref())?;
    let opened = view::open(row).ok();
    check_answering(&asked, opened.as_ref().map(|opened| &opened.spec))?;
    let has_agent = opened.as_ref().is_some_and(|opened| opened.spec.agent.is_some());
    if has_agent {
        // Who answers in the Pod does not change.
        (profile.provider, profile.model) = (None, None);
    }
    // The profile's model is used only if it belongs to the named provider; without a named provider it is used as it
    // is.
    if asked.model.is_none() {
        asked.model = match &asked.provider {
            Some(provider) => profile.model_of(provider),
            None => profile.model.clone(),
        };
        asked.provider = asked.provider.or_else(|| profile.provider.clone());
    }
    let Profile {
        provider: _,
        model: _,
        agent: _,
        thinking,
        instructions,
        tools,
        mcp,
        reasoning,
        peer_policy,
        wake_on_peer,
        permissions,
        network,
        mode,
        fallback,
        auto_resume,
        scope,
    } = profile;
    if let Some(provider) = &asked.provider {
        asked.model = Some(known_model(recipes, provider, asked.model).await?);
    }
    check_budget(asked.budget.flatten())?;
    if asked.model.as_ref().is_some_and(|model| model.trim().is_empty()) {
        return Err(ApiError::invalid("a model's name is not empty"));
    }
    // A child's scope is for its parent to change.
    let cwd = opened.filter(|_| row.parent.is_none()).map(|opened| opened.spec.cwd);
    asked.scope = asked.scope.or_else(|| Some(within(&cwd?, &scope?)));
    if let Some(scope) = &mut asked.scope {
        *scope = scope.iter().map(real_rule).collect::<Result<_, _>>()?;
    }
    asked.thinking = asked.thinking.or(thinking);
    asked.instructions = asked.instructions.or(instructions);
    asked.peer_policy = asked.peer_policy.or(peer_policy);
    asked.wake_on_peer = asked.wake_on_peer.or(wake_on_peer);
    asked.permissions = asked.permissions.or(permissions);
    asked.network = asked.network.or(network);
    asked.mode = asked.mode.or(mode);
    asked.auto_resume = asked.auto_resume.or(auto_resume);
    Ok(Patch { asked, reasoning, tools, mcp, fallback: is_by_profile.then_some(fallback) })
}

/// Refuses a provider for a Pod with an agent, and an agent's mode for a Pod without one.
fn check_answering(asked: &PatchPod, spec: Option<&PodSpec>) -> Result<(), ApiError> {
    let agent = spec.and_then(|spec| spec.agent.as_deref());
    if let Some(asked) = asked.agent.as_deref().filter(|asked| agent != Some(*asked)) {
        let who = agent.map_or_else(|| "a provider's model".to_owned(), |agent| format!("the agent {agent}"));
        return Err(ApiError::invalid(format!(
            "{who} answers in this Pod, and that does not change, because \"{asked}\" knows nothing of what was said; \
             make another Pod for it (`POST /api/v1/pods` with `agent`)"
        )));
    }
    match (agent, &asked.provider, &asked.agent_mode) {
        (Some(agent), Some(_), _) => Err(ApiError::invalid(format!(
            "the agent {agent} answers in this Pod, and no provider does; make another Pod for that"
        ))),
        (None, _, Some(mode)) => Err(ApiError::invalid(format!(
            "no mode is called \"{mode}\": use {}; an `agent_mode` is only for a Pod with an agent",
            Mode::ALL.map(Mode::as_str).join(", ")
        ))),
        _ => Ok(()),
    }
}

/// A template's scope rules, resolved for a Pod with this working directory.
fn within(cwd: &str, template: &[ScopeRule]) -> Vec<ScopeRule> {
    let path = |rule: &ScopeRule| match Path::new(cwd)
        .join(&rule.path)
        .components()
        .collect::<PathBuf>()
        .into_os_string()
        .into_string()
    {
        Ok(path) => path,
        Err(_) => rule.path.clone(),
    };
    template.iter().map(|rule| ScopeRule { path: path(rule), ..rule.clone() }).collect()
}

/// The model, or the provider's default if none is named.
async fn known_model(recipes: &Recipes, provider: &str, model: Option<String>) -> Result<String, ApiError> {
    if recipes.providers.get(provider).is_none() {
        return Err(ApiError::invalid(format!(
            "no provider is called \"{provider}\"; GET /api/v1/providers lists the providers"
        )));
    }
    let model = match model {
        Some(model) if model.trim().is_empty() => {
            return Err(ApiError::invalid(
                "`model` is empty; name a model, or leave it out for the provider's default",
            ));
        }
        Some(model) => Some(model),
        None => recipes.providers.default_model(provider).await,
    };
    model.filter(|model| !model.trim().is_empty()).ok_or_else(|| {
        ApiError::invalid(format!(
            "name a model: the provider \"{provider}\" has no default and does not say which it offers"
        ))
    })
}

fn check_budget(budget: Option<Budget>) -> Result<(), ApiError> {
    match budget.and_then(|budget| budget.refusal()) {
        Some(sentence) => Err(ApiError::invalid(sentence)),
        None => Ok(()),
    }
}

fn check_thinking(recipes: &Recipes, provider: &str, model: &str, level: Option<Thinking>) -> Result<(), ApiError> {
    match level.and_then(|level| recipes.providers.thinking_refusal(provider, model, level)) {
        Some(sentence) => Err(ApiError::invalid(sentence)),
        None => Ok(()),
    }
}

fn profile(recipes: &Recipes, name: Option<&str>) -> Result<Profile, ApiError> {
    let Some(name) = name else { return Ok(Profile::default()) };
    recipes.profiles.get(name).cloned().ok_or_else(|| {
        let known = recipes.profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none is configured".to_owned() } else { format!("there are {known}") };
        ApiError::invalid(format!("no profile is called \"{name}\"; {known}"))
    })
}

fn cwd(recipes: &Recipes, asked: Option<&str>) -> Result<String, ApiError> {
    let Some(asked) = asked else { return Ok(recipes.cwd.clone()) };
    if !Path::new(asked).is_absolute() || asked.contains('\0') {
        return Err(ApiError::invalid("the working directory has to be an absolute path"));
    }
    match fs::canonicalize(asked) {
        Ok(path) if path.is_dir() => text(path),
        _ => Err(ApiError::invalid("the working directory does not exist, or is not a directory")),
    }
}

/// The working directory of a child: the first folder that it is lent.
fn child_cwd(scope: &[ScopeRule]) -> Option<String> {
    let rule = scope.iter().find(|rule| rule.access != Access::Deny)?;
    let path = Path::new(&rule.path);
    let folder = if path.is_dir() { path } else { path.parent()? };
    folder.to_str().map(str::to_owned)
}

/// The git folder of the repository that a folder is in, as a canonical path; `None` if it is in none.
pub(crate) async fn repository_of(cwd: &str) -> Option<String> {
    let common = Repository::around(Path::new(cwd)).await?.common_folder;
    common.canonicalize().ok()?.into_os_string().into_string().ok()
}

/// The rule with its canonical path. A symbolic link that is created there later grants nothing: a Pod's scope is
/// places on the disk, not names that lead to them.
pub(crate) fn real_rule(rule: &ScopeRule) -> Result<ScopeRule, ApiError> {
    if !rule.path.starts_with('/') || rule.path.contains('\0') {
        return Err(ApiError::invalid("each path of a scope has to be absolute"));
    }
    let path = text(real_path(Path::new(&rule.path))?)?;
    Ok(ScopeRule { path, access: rule.access, recursive: rule.recursive })
}

/// Like [`real_rule`], for what is lent: the path has to exist.
pub(crate) fn real_existing_rule(rule: &ScopeRule) -> Result<ScopeRule, ApiError> {
    let real = real_rule(rule)?;
    match real.access == Access::Deny || Path::new(&real.path).exists() {
        true => Ok(real),
        false => Err(ApiError::invalid(format!("{} does not exist; create it before you lend it", rule.path))),
    }
}

/// The path without symbolic links. If it does not exist, the existing part of it is resolved.
fn real_path(path: &Path) -> Result<PathBuf, ApiError> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Ok(real_path(folder)?.join(name)),
            _ => Err(ApiError::invalid("each path of a scope has to be without `..` where nothing exists yet")),
        },
        Err(error) => Err(ApiError::invalid(format!("{} cannot be inspected: {error}", path.display()))),
    }
}

fn text(path: PathBuf) -> Result<String, ApiError> {
    path.into_os_string().into_string().map_err(|_| ApiError::invalid("a path has to be valid UTF-8"))
}

/// The instructions and the skills for a Pod in this folder.
async fn guides_for(recipes: &Recipes, cwd: &str, rules: &[ScopeRule]) -> (Vec<Guide>, Vec<SkillOffer>) {
    let (guides, cwd, scope) = (recipes.guides.clone(), cwd.to_owned(), Scope::new(rules.to_vec(), []));
    let found = crate::heavy::blocking(move || (guides.instructions(&cwd, &scope), guides.skills(&cwd, &scope))).await;
    found.unwrap_or_default()
}
