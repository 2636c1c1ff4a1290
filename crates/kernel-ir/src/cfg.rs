//! CFG analysis: block orders, dominators, post-dominators, the loop nesting forest.
//!
//! All analyses accept any graph, including irreducible ones and endless loops, and do not recurse.

use crate::ir::{BlockId, Function};

const NONE: u32 = u32::MAX;
/// Loops nested deeper are merged into one loop: a hostile module must not cost depth times blocks.
const LOOP_DEPTH: u32 = 256;

/// Predecessors, successors and reverse post-order of a function's reachable blocks.
#[derive(Clone, Debug)]
pub struct Cfg {
    successors: Edges,
    predecessors: Edges,
    order: Vec<BlockId>,
    position: Vec<u32>,
}

/// Adjacency lists in a single allocation.
#[derive(Clone, Debug)]
struct Edges {
    start: Vec<u32>,
    to: Vec<BlockId>,
}

impl Edges {
    fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut start = vec![0u32; nodes + 1];
        for &(from, _) in edges {
            start[from as usize + 1] += 1;
        }
        for i in 0..nodes {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut to = vec![BlockId(0); edges.len()];
        for &(from, target) in edges {
            to[next[from as usize] as usize] = BlockId(target);
            next[from as usize] += 1;
        }
        Self { start, to }
    }
    fn of(&self, node: usize) -> &[BlockId] {
        &self.to[self.start[node] as usize..self.start[node + 1] as usize]
    }
}

impl Cfg {
    /// Reads the terminators of `function`. Edges that stand twice in a terminator count once;
    /// edges from unreachable blocks do not count.
    #[must_use]
    pub fn new(function: &Function) -> Self {
        let n = function.blocks.len();
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(n * 2);
        let mut mark = vec![NONE; n];
        for (i, block) in function.blocks.iter().enumerate() {
            block.term.successors(|to| {
                if mark[to.index()] != i as u32 {
                    mark[to.index()] = i as u32;
                    edges.push((i as u32, to.0));
                }
            });
        }
        let successors = Edges::new(n, &edges);
        let mut order = Vec::with_capacity(n);
        let mut position = vec![NONE; n];
        if n > 0 {
            let mut seen = vec![false; n];
            let mut stack = vec![(BlockId(0), 0usize)];
            seen[0] = true;
            while let Some((block, next)) = stack.last_mut() {
                if let Some(&to) = successors.of(block.index()).get(*next) {
                    *next += 1;
                    if !std::mem::replace(&mut seen[to.index()], true) {
                        stack.push((to, 0));
                    }
                } else {
                    order.push(*block);
                    stack.pop();
                }
            }
            order.reverse();
        }
        for (i, block) in order.iter().enumerate() {
            position[block.index()] = i as u32;
        }
        let mut back: Vec<(u32, u32)> = edges
            .iter()
            .filter(|(from, _)| position[*from as usize] != NONE)
            .map(|&(from, to)| (to, from))
            .collect();
        back.sort_unstable();
        Self {
            successors,
            predecessors: Edges::new(n, &back),
            order,
            position,
        }
    }
    /// Distinct successors.
    #[must_use]
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        self.successors.of(block.index())
    }
    /// Distinct reachable predecessors, by id.
    #[must_use]
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        self.predecessors.of(block.index())
    }
    /// Reachable blocks, the entry first.
    #[must_use]
    pub fn reverse_post_order(&self) -> &[BlockId] {
        &self.order
    }
    /// Position in [`Self::reverse_post_order`].
    #[must_use]
    pub fn position(&self, block: BlockId) -> Option<usize> {
        let at = self.position[block.index()];
        (at != NONE).then_some(at as usize)
    }
    /// Whether the entry reaches `block`.
    #[must_use]
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block.index()] != NONE
    }
    /// Number of blocks of the function.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.position.len()
    }
}

/// Immediate dominators over nodes `0..n`, by semi-dominators with path compression; `NONE` for the
/// root and for what it does not reach.
fn dominator_tree<'e>(
    n: usize,
    root: usize,
    successors: impl Fn(usize) -> &'e [BlockId],
    predecessors: impl Fn(usize) -> &'e [BlockId],
) -> Vec<u32> {
    // All arrays but `number` are indexed by depth-first number.
    let mut number = vec![NONE; n];
    let mut node = Vec::with_capacity(n);
    let mut parent: Vec<u32> = Vec::with_capacity(n);
    let mut stack = vec![(root, 0usize)];
    number[root] = 0;
    node.push(root);
    parent.push(0);
    while let Some((at, next)) = stack.last_mut() {
        if let Some(to) = successors(*at).get(*next) {
            *next += 1;
            if number[to.index()] == NONE {
                parent.push(number[*at]);
                number[to.index()] = node.len() as u32;
                node.push(to.index());
                stack.push((to.index(), 0));
            }
        } else {
            stack.pop();
        }
    }
    let count = node.len();
    let mut idom = parent.clone();
    let mut semi: Vec<u32> = (0..count as u32).collect();
    let mut label = semi.clone();
    let mut ancestor = parent;
    let mut path = Vec::new();
    for i in (1..count).rev() {
        let linked = i as u32 + 1;
        let mut best = idom[i];
        for from in predecessors(node[i]) {
            let v = number[from.index()];
            if v == NONE {
                continue;
            }
            // The smallest semi-dominator on the linked path above v.
            let mut at = v;
            if at >= linked {
                while ancestor[at as usize] >= linked {
                    path.push(at);
                    at = ancestor[at as usize];
                }
                while let Some(below) = path.pop() {
                    let (l, up) = (label[below as usize], label[at as usize]);
                    if semi[up as usize] < semi[l as usize] {
                        label[below as usize] = up;
                    }
                    ancestor[below as usize] = ancestor[at as usize];
                    at = below;
                }
            }
            best = best.min(semi[label[v as usize] as usize]);
        }
        semi[i] = best;
    }
    for i in 1..count {
        let mut up = idom[i];
        while up > semi[i] {
            up = idom[up as usize];
        }
        idom[i] = up;
    }
    let mut result = vec![NONE; n];
    for i in 1..count {
        result[node[i]] = node[idom[i] as usize] as u32;
    }
    result
}

/// Entry and exit numbers of each node in a walk over a tree given by parents.
fn tree_intervals(parents: &[u32], root: usize) -> (Vec<u32>, Vec<u32>) {
    let n = parents.len();
    let edges: Vec<(u32, u32)> = parents
        .iter()
        .enumerate()
        .filter(|(_, p)| **p != NONE)
        .map(|(i, p)| (*p, i as u32))
        .collect();
    let children = Edges::new(n, &edges);
    let (mut first, mut last) = (vec![NONE; n], vec![0; n]);
    let mut clock = 0;
    let mut stack = vec![(root, 0usize)];
    first[root] = 0;
    while let Some((at, next)) = stack.last_mut() {
        if let Some(child) = children.of(*at).get(*next) {
            *next += 1;
            clock += 1;
            first[child.index()] = clock;
            stack.push((child.index(), 0));
        } else {
            last[*at] = clock;
            stack.pop();
        }
    }
    (first, last)
}

/// The dominator tree.
#[derive(Clone, Debug)]
pub struct Dominators {
    parent: Vec<u32>,
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Dominators {
    /// Of the blocks that the entry reaches.
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        let n = cfg.block_count();
        if n == 0 {
            return Self {
                parent: Vec::new(),
                first: Vec::new(),
                last: Vec::new(),
            };
        }
        let parent = dominator_tree(n, 0, |b| cfg.successors.of(b), |b| cfg.predecessors.of(b));
        let (first, last) = tree_intervals(&parent, 0);
        Self {
            parent,
            first,
            last,
        }
    }
    /// The immediate dominator of `block`; `None` for the entry and for unreachable blocks.
    #[must_use]
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        let parent = self.parent[block.index()];
        (parent != NONE).then_some(BlockId(parent))
    }
    /// Whether `a` is on every path from the entry to `b`; a block dominates itself. False when
    /// either is unreachable.
    #[must_use]
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (fa, fb) = (self.first[a.index()], self.first[b.index()]);
        fa != NONE && fb != NONE && fa <= fb && fb <= self.last[a.index()]
    }
    /// Dominance frontiers of all blocks.
    #[must_use]
    pub fn frontiers(&self, cfg: &Cfg) -> Vec<Vec<BlockId>> {
        let mut all = vec![Vec::new(); cfg.block_count()];
        for &block in cfg.reverse_post_order() {
            let preds = cfg.predecessors(block);
            if preds.len() < 2 {
                continue;
            }
            let stop = self.parent[block.index()];
            for &pred in preds {
                let mut at = pred.0;
                while at != stop && at != NONE {
                    let list: &mut Vec<BlockId> = &mut all[at as usize];
                    if list.last() == Some(&block) {
                        break;
                    }
                    list.push(block);
                    at = self.parent[at as usize];
                }
            }
        }
        all
    }
}

/// The post-dominator tree, rooted in a virtual exit behind every block without successors.
#[derive(Clone, Debug)]
pub struct PostDominators {
    parent: Vec<u32>,
    first: Vec<u32>,
    last: Vec<u32>,
    exit: u32,
}

impl PostDominators {
    /// Of the reachable blocks. An endless loop gets an exit edge from its last block in reverse post-order.
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        let n = cfg.block_count();
        let exit = n as u32;
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut reaches = vec![false; n];
        let mut stack: Vec<BlockId> = Vec::new();
        let mut roots: Vec<u32> = Vec::new();
        for &block in cfg.reverse_post_order() {
            if cfg.successors(block).is_empty() {
                roots.push(block.0);
                reaches[block.index()] = true;
                stack.push(block);
            }
            for to in cfg.successors(block) {
                edges.push((block.0, to.0));
            }
        }
        // Blocks that reach no exit get an edge to the virtual exit.
        let mut rest = cfg.reverse_post_order().iter().rev();
        loop {
            while let Some(block) = stack.pop() {
                for &pred in cfg.predecessors(block) {
                    if !std::mem::replace(&mut reaches[pred.index()], true) {
                        stack.push(pred);
                    }
                }
            }
            let Some(&block) = rest.find(|b| !reaches[b.index()]) else {
                break;
            };
            roots.push(block.0);
            reaches[block.index()] = true;
            stack.push(block);
        }
        edges.extend(roots.iter().map(|&b| (b, exit)));
        let forward = Edges::new(n + 1, &edges);
        let back: Vec<(u32, u32)> = edges.iter().map(|&(a, b)| (b, a)).collect();
        let backward = Edges::new(n + 1, &back);
        let parent = dominator_tree(n + 1, n, |b| backward.of(b), |b| forward.of(b));
        let (first, last) = tree_intervals(&parent, n);
        Self {
            parent,
            first,
            last,
            exit,
        }
    }
    /// The immediate post-dominator of `block`; `None` when that is the virtual exit.
    #[must_use]
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        let parent = self.parent[block.index()];
        (parent != NONE && parent != self.exit).then_some(BlockId(parent))
    }
    /// Whether `a` is on every path from `b` to the exit; a block post-dominates itself.
    #[must_use]
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (fa, fb) = (self.first[a.index()], self.first[b.index()]);
        fa != NONE && fb != NONE && fa <= fb && fb <= self.last[a.index()]
    }
}

/// A loop: a strongly connected set of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The first block in reverse post-order; the only entry unless `irreducible`.
    pub header: BlockId,
    /// All blocks, those of inner loops too, in [`Loops::order`].
    pub blocks: Vec<BlockId>,
    /// The loop around it.
    pub parent: Option<u32>,
    /// 1 for outermost loops.
    pub depth: u32,
    /// Whether other blocks than the header are entered from outside.
    pub irreducible: bool,
}

/// The loop nesting forest and a block order in which every loop is contiguous.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// Outer loops before inner ones.
    pub loops: Vec<Loop>,
    innermost: Vec<u32>,
    order: Vec<BlockId>,
}

impl Loops {
    /// Of the reachable blocks.
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        let n = cfg.block_count();
        let mut forest = Self {
            loops: Vec::new(),
            innermost: vec![NONE; n],
            order: Vec::with_capacity(n),
        };
        let mut search = Components {
            cfg,
            region: vec![0; n],
            index: vec![NONE; n],
            low: vec![0; n],
            on_stack: vec![false; n],
        };
        let mut regions = 0u32;
        // Regions still to be ordered, the next one last.
        let mut work = vec![Piece {
            blocks: cfg.reverse_post_order().to_vec(),
            header: None,
            parent: NONE,
        }];
        while let Some(piece) = work.pop() {
            if let [block] = piece.blocks[..]
                && (piece.header.is_some() || !cfg.successors(block).contains(&block))
            {
                forest.innermost[block.index()] = piece.parent;
                forest.order.push(block);
                continue;
            }
            if forest
                .loops
                .get(piece.parent as usize)
                .is_some_and(|l| l.depth >= LOOP_DEPTH)
            {
                for &block in &piece.blocks {
                    forest.innermost[block.index()] = piece.parent;
                    forest.order.push(block);
                }
                continue;
            }
            regions += 1;
            for block in &piece.blocks {
                search.region[block.index()] = regions;
                search.index[block.index()] = NONE;
            }
            let components = search.components(&piece.blocks, piece.header, regions);
            // The search yields sinks first; pushed in that order, sources are popped first.
            for mut blocks in components {
                let single = blocks.len() == 1
                    && (Some(blocks[0]) == piece.header
                        || !cfg.successors(blocks[0]).contains(&blocks[0]));
                if single {
                    work.push(Piece {
                        header: Some(blocks[0]),
                        blocks,
                        parent: piece.parent,
                    });
                    continue;
                }
                blocks.sort_unstable_by_key(|b| cfg.position[b.index()]);
                let id = forest.loops.len() as u32;
                let outer = forest.loops.get(piece.parent as usize);
                forest.loops.push(Loop {
                    header: blocks[0],
                    blocks: Vec::new(),
                    parent: outer.map(|_| piece.parent),
                    depth: outer.map_or(1, |l| l.depth + 1),
                    irreducible: false,
                });
                work.push(Piece {
                    header: Some(blocks[0]),
                    blocks,
                    parent: id,
                });
            }
        }
        forest.fill(cfg);
        forest
    }

    fn fill(&mut self, cfg: &Cfg) {
        for &block in &self.order {
            let mut at = self.innermost[block.index()];
            while let Some(l) = self.loops.get_mut(at as usize) {
                l.blocks.push(block);
                at = l.parent.unwrap_or(NONE);
            }
        }
        let mut inside = vec![NONE; cfg.block_count()];
        for (i, l) in self.loops.iter_mut().enumerate() {
            for block in &l.blocks {
                inside[block.index()] = i as u32;
            }
            l.irreducible = l.blocks.iter().any(|&block| {
                block != l.header
                    && cfg
                        .predecessors(block)
                        .iter()
                        .any(|p| inside[p.index()] != i as u32)
            });
        }
    }

    /// Reachable blocks in a topological order of the acyclic part, the header of each loop first
    /// and each loop's blocks without others between them.
    #[must_use]
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }
    /// Index in [`Self::loops`] of the innermost loop around `block`.
    #[must_use]
    pub fn innermost(&self, block: BlockId) -> Option<u32> {
        let at = self.innermost[block.index()];
        (at != NONE).then_some(at)
    }
    /// Loops around `block`.
    #[must_use]
    pub fn depth(&self, block: BlockId) -> u32 {
        self.innermost(block)
            .map_or(0, |l| self.loops[l as usize].depth)
    }
    /// Whether `block` is in loop `l` or a loop inside it.
    #[must_use]
    pub fn contains(&self, l: u32, block: BlockId) -> bool {
        let mut at = self.innermost(block);
        while let Some(inner) = at {
            if inner == l {
                return true;
            }
            at = self.loops[inner as usize].parent;
        }
        false
    }
}

/// A region to be ordered: one block, a loop's body with its header, or all blocks.
struct Piece {
    blocks: Vec<BlockId>,
    /// Edges to it are ignored.
    header: Option<BlockId>,
    parent: u32,
}

/// Tarjan's search for strongly connected components within a region.
struct Components<'c> {
    cfg: &'c Cfg,
    region: Vec<u32>,
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
}

impl Components<'_> {
    fn components(
        &mut self,
        blocks: &[BlockId],
        header: Option<BlockId>,
        region: u32,
    ) -> Vec<Vec<BlockId>> {
        let mut found = Vec::new();
        let mut open: Vec<BlockId> = Vec::new();
        let mut stack: Vec<(BlockId, usize)> = Vec::new();
        let mut clock = 0;
        for &root in blocks {
            if self.index[root.index()] != NONE {
                continue;
            }
            stack.push((root, 0));
            while let Some(&mut (block, ref mut next)) = stack.last_mut() {
                let b = block.index();
                if *next == 0 {
                    self.index[b] = clock;
                    self.low[b] = clock;
                    clock += 1;
                    self.on_stack[b] = true;
                    open.push(block);
                }
                if let Some(&to) = self.cfg.successors(block).get(*next) {
                    *next += 1;
                    let t = to.index();
                    if self.region[t] != region || Some(to) == header {
                        // `next` is past 0 now, so the block is not opened twice.
                    } else if self.index[t] == NONE {
                        stack.push((to, 0));
                    } else if self.on_stack[t] {
                        self.low[b] = self.low[b].min(self.index[t]);
                    }
                    continue;
                }
                stack.pop();
                if let Some(&(above, _)) = stack.last() {
                    self.low[above.index()] = self.low[above.index()].min(self.low[b]);
                }
                if self.low[b] == self.index[b] {
                    let mut component = Vec::new();
                    while let Some(member) = open.pop() {
                        self.on_stack[member.index()] = false;
                        component.push(member);
                        if member == block {
                            break;
                        }
                    }
                    found.push(component);
                }
            }
        }
        found
    }
}

/// [`Loops::order`] of `function`.
#[must_use]
pub fn loop_contiguous_order(function: &Function) -> Vec<BlockId> {
    Loops::new(&Cfg::new(function)).order
}
