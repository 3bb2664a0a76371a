//! Routes lines between Pods: straight where no box is between, otherwise through the gaps between the boxes. No line
//! runs behind a box.

use super::{Line, MARGIN, NODE_HEIGHT, NODE_WIDTH, Node, PITCH_X, PITCH_Y};

/// How far the middle of a line between two Pods of one row sags below them. It sags more the farther they are apart,
/// so that lines that start at the same Pod do not overlap.
const SAG: i32 = 20;
const SAG_MORE: i32 = 9;
/// Clearance between a line and a box that it passes.
const CLEAR: i32 = 6;
/// The offsets at which lines from different Pods run side by side.
const LANES: [i32; 5] = [0, 6, -6, 12, -12];
const CORNER: i32 = 8;
/// How many points of a curve are checked.
const STEPS: i64 = 32;

type Point = (i32, i32);

#[derive(Debug)]
pub(super) struct Route {
    /// An SVG path.
    pub(super) path: String,
    /// The middle of the label's baseline.
    pub(super) label_at: Point,
}

/// The centres of the boxes, and which lanes are taken.
#[derive(Debug)]
pub(super) struct Routes {
    middles: Vec<Point>,
    width: i32,
    lanes: Vec<(Line, Point)>,
}

impl Routes {
    pub(super) fn new(nodes: &[Node], width: i32) -> Self {
        Self { middles: nodes.iter().map(middle).collect(), width, lanes: Vec::new() }
    }

    /// The line from the bottom of the parent to the top of the child.
    pub(super) fn leads(&mut self, parent: &Node, child: &Node) -> Route {
        let from = (parent.x, parent.y + NODE_HEIGHT / 2);
        let to = (child.x, child.y - NODE_HEIGHT / 2);
        let half = (from.1 + to.1) / 2;
        let curve = [from, (from.0, half), (to.0, half), to];
        let path = match child.y > parent.y && self.is_clear(middle(parent), middle(child), &curve) {
            true => format!("M{} {}C{} {half} {} {half} {} {}", from.0, from.1, from.0, to.0, to.0, to.1),
            false => self.around(Line::Leads, from, to),
        };
        Route { path, label_at: (to.0, to.1 - 6) }
    }

    /// The line between peers: straight to a neighbour, sagging below others in the row, diagonal to another row;
    /// never where a line from a parent starts or ends. `a` is above `b`, or left of it.
    pub(super) fn knows(&mut self, a: &Node, b: &Node) -> Route {
        let center = (a.x + b.x) / 2;
        if a.y == b.y {
            return match self.middles.iter().any(|&(x, y)| y == a.y && a.x < x && x < b.x) {
                false => {
                    let (x1, x2) = (a.x + NODE_WIDTH / 2, b.x - NODE_WIDTH / 2);
                    Route { path: format!("M{x1} {}H{x2}", a.y), label_at: (center, a.y - 6) }
                }
                true => bow(a, b),
            };
        }
        let from = (a.x + NODE_WIDTH / 4, a.y + NODE_HEIGHT / 2);
        let to = (b.x + NODE_WIDTH / 4, b.y - NODE_HEIGHT / 2);
        match self.is_clear(middle(a), middle(b), &[from, from, to, to]) {
            true => Route {
                path: format!("M{} {}L{} {}", from.0, from.1, to.0, to.1),
                label_at: ((from.0 + to.0) / 2 + 4, (from.1 + to.1) / 2),
            },
            // Above the label of what is lent, which may be there too.
            false => Route { path: self.around(Line::Knows, from, to), label_at: (to.0, to.1 - 20) },
        }
    }

    /// Whether the curve hits no box in the rows between the two points.
    fn is_clear(&self, from: Point, to: Point, curve: &[Point; 4]) -> bool {
        let between: Vec<Point> = self.between(from.1, to.1).collect();
        let is_hit = |(x, y): Point| between.iter().any(|middle| is_in(x, y, *middle));
        !(0..=STEPS).any(|step| is_hit(point_of(curve, step)))
    }

    fn between(&self, y1: i32, y2: i32) -> impl Iterator<Item = Point> + '_ {
        let (low, high) = (y1.min(y2), y1.max(y2));
        self.middles.iter().copied().filter(move |(_, y)| low < *y && *y < high)
    }

    /// Down to the gap below the row, along it, down a gap between columns, and along the gap above the other row.
    fn around(&mut self, line: Line, from: Point, to: Point) -> String {
        let lane = self.lane(line, from);
        let lowest = self.middles.iter().map(|(_, y)| y + (NODE_HEIGHT + MARGIN) / 2).max().unwrap_or_default();
        let room = (PITCH_Y - NODE_HEIGHT) / 2;
        let (leave, arrive) = ((from.1 + room + lane).min(lowest), (to.1 - room + lane).max(MARGIN / 2));
        let x = self.way_down(from.0, to.0, lane, leave, arrive);
        rounded(&[from, (from.0, leave), (x, leave), (x, arrive), (to.0, arrive), to])
    }

    /// The column in which a line can go down from one height to another, with the shortest detour.
    fn way_down(&self, x1: i32, x2: i32, lane: i32, leave: i32, arrive: i32) -> i32 {
        let between: Vec<Point> = self.between(leave, arrive).collect();
        let is_free = |x: &i32| between.iter().all(|(middle, _)| (middle - x).abs() >= NODE_WIDTH / 2 + CLEAR);
        let columns = (0..).map(|half| MARGIN + NODE_WIDTH / 2 + half * PITCH_X / 2).take_while(|x| *x < self.width);
        // No box is ever outside all columns.
        let outside = [MARGIN / 2 + lane / 3, self.width - MARGIN / 2 + lane / 3];
        [x1, x2]
            .into_iter()
            .chain(columns.map(|x| x + lane))
            .chain(outside)
            .filter(is_free)
            .min_by_key(|x| {
                // Of two routes of equal length, the one with fewer corners.
                ((x - x1).abs() + (x - x2).abs(), u8::from(*x != x1), *x)
            })
            .unwrap_or(x1)
    }

    /// The lane of a line; lines of one kind from one Pod share theirs.
    fn lane(&mut self, line: Line, from: Point) -> i32 {
        let at = self.lanes.iter().position(|known| *known == (line, from)).unwrap_or_else(|| {
            self.lanes.push((line, from));
            self.lanes.len() - 1
        });
        LANES[at % LANES.len()]
    }
}

fn middle(node: &Node) -> Point {
    (node.x, node.y)
}

fn is_in(x: i32, y: i32, middle: Point) -> bool {
    (x - middle.0).abs() < NODE_WIDTH / 2 + CLEAR && (y - middle.1).abs() < NODE_HEIGHT / 2 + CLEAR
}

/// A point on a cubic Bézier curve with these control points.
fn point_of(curve: &[Point; 4], step: i64) -> Point {
    let rest = STEPS - step;
    let weights = [rest.pow(3), 3 * rest.pow(2) * step, 3 * rest * step.pow(2), step.pow(3)];
    let along = |part: fn(&Point) -> i32| {
        let sum: i64 = curve.iter().zip(weights).map(|(point, weight)| i64::from(part(point)) * weight).sum();
        (sum / STEPS.pow(3)) as i32
    };
    (along(|point| point.0), along(|point| point.1))
}

fn bow(a: &Node, b: &Node) -> Route {
    let (y, center) = (a.y + NODE_HEIGHT / 2, (a.x + b.x) / 2);
    let (x1, x2) = (a.x + NODE_WIDTH / 4, b.x - NODE_WIDTH / 4);
    let sag = SAG + SAG_MORE * ((b.x - a.x) / PITCH_X - 2);
    // A quadratic curve comes down half as far as its control point.
    Route { path: format!("M{x1} {y}Q{center} {} {x2} {y}", y + 2 * sag), label_at: (center, y + sag + 4) }
}

/// A path through these points with rounded corners. Each segment is horizontal or vertical.
fn rounded(points: &[Point]) -> String {
    let mut bends: Vec<Point> = Vec::new();
    for &point in points {
        let is_on_the_way = |before: &Point, last: &Point| {
            (before.0 == last.0 && last.0 == point.0) || (before.1 == last.1 && last.1 == point.1)
        };
        if let [.., before, last] = bends[..]
            && is_on_the_way(&before, &last)
        {
            bends.pop();
        }
        if bends.last() != Some(&point) {
            bends.push(point);
        }
    }
    let mut path = bends.first().map(|(x, y)| format!("M{x} {y}")).unwrap_or_default();
    for bend in bends.windows(3) {
        let [before, (x, y), after] = *bend else { continue };
        let radius =
            [before, after].iter().map(|end| ((end.0 - x).abs() + (end.1 - y).abs()) / 2).fold(CORNER, i32::min);
        let toward = |end: Point| (x + (end.0 - x).signum() * radius, y + (end.1 - y).signum() * radius);
        let ((x1, y1), (x2, y2)) = (toward(before), toward(after));
        path += &format!("L{x1} {y1}Q{x} {y} {x2} {y2}");
    }
    match bends.last() {
        Some((x, y)) if bends.len() > 1 => path + &format!("L{x} {y}"),
        _ => path,
    }
}
