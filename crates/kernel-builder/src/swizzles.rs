//! Swizzles: `v.zyx()`, all of two and three lanes, and the permutations and repetitions of four.

use crate::builder::Operand;
use crate::stage::{Stage, Staged};
use crate::vector::Vector;
use crate::vector_storage::Element;

macro_rules! swizzles {
    ($from:literal; $($to:literal: $($name:ident $staged:ident [$($lane:literal),*])*;)*) => {
        /// Swizzles: a vector of the lanes that the name has.
        impl<T: Element> Vector<T, $from> { $( $(
            #[doc = concat!("Returns the lanes ", stringify!($name), ".")]
            #[must_use]
            pub fn $name(self) -> Vector<T, $to> {
                Vector::from_array([$(self[$lane]),*])
            }
            #[doc(hidden)]
            pub fn $staged(self) -> impl Fn(&Stage, Operand) -> Staged<Vector<T, $to>> + Copy {
                |stage, vector| stage.operation(|builder| builder.swizzle(vector, &[$($lane),*]))
            }
        )* )* }
    };
}
swizzles! { 2;
    2:
    xx __stage_xx [0, 0] xy __stage_xy [0, 1] yx __stage_yx [1, 0] yy __stage_yy [1, 1];
}
swizzles! { 3;
    2:
    xx __stage_xx [0, 0] xy __stage_xy [0, 1] xz __stage_xz [0, 2] yx __stage_yx [1, 0]
    yy __stage_yy [1, 1] yz __stage_yz [1, 2] zx __stage_zx [2, 0] zy __stage_zy [2, 1]
    zz __stage_zz [2, 2];
    3:
    xxx __stage_xxx [0, 0, 0] xxy __stage_xxy [0, 0, 1] xxz __stage_xxz [0, 0, 2] xyx __stage_xyx [0, 1, 0]
    xyy __stage_xyy [0, 1, 1] xyz __stage_xyz [0, 1, 2] xzx __stage_xzx [0, 2, 0] xzy __stage_xzy [0, 2, 1]
    xzz __stage_xzz [0, 2, 2] yxx __stage_yxx [1, 0, 0] yxy __stage_yxy [1, 0, 1] yxz __stage_yxz [1, 0, 2]
    yyx __stage_yyx [1, 1, 0] yyy __stage_yyy [1, 1, 1] yyz __stage_yyz [1, 1, 2] yzx __stage_yzx [1, 2, 0]
    yzy __stage_yzy [1, 2, 1] yzz __stage_yzz [1, 2, 2] zxx __stage_zxx [2, 0, 0] zxy __stage_zxy [2, 0, 1]
    zxz __stage_zxz [2, 0, 2] zyx __stage_zyx [2, 1, 0] zyy __stage_zyy [2, 1, 1] zyz __stage_zyz [2, 1, 2]
    zzx __stage_zzx [2, 2, 0] zzy __stage_zzy [2, 2, 1] zzz __stage_zzz [2, 2, 2];
}
swizzles! { 4;
    2:
    xx __stage_xx [0, 0] xy __stage_xy [0, 1] xz __stage_xz [0, 2] xw __stage_xw [0, 3]
    yx __stage_yx [1, 0] yy __stage_yy [1, 1] yz __stage_yz [1, 2] yw __stage_yw [1, 3]
    zx __stage_zx [2, 0] zy __stage_zy [2, 1] zz __stage_zz [2, 2] zw __stage_zw [2, 3]
    wx __stage_wx [3, 0] wy __stage_wy [3, 1] wz __stage_wz [3, 2] ww __stage_ww [3, 3];
    3:
    xxx __stage_xxx [0, 0, 0] xxy __stage_xxy [0, 0, 1] xxz __stage_xxz [0, 0, 2] xxw __stage_xxw [0, 0, 3]
    xyx __stage_xyx [0, 1, 0] xyy __stage_xyy [0, 1, 1] xyz __stage_xyz [0, 1, 2] xyw __stage_xyw [0, 1, 3]
    xzx __stage_xzx [0, 2, 0] xzy __stage_xzy [0, 2, 1] xzz __stage_xzz [0, 2, 2] xzw __stage_xzw [0, 2, 3]
    xwx __stage_xwx [0, 3, 0] xwy __stage_xwy [0, 3, 1] xwz __stage_xwz [0, 3, 2] xww __stage_xww [0, 3, 3]
    yxx __stage_yxx [1, 0, 0] yxy __stage_yxy [1, 0, 1] yxz __stage_yxz [1, 0, 2] yxw __stage_yxw [1, 0, 3]
    yyx __stage_yyx [1, 1, 0] yyy __stage_yyy [1, 1, 1] yyz __stage_yyz [1, 1, 2] yyw __stage_yyw [1, 1, 3]
    yzx __stage_yzx [1, 2, 0] yzy __stage_yzy [1, 2, 1] yzz __stage_yzz [1, 2, 2] yzw __stage_yzw [1, 2, 3]
    ywx __stage_ywx [1, 3, 0] ywy __stage_ywy [1, 3, 1] ywz __stage_ywz [1, 3, 2] yww __stage_yww [1, 3, 3]
    zxx __stage_zxx [2, 0, 0] zxy __stage_zxy [2, 0, 1] zxz __stage_zxz [2, 0, 2] zxw __stage_zxw [2, 0, 3]
    zyx __stage_zyx [2, 1, 0] zyy __stage_zyy [2, 1, 1] zyz __stage_zyz [2, 1, 2] zyw __stage_zyw [2, 1, 3]
    zzx __stage_zzx [2, 2, 0] zzy __stage_zzy [2, 2, 1] zzz __stage_zzz [2, 2, 2] zzw __stage_zzw [2, 2, 3]
    zwx __stage_zwx [2, 3, 0] zwy __stage_zwy [2, 3, 1] zwz __stage_zwz [2, 3, 2] zww __stage_zww [2, 3, 3]
    wxx __stage_wxx [3, 0, 0] wxy __stage_wxy [3, 0, 1] wxz __stage_wxz [3, 0, 2] wxw __stage_wxw [3, 0, 3]
    wyx __stage_wyx [3, 1, 0] wyy __stage_wyy [3, 1, 1] wyz __stage_wyz [3, 1, 2] wyw __stage_wyw [3, 1, 3]
    wzx __stage_wzx [3, 2, 0] wzy __stage_wzy [3, 2, 1] wzz __stage_wzz [3, 2, 2] wzw __stage_wzw [3, 2, 3]
    wwx __stage_wwx [3, 3, 0] wwy __stage_wwy [3, 3, 1] wwz __stage_wwz [3, 3, 2] www __stage_www [3, 3, 3];
    4:
    xyzw __stage_xyzw [0, 1, 2, 3] xywz __stage_xywz [0, 1, 3, 2] xzyw __stage_xzyw [0, 2, 1, 3]
    xzwy __stage_xzwy [0, 2, 3, 1] xwyz __stage_xwyz [0, 3, 1, 2] xwzy __stage_xwzy [0, 3, 2, 1]
    yxzw __stage_yxzw [1, 0, 2, 3] yxwz __stage_yxwz [1, 0, 3, 2] yzxw __stage_yzxw [1, 2, 0, 3]
    yzwx __stage_yzwx [1, 2, 3, 0] ywxz __stage_ywxz [1, 3, 0, 2] ywzx __stage_ywzx [1, 3, 2, 0]
    zxyw __stage_zxyw [2, 0, 1, 3] zxwy __stage_zxwy [2, 0, 3, 1] zyxw __stage_zyxw [2, 1, 0, 3]
    zywx __stage_zywx [2, 1, 3, 0] zwxy __stage_zwxy [2, 3, 0, 1] zwyx __stage_zwyx [2, 3, 1, 0]
    wxyz __stage_wxyz [3, 0, 1, 2] wxzy __stage_wxzy [3, 0, 2, 1] wyxz __stage_wyxz [3, 1, 0, 2]
    wyzx __stage_wyzx [3, 1, 2, 0] wzxy __stage_wzxy [3, 2, 0, 1] wzyx __stage_wzyx [3, 2, 1, 0]
    xxxx __stage_xxxx [0, 0, 0, 0] yyyy __stage_yyyy [1, 1, 1, 1] zzzz __stage_zzzz [2, 2, 2, 2]
    wwww __stage_wwww [3, 3, 3, 3];
}
