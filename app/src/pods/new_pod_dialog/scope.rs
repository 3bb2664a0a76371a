//! The scope of a new Pod: shows the default, which can be changed row by row.

use leptos::prelude::*;
use protocol::{Access, RuntimeId, ScopeRule};

use super::folders::FolderField;
use crate::{live, redrawn::redrawn};

/// One folder of the scope.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    number: usize,
    path: RwSignal<String>,
    access: RwSignal<Access>,
    /// Whether subfolders are included; a template can restrict it to the folder itself.
    recursive: bool,
}

/// The rows; empty while the default applies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ScopeRows {
    rows: RwSignal<Vec<Row>>,
    next: StoredValue<usize>,
}

impl ScopeRows {
    /// `None` if nothing was changed or all rows were removed.
    pub(super) fn read(self) -> Option<Vec<ScopeRule>> {
        let rule = |row: &Row| {
            let path = row.path.get_untracked().trim().to_owned();
            let (access, recursive) = (row.access.get_untracked(), row.recursive);
            (!path.is_empty()).then_some(ScopeRule { path, access, recursive })
        };
        let rules: Vec<_> = self.rows.with_untracked(|rows| rows.iter().filter_map(rule).collect());
        Some(rules).filter(|rules| !rules.is_empty())
    }

    fn add(self, rule: ScopeRule) -> usize {
        let number = self.next.get_value();
        self.next.set_value(number + 1);
        let ScopeRule { path, access, recursive } = rule;
        let row = Row { number, path: RwSignal::new(path), access: RwSignal::new(access), recursive };
        self.rows.update(|rows| rows.push(row));
        number
    }
}

/// The default rules, and a way to replace them.
#[component]
pub(super) fn ScopeField(
    rows: ScopeRows,
    usual: Signal<Vec<ScopeRule>>,
    runtime: Signal<Option<RuntimeId>>,
) -> impl IntoView {
    let is_usual = move || rows.rows.with(Vec::is_empty);
    let add = move |_| {
        if rows.rows.with_untracked(Vec::is_empty) {
            for rule in usual.get_untracked() {
                rows.add(rule);
            }
        }
        let number = rows.add(ScopeRule { path: String::new(), access: Access::Read, recursive: true });
        live::focus_soon(&row_id(number));
    };
    let words = move || usual.with(|rules| rules.iter().map(rule_words).collect::<Vec<_>>().join(", "));
    view! {
        <fieldset class="loans">
            <legend>"Scope"</legend>
            {redrawn(move || is_usual().then(|| view! { <small>"default: " {redrawn(words)}</small> }.into_any()))}
            <For each=move || rows.rows.get() key=|row| row.number let:row>
                <ScopeRow row=row rows=rows runtime=runtime />
            </For>
            <button type="button" class="quiet" on:click=add>
                {redrawn(move || if is_usual() { "Change folders" } else { "Add a folder" })}
            </button>
        </fieldset>
    }
}

fn row_id(number: usize) -> String {
    format!("new-pod-scope-{number}")
}

fn rule_words(rule: &ScopeRule) -> String {
    let only = if rule.recursive { "" } else { " (this folder only)" };
    format!("{} {}{only}", rule.access.as_str(), rule.path)
}

#[component]
fn ScopeRow(row: Row, rows: ScopeRows, runtime: Signal<Option<RuntimeId>>) -> impl IntoView {
    let remove = move |_| rows.rows.update(|rows| rows.retain(|other| other.number != row.number));
    let option = move |access: Access| {
        let is_it = row.access.get_untracked() == access;
        view! { <option value=access.as_str() selected=is_it>{access.as_str()}</option> }.into_any()
    };
    let choose = move |event| {
        let said = event_target_value(&event);
        let access = [Access::Read, Access::Write, Access::Deny].into_iter().find(|access| access.as_str() == said);
        row.access.set(access.unwrap_or(Access::Read));
    };
    view! {
        <div class="scope-row">
            <select aria-label="Access" on:change=choose>
                {[Access::Read, Access::Write, Access::Deny].map(option).collect_view()}
            </select>
            <FolderField
                id=row_id(row.number)
                label="Folder"
                is_bare=true
                value=row.path
                placeholder="/absolute/path"
                runtime=runtime
            />
            <button type="button" class="quiet" on:click=remove>
                "remove"
            </button>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_path_are_none_and_no_rows_say_nothing() {
        let owner = Owner::new();
        owner.set();
        let rows = ScopeRows::default();
        assert_eq!(rows.read(), None);
        let rule = |path: &str| ScopeRule { path: path.to_owned(), access: Access::Write, recursive: false };
        rows.add(rule(" "));
        assert_eq!(rows.read(), None);
        rows.add(rule(" /srv/a "));
        assert_eq!(rows.read(), Some(vec![rule("/srv/a")]));
        assert_eq!(rule_words(&rule("/srv/a")), "write /srv/a (this folder only)");
    }
}
