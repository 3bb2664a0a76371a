//! The page on screen, in its place in the document, and the kept pages that it can be swapped with.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use leptos::{
    attr::{Attribute, any_attribute::AnyAttribute},
    prelude::*,
    tachys::{
        hydration::Cursor,
        reactive_graph::OwnedView,
        renderer::types::{Element, Node},
        ssr::StreamBuilder,
        view::{Mountable, Position, PositionState, Render, any_view::AnyViewState},
    },
    task::spawn_local,
};

use super::{Kept, Visits, Wanted};
use crate::{console::PodContext, live};

/// One step of navigation.
pub(in crate::pod::page) struct Visit {
    visits: Visits,
    wanted: Wanted,
    next: Next,
}

enum Next {
    /// A page that has just been read.
    Fresh(Box<Fresh>),
    /// A kept page, at the block with this id.
    Back(Option<String>),
    /// The next page is still being read; the present one stays.
    Later,
}

struct Fresh {
    view: AnyView,
    owner: Owner,
    /// `None` where there is nothing to show.
    pod: Option<PodContext>,
}

impl Visit {
    /// To a page that has been read. It lives in an owner of its own, below `home`.
    pub(in crate::pod::page) fn fresh(
        visits: Visits,
        wanted: Wanted,
        home: &Owner,
        draw: impl FnOnce() -> (AnyView, Option<PodContext>),
    ) -> Self {
        let owner = home.child();
        let (view, pod) = owner.with(draw);
        let view = OwnedView::new_with_owner(view, owner.clone()).into_any();
        Self { visits, wanted, next: Next::Fresh(Box::new(Fresh { view, owner, pod })) }
    }

    /// To a kept page. `link` is the id of the block in the address.
    pub(in crate::pod::page) fn back(visits: Visits, wanted: Wanted, link: Option<String>) -> Self {
        Self { visits, wanted, next: Next::Back(link) }
    }

    /// To a page that is still being read.
    pub(in crate::pod::page) fn later(visits: Visits, wanted: Wanted) -> Self {
        Self { visits, wanted, next: Next::Later }
    }

    pub(in crate::pod::page) fn pod(&self) -> Option<PodContext> {
        match &self.next {
            Next::Fresh(fresh) => fresh.pod,
            Next::Back(_) | Next::Later => None,
        }
    }

    /// Empty if the step is not to a fresh page.
    fn into_fresh(self) -> Fresh {
        match self.next {
            Next::Fresh(fresh) => *fresh,
            Next::Back(_) | Next::Later => Fresh { view: ().into_any(), owner: Owner::new(), pod: None },
        }
    }

    fn state(self, build: impl FnOnce(AnyView) -> AnyViewState) -> VisitState {
        let wanted = self.wanted.clone();
        let Fresh { view, owner, pod } = self.into_fresh();
        let view = View::new(build(view));
        VisitState { seen: Page { wanted, view, pod, _owner: owner }, kept: Vec::new() }
    }
}

/// Field order matters: the view is dropped before its owner.
struct Page {
    wanted: Wanted,
    view: Rc<View>,
    pod: Option<PodContext>,
    _owner: Owner,
}

/// A page's elements.
struct View {
    state: RefCell<AnyViewState>,
    is_seen: Cell<bool>,
}

impl View {
    fn new(state: AnyViewState) -> Rc<Self> {
        Rc::new(Self { state: RefCell::new(state), is_seen: Cell::new(true) })
    }

    fn be_seen(&self, is_seen: bool) {
        self.is_seen.set(is_seen);
        live::out_of_sight(&self.state.borrow().elements(), !is_seen);
    }

    /// Removes the page from the document, unless it is on screen again.
    fn take_away(&self) {
        if !self.is_seen.get() {
            self.state.borrow_mut().unmount();
        }
    }
}

impl Page {
    fn turn(&self, is_here: bool) {
        if let Some(pod) = self.pod {
            pod.presence.turn(is_here);
        }
    }
}

/// The page in the document, and the kept ones. The one left last is at the end.
pub(in crate::pod::page) struct VisitState {
    seen: Page,
    kept: Vec<Page>,
}

impl VisitState {
    fn go(&mut self, visits: Visits, next: Page) {
        // Removing a page from the document takes as long as drawing some blocks, so do it after the next one has
        // been painted.
        let left = Rc::downgrade(&self.seen.view);
        live::once_painted(move || {
            if let Some(left) = left.upgrade() {
                left.take_away();
            }
        });
        self.seen.turn(false);
        // While both pages contain the same ids, lookups find the first one in the document, so insert the new page
        // first.
        self.seen.view.state.borrow().insert_before_this(&mut *next.view.state.borrow_mut());
        self.seen.view.be_seen(false);
        next.view.be_seen(true);
        next.turn(true);
        let left = std::mem::replace(&mut self.seen, next);
        visits.console.viewed.set(self.seen.pod);
        self.keep(visits, left);
    }

    fn keep(&mut self, visits: Visits, left: Page) {
        let (mut pages, mut gone): (Vec<Page>, Vec<Page>) =
            std::mem::take(&mut self.kept).into_iter().partition(|page| page.wanted != self.seen.wanted);
        match left.wanted != self.seen.wanted && Visits::is_worth_keeping(&left.wanted, left.pod) {
            true => pages.push(left),
            false => gone.push(left),
        }
        let mut kept: Vec<Kept> =
            pages.iter().filter_map(|page| Some(Kept { wanted: page.wanted.clone(), pod: page.pod? })).collect();
        let surplus = Visits::surplus(&kept);
        gone.extend(pages.drain(..surplus));
        kept.drain(..surplus);
        self.kept = pages;
        visits.kept.set_value(kept);
        gone.iter().for_each(|page| page.view.take_away());
        // Effects that draw them may still be pending.
        spawn_local(async move { drop(gone) });
    }
}

impl Render for Visit {
    type State = VisitState;

    fn build(self) -> Self::State {
        self.state(AnyView::build)
    }

    fn rebuild(self, state: &mut Self::State) {
        let Self { visits, wanted, next } = self;
        match next {
            Next::Fresh(fresh) => {
                let Fresh { view, owner, pod } = *fresh;
                let view = View::new(view.build());
                state.go(visits, Page { wanted, view, pod, _owner: owner });
            }
            Next::Back(link) => {
                if let Some(index) = state.kept.iter().position(|page| page.wanted == wanted) {
                    let page = state.kept.remove(index);
                    state.go(visits, page);
                    live::once_painted(move || {
                        if let Some(viewed) = visits.console.viewed.try_get_untracked() {
                            visits.titled.try_set(viewed);
                        }
                    });
                    if let Some(link) = link {
                        live::log_show(&link);
                    }
                }
            }
            Next::Later => (),
        }
    }
}

impl Mountable for VisitState {
    fn unmount(&mut self) {
        self.seen.view.state.borrow_mut().unmount();
        // A deferred removal may still be pending.
        self.kept.iter().for_each(|page| page.view.take_away());
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        self.seen.view.state.borrow_mut().mount(parent, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.seen.view.state.borrow().insert_before_this(child)
    }

    fn elements(&self) -> Vec<Element> {
        self.seen.view.state.borrow().elements()
    }
}

impl AddAnyAttr for Visit {
    type Output<SomeNewAttr: Attribute> = Self;

    fn add_any_attr<NewAttr: Attribute>(self, _attr: NewAttr) -> Self {
        self
    }
}

impl RenderHtml for Visit {
    type AsyncOutput = AnyView;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {
        if let Next::Fresh(fresh) = &mut self.next {
            fresh.view.dry_resolve();
        }
    }

    async fn resolve(self) -> Self::AsyncOutput {
        self.into_fresh().view.resolve().await
    }

    fn to_html_with_buf(
        self,
        buf: &mut String,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra_attrs: Vec<AnyAttribute>,
    ) {
        self.into_fresh().view.to_html_with_buf(buf, position, escape, mark_branches, extra_attrs);
    }

    fn to_html_async_with_buf<const OUT_OF_ORDER: bool>(
        self,
        buf: &mut StreamBuilder,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra_attrs: Vec<AnyAttribute>,
    ) {
        self.into_fresh().view.to_html_async_with_buf::<OUT_OF_ORDER>(
            buf,
            position,
            escape,
            mark_branches,
            extra_attrs,
        );
    }

    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> Self::State {
        self.state(|view| view.hydrate::<FROM_SERVER>(cursor, position))
    }

    fn into_owned(self) -> Self::Owned {
        self
    }
}
