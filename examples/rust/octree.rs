//! Potentials by an octree whose cells lie on all PEs, each on the PE that a hash of its place
//! names: tasks that nobody knows before others have run.
//!
//! Bodies are told to the root. A cell adds a body to its mass; where it has too many bodies it gets
//! children, and tells these of them. When no call is under way any more, each PE asks for the potential
//! at its bodies, after Barnes and Hut: a distant cell counts as one mass; when a near one has come, its
//! children are asked for. PE 0 does the same alone in the end and compares.
//!
//! Usage: octree [BODIES-OF-A-PE]
//!
// run: np=1,2,3,4 expect-stdout="as alone"
// run: np=2 args=1

use calls::{Calls, Here, Load, Peer, Save, action};
use std::array;
use std::collections::BTreeMap;
use std::error::Error;
use std::mem;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, MutexGuard};

/// Bits of a coordinate, and levels below the root at most.
const LEVELS: u32 = 16;
/// Bodies of a cell without children.
const ROOM: usize = 4;

/// Place of a cell in the tree: a one, and three bits for each level from the root on.
type Place = u64;
const ROOT: Place = 1;

type Point = [u64; 3];

#[derive(Save, Load, Clone, Copy, Debug)]
struct Body {
    at: Point,
    mass: u64,
}

/// A cube. Its numbers are whole, so that sums do not depend on their order.
#[derive(Save, Load, Clone, Debug, Default)]
struct Cell {
    mass: u64,
    /// The sums of masses times coordinates.
    moments: Point,
    /// Of a cell without children.
    bodies: Vec<Body>,
    /// A bit for each child.
    children: u8,
}

impl Cell {
    /// Adds a body; returns those that children have from now on.
    fn add(&mut self, place: Place, body: Body) -> Vec<Body> {
        self.mass += body.mass;
        for (moment, coordinate) in self.moments.iter_mut().zip(body.at) {
            *moment += body.mass * coordinate;
        }
        self.bodies.push(body);
        let is_full = self.bodies.len() > ROOM && level(place) < LEVELS;
        if self.children == 0 && !is_full {
            return Vec::new();
        }
        let bodies = mem::take(&mut self.bodies);
        for body in &bodies {
            self.children |= 1 << (child(place, body) & 7);
        }
        bodies
    }

    /// Returns the potential of the cell at a point, unless its children have to be asked for.
    fn potential(&self, place: Place, from: Point) -> Option<u64> {
        if self.children == 0 {
            let of = |body: &Body| potential(body.mass, from, body.at);
            return Some(self.bodies.iter().map(of).sum());
        }
        let centre = self.moments.map(|moment| moment / self.mass);
        let size = 1 << (LEVELS - level(place));
        let is_far = from
            .iter()
            .zip(centre)
            .any(|(a, b)| a.abs_diff(b) > 2 * size);
        is_far.then(|| potential(self.mass, from, centre))
    }

    fn children(&self, place: Place) -> impl Iterator<Item = Place> {
        let all = (0..8).filter(|child| self.children >> child & 1 == 1);
        all.map(move |child| place << 3 | child)
    }
}

fn level(place: Place) -> u32 {
    place.ilog2() / 3
}

/// Returns the child of a cell that has a body.
fn child(place: Place, body: &Body) -> Place {
    let bit = LEVELS - 1 - level(place);
    let bits = body.at.map(|coordinate| coordinate >> bit & 1);
    place << 3 | bits[0] << 2 | bits[1] << 1 | bits[2]
}

fn potential(mass: u64, from: Point, to: Point) -> u64 {
    let squares: Point = array::from_fn(|axis| from[axis].abs_diff(to[axis]).pow(2));
    (mass << LEVELS) / squares.iter().sum::<u64>().isqrt().max(1)
}

/// Returns the cells that this PE owns.
fn owned() -> MutexGuard<'static, BTreeMap<Place, Cell>> {
    static OWNED: Mutex<BTreeMap<Place, Cell>> = Mutex::new(BTreeMap::new());
    OWNED.lock().expect("no action has panicked")
}

/// Returns the PE that owns a cell.
fn owner(calls: &Calls, place: Place) -> Peer<'_> {
    let hash = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let rank = (hash % u64::from(calls.ranks())) as u32;
    calls.to(rank).expect("ranks are below their number")
}

/// Adds a body to a cell.
#[action]
fn add(here: &Here, place: Place, body: Body) {
    let of_children = owned().entry(place).or_default().add(place, body);
    for body in of_children {
        let child = child(place, &body);
        owner(here.calls(), child).tell(add, (child, body));
    }
}

/// Returns a cell.
#[action]
fn cell(place: Place) -> Cell {
    owned().get(&place).cloned().unwrap_or_default()
}

/// Asks for a cell, and tells `found` of its potential at a point, or of those of its children.
fn ask(calls: &Calls, place: Place, from: Point, found: Sender<Result<u64, calls::Error>>) {
    let next = calls.clone();
    owner(calls, place).run(cell, (place,)).then(move |cell| {
        let is_received = match cell {
            Err(error) => found.send(Err(error)),
            Ok(cell) => match cell.potential(place, from) {
                Some(potential) => found.send(Ok(potential)),
                None => {
                    let children = cell.children(place);
                    children.for_each(|child| ask(&next, child, from, found.clone()));
                    Ok(())
                }
            },
        };
        is_received.expect("there is a receiver until all calls have ended");
    });
}

/// The cells of a tree, and the sum of potentials.
type Sums = (u64, u64);

/// Adds a PE's sums to those of all, and returns these.
#[action]
fn sum(cells: u64, potential: u64) -> Sums {
    static SUMS: Mutex<Sums> = Mutex::new((0, 0));
    let mut sums = SUMS.lock().expect("no action has panicked");
    *sums = (sums.0 + cells, sums.1 + potential);
    *sums
}

/// Returns the sums of all bodies on one PE.
fn alone(bodies: &[Body]) -> Sums {
    let mut tree = BTreeMap::<Place, Cell>::new();
    let mut todo: Vec<_> = bodies.iter().map(|&body| (ROOT, body)).collect();
    while let Some((place, body)) = todo.pop() {
        let of_children = tree.entry(place).or_default().add(place, body);
        todo.extend(of_children.iter().map(|body| (child(place, body), *body)));
    }
    let mut todo: Vec<_> = bodies.iter().map(|body| (ROOT, body.at)).collect();
    let mut sum = 0;
    while let Some((place, from)) = todo.pop() {
        let cell = &tree[&place];
        match cell.potential(place, from) {
            Some(potential) => sum += potential,
            None => todo.extend(cell.children(place).map(|child| (child, from))),
        }
    }
    (tree.len() as u64, sum)
}

/// Returns the bodies of a PE, more of them near the origin.
fn bodies(rank: u32, count: usize) -> impl Iterator<Item = Body> {
    let mut state = u64::from(rank) + 1;
    let mut next = move |bits: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> (64 - bits)
    };
    (0..count).map(move |_| Body {
        at: array::from_fn(|_| (next(LEVELS) * next(LEVELS)) >> LEVELS),
        mass: 1 + next(4),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let number = std::env::args().nth(1).map(|number| number.parse());
    let count = number.transpose()?.unwrap_or(300);
    let calls = Calls::open()?;
    let (rank, ranks) = (calls.rank(), calls.ranks());

    for body in bodies(rank, count) {
        owner(&calls, ROOT).tell(add, (ROOT, body));
    }
    calls.settle()?;

    let (found, potentials) = mpsc::channel();
    for body in bodies(rank, count) {
        ask(&calls, ROOT, body.at, found.clone());
    }
    calls.wait_all()?;
    let potential = potentials.try_iter().sum::<Result<u64, _>>()?;
    let cells = owned().len() as u64;
    calls.to(0)?.tell(sum, (cells, potential));
    calls.settle()?;

    if rank == 0 {
        let found = calls.to(0)?.run(sum, (0, 0)).wait()?;
        let all: Vec<_> = (0..ranks).flat_map(|rank| bodies(rank, count)).collect();
        let alone = alone(&all);
        if found != alone {
            return Err(format!("{ranks} PEs find {found:?}, and one PE {alone:?}").into());
        }
        let bodies = all.len();
        println!(
            "{bodies} bodies in {} cells on {ranks} PEs, as alone",
            found.0
        );
    }
    Ok(calls.close()?)
}
