//! Parts of pages: where they are, and which of them copies bring.

use crate::cuboid::Cuboid;
use crate::domain::Domain;

/// A part of a page that was written without the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) elements: Cuboid,
    pub(crate) holder: Domain,
}

/// A part of a page that a copy brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) page: usize,
    pub(crate) elements: Cuboid,
    /// Where it is by what is known before the copy; a copy from the host may bring it from elsewhere.
    pub(crate) holder: Domain,
    /// Its holder may not have it any more: there is no way back.
    pub(crate) gone: bool,
}

impl Part {
    /// A known piece of the page without what of it did not come to `target` after all, and that where it was before.
    pub(crate) fn taken_from(
        self,
        piece: &Piece,
        target: Domain,
    ) -> impl Iterator<Item = Piece> + use<> {
        let (holder, back) = (piece.holder, piece.elements.intersection(&self.elements));
        let back = match holder == target {
            true => back,
            false => Cuboid::of([0; 3]),
        };
        let returned = Piece {
            elements: back,
            holder: self.holder,
        };
        // Without a way back nobody has it any more.
        let returned = (!back.is_empty() && !self.gone).then_some(returned);
        let rest = piece.elements.without(&back);
        returned
            .into_iter()
            .chain(rest.map(move |elements| Piece { elements, holder }))
    }
}
