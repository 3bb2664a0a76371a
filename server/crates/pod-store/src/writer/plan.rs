//! The batches of one group, turned from "what happens to each Pod" into "what goes into each table".

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::{AuditEntry, CommandId};

use super::Job;
use crate::{
    Committed, FarChange, Fold, ForeignPod, InboxRow, LoanChange, MailPut, MessageChange, NewPod, NewRecord,
    ParentLink, PeerChange, PodChange, PodKey, PodUpdate, RecordClass, RuleChange, blobs,
    engine::{LinkLine, SearchLine, UpdateLine},
    peer_plan::{MessageLines, PeerLines},
    usage::SpentLine,
    words,
};

/// One change, and the batch it came with.
#[derive(Debug)]
pub(crate) struct Planned<'a> {
    pub(crate) job: usize,
    pub(crate) change: &'a PodChange,
    /// Known from the beginning, or once the Pod was created.
    pub(crate) key: Option<PodKey>,
}

/// What a group writes: all batches except those whose command was carried out before.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) changes: Vec<Planned<'a>>,
    pub(crate) audit: Vec<&'a AuditEntry>,
    /// Each with the batch it came with.
    peers: Vec<(usize, &'a PeerChange)>,
    messages: Vec<(usize, &'a MessageChange)>,
    /// In the order of the batches; within a batch, its own come before those of its Pods.
    far: Vec<&'a FarChange>,
    pub(crate) rules: Vec<&'a RuleChange>,
    /// Pods that other hosts own, each with the batch that changes it.
    pub(crate) foreign: Vec<(usize, ForeignPod)>,
}

/// New parents, and changes of loans.
#[derive(Debug)]
pub(crate) struct Relations<'a> {
    pub(crate) links: Vec<LinkLine<'a>>,
    /// For children whose parent does not change.
    pub(crate) loans: Vec<(PodKey, bool)>,
}

impl<'a> Plan<'a> {
    pub(crate) fn of(jobs: impl Iterator<Item = (usize, &'a Job)>) -> Self {
        let mut plan = Self {
            changes: Vec::new(),
            audit: Vec::new(),
            peers: Vec::new(),
            messages: Vec::new(),
            far: Vec::new(),
            rules: Vec::new(),
            foreign: Vec::new(),
        };
        for (index, job) in jobs {
            plan.audit.extend(&job.batch.audit);
            plan.foreign.extend(job.batch.foreign.iter().map(|pod| (index, *pod)));
            plan.peers.extend(job.batch.peers.iter().map(|change| (index, change)));
            plan.messages.extend(job.batch.messages.iter().map(|change| (index, change)));
            plan.far.extend(&job.batch.far);
            plan.rules.extend(&job.batch.rules);
            plan.far.extend(job.batch.changes.iter().flat_map(|change| &change.far));
            let planned = |change: &'a PodChange| Planned {
                job: index,
                change,
                key: change.key.filter(|_| change.create.is_none()),
            };
            plan.changes.extend(job.batch.changes.iter().map(planned));
        }
        plan
    }

    pub(crate) fn created(&self) -> Vec<&'a NewPod> {
        self.changes.iter().filter_map(|planned| planned.change.create.as_ref()).collect()
    }

    /// Takes the keys for [`Plan::created`], in the same order.
    pub(crate) fn set_created_keys(&mut self, keys: Vec<PodKey>) {
        let created = self.changes.iter_mut().filter(|planned| planned.change.create.is_some());
        created.zip(keys).for_each(|(planned, key)| planned.key = Some(key));
    }

    pub(crate) fn deleted(&self) -> Vec<PodKey> {
        self.changes.iter().filter(|planned| planned.change.delete).filter_map(|planned| planned.key).collect()
    }

    pub(crate) fn updates(&self) -> Vec<UpdateLine<'a>> {
        let mut lines: Vec<UpdateLine<'a>> = Vec::new();
        let mut line_of_pod = HashMap::new();
        for (pod, change) in self.kept() {
            let Some(update) = &change.update else { continue };
            let index = *line_of_pod.entry(pod).or_insert(lines.len());
            match lines.get_mut(index) {
                Some(line) => line.overlay(update),
                None => lines.push(UpdateLine::of(pod, update)),
            }
        }
        lines
    }

    pub(crate) fn relations(&self) -> Relations<'a> {
        let mut newest: BTreeMap<PodKey, (Option<&'a ParentLink>, bool)> = BTreeMap::new();
        for (pod, change) in self.kept() {
            if let Some(link) = &change.parent {
                newest.insert(pod, (Some(link), true));
            }
            if let Some(loan) = change.loan {
                newest.entry(pod).or_default().1 = loan == LoanChange::Out;
            }
        }
        let mut relations = Relations { links: Vec::new(), loans: Vec::new() };
        for (child, (link, is_lent)) in newest {
            match link {
                Some(link) => relations.links.push(LinkLine { child, link, is_lent }),
                None => relations.loans.push((child, is_lent)),
            }
        }
        relations
    }

    pub(crate) fn records(&self) -> Vec<(PodKey, &'a NewRecord)> {
        self.lines(|change| &change.records)
    }

    /// The pictures and files that the records refer to, each once per Pod.
    pub(crate) fn blob_uses(&self) -> BTreeSet<(&'a str, PodKey)> {
        let whole = self.records().into_iter().filter(|(_, record)| record.class != RecordClass::Chunk);
        whole.flat_map(|(pod, record)| blobs::named_in(&record.body).map(move |blob| (blob, pod))).collect()
    }

    pub(crate) fn folds(&self) -> Vec<(PodKey, &'a Fold)> {
        self.lines(|change| &change.folds)
    }

    pub(crate) fn spent(&self) -> Vec<SpentLine<'a>> {
        let lines = self.lines(|change| &change.spent).into_iter();
        lines.filter_map(|(pod, spent)| SpentLine::of(pod, spent)).collect()
    }

    pub(crate) fn inbox_put(&self) -> Vec<(PodKey, &'a InboxRow)> {
        self.lines(|change| &change.inbox_put)
    }

    pub(crate) fn inbox_taken(&self) -> Vec<(PodKey, &'a CommandId)> {
        self.lines(|change| &change.inbox_taken)
    }

    /// Includes mail from Pods that this group deletes: last messages to others.
    pub(crate) fn mail_put(&self) -> Vec<&'a MailPut> {
        self.changes.iter().flat_map(|planned| &planned.change.mail_put).collect()
    }

    pub(crate) fn mail_taken(&self) -> Vec<(PodKey, &'a String)> {
        self.lines(|change| &change.mail_taken)
    }

    pub(crate) fn peers(&self) -> Vec<PeerLines<'a>> {
        PeerLines::of(self.peers.iter().map(|(_, change)| *change))
    }

    pub(crate) fn messages(&self) -> MessageLines<'a> {
        MessageLines::of(self.messages.iter().map(|(_, change)| *change))
    }

    pub(crate) fn far(&self) -> &[&'a FarChange] {
        &self.far
    }

    /// Pods that pairs and messages refer to and that must exist, each with the batch that refers to it.
    pub(crate) fn named(&self) -> impl Iterator<Item = (usize, PodKey)> {
        let of_peers = self.peers.iter().filter_map(|(job, change)| Some((*job, change.pods()?)));
        let of_messages = self.messages.iter().filter_map(|(job, change)| Some((*job, change.pods()?)));
        of_peers.chain(of_messages).flat_map(|(job, pods)| pods.map(|pod| (job, pod)))
    }

    pub(crate) fn search(&self) -> Vec<SearchLine<'a>> {
        let texts = self.records().into_iter().filter_map(|(pod, record)| Some((pod, record, record.search.as_ref()?)));
        texts
            .map(|(pod, record, search)| SearchLine {
                pod,
                seq: record.seq,
                kind: search.kind,
                text: words::bounded(&search.text),
            })
            .collect()
    }

    /// The outcome of the batch at `index`.
    pub(crate) fn outcome(&self, index: usize) -> Committed {
        let of_job = self.changes.iter().filter(|planned| planned.job == index && planned.change.create.is_some());
        Committed::Done { created: of_job.filter_map(|planned| planned.key).collect() }
    }

    fn lines<T>(&self, column: impl Fn(&'a PodChange) -> &'a Vec<T>) -> Vec<(PodKey, &'a T)> {
        self.kept().flat_map(|(pod, change)| column(change).iter().map(move |row| (pod, row))).collect()
    }

    /// Changes of Pods that are not deleted. A change that deletes its Pod does nothing else to it.
    fn kept(&self) -> impl Iterator<Item = (PodKey, &'a PodChange)> {
        let kept = self.changes.iter().filter(|planned| !planned.change.delete);
        kept.filter_map(|planned| Some((planned.key?, planned.change)))
    }
}

impl<'a> UpdateLine<'a> {
    fn of(pod: PodKey, update: &'a PodUpdate) -> Self {
        let mut line =
            Self { pod, name: None, spec: None, checkpoint: None, updated_at: None, unread: None, drafts: None };
        line.overlay(update);
        line
    }

    fn overlay(&mut self, update: &'a PodUpdate) {
        self.name = update.name.as_ref().or(self.name);
        self.spec = update.spec.as_deref().or(self.spec);
        self.checkpoint = update.checkpoint.as_ref().or(self.checkpoint);
        self.updated_at = update.updated_at.or(self.updated_at);
        self.unread = update.unread.or(self.unread);
        self.drafts = update.drafts.as_deref().or(self.drafts);
    }
}
