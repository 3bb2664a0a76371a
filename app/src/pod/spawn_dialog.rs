use leptos::prelude::*;
use protocol::{PodRef, PodSummary, ToolAnswer, ToolCommand};
use serde_json::{Value, json};

use crate::{
    components::{deed::Deed, dialog::FormDialog, text_field::TextField},
    console::{fresh_command, use_console},
    format::sentence_case,
    live,
    redrawn::redrawn,
    server_fns::run_tool,
};

/// One row of the scope to be lent.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Loan {
    number: usize,
    path: RwSignal<String>,
    writes: RwSignal<bool>,
    recursive: RwSignal<bool>,
}

impl Loan {
    fn new(number: usize, path: &str) -> Self {
        let path = RwSignal::new(path.to_owned());
        Self { number, path, writes: RwSignal::new(false), recursive: RwSignal::new(true) }
    }

    /// `None` if no path has been typed.
    fn rule(self) -> Option<Value> {
        let access = if self.writes.get_untracked() { "write" } else { "read" };
        let path = self.path.get_untracked();
        let recursive = self.recursive.get_untracked();
        (!path.trim().is_empty()).then(|| json!({ "path": path.trim(), "access": access, "recursive": recursive }))
    }
}

/// The dialog's fields. They stay when the tool refuses.
#[derive(Debug, Clone, Copy)]
struct Form {
    name: RwSignal<String>,
    task: RwSignal<String>,
    profile: RwSignal<String>,
    model: RwSignal<String>,
    loans: RwSignal<Vec<Loan>>,
}

impl Form {
    fn arguments(self) -> Value {
        let loans = self.loans.get_untracked();
        let scope = loans.into_iter().filter_map(Loan::rule);
        let text = |field: RwSignal<String>| field.get_untracked().trim().to_owned();
        arguments(&text(self.name), &text(self.task), scope.collect(), &text(self.profile), &text(self.model))
    }
}

/// Runs the same tool that a model would call, and shows its refusals in its own words.
#[component]
pub(crate) fn SpawnDialog(pod: PodSummary, name: String) -> impl IntoView {
    let console = use_console();
    let deed = Deed::default();
    let field = || RwSignal::new(String::new());
    let loans = RwSignal::new(vec![Loan::new(0, &pod.cwd)]);
    let form = Form { name: RwSignal::new(name), task: field(), profile: field(), model: field(), loans };
    let refused = RwSignal::new(None::<ToolAnswer>);
    let title = format!("Spawn a child of {}", pod.name);
    let submit = Callback::new(move |()| {
        refused.set(None);
        let (target, name, arguments) = (pod.pod.clone(), form.name.get_untracked(), form.arguments());
        deed.begin(Box::pin(async move {
            let answer = spawn(target, arguments).await?;
            if answer.is_error {
                refused.try_set(Some(answer));
                return Ok(());
            }
            live::close_dialog("spawn");
            console.note(format!("{} has started.", name.trim()));
            Ok(())
        }));
    });
    let refusal = move || {
        refused.get().map(|answer| {
            let code = answer.code.map(|code| view! { " " <code>{code}</code> }.into_any());
            view! { <p class="problem">{sentence_case(&answer.summary)} {code}</p> }.into_any()
        })
    };
    view! {
        <FormDialog id="spawn" title=title submit="Spawn" deed=deed on_submit=submit>
            <TextField id="spawn-name" label="Name" value=form.name />
            <label class="field" for="spawn-task">
                <span>"Task"</span>
                <textarea
                    id="spawn-task"
                    rows="3"
                    prop:value=move || form.task.get()
                    on:input=move |event| form.task.set(event_target_value(&event))
                ></textarea>
            </label>
            <Loans loans=loans />
            <details class="more">
                <summary>"More"</summary>
                <TextField id="spawn-profile" label="Profile" value=form.profile hint="Leave it empty for none." />
                <TextField id="spawn-model" label="Model" value=form.model hint="Leave it empty for the parent's." />
            </details>
            <div role="alert">{redrawn(refusal)}</div>
        </FormDialog>
    }
}

#[component]
fn Loans(loans: RwSignal<Vec<Loan>>) -> impl IntoView {
    let next = StoredValue::new(1);
    let add = move |_| {
        next.update_value(|next| *next += 1);
        loans.update(|loans| loans.push(Loan::new(next.get_value(), "")));
    };
    view! {
        <fieldset class="loans">
            <legend>"Lends"</legend>
            <For each=move || loans.get() key=|loan| loan.number let:loan>
                <LoanRow loan=loan loans=loans />
            </For>
            <small>"While a folder is lent for writing, the parent can only read it."</small>
            <button type="button" class="quiet" on:click=add>
                "Add a folder"
            </button>
        </fieldset>
    }
}

#[component]
fn LoanRow(loan: Loan, loans: RwSignal<Vec<Loan>>) -> impl IntoView {
    let tick = |words: &'static str, value: RwSignal<bool>| {
        view! {
            <label class="choice">
                <input
                    type="checkbox"
                    prop:checked=move || value.get()
                    on:change=move |event| value.set(event_target_checked(&event))
                />
                <span>{words}</span>
            </label>
        }
        .into_any()
    };
    view! {
        <div class="loan field">
            <input
                type="text"
                aria-label="Path"
                placeholder="/absolute/path"
                autocapitalize="off"
                spellcheck="false"
                prop:value=move || loan.path.get()
                on:input=move |event| loan.path.set(event_target_value(&event))
            />
            <div class="loan-facts">
                {tick("for writing", loan.writes)} {tick("with its folders", loan.recursive)}
                <button
                    type="button"
                    class="quiet"
                    on:click=move |_| loans.update(|loans| loans.retain(|other| other.number != loan.number))
                >
                    "remove"
                </button>
            </div>
        </div>
    }
}

async fn spawn(pod: PodRef, arguments: Value) -> Result<ToolAnswer, crate::UiError> {
    run_tool(pod, fresh_command(), "SpawnPod".to_owned(), ToolCommand { arguments }).await
}

/// The tool's arguments, without the fields that were left empty.
fn arguments(name: &str, task: &str, scope: Vec<Value>, profile: &str, model: &str) -> Value {
    let mut arguments = json!({ "name": name, "task": task, "scope": scope });
    for (field, value) in [("profile", profile), ("model", model)] {
        if !value.is_empty() {
            arguments[field] = value.into();
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_those_of_the_tool() {
        let owner = Owner::new();
        owner.set();
        let loan = Loan::new(0, " /srv/a");
        loan.writes.set(true);
        loan.recursive.set(false);
        assert_eq!(Loan::new(1, " ").rule(), None);
        let expected = json!({
            "name": "bob", "task": "test it", "model": "small",
            "scope": [{ "path": "/srv/a", "access": "write", "recursive": false }],
        });
        assert_eq!(arguments("bob", "test it", vec![loan.rule().unwrap()], "", "small"), expected);
    }
}
