//! Functions that resemble each other, side by side: the compressor then says each of them as a short difference from its
//! neighbour. The module does the same in any order.

use std::{collections::HashMap, convert::Infallible};

use anyhow::{Result, anyhow};
use wasm_encoder::{
    CodeSection, FunctionSection, Module,
    reencode::{Error, Reencode},
};
use wasmparser::{CodeSectionReader, FunctionBody, FunctionSectionReader, Parser, Payload, TypeRef};

/// Functions are compared by all runs of so many bytes in their bodies.
const RUN_BYTES: usize = 4;

/// A run that is in more functions than this says nothing about any of them.
const RUN_USERS_MAX: usize = 3_000;

/// The module with its functions put in order.
pub(crate) fn by_likeness(module: &[u8]) -> Result<Vec<u8>> {
    let (imported, bodies) = functions(module)?;
    let order = chain(&bodies);
    let mut place = vec![0; order.len()];
    for (index, function) in order.iter().enumerate() {
        place[*function] = index;
    }
    let mut ordered = Module::new();
    Ordering { imported, order, place }
        .parse_core_module(&mut ordered, Parser::new(0), module)
        .map_err(|error| anyhow!("the module could not be put in order: {error}"))?;
    Ok(ordered.finish())
}

/// How many functions the module imports, and the bytes of those that it has.
fn functions(module: &[u8]) -> Result<(usize, Vec<&[u8]>)> {
    let mut imported = 0;
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += usize::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
            _ => {}
        }
    }
    Ok((imported, bodies))
}

/// Begins with the first function; each next one is the one, of those left, that shares most with it: of the runs of both, the
/// part that is in both. Equal input gives an equal order.
fn chain(bodies: &[&[u8]]) -> Vec<usize> {
    let runs: Vec<Vec<&[u8]>> = bodies.iter().map(|body| distinct_runs(body)).collect();
    let mut users: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (function, runs) in runs.iter().enumerate() {
        for run in runs {
            users.entry(run).or_default().push(function);
        }
    }
    users.retain(|_, users| users.len() <= RUN_USERS_MAX);

    let mut is_placed = vec![false; bodies.len()];
    let mut shared = vec![0_usize; bodies.len()];
    let mut first_left = 0;
    let mut order = Vec::with_capacity(bodies.len());
    let mut next = (!bodies.is_empty()).then_some(0);
    while let Some(now) = next {
        is_placed[now] = true;
        order.push(now);
        let mut like = Vec::new();
        for run in &runs[now] {
            let Some(users) = users.get_mut(run) else { continue };
            users.retain(|&other| !is_placed[other]);
            for &other in users.iter() {
                if shared[other] == 0 {
                    like.push(other);
                }
                shared[other] += 1;
            }
        }
        let likeness = |other: usize| {
            let all = runs[now].len() + runs[other].len() - shared[other];
            shared[other] as f64 / all as f64
        };
        let likest = like.iter().copied().max_by(|&one, &other| likeness(one).total_cmp(&likeness(other)));
        for other in like {
            shared[other] = 0;
        }
        while is_placed.get(first_left).is_some_and(|is_placed| *is_placed) {
            first_left += 1;
        }
        next = likest.or((first_left < bodies.len()).then_some(first_left));
    }
    order
}

fn distinct_runs(body: &[u8]) -> Vec<&[u8]> {
    let mut runs: Vec<&[u8]> = body.windows(RUN_BYTES).collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// Writes the functions in another order, and each mention of one by its new number.
struct Ordering {
    imported: usize,
    /// By new place, without the imported ones: the function that comes there.
    order: Vec<usize>,
    /// The other way round: by function, its new place.
    place: Vec<usize>,
}

impl Reencode for Ordering {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        Ok(match (function as usize).checked_sub(self.imported) {
            None => function,
            Some(own) => (self.imported + self.place[own]) as u32,
        })
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for &function in &self.order {
            functions.function(types[function]);
        }
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, section: CodeSectionReader<'_>) -> Result<(), Error> {
        let bodies = section.into_iter().collect::<Result<Vec<FunctionBody<'_>>, _>>()?;
        for function in self.order.clone() {
            self.parse_function_body(code, bodies[function].clone())?;
        }
        Ok(())
    }
}
