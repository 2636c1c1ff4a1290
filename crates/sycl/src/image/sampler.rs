//! Samplers: addressing and filtering, on the host as on a device.

use super::format::{ImageFormat, Texel, TexelKind};
use crate::error::{Error, Result};

/// The texel that a coordinate outside the image refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addressing {
    /// The image repeats, mirrored at each edge; for normalised coordinates.
    MirroredRepeat,
    /// The image repeats; for normalised coordinates.
    Repeat,
    /// The nearest texel at the edge.
    ClampToEdge,
    /// The border colour.
    Clamp,
    /// Undefined: coordinates stay inside the image.
    None,
}

/// How values between texels are computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Filtering {
    /// The nearest texel.
    Nearest,
    /// Linear interpolation of the surrounding texels; for texels that are read as floats.
    Linear,
}

/// How an image is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// Coordinates from 0.0 to 1.0 span the image; otherwise they count texels.
    pub normalized: bool,
    /// Addressing outside the image.
    pub addressing: Addressing,
    /// Filtering between texels.
    pub filtering: Filtering,
}

impl Sampler {
    /// # Errors
    /// [`crate::Errc::Invalid`] for repeating with unnormalised coordinates, which SYCL excludes.
    pub(crate) fn check(self) -> Result<()> {
        let repeats = matches!(
            self.addressing,
            Addressing::Repeat | Addressing::MirroredRepeat
        );
        if repeats && !self.normalized {
            return Err(Error::invalid(format!(
                "addressing {:?} requires normalised coordinates",
                self.addressing
            )));
        }
        Ok(())
    }

    /// # Errors
    /// [`crate::Errc::Invalid`] also for linear filtering of integers.
    pub(crate) fn check_for(self, format: ImageFormat) -> Result<()> {
        self.check()?;
        if self.filtering == Filtering::Linear && format.channel_type.kind() != TexelKind::Float {
            return Err(Error::invalid(format!(
                "linear filtering requires texels that are read as floats; type {:?} is an integer",
                format.channel_type
            )));
        }
        Ok(())
    }

    /// The sampler as one number, for arguments that the launch replaces by a device's sampler.
    pub(crate) fn code(self) -> u64 {
        let addressing = self.addressing.number();
        addressing << 2
            | u64::from(self.filtering == Filtering::Linear) << 1
            | u64::from(self.normalized)
    }

    pub(crate) fn of_code(code: u64) -> Self {
        Self {
            normalized: code & 1 != 0,
            addressing: match code >> 2 {
                0 => Addressing::MirroredRepeat,
                1 => Addressing::Repeat,
                2 => Addressing::ClampToEdge,
                3 => Addressing::Clamp,
                _ => Addressing::None,
            },
            filtering: match code & 2 {
                0 => Filtering::Nearest,
                _ => Filtering::Linear,
            },
        }
    }

    /// Samples an image in rows. `extents` and `at` are in the order x, y, z; components beyond `dimensions` are
    /// ignored.
    pub(crate) fn sample<P: Texel>(
        self,
        format: ImageFormat,
        rows: &[u8],
        extents: [usize; 3],
        dimensions: usize,
        at: [f32; 3],
    ) -> P {
        let texel = |place: [i64; 3]| -> P {
            let mut number = 0;
            for axis in (0..3).rev() {
                let inside = usize::try_from(place[axis]).ok();
                let Some(inside) = inside.filter(|place| *place < extents[axis]) else {
                    return format.border();
                };
                number = number * extents[axis] + inside;
            }
            let size = format.texel_bytes();
            format.decode(&rows[number * size..(number + 1) * size])
        };
        let mut places = [([0i64; 2], 0.0f32); 3];
        for axis in 0..dimensions {
            places[axis] = self.along(at[axis], extents[axis]);
        }
        if self.filtering == Filtering::Nearest {
            return texel(places.map(|(between, _)| between[0]));
        }
        let mut sum = [0.0f64; 4];
        for corner in 0..1usize << dimensions {
            let mut place = [0; 3];
            let mut weight = 1.0;
            for axis in 0..dimensions {
                let (between, part) = places[axis];
                let far = corner >> axis & 1;
                place[axis] = between[far];
                weight *= f64::from(if far == 1 { part } else { 1.0 - part });
            }
            let channels = texel(place).channels();
            for (sum, channel) in sum.iter_mut().zip(channels) {
                *sum += weight * channel;
            }
        }
        P::of(sum)
    }

    /// The one or two texels along an axis that a coordinate selects, and the fraction from the first to the second.
    fn along(self, at: f32, extent: usize) -> ([i64; 2], f32) {
        let size = extent as f32;
        let last = extent as i64 - 1;
        let scaled = match (self.normalized, self.addressing) {
            (false, _) => at,
            (true, Addressing::Repeat) => (at - at.floor()) * size,
            (true, Addressing::MirroredRepeat) => {
                (at - 2.0 * (0.5 * at).round_ties_even()).abs() * size
            }
            (true, _) => at * size,
        };
        let (first, second, part) = match self.filtering {
            Filtering::Nearest => (scaled.floor() as i64, scaled.floor() as i64, 0.0),
            Filtering::Linear => {
                let middle = scaled - 0.5;
                let first = middle.floor();
                (
                    first as i64,
                    (first as i64).saturating_add(1),
                    middle - first,
                )
            }
        };
        let lead = |place: i64| match self.addressing {
            Addressing::Repeat => {
                if place < 0 {
                    place + extent as i64
                } else if place > last {
                    place - extent as i64
                } else {
                    place
                }
            }
            Addressing::MirroredRepeat | Addressing::ClampToEdge | Addressing::None => {
                place.clamp(0, last)
            }
            Addressing::Clamp => place.clamp(-1, last + 1),
        };
        ([lead(first), lead(second)], part)
    }
}

impl Addressing {
    /// The position in SYCL's enumeration.
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::MirroredRepeat => 0,
            Self::Repeat => 1,
            Self::ClampToEdge => 2,
            Self::Clamp => 3,
            Self::None => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(normalized: bool, addressing: Addressing, filtering: Filtering) -> Sampler {
        Sampler {
            normalized,
            addressing,
            filtering,
        }
    }

    #[test]
    fn sampling_follows_opencl() {
        use {Addressing::*, Filtering::*};
        // Texels 0, 10, 20, 30 along one axis.
        let rows: Vec<u8> = [0.0f32, 10.0, 20.0, 30.0]
            .iter()
            .flat_map(|value| value.to_ne_bytes())
            .collect();
        let format = ImageFormat::new(
            super::super::ChannelOrder::R,
            super::super::ChannelType::Fp32,
        );
        for (sampler, at, want) in [
            (sampler(false, ClampToEdge, Nearest), 1.5, 10.0),
            (sampler(false, ClampToEdge, Nearest), -5.0, 0.0),
            (sampler(false, ClampToEdge, Nearest), 9.0, 30.0),
            (sampler(false, Clamp, Nearest), 9.0, 0.0),
            (sampler(false, ClampToEdge, Linear), 2.0, 15.0),
            (sampler(false, Clamp, Linear), 4.0, 15.0),
            (sampler(true, ClampToEdge, Linear), 0.5, 15.0),
            (sampler(true, Repeat, Nearest), 1.375, 10.0),
            (sampler(true, Repeat, Linear), 1.0, 15.0),
            (sampler(true, MirroredRepeat, Nearest), 1.125, 30.0),
            (sampler(true, MirroredRepeat, Nearest), -0.375, 10.0),
        ] {
            let got: [f32; 4] = sampler.sample(format, &rows, [4, 1, 1], 1, [at, 0.0, 0.0]);
            assert_eq!(got[0], want, "{sampler:?} at {at}");
            assert_eq!(Sampler::of_code(sampler.code()), sampler);
        }
        assert!(sampler(false, Repeat, Nearest).check().is_err());
    }
}
