define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca <8 x i32>, align 64
  %8 = alloca i1, align 1
  %9 = alloca i1, align 1
  %10 = alloca i64, align 8
  %11 = alloca <8 x ptr>, align 64
  %12 = alloca <8 x float>, align 64
  %13 = alloca <8 x ptr>, align 64
  %14 = alloca <8 x float>, align 64
  br label %15

15:
  %16 = load i32, ptr %1, align 4
  %17 = zext i32 %16 to i64
  %18 = getelementptr i8, ptr %1, i64 4
  %19 = load i32, ptr %18, align 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr i8, ptr %1, i64 8
  %22 = load i32, ptr %21, align 4
  %23 = zext i32 %22 to i64
  %24 = getelementptr i8, ptr %1, i64 16
  %25 = load i32, ptr %24, align 4
  %26 = zext i32 %25 to i64
  %27 = getelementptr i8, ptr %1, i64 20
  %28 = load i32, ptr %27, align 4
  %29 = zext i32 %28 to i64
  %30 = getelementptr i8, ptr %1, i64 24
  %31 = load i32, ptr %30, align 4
  %32 = zext i32 %31 to i64
  %33 = getelementptr i8, ptr %1, i64 32
  %34 = load i64, ptr %33, align 8
  %35 = getelementptr i8, ptr %1, i64 40
  %36 = load i64, ptr %35, align 8
  %37 = getelementptr i8, ptr %1, i64 48
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr i8, ptr %1, i64 28
  %40 = load i32, ptr %39, align 4
  %41 = zext i32 %40 to i64
  %42 = getelementptr i8, ptr %1, i64 12
  %43 = load i32, ptr %42, align 4
  %44 = zext i32 %43 to i64
  %45 = getelementptr i8, ptr %1, i64 72
  %46 = load i64, ptr %45, align 8
  %47 = getelementptr i8, ptr %1, i64 56
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr i8, ptr %4, i64 %48
  %50 = load ptr, ptr %0, align 8
  %51 = add i64 %2, %3
  %52 = getelementptr i8, ptr %1, i64 80
  %53 = load ptr, ptr %52, align 8
  store i8 0, ptr %6, align 1
  %54 = icmp eq ptr %53, null
  %55 = select i1 %54, ptr %6, ptr %53
  br label %56

56:
  %57 = phi i64 [ %2, %15 ], [ %74, %73 ]
  %58 = icmp ult i64 %57, %51
  br i1 %58, label %59, label %75

59:
  %60 = load atomic i8, ptr %55 monotonic, align 1
  %61 = icmp ne i8 %60, 0
  br i1 %61, label %75, label %62

62:
  %63 = udiv i64 %57, %26
  %64 = urem i64 %57, %26
  %65 = urem i64 %63, %29
  %66 = udiv i64 %63, %29
  %67 = mul i64 %64, %17
  %68 = add i64 %67, %34
  %69 = mul i64 %65, %20
  %70 = add i64 %69, %36
  %71 = mul i64 %66, %23
  %72 = add i64 %71, %38
  store i1 false, ptr %8, align 1
  br label %76

73:
  %74 = add i64 %57, 1
  br label %56

75:
  ret void

76:
  store i1 false, ptr %9, align 1
  store i64 0, ptr %10, align 8
  br label %77

77:
  %78 = load i64, ptr %10, align 8
  %79 = lshr i64 %78, 3
  %80 = insertelement <8 x i64> poison, i64 %78, i32 0
  %81 = shufflevector <8 x i64> %80, <8 x i64> poison, <8 x i32> zeroinitializer
  %82 = add <8 x i64> %81, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %83 = insertelement <8 x i64> poison, i64 %17, i32 0
  %84 = shufflevector <8 x i64> %83, <8 x i64> poison, <8 x i32> zeroinitializer
  %85 = insertelement <8 x i64> poison, i64 %20, i32 0
  %86 = shufflevector <8 x i64> %85, <8 x i64> poison, <8 x i32> zeroinitializer
  %87 = insertelement <8 x i64> poison, i64 %23, i32 0
  %88 = shufflevector <8 x i64> %87, <8 x i64> poison, <8 x i32> zeroinitializer
  %89 = uitofp <8 x i64> %82 to <8 x double>
  %90 = uitofp <8 x i64> %84 to <8 x double>
  %91 = fdiv <8 x double> %89, %90
  %92 = fptoui <8 x double> %91 to <8 x i64>
  %93 = mul <8 x i64> %92, %84
  %94 = sub <8 x i64> %82, %93
  %95 = uitofp <8 x i64> %92 to <8 x double>
  %96 = uitofp <8 x i64> %86 to <8 x double>
  %97 = fdiv <8 x double> %95, %96
  %98 = fptoui <8 x double> %97 to <8 x i64>
  %99 = mul <8 x i64> %98, %86
  %100 = sub <8 x i64> %92, %99
  %101 = insertelement <8 x i64> poison, i64 %41, i32 0
  %102 = shufflevector <8 x i64> %101, <8 x i64> poison, <8 x i32> zeroinitializer
  %103 = icmp ult <8 x i64> %82, %102
  %104 = select <8 x i1> %103, <8 x i32> zeroinitializer, <8 x i32> splat (i32 2147483647)
  store <8 x i32> %104, ptr %7, align 64
  br label %105

105:
  %106 = load <8 x i32>, ptr %7, align 64
  %107 = call i32 @llvm.vector.reduce.umin.v8i32(<8 x i32> %106)
  switch i32 %107, label %108 [
    i32 0, label %113
  ]

108:
  %109 = add i64 %78, 8
  store i64 %109, ptr %10, align 8
  %110 = icmp ult i64 %109, %41
  br i1 %110, label %77, label %111

111:
  store i1 true, ptr %8, align 1
  %112 = load i1, ptr %9, align 1
  br i1 %112, label %76, label %73

113:
  %114 = load <8 x i32>, ptr %7, align 64
  %115 = icmp eq <8 x i32> %114, zeroinitializer
  %116 = insertelement <8 x i64> poison, i64 %68, i32 0
  %117 = shufflevector <8 x i64> %116, <8 x i64> poison, <8 x i32> zeroinitializer
  %118 = add <8 x i64> %117, %94
  %119 = insertelement <8 x ptr> poison, ptr %50, i32 0
  %120 = shufflevector <8 x ptr> %119, <8 x ptr> poison, <8 x i32> zeroinitializer
  %121 = mul <8 x i64> %118, splat (i64 4)
  %122 = getelementptr i8, <8 x ptr> %120, <8 x i64> %121
  %123 = extractelement <8 x ptr> %122, i32 0
  %124 = insertelement <8 x ptr> poison, ptr %123, i32 0
  %125 = shufflevector <8 x ptr> %124, <8 x ptr> poison, <8 x i32> zeroinitializer
  %126 = getelementptr i8, <8 x ptr> %125, <8 x i64> <i64 0, i64 4, i64 8, i64 12, i64 16, i64 20, i64 24, i64 28>
  %127 = icmp eq <8 x ptr> %122, %126
  %128 = and <8 x i1> %127, %115
  %129 = call i1 @llvm.vector.reduce.and.v8i1(<8 x i1> %128)
  br i1 %129, label %138, label %140

130:
  %131 = extractelement <8 x ptr> %122, i32 0
  %132 = insertelement <8 x ptr> poison, ptr %131, i32 0
  %133 = shufflevector <8 x ptr> %132, <8 x ptr> poison, <8 x i32> zeroinitializer
  %134 = getelementptr i8, <8 x ptr> %133, <8 x i64> <i64 0, i64 4, i64 8, i64 12, i64 16, i64 20, i64 24, i64 28>
  %135 = icmp eq <8 x ptr> %122, %134
  %136 = and <8 x i1> %135, %115
  %137 = call i1 @llvm.vector.reduce.and.v8i1(<8 x i1> %136)
  br i1 %137, label %163, label %164

138:
  %139 = load <8 x float>, ptr %123, align 4
  br label %143

140:
  store <8 x ptr> %122, ptr %11, align 64
  %141 = bitcast <8 x i1> %115 to i8
  %142 = zext i8 %141 to i64
  br label %149

143:
  %144 = phi <8 x float> [ %139, %138 ], [ %162, %160 ]
  %145 = select <8 x i1> %115, <8 x float> %144, <8 x float> zeroinitializer
  %146 = call reassoc float @llvm.vector.reduce.fadd.v8f32(float 0.000000e+00, <8 x float> %145)
  %147 = insertelement <8 x float> poison, float %146, i32 0
  %148 = shufflevector <8 x float> %147, <8 x float> poison, <8 x i32> zeroinitializer
  br label %130

149:
  %150 = phi i64 [ %142, %140 ], [ %158, %149 ]
  %151 = call i64 @llvm.cttz.i64(i64 %150, i1 true)
  %152 = getelementptr ptr, ptr %11, i64 %151
  %153 = load ptr, ptr %152, align 1
  %154 = add i64 %78, %151
  %155 = load float, ptr %153, align 4
  %156 = getelementptr float, ptr %12, i64 %151
  store float %155, ptr %156, align 1
  %157 = sub i64 %150, 1
  %158 = and i64 %150, %157
  %159 = icmp ne i64 %158, 0
  br i1 %159, label %149, label %160

160:
  %161 = load <8 x float>, ptr %12, align 64
  %162 = freeze <8 x float> %161
  br label %143

163:
  store <8 x float> %148, ptr %131, align 4
  br label %167

164:
  store <8 x ptr> %122, ptr %13, align 64
  store <8 x float> %148, ptr %14, align 64
  %165 = bitcast <8 x i1> %115 to i8
  %166 = zext i8 %165 to i64
  br label %170

167:
  %168 = load <8 x i32>, ptr %7, align 64
  %169 = select <8 x i1> %115, <8 x i32> splat (i32 2147483647), <8 x i32> %168
  store <8 x i32> %169, ptr %7, align 64
  br label %105

170:
  %171 = phi i64 [ %166, %164 ], [ %179, %170 ]
  %172 = call i64 @llvm.cttz.i64(i64 %171, i1 true)
  %173 = getelementptr ptr, ptr %13, i64 %172
  %174 = load ptr, ptr %173, align 1
  %175 = getelementptr float, ptr %14, i64 %172
  %176 = load float, ptr %175, align 1
  %177 = add i64 %78, %172
  store float %176, ptr %174, align 4
  %178 = sub i64 %171, 1
  %179 = and i64 %171, %178
  %180 = icmp ne i64 %179, 0
  br i1 %180, label %170, label %181

181:
  br label %167
