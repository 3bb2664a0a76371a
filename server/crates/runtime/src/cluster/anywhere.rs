//! Requests to a Pod, carried out on the host that runs it.

use std::{sync::Arc, time::Duration};

use pod::Scope;
use pod_store::PodRow;
use protocol::{
    ApiError, BackgroundCommand, BackgroundOutput, Changes, ErrorCode, OwnCommand, OwnMessage, RewindPreview, Seq,
    Since, ToolAnswer, WorkerId,
};
use serde::de::DeserializeOwned;
use tools::guides::Guides;

use super::{Call, Cluster, ROUNDS_MAX, Route};
use crate::{
    CommandKey, Origin,
    actor::{OutsideCall, PodCommand, Request, no_such_command, place},
    changes::{self, Archive, Folders, Plan},
    command::read_answer,
    error, view,
};

/// How long to wait before a Pod is woken again whose host could not be found or told.
const WAKE_AGAIN: Duration = Duration::from_millis(500);
/// The most bytes of a typed file name prefix.
const BEGUN_BYTES_MAX: usize = 1_024;

impl Cluster {
    /// Sends a command to a Pod's task, waking it, and reads the answer.
    pub(crate) async fn command<T: DeserializeOwned>(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        command: PodCommand,
    ) -> Result<T, ApiError> {
        let call = || Call::Command {
            worker_id: worker_id.clone(),
            key: key.clone(),
            origin: origin.clone(),
            command: command.clone(),
        };
        if let Some(answer) = self.there(worker_id, call).await? {
            return Ok(answer);
        }
        let answer = self.actors.command_here(key, origin, worker_id, command).await?;
        read_answer(&answer)
    }

    /// Runs one tool beside the Pod's run and waits until it has ended.
    pub(crate) async fn run_tool(
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        asked: OutsideCall,
    ) -> Result<ToolAnswer, ApiError> {
        self.existing_row(worker_id).await?;
        self.actors.check_tool(&asked.name)?;
        self.count_command();
        let call = || Call::Tool {
            worker_id: worker_id.clone(),
            key: key.clone(),
            origin: origin.clone(),
            asked: asked.clone(),
        };
        if let Some(answer) = self.there(worker_id, call).await? {
            return Ok(answer);
        }
        self.actors.tool_here(key, origin, worker_id, asked).await
    }

    /// Files that the Pod may read and whose path matches what was typed (`begun`), nearest first.
    pub(crate) async fn files(&self, worker_id: &WorkerId, begun: &str) -> Result<Vec<String>, ApiError> {
        if begun.len() > BEGUN_BYTES_MAX {
            return Err(ApiError::invalid(format!("the name of a file has at most {BEGUN_BYTES_MAX} bytes")));
        }
        let row = self.existing_row(worker_id).await?;
        let call = || Call::Files { worker_id: worker_id.clone(), begun: begun.to_owned() };
        if let Some(files) = self.there(worker_id, call).await? {
            return Ok(files);
        }
        let opened = view::open(&row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
        let scope = place::scope(&self.actors, row.key, &opened.spec).await?;
        Ok(tools::files::complete(&opened.spec.cwd, scope, begun).await)
    }

    /// The commands of a person's own for a Pod, nearest first.
    pub(crate) async fn own_commands(&self, worker_id: &WorkerId) -> Result<Vec<OwnCommand>, ApiError> {
        let row = self.existing_row(worker_id).await?;
        if let Some(found) = self.there(worker_id, || Call::Own { worker_id: worker_id.clone(), asked: None }).await? {
            return Ok(found);
        }
        let (cwd, scope) = self.folder_of(&row).await?;
        self.looked(move |guides| guides.commands(&cwd, &scope)).await
    }

    /// The message that one of them stands for.
    pub(crate) async fn own_message(
        &self,
        worker_id: &WorkerId,
        name: &str,
        arguments: &str,
    ) -> Result<OwnMessage, ApiError> {
        let row = self.existing_row(worker_id).await?;
        let asked = (name.to_owned(), arguments.to_owned());
        let call = || Call::Own { worker_id: worker_id.clone(), asked: Some(asked.clone()) };
        if let Some(message) = self.there(worker_id, call).await? {
            return Ok(message);
        }
        let (cwd, scope) = self.folder_of(&row).await?;
        let (wanted, arguments) = asked.clone();
        let text = self.looked(move |guides| guides.message(&cwd, &scope, &wanted, &arguments)).await?;
        text.map(|text| OwnMessage { text }).ok_or_else(|| {
            let sentence = format!(
                "no command is called \"{name}\": write it as NAME.md in .yoi/commands of the Pod's folder, or in commands of the configuration folder"
            );
            ApiError::new(ErrorCode::NotFound, sentence)
        })
    }

    /// A Pod's folder and its scope.
    async fn folder_of(&self, row: &PodRow) -> Result<(String, Scope), ApiError> {
        let opened = view::open(row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
        let scope = place::scope(&self.actors, row.key, &opened.spec).await?;
        Ok((opened.spec.cwd, scope))
    }

    /// Looks on the disk, beside the async tasks.
    async fn looked<T: Send + 'static>(&self, look: impl FnOnce(&Guides) -> T + Send + 'static) -> Result<T, ApiError> {
        let guides = self.actors.equipment.guides.clone();
        crate::heavy::blocking(move || look(&guides)).await.map_err(|_| error::stopping())
    }

    /// The Pod's background commands, oldest first.
    pub(crate) async fn commands(&self, worker_id: &WorkerId) -> Result<Vec<BackgroundCommand>, ApiError> {
        self.existing_row(worker_id).await?;
        match self.there(worker_id, || Call::Commands { worker_id: worker_id.clone() }).await? {
            Some(commands) => Ok(commands),
            None => Ok(self.actors.equipment.background.list(worker_id)),
        }
    }

    /// What a background command wrote from a position on.
    pub(crate) async fn command_output(
        &self,
        worker_id: &WorkerId,
        id: &str,
        after: u64,
    ) -> Result<BackgroundOutput, ApiError> {
        let row = self.existing_row(worker_id).await?;
        let call = || Call::Output { worker_id: worker_id.clone(), id: id.to_owned(), after };
        if let Some(output) = self.there(worker_id, call).await? {
            return Ok(output);
        }
        let output = self.actors.equipment.background.read(worker_id, id, after);
        output.ok_or_else(|| no_such_command(&row.name, id))
    }

    /// What has changed in the Pod's folders.
    pub(crate) async fn changes(&self, worker_id: &WorkerId, since: Since) -> Result<Changes, ApiError> {
        let row = self.existing_row(worker_id).await?;
        let call = || Call::Changes { worker_id: worker_id.clone(), since };
        if let Some(changes) = self.there(worker_id, call).await? {
            return Ok(changes);
        }
        let folders = self.folders(&row).await?;
        let base = changes::base(&self.actors, row.key, &folders, since).await?;
        let told =
            changes::blocking(move || changes::changes(&folders, &Archive::read(&folders.snapshots)?, since, &base));
        let told = told.await?;
        self.actors.shown.told(worker_id, &told);
        Ok(told)
    }

    /// What a rewind to a record would change.
    pub(crate) async fn preview_rewind(&self, worker_id: &WorkerId, to_seq: Seq) -> Result<RewindPreview, ApiError> {
        let row = self.existing_row(worker_id).await?;
        let call = || Call::RewindPreview { worker_id: worker_id.clone(), to_seq };
        if let Some(preview) = self.there(worker_id, call).await? {
            return Ok(preview);
        }
        let head = self.store.journals().head(row.key).await?;
        if to_seq < Seq(1) || to_seq > head {
            let sentence = format!("`to_seq` is a record of this Pod, from 1 to {head}");
            return Err(ApiError::invalid(sentence));
        }
        let preview = changes::preview(&self.store, row.key, to_seq).await?;
        let folders = self.folders(&row).await?;
        let plan = changes::blocking(move || Plan::of(&folders, &Archive::read(&folders.snapshots)?, to_seq)).await?;
        Ok(RewindPreview { files: plan.listed(), notes: plan.notes(), ..preview })
    }

    async fn folders(&self, row: &PodRow) -> Result<Folders, ApiError> {
        let opened = view::open(row).map_err(|reason| ApiError::new(ErrorCode::NotRestorable, reason))?;
        let scope = place::scope(&self.actors, row.key, &opened.spec).await?;
        let snapshots = self.actors.snapshots_of(&row.worker_id);
        Ok(Folders { cwd: opened.spec.cwd, scope, snapshots, also: Vec::new() })
    }

    /// Tells a Pod to read its mailbox. Does not wait: the mail is already in the store.
    pub(crate) fn wake(self: &Arc<Self>, worker_id: &WorkerId) {
        let (cluster, worker_id) = (self.clone(), worker_id.clone());
        self.tracker.spawn(async move {
            while let Err(error) = cluster.wake_once(&worker_id).await {
                tracing::debug!(%error, %worker_id, "a Pod could not be woken");
                // Nobody else looks for what waits for a Pod whose host is there.
                if error.code != ErrorCode::RuntimeUnavailable {
                    return;
                }
                tokio::select! {
                    () = cluster.stopping.cancelled() => return,
                    () = tokio::time::sleep(WAKE_AGAIN) => (),
                }
            }
        });
    }

    async fn wake_once(&self, worker_id: &WorkerId) -> Result<(), ApiError> {
        match self.route(worker_id).await? {
            Route::Here => self.actors.send(worker_id, Request::Wake).await,
            Route::There(host) => self.calls.try_tell(&host, &Call::Wake { worker_id: worker_id.clone() }).await,
        }
    }

    /// True if another host, which has the Pod's files, runs the Pod.
    pub(crate) async fn is_there(&self, worker_id: &WorkerId) -> Result<bool, ApiError> {
        Ok(matches!(self.route(worker_id).await?, Route::There(_)))
    }

    /// The answer of the other host that runs the Pod, or `None` if the Pod runs here.
    pub(super) async fn there<T: DeserializeOwned>(
        &self,
        worker_id: &WorkerId,
        call: impl Fn() -> Call,
    ) -> Result<Option<T>, ApiError> {
        for _ in 0..ROUNDS_MAX {
            let host = match self.route(worker_id).await? {
                Route::Here => return Ok(None),
                Route::There(host) => host,
            };
            if let Some(answer) = self.calls.call(&host, &call()).await? {
                return Ok(Some(answer));
            }
        }
        Err(error::moves_about())
    }
}
