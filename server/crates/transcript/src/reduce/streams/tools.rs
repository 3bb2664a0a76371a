//! Tool calls: arguments stream in, the call is made, output streams, the result replaces it.

use protocol::{Record, TurnEvent};

use super::{Family, Piece, Streams};
use crate::{Block, BlockId, BlockKind, ToolResult, rows::Rows};

impl Streams {
    pub(in crate::reduce) fn tool_arguments_chunk(
        &mut self,
        rows: &mut Rows,
        record: &Record,
        block: &str,
        text: &str,
    ) {
        if let Some(BlockKind::Tool { arguments_text, arguments: None, .. }) = self.tool(rows, record, block, false) {
            arguments_text.push_str(text);
        }
    }

    pub(in crate::reduce) fn tool_output_chunk(&mut self, rows: &mut Rows, record: &Record, block: &str, text: &str) {
        if let Some(BlockKind::Tool { output, result: None, interrupted, .. }) = self.tool(rows, record, block, false) {
            output.push_str(text);
            // A run may be paused while a tool continues.
            *interrupted = false;
        }
    }

    pub(in crate::reduce) fn tool_called(&mut self, rows: &mut Rows, record: &Record, called: &TurnEvent) {
        let TurnEvent::ToolCalled { call_id: id, block, name: called_name, arguments: given, by: caller, .. } = called
        else {
            return;
        };
        if let Some(BlockKind::Tool { call_id, name, arguments, arguments_text, by, .. }) =
            self.tool(rows, record, block, true)
        {
            *call_id = Some(id.clone());
            *name = Some(called_name.clone());
            *arguments = Some(given.clone());
            *arguments_text = String::new();
            *by = Some(*caller);
        }
    }

    pub(in crate::reduce) fn tool_finished(&mut self, rows: &mut Rows, record: &Record, finished: &TurnEvent) {
        let TurnEvent::ToolFinished { call_id: id, block, by: caller, .. } = finished else { return };
        if let Some(BlockKind::Tool { call_id, output, result, by, interrupted, .. }) =
            self.tool(rows, record, block, true)
        {
            *call_id = Some(id.clone());
            *output = String::new();
            *result = result_of(finished);
            *by = Some(*caller);
            *interrupted = false;
        }
    }

    /// The block of this call, created for its first record; a record other than a chunk fixes its place.
    fn tool<'a>(
        &mut self,
        rows: &'a mut Rows,
        record: &Record,
        block: &str,
        is_solid: bool,
    ) -> Option<&'a mut BlockKind> {
        let key = match self.piece(Family::Tool, block) {
            Some(piece) => {
                if is_solid {
                    rows.settle(piece.key);
                }
                if is_solid && !piece.whole {
                    self.remember(Family::Tool, block, Piece { whole: true, ..piece });
                }
                // A call of a paused run continues in the run that resumes it, and ends with that one too.
                if rows.get(piece.key).is_some_and(|block| block.run_id != record.run_id) {
                    self.ends_with(record.run_id.as_deref(), piece.key);
                }
                piece.key
            }
            None => {
                let tool = Block::new(BlockId(block.to_owned()), record, unnamed_tool());
                let key = if is_solid { rows.add(tool) } else { self.add_open(rows, tool) };
                self.remember(Family::Tool, block, Piece { key, whole: is_solid });
                self.ends_with(record.run_id.as_deref(), key);
                key
            }
        };
        let block = rows.edit(key)?;
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
        TurnEvent::ToolFinished { summary, content, is_error, code, diff, duration_ms, blobs, .. } => {
            Some(ToolResult { summary, content, is_error, code, diff, duration_ms, blobs })
        }
        _ => None,
    }
}
