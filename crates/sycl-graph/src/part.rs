//! Parts of pages: where they are valid, and which of them copies bring.

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
    /// The domain that held it before the copy; a copy from the host may bring it from elsewhere.
    pub(crate) holder: Domain,
    /// Its holder may have lost it: it cannot go back.
    pub(crate) gone: bool,
}

impl Part {
    /// Undoes the copy for a known piece of the page: the part that did not reach `target` returns to its holder, the
    /// rest of the piece stays.
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
        // If it cannot go back, no domain holds it.
        let returned = (!back.is_empty() && !self.gone).then_some(returned);
        let rest = piece.elements.without(&back);
        returned
            .into_iter()
            .chain(rest.map(move |elements| Piece { elements, holder }))
    }
}
