define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca <8 x i1>, align 1
  %14 = alloca <8 x i1>, align 1
  %15 = alloca <8 x ptr>, align 64
  %16 = alloca <8 x float>, align 64
  %17 = alloca <8 x ptr>, align 64
  %18 = alloca <8 x float>, align 64
  br label %19

19:
  %20 = load i32, ptr %1, align 4
  %21 = zext i32 %20 to i64
  %22 = getelementptr i8, ptr %1, i64 4
  %23 = load i32, ptr %22, align 4
  %24 = zext i32 %23 to i64
  %25 = getelementptr i8, ptr %1, i64 8
  %26 = load i32, ptr %25, align 4
  %27 = zext i32 %26 to i64
  %28 = getelementptr i8, ptr %1, i64 16
  %29 = load i32, ptr %28, align 4
  %30 = zext i32 %29 to i64
  %31 = getelementptr i8, ptr %1, i64 20
  %32 = load i32, ptr %31, align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr i8, ptr %1, i64 24
  %35 = load i32, ptr %34, align 4
  %36 = zext i32 %35 to i64
  %37 = getelementptr i8, ptr %1, i64 32
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr i8, ptr %1, i64 40
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr i8, ptr %1, i64 48
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr i8, ptr %1, i64 28
  %44 = load i32, ptr %43, align 4
  %45 = zext i32 %44 to i64
  %46 = getelementptr i8, ptr %1, i64 12
  %47 = load i32, ptr %46, align 4
  %48 = zext i32 %47 to i64
  %49 = getelementptr i8, ptr %1, i64 72
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr i8, ptr %1, i64 56
  %52 = load i64, ptr %51, align 8
  %53 = getelementptr i8, ptr %4, i64 %52
  %54 = load ptr, ptr %0, align 8
  %55 = add i64 %2, %3
  %56 = getelementptr i8, ptr %1, i64 80
  %57 = load ptr, ptr %56, align 8
  store i8 0, ptr %6, align 1
  %58 = icmp eq ptr %57, null
  %59 = select i1 %58, ptr %6, ptr %57
  br label %60

60:
  %61 = phi i64 [ %2, %19 ], [ %78, %77 ]
  %62 = icmp ult i64 %61, %55
  br i1 %62, label %63, label %79

63:
  %64 = load atomic i8, ptr %59 monotonic, align 1
  %65 = icmp ne i8 %64, 0
  br i1 %65, label %79, label %66

66:
  %67 = udiv i64 %61, %30
  %68 = urem i64 %61, %30
  %69 = urem i64 %67, %33
  %70 = udiv i64 %67, %33
  %71 = mul i64 %68, %21
  %72 = add i64 %71, %38
  %73 = mul i64 %69, %24
  %74 = add i64 %73, %40
  %75 = mul i64 %70, %27
  %76 = add i64 %75, %42
  br label %80

77:
  %78 = add i64 %61, 1
  br label %60

79:
  ret void

80:
  %81 = and i64 %21, 7
  %82 = icmp eq i64 %81, 0
  br i1 %82, label %83, label %111

83:
  store i64 0, ptr %10, align 8
  store i64 0, ptr %11, align 8
  store i64 0, ptr %12, align 8
  br label %113

84:
  %85 = load i64, ptr %8, align 8
  %86 = insertelement <8 x i64> poison, i64 %85, i32 0
  %87 = shufflevector <8 x i64> %86, <8 x i64> poison, <8 x i32> zeroinitializer
  %88 = add <8 x i64> %87, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %89 = insertelement <8 x i64> poison, i64 %45, i32 0
  %90 = shufflevector <8 x i64> %89, <8 x i64> poison, <8 x i32> zeroinitializer
  %91 = icmp ult <8 x i64> %88, %90
  %92 = insertelement <8 x i64> poison, i64 %21, i32 0
  %93 = shufflevector <8 x i64> %92, <8 x i64> poison, <8 x i32> zeroinitializer
  %94 = insertelement <8 x i64> poison, i64 %24, i32 0
  %95 = shufflevector <8 x i64> %94, <8 x i64> poison, <8 x i32> zeroinitializer
  %96 = insertelement <8 x i64> poison, i64 %27, i32 0
  %97 = shufflevector <8 x i64> %96, <8 x i64> poison, <8 x i32> zeroinitializer
  %98 = uitofp <8 x i64> %88 to <8 x double>
  %99 = uitofp <8 x i64> %93 to <8 x double>
  %100 = fdiv <8 x double> %98, %99
  %101 = fptoui <8 x double> %100 to <8 x i64>
  %102 = mul <8 x i64> %101, %93
  %103 = sub <8 x i64> %88, %102
  %104 = uitofp <8 x i64> %101 to <8 x double>
  %105 = uitofp <8 x i64> %95 to <8 x double>
  %106 = fdiv <8 x double> %104, %105
  %107 = fptoui <8 x double> %106 to <8 x i64>
  %108 = mul <8 x i64> %107, %95
  %109 = sub <8 x i64> %101, %108
  store <8 x i1> zeroinitializer, ptr %14, align 1
  br label %147

110:
  br label %121

111:
  store i64 0, ptr %8, align 8
  store i64 %45, ptr %9, align 8
  br label %84

112:
  br label %77

113:
  %114 = load i64, ptr %10, align 8
  %115 = load i64, ptr %11, align 8
  %116 = load i64, ptr %12, align 8
  %117 = mul i64 %116, %24
  %118 = add i64 %117, %115
  %119 = mul i64 %118, %21
  %120 = add i64 %119, %114
  store <8 x i1> zeroinitializer, ptr %13, align 1
  br label %131

121:
  %122 = load i64, ptr %10, align 8
  %123 = add i64 %122, 8
  store i64 %123, ptr %10, align 8
  %124 = icmp ult i64 %123, %21
  br i1 %124, label %113, label %127

125:                                              ; No predecessors!
  store i64 %120, ptr %8, align 8
  %126 = add i64 %120, 8
  store i64 %126, ptr %9, align 8
  br label %84

127:
  store i64 0, ptr %10, align 8
  %128 = load i64, ptr %11, align 8
  %129 = add i64 %128, 1
  store i64 %129, ptr %11, align 8
  %130 = icmp ult i64 %129, %24
  br i1 %130, label %113, label %139

131:
  store <8 x i1> zeroinitializer, ptr %13, align 1
  %132 = add i64 %72, %114
  %133 = mul i64 %132, 4
  %134 = getelementptr i8, ptr %54, i64 %133
  %135 = load <8 x float>, ptr %134, align 4
  %136 = call reassoc float @llvm.vector.reduce.fadd.v8f32(float 0.000000e+00, <8 x float> %135)
  %137 = insertelement <8 x float> poison, float %136, i32 0
  %138 = shufflevector <8 x float> %137, <8 x float> poison, <8 x i32> zeroinitializer
  store <8 x float> %138, ptr %134, align 4
  store i32 -1, ptr %7, align 4
  br label %121

139:
  store i64 0, ptr %11, align 8
  %140 = load i64, ptr %12, align 8
  %141 = add i64 %140, 1
  store i64 %141, ptr %12, align 8
  %142 = icmp ult i64 %141, %27
  br i1 %142, label %113, label %112

143:
  %144 = add i64 %85, 8
  store i64 %144, ptr %8, align 8
  %145 = load i64, ptr %9, align 8
  %146 = icmp ult i64 %144, %145
  br i1 %146, label %84, label %185

147:
  store <8 x i1> zeroinitializer, ptr %14, align 1
  %148 = insertelement <8 x i64> poison, i64 %72, i32 0
  %149 = shufflevector <8 x i64> %148, <8 x i64> poison, <8 x i32> zeroinitializer
  %150 = add <8 x i64> %149, %103
  %151 = mul <8 x i64> %150, splat (i64 4)
  %152 = getelementptr i8, ptr %54, <8 x i64> %151
  store <8 x ptr> %152, ptr %15, align 64
  %153 = bitcast <8 x i1> %91 to i8
  %154 = zext i8 %153 to i64
  br label %155

155:
  %156 = phi i64 [ %154, %147 ], [ %163, %155 ]
  %157 = call i64 @llvm.cttz.i64(i64 %156, i1 true)
  %158 = getelementptr ptr, ptr %15, i64 %157
  %159 = load ptr, ptr %158, align 1
  %160 = load float, ptr %159, align 4
  %161 = getelementptr float, ptr %16, i64 %157
  store float %160, ptr %161, align 1
  %162 = sub i64 %156, 1
  %163 = and i64 %156, %162
  %164 = icmp ne i64 %163, 0
  br i1 %164, label %155, label %165

165:
  %166 = load <8 x float>, ptr %16, align 64
  %167 = freeze <8 x float> %166
  %168 = select <8 x i1> %91, <8 x float> %167, <8 x float> zeroinitializer
  %169 = call reassoc float @llvm.vector.reduce.fadd.v8f32(float 0.000000e+00, <8 x float> %168)
  %170 = insertelement <8 x float> poison, float %169, i32 0
  %171 = shufflevector <8 x float> %170, <8 x float> poison, <8 x i32> zeroinitializer
  store <8 x ptr> %152, ptr %17, align 64
  store <8 x float> %171, ptr %18, align 64
  %172 = bitcast <8 x i1> %91 to i8
  %173 = zext i8 %172 to i64
  br label %174

174:
  %175 = phi i64 [ %173, %165 ], [ %182, %174 ]
  %176 = call i64 @llvm.cttz.i64(i64 %175, i1 true)
  %177 = getelementptr ptr, ptr %17, i64 %176
  %178 = load ptr, ptr %177, align 1
  %179 = getelementptr float, ptr %18, i64 %176
  %180 = load float, ptr %179, align 1
  store float %180, ptr %178, align 4
  %181 = sub i64 %175, 1
  %182 = and i64 %175, %181
  %183 = icmp ne i64 %182, 0
  br i1 %183, label %174, label %184

184:
  store i32 -1, ptr %7, align 4
  br label %143

185:
  br i1 %82, label %110, label %112
