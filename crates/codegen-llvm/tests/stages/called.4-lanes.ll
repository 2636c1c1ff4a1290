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
  %19 = alloca <8 x ptr>, align 64
  %20 = alloca <8 x float>, align 64
  %21 = alloca <8 x ptr>, align 64
  %22 = alloca <8 x float>, align 64
  br label %23

23:
  %24 = load i32, ptr %1, align 4
  %25 = zext i32 %24 to i64
  %26 = getelementptr i8, ptr %1, i64 4
  %27 = load i32, ptr %26, align 4
  %28 = zext i32 %27 to i64
  %29 = getelementptr i8, ptr %1, i64 8
  %30 = load i32, ptr %29, align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr i8, ptr %1, i64 16
  %33 = load i32, ptr %32, align 4
  %34 = zext i32 %33 to i64
  %35 = getelementptr i8, ptr %1, i64 20
  %36 = load i32, ptr %35, align 4
  %37 = zext i32 %36 to i64
  %38 = getelementptr i8, ptr %1, i64 24
  %39 = load i32, ptr %38, align 4
  %40 = zext i32 %39 to i64
  %41 = getelementptr i8, ptr %1, i64 32
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr i8, ptr %1, i64 40
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr i8, ptr %1, i64 48
  %46 = load i64, ptr %45, align 8
  %47 = getelementptr i8, ptr %1, i64 28
  %48 = load i32, ptr %47, align 4
  %49 = zext i32 %48 to i64
  %50 = getelementptr i8, ptr %1, i64 12
  %51 = load i32, ptr %50, align 4
  %52 = zext i32 %51 to i64
  %53 = getelementptr i8, ptr %1, i64 72
  %54 = load i64, ptr %53, align 8
  %55 = getelementptr i8, ptr %1, i64 56
  %56 = load i64, ptr %55, align 8
  %57 = getelementptr i8, ptr %4, i64 %56
  %58 = load ptr, ptr %0, align 8
  %59 = getelementptr i8, ptr %0, i64 8
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr i8, ptr %4, i64 %60
  %62 = add i64 %2, %3
  %63 = getelementptr i8, ptr %1, i64 80
  %64 = load ptr, ptr %63, align 8
  store i8 0, ptr %6, align 1
  %65 = icmp eq ptr %64, null
  %66 = select i1 %65, ptr %6, ptr %64
  br label %67

67:
  %68 = phi i64 [ %2, %23 ], [ %85, %84 ]
  %69 = icmp ult i64 %68, %62
  br i1 %69, label %70, label %86

70:
  %71 = load atomic i8, ptr %66 monotonic, align 1
  %72 = icmp ne i8 %71, 0
  br i1 %72, label %86, label %73

73:
  %74 = udiv i64 %68, %34
  %75 = urem i64 %68, %34
  %76 = urem i64 %74, %37
  %77 = udiv i64 %74, %37
  %78 = mul i64 %75, %25
  %79 = add i64 %78, %42
  %80 = mul i64 %76, %28
  %81 = add i64 %80, %44
  %82 = mul i64 %77, %31
  %83 = add i64 %82, %46
  br label %87

84:
  %85 = add i64 %68, 1
  br label %67

86:
  ret void

87:
  %88 = and i64 %25, 7
  %89 = icmp eq i64 %88, 0
  br i1 %89, label %90, label %118

90:
  store i64 0, ptr %10, align 8
  store i64 0, ptr %11, align 8
  store i64 0, ptr %12, align 8
  br label %120

91:
  %92 = load i64, ptr %8, align 8
  %93 = insertelement <8 x i64> poison, i64 %92, i32 0
  %94 = shufflevector <8 x i64> %93, <8 x i64> poison, <8 x i32> zeroinitializer
  %95 = add <8 x i64> %94, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %96 = insertelement <8 x i64> poison, i64 %49, i32 0
  %97 = shufflevector <8 x i64> %96, <8 x i64> poison, <8 x i32> zeroinitializer
  %98 = icmp ult <8 x i64> %95, %97
  %99 = insertelement <8 x i64> poison, i64 %25, i32 0
  %100 = shufflevector <8 x i64> %99, <8 x i64> poison, <8 x i32> zeroinitializer
  %101 = insertelement <8 x i64> poison, i64 %28, i32 0
  %102 = shufflevector <8 x i64> %101, <8 x i64> poison, <8 x i32> zeroinitializer
  %103 = insertelement <8 x i64> poison, i64 %31, i32 0
  %104 = shufflevector <8 x i64> %103, <8 x i64> poison, <8 x i32> zeroinitializer
  %105 = uitofp <8 x i64> %95 to <8 x double>
  %106 = uitofp <8 x i64> %100 to <8 x double>
  %107 = fdiv <8 x double> %105, %106
  %108 = fptoui <8 x double> %107 to <8 x i64>
  %109 = mul <8 x i64> %108, %100
  %110 = sub <8 x i64> %95, %109
  %111 = uitofp <8 x i64> %108 to <8 x double>
  %112 = uitofp <8 x i64> %102 to <8 x double>
  %113 = fdiv <8 x double> %111, %112
  %114 = fptoui <8 x double> %113 to <8 x i64>
  %115 = mul <8 x i64> %114, %102
  %116 = sub <8 x i64> %108, %115
  store <8 x i1> zeroinitializer, ptr %14, align 1
  br label %165

117:
  br label %128

118:
  store i64 0, ptr %8, align 8
  store i64 %49, ptr %9, align 8
  br label %91

119:
  br label %84

120:
  %121 = load i64, ptr %10, align 8
  %122 = load i64, ptr %11, align 8
  %123 = load i64, ptr %12, align 8
  %124 = mul i64 %123, %28
  %125 = add i64 %124, %122
  %126 = mul i64 %125, %25
  %127 = add i64 %126, %121
  store <8 x i1> zeroinitializer, ptr %13, align 1
  br label %138

128:
  %129 = load i64, ptr %10, align 8
  %130 = add i64 %129, 8
  store i64 %130, ptr %10, align 8
  %131 = icmp ult i64 %130, %25
  br i1 %131, label %120, label %134

132:                                              ; No predecessors!
  store i64 %127, ptr %8, align 8
  %133 = add i64 %127, 8
  store i64 %133, ptr %9, align 8
  br label %91

134:
  store i64 0, ptr %10, align 8
  %135 = load i64, ptr %11, align 8
  %136 = add i64 %135, 1
  store i64 %136, ptr %11, align 8
  %137 = icmp ult i64 %136, %28
  br i1 %137, label %120, label %157

138:
  store <8 x i1> zeroinitializer, ptr %13, align 1
  %139 = insertelement <8 x i64> poison, i64 %121, i32 0
  %140 = shufflevector <8 x i64> %139, <8 x i64> poison, <8 x i32> zeroinitializer
  %141 = add <8 x i64> %140, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %142 = uitofp <8 x i64> %141 to <8 x float>
  %143 = mul i64 %121, 4
  %144 = getelementptr i8, ptr %61, i64 %143
  store <8 x float> %142, ptr %144, align 4
  %145 = trunc i64 %121 to i32
  %146 = sext i32 %145 to i64
  %147 = mul i64 %146, 4
  %148 = getelementptr i8, ptr %61, i64 %147
  %149 = load <8 x float>, ptr %148, align 4
  %150 = fmul <8 x float> %149, splat (float 2.000000e+00)
  %151 = add i64 %79, %121
  %152 = mul i64 %151, 4
  %153 = getelementptr i8, ptr %58, i64 %152
  %154 = load <8 x float>, ptr %153, align 4
  %155 = fmul <8 x float> %154, splat (float 2.000000e+00)
  %156 = fadd <8 x float> %150, %155
  store <8 x float> %156, ptr %153, align 4
  store i32 -1, ptr %7, align 4
  br label %128

157:
  store i64 0, ptr %11, align 8
  %158 = load i64, ptr %12, align 8
  %159 = add i64 %158, 1
  store i64 %159, ptr %12, align 8
  %160 = icmp ult i64 %159, %31
  br i1 %160, label %120, label %119

161:
  %162 = add i64 %92, 8
  store i64 %162, ptr %8, align 8
  %163 = load i64, ptr %9, align 8
  %164 = icmp ult i64 %162, %163
  br i1 %164, label %91, label %237

165:
  store <8 x i1> zeroinitializer, ptr %14, align 1
  %166 = uitofp <8 x i64> %110 to <8 x float>
  %167 = mul <8 x i64> %110, splat (i64 4)
  %168 = getelementptr i8, ptr %61, <8 x i64> %167
  store <8 x ptr> %168, ptr %15, align 64
  store <8 x float> %166, ptr %16, align 64
  %169 = bitcast <8 x i1> %98 to i8
  %170 = zext i8 %169 to i64
  br label %171

171:
  %172 = phi i64 [ %170, %165 ], [ %179, %171 ]
  %173 = call i64 @llvm.cttz.i64(i64 %172, i1 true)
  %174 = getelementptr ptr, ptr %15, i64 %173
  %175 = load ptr, ptr %174, align 1
  %176 = getelementptr float, ptr %16, i64 %173
  %177 = load float, ptr %176, align 1
  store float %177, ptr %175, align 4
  %178 = sub i64 %172, 1
  %179 = and i64 %172, %178
  %180 = icmp ne i64 %179, 0
  br i1 %180, label %171, label %181

181:
  %182 = trunc <8 x i64> %110 to <8 x i32>
  %183 = sext <8 x i32> %182 to <8 x i64>
  %184 = mul <8 x i64> %183, splat (i64 4)
  %185 = getelementptr i8, ptr %61, <8 x i64> %184
  store <8 x ptr> %185, ptr %17, align 64
  %186 = bitcast <8 x i1> %98 to i8
  %187 = zext i8 %186 to i64
  br label %188

188:
  %189 = phi i64 [ %187, %181 ], [ %196, %188 ]
  %190 = call i64 @llvm.cttz.i64(i64 %189, i1 true)
  %191 = getelementptr ptr, ptr %17, i64 %190
  %192 = load ptr, ptr %191, align 1
  %193 = load float, ptr %192, align 4
  %194 = getelementptr float, ptr %18, i64 %190
  store float %193, ptr %194, align 1
  %195 = sub i64 %189, 1
  %196 = and i64 %189, %195
  %197 = icmp ne i64 %196, 0
  br i1 %197, label %188, label %198

198:
  %199 = load <8 x float>, ptr %18, align 64
  %200 = freeze <8 x float> %199
  %201 = fmul <8 x float> %200, splat (float 2.000000e+00)
  %202 = insertelement <8 x i64> poison, i64 %79, i32 0
  %203 = shufflevector <8 x i64> %202, <8 x i64> poison, <8 x i32> zeroinitializer
  %204 = add <8 x i64> %203, %110
  %205 = mul <8 x i64> %204, splat (i64 4)
  %206 = getelementptr i8, ptr %58, <8 x i64> %205
  store <8 x ptr> %206, ptr %19, align 64
  %207 = bitcast <8 x i1> %98 to i8
  %208 = zext i8 %207 to i64
  br label %209

209:
  %210 = phi i64 [ %208, %198 ], [ %217, %209 ]
  %211 = call i64 @llvm.cttz.i64(i64 %210, i1 true)
  %212 = getelementptr ptr, ptr %19, i64 %211
  %213 = load ptr, ptr %212, align 1
  %214 = load float, ptr %213, align 4
  %215 = getelementptr float, ptr %20, i64 %211
  store float %214, ptr %215, align 1
  %216 = sub i64 %210, 1
  %217 = and i64 %210, %216
  %218 = icmp ne i64 %217, 0
  br i1 %218, label %209, label %219

219:
  %220 = load <8 x float>, ptr %20, align 64
  %221 = freeze <8 x float> %220
  %222 = fmul <8 x float> %221, splat (float 2.000000e+00)
  %223 = fadd <8 x float> %201, %222
  store <8 x ptr> %206, ptr %21, align 64
  store <8 x float> %223, ptr %22, align 64
  %224 = bitcast <8 x i1> %98 to i8
  %225 = zext i8 %224 to i64
  br label %226

226:
  %227 = phi i64 [ %225, %219 ], [ %234, %226 ]
  %228 = call i64 @llvm.cttz.i64(i64 %227, i1 true)
  %229 = getelementptr ptr, ptr %21, i64 %228
  %230 = load ptr, ptr %229, align 1
  %231 = getelementptr float, ptr %22, i64 %228
  %232 = load float, ptr %231, align 1
  store float %232, ptr %230, align 4
  %233 = sub i64 %227, 1
  %234 = and i64 %227, %233
  %235 = icmp ne i64 %234, 0
  br i1 %235, label %226, label %236

236:
  store i32 -1, ptr %7, align 4
  br label %161

237:
  br i1 %89, label %117, label %119
