define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <16 x i1>, align 2
  br label %16

16:
  %17 = load i32, ptr %1, align 4
  %18 = zext i32 %17 to i64
  %19 = getelementptr i8, ptr %1, i64 4
  %20 = load i32, ptr %19, align 4
  %21 = zext i32 %20 to i64
  %22 = getelementptr i8, ptr %1, i64 8
  %23 = load i32, ptr %22, align 4
  %24 = zext i32 %23 to i64
  %25 = getelementptr i8, ptr %1, i64 16
  %26 = load i32, ptr %25, align 4
  %27 = zext i32 %26 to i64
  %28 = getelementptr i8, ptr %1, i64 20
  %29 = load i32, ptr %28, align 4
  %30 = zext i32 %29 to i64
  %31 = getelementptr i8, ptr %1, i64 24
  %32 = load i32, ptr %31, align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr i8, ptr %1, i64 32
  %35 = load i64, ptr %34, align 8
  %36 = getelementptr i8, ptr %1, i64 40
  %37 = load i64, ptr %36, align 8
  %38 = getelementptr i8, ptr %1, i64 48
  %39 = load i64, ptr %38, align 8
  %40 = getelementptr i8, ptr %1, i64 28
  %41 = load i32, ptr %40, align 4
  %42 = zext i32 %41 to i64
  %43 = getelementptr i8, ptr %1, i64 12
  %44 = load i32, ptr %43, align 4
  %45 = zext i32 %44 to i64
  %46 = getelementptr i8, ptr %1, i64 72
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr i8, ptr %1, i64 56
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr i8, ptr %4, i64 %49
  %51 = load ptr, ptr %0, align 8
  %52 = add i64 %2, %3
  %53 = getelementptr i8, ptr %1, i64 80
  %54 = load ptr, ptr %53, align 8
  store i8 0, ptr %6, align 1
  %55 = icmp eq ptr %54, null
  %56 = select i1 %55, ptr %6, ptr %54
  br label %57

57:
  %58 = phi i64 [ %2, %16 ], [ %75, %74 ]
  %59 = icmp ult i64 %58, %52
  br i1 %59, label %60, label %76

60:
  %61 = load atomic i8, ptr %56 monotonic, align 1
  %62 = icmp ne i8 %61, 0
  br i1 %62, label %76, label %63

63:
  %64 = udiv i64 %58, %27
  %65 = urem i64 %58, %27
  %66 = urem i64 %64, %30
  %67 = udiv i64 %64, %30
  %68 = mul i64 %65, %18
  %69 = add i64 %68, %35
  %70 = mul i64 %66, %21
  %71 = add i64 %70, %37
  %72 = mul i64 %67, %24
  %73 = add i64 %72, %39
  br label %77

74:
  %75 = add i64 %58, 1
  br label %57

76:
  ret void

77:
  store i64 0, ptr %10, align 8
  br label %78

78:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %79

79:
  store i64 0, ptr %8, align 8
  br label %80

80:
  %81 = load i64, ptr %8, align 8
  %82 = sub i64 %18, %81
  %83 = icmp uge i64 %82, 16
  br i1 %83, label %96, label %109

84:
  br label %126

85:
  %86 = load i64, ptr %9, align 8
  %87 = add i64 %86, 1
  store i64 %87, ptr %9, align 8
  %88 = load i64, ptr %9, align 8
  %89 = icmp ult i64 %88, %21
  br i1 %89, label %79, label %90

90:
  %91 = load i64, ptr %10, align 8
  %92 = add i64 %91, 1
  store i64 %92, ptr %10, align 8
  %93 = load i64, ptr %10, align 8
  %94 = icmp ult i64 %93, %24
  br i1 %94, label %78, label %95

95:
  br label %74

96:
  %97 = load i64, ptr %8, align 8
  %98 = load i64, ptr %9, align 8
  %99 = load i64, ptr %10, align 8
  %100 = mul i64 %99, %21
  %101 = add i64 %100, %98
  %102 = mul i64 %101, %18
  %103 = add i64 %102, %97
  store <16 x i1> zeroinitializer, ptr %15, align 2
  br label %111

104:
  %105 = load i64, ptr %8, align 8
  %106 = add i64 %105, 16
  store i64 %106, ptr %8, align 8
  %107 = load i64, ptr %8, align 8
  %108 = icmp ult i64 %107, %18
  br i1 %108, label %80, label %85

109:
  %110 = load i64, ptr %8, align 8
  store i64 %110, ptr %11, align 8
  store i64 %18, ptr %12, align 8
  br label %84

111:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  %112 = add i64 %69, %97
  %113 = mul i64 %112, 8
  %114 = getelementptr i8, ptr %51, i64 %113
  %115 = load <16 x i64>, ptr %114, align 8
  %116 = bitcast <16 x i64> %115 to <32 x float>
  %117 = shufflevector <32 x float> %116, <32 x float> %116, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %118 = shufflevector <32 x float> %116, <32 x float> %116, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %119 = fneg <16 x float> %118
  %120 = fmul <16 x float> %118, %119
  %121 = call <16 x float> @llvm.fma.v16f32(<16 x float> %117, <16 x float> %117, <16 x float> %120)
  %122 = fmul <16 x float> %117, splat (float 2.000000e+00)
  %123 = fmul <16 x float> %118, %122
  %124 = shufflevector <16 x float> %121, <16 x float> %123, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %125 = bitcast <32 x float> %124 to <16 x i64>
  store <16 x i64> %125, ptr %114, align 8
  store i32 -1, ptr %7, align 4
  br label %104

126:
  %127 = load i64, ptr %11, align 8
  %128 = load i64, ptr %9, align 8
  %129 = load i64, ptr %10, align 8
  %130 = mul i64 %129, %21
  %131 = add i64 %130, %128
  %132 = mul i64 %131, %18
  %133 = add i64 %132, %127
  br label %144

134:
  %135 = load i64, ptr %11, align 8
  %136 = add i64 %135, 1
  store i64 %136, ptr %11, align 8
  %137 = load i64, ptr %11, align 8
  %138 = load i64, ptr %12, align 8
  %139 = icmp ult i64 %137, %138
  br i1 %139, label %126, label %140

140:
  %141 = load i64, ptr %12, align 8
  store i64 %141, ptr %8, align 8
  %142 = load i64, ptr %12, align 8
  %143 = icmp ult i64 %142, %18
  br i1 %143, label %80, label %85

144:
  %145 = add i64 %69, %127
  %146 = mul i64 %145, 8
  %147 = getelementptr i8, ptr %51, i64 %146
  %148 = load <2 x float>, ptr %147, align 8
  %149 = extractelement <2 x float> %148, i32 0
  %150 = extractelement <2 x float> %148, i32 1
  %151 = fneg float %150
  %152 = fmul float %150, %151
  %153 = call float @llvm.fma.f32(float %149, float %149, float %152)
  %154 = insertelement <2 x float> zeroinitializer, float %153, i32 0
  %155 = fmul float %149, 2.000000e+00
  %156 = fmul float %150, %155
  %157 = insertelement <2 x float> %154, float %156, i32 1
  store <2 x float> %157, ptr %147, align 8
  store i32 -1, ptr %7, align 4
  br label %134
