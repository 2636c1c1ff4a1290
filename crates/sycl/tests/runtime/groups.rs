//! Command groups, queues and buffers that many tests use.

use sycl::{
    Buffer, BufferOptions, Context, Device, Event, ImageFormat, Queue, Range, Read, ReadWrite,
    UnsampledImage, Write,
};

use crate::world::{Log, devices, kernel, queue};

/// A context of the first device alone, which the interop functions for buffers require.
pub(crate) fn single() -> (Context, Device) {
    let device = devices()[0].clone();
    (Context::new(std::slice::from_ref(&device)).unwrap(), device)
}

/// As [`single`], with a queue.
pub(crate) fn single_queue() -> (Context, Device, Queue) {
    let (context, device) = single();
    let queue = Queue::builder().context(&context).device(&device);
    let queue = queue.build().unwrap();
    (context, device, queue)
}

/// Sixteen zeros, in pages of four.
pub(crate) fn paged() -> Buffer<'static, i32> {
    let options = BufferOptions {
        page_size: Some(Range([4])),
        ..BufferOptions::default()
    };
    Buffer::from_slice_with(&[0i32; 16], 16, &options).unwrap()
}

/// Adds one to each element, after `after`.
pub(crate) fn submit_add_one(queue: &Queue, buffer: &Buffer<'_, i32>, after: &[Event]) -> Event {
    let kernel = kernel("add_one");
    let submitted = queue.submit(|cg| {
        cg.depends_on(after);
        let a = cg.access(buffer, ReadWrite)?;
        cg.parallel_for(&kernel, buffer.range(), (&a,))
    });
    submitted.unwrap()
}

/// A xorshift generator: the same programs on every machine.
pub(crate) struct Random(u64);

impl Random {
    /// A generator seeded with the program's number.
    pub(crate) fn of(program: u64) -> Self {
        let mut random =
            Self(0x9e37_79b9_7f4a_7c15 ^ (program + 1).wrapping_mul(0xd1b5_4a32_d192_ed03));
        random.below(2);
        random
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

mod typed {
    sycl::kernels! {
        pub(crate) unsafe mod kernels = "../../kernels/images.spv";
    }
}
pub(crate) use typed::kernels;

pub(crate) const RGBA8: ImageFormat = ImageFormat::R8G8B8A8_UNORM;

/// Makes the runtime query each device once, so that these calls appear in no test's log.
pub(crate) fn settle() {
    let image = UnsampledImage::<2>::new(RGBA8, [2, 2]).unwrap();
    for number in 0..devices().len() {
        let submitted = queue(number).submit(|cg| {
            let _image = cg.image(&image, Write.no_init())?;
            cg.barrier()
        });
        submitted.unwrap().wait().unwrap();
    }
}

/// Copies whole images: from rows, to rows, between images.
pub(crate) fn image_copies(log: &Log) -> [usize; 3] {
    [
        log.count("zeCommandListAppendImageCopyFromMemory"),
        log.count("zeCommandListAppendImageCopyToMemory"),
        log.count("zeCommandListAppendImageCopy"),
    ]
}

pub(crate) fn pixels(count: usize) -> Vec<[u8; 4]> {
    let byte = |i: usize| u8::try_from(i % 200).unwrap();
    (0..count)
        .map(|i| [byte(i), byte(3 * i), byte(7 * i), 255])
        .collect()
}

pub(crate) fn brightened(pixels: &[[u8; 4]]) -> Vec<[u8; 4]> {
    let one = |byte: u8| byte.saturating_add(51);
    pixels.iter().map(|pixel| pixel.map(one)).collect()
}

pub(crate) fn brighten(
    queue: &Queue,
    from: &UnsampledImage<'_, 2>,
    to: &UnsampledImage<'_, 2>,
) -> Event {
    let submitted = queue.submit(|cg| {
        let (a, b) = (cg.image(from, Read)?, cg.image(to, Write.no_init())?);
        cg.parallel_for(kernels::brighten, from.range(), (&a, &b))
    });
    submitted.unwrap()
}
