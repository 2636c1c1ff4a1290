//! The user data of notifications, by type of trace point and stream.

use core::ffi::{c_char, c_void};

use crate::layout;

macro_rules! structure {
    ($(#[$meta:meta])* $name:ident, $size:literal { $($(#[$field_meta:meta])* $field:ident: $ty:ty = $offset:literal,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name { $($(#[$field_meta])* pub $field: $ty,)* }
        layout!($name, $size $(, $field @ $offset)*);
    };
}

structure! {
    /// `function_with_args_begin` and `function_with_args_end`.
    function_with_args_t, 40 {
        /// Number of the function in its own API.
        function_id: u32 = 0,
        /// Its name.
        function_name: *const c_char = 8,
        /// Pointer to a struct of pointers to the arguments.
        args_data: *const c_void = 16,
        /// At the end: pointer to the result (32 bits in UR); null at the beginning.
        ret_data: *const c_void = 24,
        /// Unused.
        user_data: *const c_void = 32,
    }
}
structure! {
    /// `mem_alloc_begin` to `mem_release_end` without an event (memory of buffers).
    mem_alloc_data_t, 40 {
        /// Native memory object, or 0.
        mem_object_handle: usize = 0,
        /// Address; 0 at the beginning.
        alloc_pointer: usize = 8,
        /// Bytes; 0 on release.
        alloc_size: usize = 16,
        /// Bytes of padding around it.
        guard_zone_size: usize = 24,
        /// Null.
        reserved: *const c_void = 32,
    }
}
structure! {
    /// Construction and destruction of a buffer.
    offload_buffer_data_t, 56 {
        /// The buffer object.
        user_object_handle: usize = 0,
        /// Host memory that it was created over, or 0.
        host_object_handle: usize = 8,
        /// Mangled name of the element type.
        element_type: *const c_char = 16,
        /// Bytes of an element.
        element_size: u32 = 24,
        /// Dimensions, 1 to 3.
        dim: u32 = 28,
        /// Elements in each dimension.
        range: [usize; 3] = 32,
    }
}
structure! {
    /// C++'s `std::optional<uint32_t>`.
    optional_u32, 8 {
        /// Valid if engaged.
        value: u32 = 0,
        /// 0 or 1.
        engaged: u8 = 4,
        /// Padding.
        padding: [u8; 3] = 5,
    }
}
structure! {
    /// Construction and destruction of an image.
    offload_image_data_t, 80 {
        /// The image object.
        user_object_handle: usize = 0,
        /// Host memory that it was created over, or 0.
        host_object_handle: usize = 8,
        /// Dimensions, 1 to 3.
        dim: u32 = 16,
        /// Elements in each dimension.
        range: [usize; 3] = 24,
        /// SYCL's image format.
        format: u32 = 48,
        /// Sampler's addressing mode.
        addressing: optional_u32 = 52,
        /// Sampler's normalisation.
        coordinate_normalization: optional_u32 = 60,
        /// Sampler's filtering mode.
        filtering: optional_u32 = 68,
    }
}
structure! {
    /// An accessor of a buffer.
    offload_accessor_data_t, 24 {
        /// The buffer object.
        buffer_handle: usize = 0,
        /// The accessor object.
        accessor_handle: usize = 8,
        /// SYCL's target.
        target: u32 = 16,
        /// SYCL's access mode.
        mode: u32 = 20,
    }
}
structure! {
    /// An accessor of an image.
    offload_image_accessor_data_t, 48 {
        /// The image object.
        image_handle: usize = 0,
        /// The accessor object.
        accessor_handle: usize = 8,
        /// SYCL's target.
        target: optional_u32 = 16,
        /// SYCL's access mode.
        mode: optional_u32 = 24,
        /// Mangled name of the element type.
        element_type: *const c_char = 32,
        /// Bytes of an element.
        element_size: u32 = 40,
    }
}
structure! {
    /// A buffer got or freed memory on a device.
    offload_association_data_t, 16 {
        /// The buffer object.
        user_object_handle: usize = 0,
        /// The native memory object.
        mem_object_handle: usize = 8,
    }
}
structure! {
    /// Metadata `enqueue_kernel_data`.
    offload_kernel_enqueue_data_t, 80 {
        /// Work-items in each dimension.
        global_size: [usize; 3] = 0,
        /// Work-items of a work-group in each dimension.
        local_size: [usize; 3] = 24,
        /// Global offset in each dimension.
        offset: [usize; 3] = 48,
        /// Arguments.
        args_num: usize = 72,
    }
}
structure! {
    /// Metadata `arg<N>`.
    offload_kernel_arg_data_t, 24 {
        /// 0 accessor, 1 standard layout, 2 sampler, 3 pointer.
        kind: i32 = 0,
        /// Its value's address.
        pointer: *const c_void = 8,
        /// Bytes.
        size: i32 = 16,
        /// Position.
        index: i32 = 20,
    }
}
