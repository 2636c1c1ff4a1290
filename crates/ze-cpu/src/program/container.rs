//! Native binaries, for `zeModuleGetNativeBinary`, `zeModuleCreate` and the cache.
//!
//! Layout: magic, the number of the layout, a line with the build options in clear text, the compiler's build, the target,
//! the kind of the content, the request, the content, a checksum over all of it. The request has the program's SPIR-V:
//! programs keep binaries (DPC++'s persistent cache does), and another release compiles it again.

use kernel_ir::Options;
use kernel_ir::build::Request;
use kernel_ir::wire::{Reader, WireError, Writer};
use std::sync::Arc;

/// A unique beginning: ELF, SPIR-V and ZIP files begin differently.
const MAGIC: &[u8; 8] = b"\x8fSOLUM\r\n";
const CHECKSUM: usize = 32;
/// The number of the layout; a change of the layout takes the next one. No small number: the first layout had none, and
/// began with the length of a text.
const FORMAT: u32 = u32::from_le_bytes(*b"CTN2");

/// The kind of a container's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A successful compiler's reply: machine code and metadata.
    Code,
    /// Nothing but the request, for the interpreter.
    Request,
    /// The outline of a program: only in the cache, whose other entries have the code. Without the request.
    Outline,
}

/// A container's parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Container {
    /// Kind of [`Self::content`].
    pub(crate) kind: Kind,
    /// Build options as given.
    pub(crate) options: String,
    /// Build of the compiler that made it.
    pub(crate) build: String,
    /// The requirement of its code on the processor ([`cpu_target::requirement`]).
    pub(crate) target: String,
    /// The encoded request.
    pub(crate) request: Vec<u8>,
    /// The encoded reply or outline.
    pub(crate) content: Vec<u8>,
}

impl Container {
    /// The bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.u32(FORMAT);
        // Tools, and the conformance tests, look for the effective level in clear text.
        let level = Options::parse(&self.options).0.opt_level;
        w.text(&format!("{}\n-ze-opt-level=O{level}\n", self.options));
        w.text(&self.build);
        w.text(&self.target);
        w.u32(match self.kind {
            Kind::Code => 0,
            Kind::Request => 1,
            Kind::Outline => 2,
        });
        w.bytes(&self.request);
        w.bytes(&self.content);
        let body = w.finish();
        let mut bytes = Vec::with_capacity(MAGIC.len() + body.len() + CHECKSUM);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&body);
        let checksum = blake3::hash(&bytes);
        bytes.extend_from_slice(checksum.as_bytes());
        bytes
    }

    /// Reads [`Self::encode`]'s bytes; `None` for any others.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        Self::parts(undamaged(bytes)?).ok()
    }

    /// Whether the bytes are a container of another release, with another layout.
    pub(crate) fn is_of_another_release(bytes: &[u8]) -> bool {
        undamaged(bytes).is_some_and(|body| !body.starts_with(&FORMAT.to_le_bytes()))
    }

    fn parts(body: &[u8]) -> Result<Self, WireError> {
        let mut r = Reader::new(body);
        if r.u32()? != FORMAT {
            return Err(WireError { at: 0 });
        }
        let text = r.text()?;
        let options = text.rsplitn(3, '\n').nth(2).unwrap_or("").to_owned();
        let container = Self {
            options,
            build: r.text()?,
            target: r.text()?,
            kind: match r.u32()? {
                0 => Kind::Code,
                2 => Kind::Outline,
                _ => Kind::Request,
            },
            request: r.bytes()?.to_vec(),
            content: r.bytes()?.to_vec(),
        };
        r.end()?;
        Ok(container)
    }
}

/// The bytes between magic and checksum, if both are right.
fn undamaged(bytes: &[u8]) -> Option<&[u8]> {
    let (whole, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM)?)?;
    let body = whole.strip_prefix(MAGIC)?;
    (blake3::hash(whole).as_bytes() == checksum).then_some(body)
}

/// The container of a request's program, encoded.
pub(super) fn contained(kind: Kind, build: &str, request: &Request, content: Vec<u8>) -> Arc<[u8]> {
    let container = Container {
        kind,
        options: request.options.clone(),
        build: build.to_owned(),
        target: cpu_target::requirement(&request.cpu, &request.features),
        request: match kind {
            Kind::Code | Kind::Request => request.encode(),
            Kind::Outline => Vec::new(),
        },
        content,
    };
    container.encode().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(options: &str) -> Container {
        Container {
            kind: Kind::Code,
            options: options.to_owned(),
            build: "build".to_owned(),
            target: "x86-64-v3".to_owned(),
            request: vec![4, 5],
            content: vec![1, 2, 3],
        }
    }

    #[test]
    fn containers_come_back_whole_and_show_the_level() {
        for (options, level) in [
            ("", "-ze-opt-level=O2"),
            ("-ze-opt-level=0", "-ze-opt-level=O0"),
            (" -ze-opt-level=1 -cl-mad-enable", "-ze-opt-level=O1"),
            ("a\nb", "-ze-opt-level=O2"),
        ] {
            let container = sample(options);
            let bytes = container.encode();
            assert!(
                bytes.windows(level.len()).any(|w| w == level.as_bytes()),
                "{options}"
            );
            assert_eq!(Container::decode(&bytes), Some(container));
        }
    }

    #[test]
    fn other_bytes_are_not_a_container() {
        let bytes = sample("").encode();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x20;
            assert_eq!(Container::decode(&damaged), None, "byte {at}");
            assert_eq!(Container::decode(&bytes[..at]), None, "{at} bytes");
        }
        assert_eq!(Container::decode(b""), None);
        assert!(!Container::is_of_another_release(&bytes));
        assert!(!Container::is_of_another_release(&bytes[..60]));
        assert_eq!(Container::decode(&[0x7f; 4096]), None);
    }

    #[test]
    fn another_layout_is_told_from_damage() {
        let mut bytes = sample("").encode();
        bytes.truncate(bytes.len() - CHECKSUM);
        bytes[MAGIC.len()..][..4].copy_from_slice(b"CTN9");
        let checksum = blake3::hash(&bytes);
        bytes.extend_from_slice(checksum.as_bytes());
        assert_eq!(Container::decode(&bytes), None);
        assert!(Container::is_of_another_release(&bytes));
    }
}
