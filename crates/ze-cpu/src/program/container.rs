//! Native binaries, for `zeModuleGetNativeBinary`, `zeModuleCreate` and the cache.
//!
//! Layout: magic, a line with the build options in clear text, the compiler's build, the target, the kind of the content, the
//! content, a checksum over all of it.

use kernel_ir::Options;
use kernel_ir::wire::{Reader, WireError, Writer};
use std::sync::Arc;

/// A unique beginning: ELF, SPIR-V and ZIP files begin differently.
const MAGIC: &[u8; 8] = b"\x8fSOLUM\r\n";
const CHECKSUM: usize = 32;

/// The kind of a container's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A successful compiler's reply: machine code and metadata.
    Code,
    /// The request itself, for the interpreter.
    Request,
    /// The outline of a program: only in the cache, whose other entries have the code.
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
    /// Processor that it is for.
    pub(crate) target: String,
    /// Encoded reply or request.
    pub(crate) content: Vec<u8>,
}

impl Container {
    /// The bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
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
        let (whole, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM)?)?;
        let body = whole.strip_prefix(MAGIC)?;
        if blake3::hash(whole).as_bytes() != checksum {
            return None;
        }
        Self::parts(body).ok()
    }

    fn parts(body: &[u8]) -> Result<Self, WireError> {
        let mut r = Reader::new(body);
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
            content: r.bytes()?.to_vec(),
        };
        r.end()?;
        Ok(container)
    }
}

/// A container with this content, encoded.
pub(super) fn contained(
    kind: Kind,
    build: &str,
    options: &str,
    target: &str,
    content: Vec<u8>,
) -> Arc<[u8]> {
    let container = Container {
        kind,
        options: options.to_owned(),
        build: build.to_owned(),
        target: target.to_owned(),
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
        assert_eq!(Container::decode(&[0x7f; 4096]), None);
    }
}
