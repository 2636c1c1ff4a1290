//! Operations of work-groups and sub-groups, in the staged code.
//!
//! Instructions of SPIR-V 1.2 with capability `Groups` wherever there is one, because every OpenCL device since 2.0 has
//! them. Shuffles, and products and bitwise reductions of sub-groups, need SPIR-V 1.3; those of work-groups need an
//! extension.

use spirv::{BuiltIn, Capability, GroupOperation, MemorySemantics, Op, Scope};

use crate::builder::{Builder, Operand};
use crate::module::Id;
use crate::operation::Kind;
use crate::types::Type;
use crate::work_item::Query;

/// Which work-items act together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Team {
    Group,
    SubGroup,
}

/// Which results a combination has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Reduce,
    InclusiveScan,
    ExclusiveScan,
}

/// A question about a team; the answers are one number each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TeamQuery {
    LocalId,
    Size,
    Id,
    Count,
}

/// How lanes of a sub-group exchange values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    From,
    Xor,
    Up,
    Down,
}

impl Team {
    fn scope(self) -> Scope {
        match self {
            Self::Group => Scope::Workgroup,
            Self::SubGroup => Scope::Subgroup,
        }
    }
}

/// The instruction that combines values of a type.
fn combination(kind: Kind, team: Team, ty: &Type) -> Option<Op> {
    let (float, signed) = match ty {
        Type::Float(_) => (true, false),
        Type::Int { signed, .. } => (false, *signed),
        _ => return None,
    };
    Some(match (kind, team, float) {
        (Kind::Add, _, false) => Op::GroupIAdd,
        (Kind::Add, _, true) => Op::GroupFAdd,
        (Kind::Minimum, _, true) => Op::GroupFMin,
        (Kind::Minimum, ..) if signed => Op::GroupSMin,
        (Kind::Minimum, ..) => Op::GroupUMin,
        (Kind::Maximum, _, true) => Op::GroupFMax,
        (Kind::Maximum, ..) if signed => Op::GroupSMax,
        (Kind::Maximum, ..) => Op::GroupUMax,
        (Kind::Multiply, Team::Group, false) => Op::GroupIMulKHR,
        (Kind::Multiply, Team::Group, true) => Op::GroupFMulKHR,
        (Kind::Multiply, Team::SubGroup, false) => Op::GroupNonUniformIMul,
        (Kind::Multiply, Team::SubGroup, true) => Op::GroupNonUniformFMul,
        (_, _, true) => return None,
        (Kind::And, Team::Group, _) => Op::GroupBitwiseAndKHR,
        (Kind::Or, Team::Group, _) => Op::GroupBitwiseOrKHR,
        (Kind::Xor, Team::Group, _) => Op::GroupBitwiseXorKHR,
        (Kind::And, Team::SubGroup, _) => Op::GroupNonUniformBitwiseAnd,
        (Kind::Or, Team::SubGroup, _) => Op::GroupNonUniformBitwiseOr,
        (Kind::Xor, Team::SubGroup, _) => Op::GroupNonUniformBitwiseXor,
    })
}

impl Builder {
    fn team_scope(&mut self, team: Team) -> Id {
        self.module.integer(32, team.scope() as u64)
    }

    /// The value of an operand as the team's instructions take it.
    pub(crate) fn given(&mut self, value: Operand) -> Option<Id> {
        let place = self.follow(value);
        match self.read(place) {
            Operand::Value(id) => Some(id),
            _ => None,
        }
    }

    /// A number of the device that is one for each work-item.
    fn single(&mut self, which: BuiltIn, bits: u32) -> Id {
        let ty = Type::Int {
            bits,
            signed: false,
        };
        let of = self.module.type_id(&ty);
        let variable = self.module.built_in(which, of);
        self.emit(Op::Load, &ty, &[variable])
    }

    fn single_size(&mut self, which: BuiltIn) -> Operand {
        let narrow = self.single(which, 32);
        self.value(Op::UConvert, &Type::SIZE, &[narrow])
    }

    /// The three extents or coordinates of a question, in SYCL's order.
    fn three(&mut self, query: Query) -> [Id; 3] {
        let all = self.query(query, 3);
        let Operand::Value(all) = all else {
            return [0; 3];
        };
        std::array::from_fn(|index| match self.part(all, index, &Type::SIZE) {
            Operand::Value(id) => id,
            _ => 0,
        })
    }

    fn multiply(&mut self, a: Id, b: Id) -> Id {
        self.emit(Op::IMul, &Type::SIZE, &[a, b])
    }

    /// The answer to a question about a team, as `usize`.
    pub(crate) fn team_query(&mut self, team: Team, query: TeamQuery) -> Operand {
        match (team, query) {
            (Team::SubGroup, TeamQuery::LocalId) => {
                self.single_size(BuiltIn::SubgroupLocalInvocationId)
            }
            (Team::SubGroup, TeamQuery::Size) => self.single_size(BuiltIn::SubgroupSize),
            (Team::SubGroup, TeamQuery::Id) => self.single_size(BuiltIn::SubgroupId),
            (Team::SubGroup, TeamQuery::Count) => self.single_size(BuiltIn::NumSubgroups),
            (Team::Group, TeamQuery::LocalId) => {
                Operand::Value(self.single(BuiltIn::LocalInvocationIndex, 64))
            }
            (Team::Group, TeamQuery::Size | TeamQuery::Count) => {
                let query = match query {
                    TeamQuery::Size => Query::LocalRange,
                    _ => Query::GroupRange,
                };
                let [z, y, x] = self.three(query);
                let yx = self.multiply(y, x);
                Operand::Value(self.multiply(z, yx))
            }
            (Team::Group, TeamQuery::Id) => {
                let [z, y, x] = self.three(Query::GroupId);
                let [_, ny, nx] = self.three(Query::GroupRange);
                let rows = self.multiply(z, ny);
                let rows = self.emit(Op::IAdd, &Type::SIZE, &[rows, y]);
                let before = self.multiply(rows, nx);
                self.value(Op::IAdd, &Type::SIZE, &[before, x])
            }
        }
    }

    /// Waits for a team; what it wrote to local and global memory is visible to it after the barrier.
    pub(crate) fn team_barrier(&mut self, team: Team) {
        let scope = self.team_scope(team);
        let space = match team {
            Team::Group => MemorySemantics::WORKGROUP_MEMORY,
            Team::SubGroup => MemorySemantics::SUBGROUP_MEMORY | MemorySemantics::WORKGROUP_MEMORY,
        };
        let semantics = MemorySemantics::SEQUENTIALLY_CONSISTENT
            | MemorySemantics::CROSS_WORKGROUP_MEMORY
            | space;
        let semantics = self.module.integer(32, u64::from(semantics.bits()));
        self.effect(Op::ControlBarrier, vec![scope, scope, semantics]);
    }

    /// Whether the condition holds for all work-items of the team, or for any.
    pub(crate) fn vote(&mut self, team: Team, all: bool, condition: Operand) -> Operand {
        let Some(condition) = self.given(condition) else {
            return Operand::Never;
        };
        self.module.need(Capability::Groups);
        let scope = self.team_scope(team);
        let op = if all { Op::GroupAll } else { Op::GroupAny };
        self.value(op, &Type::Bool, &[scope, condition])
    }

    /// Combines the values of a team, of 32 and 64 bits.
    pub(crate) fn combine_wide(
        &mut self,
        team: Team,
        extent: Extent,
        kind: Kind,
        id: Id,
    ) -> Operand {
        let ty = self.type_of(id);
        let Some(op) = combination(kind, team, &ty) else {
            return self.refuse(format!("{kind:?} of values of {ty} in a group"));
        };
        match (kind, team) {
            (Kind::Add | Kind::Minimum | Kind::Maximum, _) => self.module.need(Capability::Groups),
            (_, Team::SubGroup) => {
                self.module.need(Capability::GroupNonUniform);
                self.module.need(Capability::GroupNonUniformArithmetic);
                self.module.need_version(3);
            }
            (_, Team::Group) => {
                self.module.need(Capability::GroupUniformArithmeticKHR);
                self.module
                    .need_extension("SPV_KHR_uniform_group_instructions");
            }
        }
        let extent = match extent {
            Extent::Reduce => GroupOperation::Reduce,
            Extent::InclusiveScan => GroupOperation::InclusiveScan,
            Extent::ExclusiveScan => GroupOperation::ExclusiveScan,
        };
        let scope = self.team_scope(team);
        self.value(op, &ty, &[scope, extent as u32, id])
    }

    /// The value of one work-item of a team, for all.
    pub(crate) fn broadcast(&mut self, team: Team, value: Operand, lane: Operand) -> Operand {
        let (Some(id), Some(lane)) = (self.given(value), self.given(lane)) else {
            return Operand::Never;
        };
        self.module.need(Capability::Groups);
        let lane = match team {
            Team::SubGroup => self.lane(lane),
            Team::Group => self.local_id_at(lane),
        };
        let scope = self.team_scope(team);
        self.exchanged(id, &mut |builder, id, ty| {
            builder.value(Op::GroupBroadcast, ty, &[scope, id, lane])
        })
    }

    /// A lane's number in 32 bits.
    fn lane(&mut self, lane: Id) -> Id {
        let narrow = Type::Int {
            bits: 32,
            signed: false,
        };
        self.emit(Op::UConvert, &narrow, &[lane])
    }

    /// The local id at a linear index, as the vector that a broadcast in a work-group takes.
    fn local_id_at(&mut self, index: Id) -> Id {
        let [_, ny, nx] = self.three(Query::LocalRange);
        let x = self.emit(Op::UMod, &Type::SIZE, &[index, nx]);
        let rows = self.emit(Op::UDiv, &Type::SIZE, &[index, nx]);
        let y = self.emit(Op::UMod, &Type::SIZE, &[rows, ny]);
        let z = self.emit(Op::UDiv, &Type::SIZE, &[rows, ny]);
        let size = self.module.int_type(64);
        let vector = self.module.vector_type(size, 3);
        self.emit_as(Op::CompositeConstruct, &Type::Unit, vector, &[x, y, z])
    }

    /// The value of another lane.
    pub(crate) fn shuffle(&mut self, shuffle: Shuffle, value: Operand, lane: Operand) -> Operand {
        let (Some(id), Some(lane)) = (self.given(value), self.given(lane)) else {
            return Operand::Never;
        };
        let (op, capability) = match shuffle {
            Shuffle::From => (
                Op::GroupNonUniformShuffle,
                Capability::GroupNonUniformShuffle,
            ),
            Shuffle::Xor => (
                Op::GroupNonUniformShuffleXor,
                Capability::GroupNonUniformShuffle,
            ),
            Shuffle::Up => (
                Op::GroupNonUniformShuffleUp,
                Capability::GroupNonUniformShuffleRelative,
            ),
            Shuffle::Down => (
                Op::GroupNonUniformShuffleDown,
                Capability::GroupNonUniformShuffleRelative,
            ),
        };
        self.module.need(Capability::GroupNonUniform);
        self.module.need(capability);
        self.module.need_version(3);
        let lane = self.lane(lane);
        let scope = self.team_scope(Team::SubGroup);
        self.exchanged(id, &mut |builder, id, ty| {
            builder.value(op, ty, &[scope, id, lane])
        })
    }

    /// The kernel's work-items run in sub-groups of this size.
    pub(crate) fn sub_group_size(&mut self, size: u32) {
        self.module.need(Capability::SubgroupDispatch);
        self.module
            .execution_mode(spirv::ExecutionMode::SubgroupSize, &[size]);
    }

    /// The kernel's work-groups have this range, in SYCL's order of dimensions.
    pub(crate) fn work_group_size(&mut self, size: [u32; 3]) {
        let [z, y, x] = size;
        self.module
            .execution_mode(spirv::ExecutionMode::LocalSize, &[x, y, z]);
    }
}
