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
  %15 = alloca [64 x i8], align 64
  store [64 x i8] zeroinitializer, ptr %15, align 64
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
  %78 = and i64 %18, 7
  %79 = icmp eq i64 %78, 0
  br i1 %79, label %80, label %108

80:
  store i64 0, ptr %10, align 8
  store i64 0, ptr %11, align 8
  store i64 0, ptr %12, align 8
  br label %110

81:
  %82 = load i64, ptr %8, align 8
  %83 = insertelement <8 x i64> poison, i64 %82, i32 0
  %84 = shufflevector <8 x i64> %83, <8 x i64> poison, <8 x i32> zeroinitializer
  %85 = add <8 x i64> %84, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %86 = insertelement <8 x i64> poison, i64 %18, i32 0
  %87 = shufflevector <8 x i64> %86, <8 x i64> poison, <8 x i32> zeroinitializer
  %88 = insertelement <8 x i64> poison, i64 %21, i32 0
  %89 = shufflevector <8 x i64> %88, <8 x i64> poison, <8 x i32> zeroinitializer
  %90 = insertelement <8 x i64> poison, i64 %24, i32 0
  %91 = shufflevector <8 x i64> %90, <8 x i64> poison, <8 x i32> zeroinitializer
  %92 = uitofp <8 x i64> %85 to <8 x double>
  %93 = uitofp <8 x i64> %87 to <8 x double>
  %94 = fdiv <8 x double> %92, %93
  %95 = fptoui <8 x double> %94 to <8 x i64>
  %96 = mul <8 x i64> %95, %87
  %97 = sub <8 x i64> %85, %96
  %98 = uitofp <8 x i64> %95 to <8 x double>
  %99 = uitofp <8 x i64> %89 to <8 x double>
  %100 = fdiv <8 x double> %98, %99
  %101 = fptoui <8 x double> %100 to <8 x i64>
  %102 = mul <8 x i64> %101, %89
  %103 = sub <8 x i64> %95, %102
  %104 = insertelement <8 x i64> poison, i64 %42, i32 0
  %105 = shufflevector <8 x i64> %104, <8 x i64> poison, <8 x i32> zeroinitializer
  %106 = icmp ult <8 x i64> %85, %105
  store <8 x i1> zeroinitializer, ptr %14, align 1
  br label %144

107:
  br label %118

108:
  store i64 0, ptr %8, align 8
  store i64 %42, ptr %9, align 8
  br label %81

109:
  br label %74

110:
  %111 = load i64, ptr %10, align 8
  %112 = load i64, ptr %11, align 8
  %113 = load i64, ptr %12, align 8
  %114 = mul i64 %113, %21
  %115 = add i64 %114, %112
  %116 = mul i64 %115, %18
  %117 = add i64 %116, %111
  store <8 x i1> zeroinitializer, ptr %13, align 1
  br label %124

118:
  %119 = load i64, ptr %10, align 8
  %120 = add i64 %119, 8
  store i64 %120, ptr %10, align 8
  %121 = icmp ult i64 %120, %18
  br i1 %121, label %110, label %132

122:                                              ; No predecessors!
  store i64 %117, ptr %8, align 8
  %123 = add i64 %117, 8
  store i64 %123, ptr %9, align 8
  br label %81

124:
  store <8 x i1> zeroinitializer, ptr %13, align 1
  %125 = add i64 %69, %111
  %126 = mul i64 %125, 4
  %127 = getelementptr i8, ptr %51, i64 %126
  %128 = load <8 x float>, ptr %127, align 4
  %129 = call reassoc float @llvm.vector.reduce.fadd.v8f32(float 0.000000e+00, <8 x float> %128)
  %130 = insertelement <8 x float> poison, float %129, i32 0
  %131 = shufflevector <8 x float> %130, <8 x float> poison, <8 x i32> zeroinitializer
  store <8 x float> %131, ptr %127, align 4
  store i32 -1, ptr %7, align 4
  br label %118

132:
  store i64 0, ptr %10, align 8
  %133 = load i64, ptr %11, align 8
  %134 = add i64 %133, 1
  store i64 %134, ptr %11, align 8
  %135 = icmp ult i64 %134, %21
  br i1 %135, label %110, label %136

136:
  store i64 0, ptr %11, align 8
  %137 = load i64, ptr %12, align 8
  %138 = add i64 %137, 1
  store i64 %138, ptr %12, align 8
  %139 = icmp ult i64 %138, %24
  br i1 %139, label %110, label %109

140:
  %141 = add i64 %82, 8
  store i64 %141, ptr %8, align 8
  %142 = load i64, ptr %9, align 8
  %143 = icmp ult i64 %141, %142
  br i1 %143, label %81, label %190

144:
  store <8 x i1> zeroinitializer, ptr %14, align 1
  %145 = insertelement <8 x i64> poison, i64 %69, i32 0
  %146 = shufflevector <8 x i64> %145, <8 x i64> poison, <8 x i32> zeroinitializer
  %147 = add <8 x i64> %146, %97
  %148 = mul <8 x i64> %147, splat (i64 4)
  %149 = getelementptr i8, ptr %51, <8 x i64> %148
  %150 = insertelement <8 x ptr> poison, ptr %15, i32 0
  %151 = shufflevector <8 x ptr> %150, <8 x ptr> poison, <8 x i32> zeroinitializer
  %152 = select <8 x i1> %106, <8 x ptr> %149, <8 x ptr> %151
  %153 = extractelement <8 x ptr> %152, i32 0
  %154 = extractelement <8 x ptr> %152, i32 1
  %155 = extractelement <8 x ptr> %152, i32 2
  %156 = extractelement <8 x ptr> %152, i32 3
  %157 = extractelement <8 x ptr> %152, i32 4
  %158 = extractelement <8 x ptr> %152, i32 5
  %159 = extractelement <8 x ptr> %152, i32 6
  %160 = extractelement <8 x ptr> %152, i32 7
  %161 = load float, ptr %153, align 4
  %162 = insertelement <8 x float> poison, float %161, i32 0
  %163 = load float, ptr %154, align 4
  %164 = insertelement <8 x float> %162, float %163, i32 1
  %165 = load float, ptr %155, align 4
  %166 = insertelement <8 x float> %164, float %165, i32 2
  %167 = load float, ptr %156, align 4
  %168 = insertelement <8 x float> %166, float %167, i32 3
  %169 = load float, ptr %157, align 4
  %170 = insertelement <8 x float> %168, float %169, i32 4
  %171 = load float, ptr %158, align 4
  %172 = insertelement <8 x float> %170, float %171, i32 5
  %173 = load float, ptr %159, align 4
  %174 = insertelement <8 x float> %172, float %173, i32 6
  %175 = load float, ptr %160, align 4
  %176 = insertelement <8 x float> %174, float %175, i32 7
  %177 = select <8 x i1> %106, <8 x float> %176, <8 x float> zeroinitializer
  %178 = call reassoc float @llvm.vector.reduce.fadd.v8f32(float 0.000000e+00, <8 x float> %177)
  %179 = insertelement <8 x ptr> poison, ptr %15, i32 0
  %180 = shufflevector <8 x ptr> %179, <8 x ptr> poison, <8 x i32> zeroinitializer
  %181 = select <8 x i1> %106, <8 x ptr> %149, <8 x ptr> %180
  %182 = extractelement <8 x ptr> %181, i32 0
  %183 = extractelement <8 x ptr> %181, i32 1
  %184 = extractelement <8 x ptr> %181, i32 2
  %185 = extractelement <8 x ptr> %181, i32 3
  %186 = extractelement <8 x ptr> %181, i32 4
  %187 = extractelement <8 x ptr> %181, i32 5
  %188 = extractelement <8 x ptr> %181, i32 6
  %189 = extractelement <8 x ptr> %181, i32 7
  store float %178, ptr %182, align 4
  store float %178, ptr %183, align 4
  store float %178, ptr %184, align 4
  store float %178, ptr %185, align 4
  store float %178, ptr %186, align 4
  store float %178, ptr %187, align 4
  store float %178, ptr %188, align 4
  store float %178, ptr %189, align 4
  store i32 -1, ptr %7, align 4
  br label %140

190:
  br i1 %79, label %107, label %109
