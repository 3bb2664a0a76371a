//! Tool calls: arguments stream in, the call is made, output streams, the result replaces it.

use protocol::{Record, TurnEvent};

use super::{Family, Piece, Thread, Transcript};
use crate::{Block, BlockId, BlockKind, ToolResult, rows::Key};

impl Transcript {
    pub(super) fn tool_arguments_chunk(&mut self, record: &Record, block: &str, text: &str) {
        let key = self.tool(record, block, Thread::Chunk);
        if let Some(BlockKind::Tool { arguments_text, arguments: None, .. }) = self.tool_edit(record, key) {
            arguments_text.push_str(text);
        }
    }

    pub(super) fn tool_output_chunk(&mut self, record: &Record, block: &str, text: &str) {
        let key = self.tool(record, block, Thread::Chunk);
        if let Some(BlockKind::Tool { output, result: None, interrupted, .. }) = self.tool_edit(record, key) {
            output.push_str(text);
            // A run may be paused around a tool that goes on.
            *interrupted = false;
        }
    }

    pub(super) fn tool_called(&mut self, record: &Record, block: &str, called: &TurnEvent) {
        let key = self.tool(record, block, Thread::Solid);
        let TurnEvent::ToolCalled { call_id: id, name: called_name, arguments: given, by: caller, .. } = called else {
            return;
        };
        if let Some(BlockKind::Tool { call_id, name, arguments, arguments_text, by, .. }) = self.tool_edit(record, key)
        {
            *call_id = Some(id.clone());
            *name = Some(called_name.clone());
            *arguments = Some(given.clone());
            *arguments_text = String::new();
            *by = Some(*caller);
        }
    }

    pub(super) fn tool_finished(&mut self, record: &Record, block: &str, finished: &TurnEvent) {
        let key = self.tool(record, block, Thread::Solid);
        let TurnEvent::ToolFinished { call_id: id, by: caller, .. } = finished else { return };
        if let Some(BlockKind::Tool { call_id, output, result, by, interrupted, .. }) = self.tool_edit(record, key) {
            *call_id = Some(id.clone());
            *output = String::new();
            *result = result_of(finished);
            *by = Some(*caller);
            *interrupted = false;
        }
    }

    /// The block of this call, made when this is its first record; fixed in its place by a solid one.
    fn tool(&mut self, record: &Record, block: &str, thread: Thread) -> Key {
        self.run_goes_on(record, thread);
        let is_solid = thread == Thread::Solid;
        if let Some(piece) = self.piece(Family::Tool, block) {
            if is_solid {
                self.rows.settle(piece.key);
            }
            if is_solid && !piece.whole {
                self.remember(Family::Tool, block, Piece { whole: true, ..piece });
            }
            self.belong(record, piece.key);
            return piece.key;
        }
        let tool = Block::new(BlockId(block.to_owned()), record, unnamed_tool());
        let key = if is_solid { self.rows.add(tool) } else { self.add_open(tool) };
        self.remember(Family::Tool, block, Piece { key, whole: is_solid });
        self.index.run(record.run_id.as_deref()).unended.push(key);
        key
    }

    /// A call of a paused run goes on in the run that resumes it, and ends with that one too.
    fn belong(&mut self, record: &Record, key: Key) {
        if self.rows.get(key).is_some_and(|block| block.run_id != record.run_id) {
            self.index.run(record.run_id.as_deref()).unended.push(key);
        }
    }

    fn tool_edit(&mut self, record: &Record, key: Key) -> Option<&mut BlockKind> {
        let block = self.rows.edit(key)?;
        block.last_seq = record.seq;
        Some(&mut block.kind)
    }
}

pub(super) fn unnamed_tool() -> BlockKind {
    BlockKind::Tool {
        call_id: None,
        name: None,
        arguments: None,
        arguments_text: String::new(),
        output: String::new(),
        result: None,
        by: None,
        interrupted: false,
    }
}

fn result_of(event: &TurnEvent) -> Option<ToolResult> {
    match event.clone() {
        TurnEvent::ToolFinished { summary, content, is_error, code, diff, duration_ms, .. } => {
            Some(ToolResult { summary, content, is_error, code, diff, duration_ms })
        }
        _ => None,
    }
}
