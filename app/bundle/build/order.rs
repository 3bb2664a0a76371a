//! Reorders the functions of the module so that similar ones are adjacent: the compressor can then encode each as a
//! short difference from its neighbour. Order does not change what the module does.

use std::{collections::HashMap, convert::Infallible};

use anyhow::{Result, anyhow};
use wasm_encoder::{
    CodeSection, FunctionSection, Module,
    reencode::{Error, Reencode},
};
use wasmparser::{CodeSectionReader, FunctionBody, FunctionSectionReader, Parser, Payload, TypeRef};

/// Functions are compared by all byte runs of this length in their bodies.
const RUN_BYTES: usize = 4;

/// A run that occurs in more functions than this is too common to count as similarity.
const RUN_USERS_MAX: usize = 3_000;

/// Returns the module with its functions reordered by similarity.
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

/// Returns the number of imported functions, and the body bytes of each defined one.
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

/// Greedy ordering: starts with the first function; each next one is the remaining function most similar to its
/// predecessor, measured by the share of runs that both have. Deterministic for equal input.
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

/// Re-encodes the module with functions in a new order and every reference renumbered.
struct Ordering {
    imported: usize,
    /// For each new position (imports excluded), the function that goes there.
    order: Vec<usize>,
    /// The inverse: for each function, its new position.
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
