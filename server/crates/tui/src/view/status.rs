//! The last line: the command that is typed, or the newest notice, and whether the server is there.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Style},
    text::{Line, Span},
};

use crate::{
    model::{Focus, Link, Model},
    wrap::{fit, width_of},
};

pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let link = link_words(&model.link);
    let room = usize::from(area.width).saturating_sub(width_of(&link) + 1);
    let left = left_side(model, room);
    if let Some(command) = &model.command {
        let column = u16::try_from(1 + width_of(command.before_cursor())).unwrap_or(u16::MAX);
        frame.set_cursor_position((area.x.saturating_add(column).min(area.right().saturating_sub(1)), area.y));
    }
    frame.render_widget(Line::from(left), area);
    let style = match model.link {
        Link::Connected => Style::new().dim(),
        _ => Style::new().fg(Color::Yellow).bold(),
    };
    frame.render_widget(Line::from(Span::styled(link, style)).right_aligned(), area);
}

fn left_side(model: &Model, room: usize) -> Span<'static> {
    if let Some(command) = &model.command {
        return Span::raw(fit(&format!(":{}", command.text()), room));
    }
    if let Some(notice) = &model.notice {
        let style = if notice.is_error { Style::new().fg(Color::Red) } else { Style::new().fg(Color::Green) };
        return Span::styled(fit(&notice.text, room), style);
    }
    let keys = match &model.open {
        None => "Enter open · n new · : command · q quit",
        Some(open) if open.sending.is_some() => "saving …",
        Some(open) if open.focus == Focus::Composer => "Enter send · Ctrl-J new line · : command · Esc leave",
        Some(_) => "i write · j k scroll · G end · : command · Esc back",
    };
    Span::styled(fit(keys, room), Style::new().dim())
}

fn link_words(link: &Link) -> String {
    match link {
        Link::Connecting => "connecting".to_owned(),
        Link::Connected => "connected".to_owned(),
        Link::Reconnecting { attempt, .. } => format!("reconnecting (attempt {attempt})"),
        Link::Unauthorized => "token refused".to_owned(),
    }
}
