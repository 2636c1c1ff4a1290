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
  %16 = alloca <16 x i1>, align 2
  %17 = alloca <16 x i1>, align 2
  %18 = alloca <16 x i1>, align 2
  %19 = alloca <16 x i1>, align 2
  %20 = alloca <16 x i1>, align 2
  %21 = alloca <16 x i32>, align 64
  %22 = alloca i64, align 8
  %23 = alloca ptr, align 8
  %24 = alloca i32, align 4
  %25 = alloca i64, align 8
  %26 = alloca ptr, align 8
  br label %27

27:
  %28 = load i32, ptr %1, align 4
  %29 = zext i32 %28 to i64
  %30 = getelementptr i8, ptr %1, i64 4
  %31 = load i32, ptr %30, align 4
  %32 = zext i32 %31 to i64
  %33 = getelementptr i8, ptr %1, i64 8
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr i8, ptr %1, i64 16
  %37 = load i32, ptr %36, align 4
  %38 = zext i32 %37 to i64
  %39 = getelementptr i8, ptr %1, i64 20
  %40 = load i32, ptr %39, align 4
  %41 = zext i32 %40 to i64
  %42 = getelementptr i8, ptr %1, i64 24
  %43 = load i32, ptr %42, align 4
  %44 = zext i32 %43 to i64
  %45 = getelementptr i8, ptr %1, i64 32
  %46 = load i64, ptr %45, align 8
  %47 = getelementptr i8, ptr %1, i64 40
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr i8, ptr %1, i64 48
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr i8, ptr %1, i64 28
  %52 = load i32, ptr %51, align 4
  %53 = zext i32 %52 to i64
  %54 = getelementptr i8, ptr %1, i64 12
  %55 = load i32, ptr %54, align 4
  %56 = zext i32 %55 to i64
  %57 = getelementptr i8, ptr %1, i64 72
  %58 = load i64, ptr %57, align 8
  %59 = getelementptr i8, ptr %1, i64 56
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr i8, ptr %4, i64 %60
  %62 = load ptr, ptr %0, align 8
  %63 = getelementptr i8, ptr %0, i64 8
  %64 = load ptr, ptr %63, align 8
  %65 = getelementptr i8, ptr %0, i64 16
  %66 = load i32, ptr %65, align 4
  %67 = add i64 %2, %3
  %68 = getelementptr i8, ptr %1, i64 80
  %69 = load ptr, ptr %68, align 8
  store i8 0, ptr %6, align 1
  %70 = icmp eq ptr %69, null
  %71 = select i1 %70, ptr %6, ptr %69
  br label %72

72:
  %73 = phi i64 [ %2, %27 ], [ %90, %89 ]
  %74 = icmp ult i64 %73, %67
  br i1 %74, label %75, label %91

75:
  %76 = load atomic i8, ptr %71 monotonic, align 1
  %77 = icmp ne i8 %76, 0
  br i1 %77, label %91, label %78

78:
  %79 = udiv i64 %73, %38
  %80 = urem i64 %73, %38
  %81 = urem i64 %79, %41
  %82 = udiv i64 %79, %41
  %83 = mul i64 %80, %29
  %84 = add i64 %83, %46
  %85 = mul i64 %81, %32
  %86 = add i64 %85, %48
  %87 = mul i64 %82, %35
  %88 = add i64 %87, %50
  br label %92

89:
  %90 = add i64 %73, 1
  br label %72

91:
  ret void

92:
  store i64 0, ptr %10, align 8
  br label %93

93:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %94

94:
  store i64 0, ptr %8, align 8
  br label %95

95:
  %96 = load i64, ptr %8, align 8
  %97 = sub i64 %29, %96
  %98 = icmp uge i64 %97, 16
  br i1 %98, label %111, label %141

99:
  br label %227

100:
  %101 = load i64, ptr %9, align 8
  %102 = add i64 %101, 1
  store i64 %102, ptr %9, align 8
  %103 = load i64, ptr %9, align 8
  %104 = icmp ult i64 %103, %32
  br i1 %104, label %94, label %105

105:
  %106 = load i64, ptr %10, align 8
  %107 = add i64 %106, 1
  store i64 %107, ptr %10, align 8
  %108 = load i64, ptr %10, align 8
  %109 = icmp ult i64 %108, %35
  br i1 %109, label %93, label %110

110:
  br label %89

111:
  %112 = load i64, ptr %8, align 8
  %113 = load i64, ptr %9, align 8
  %114 = load i64, ptr %10, align 8
  %115 = mul i64 %114, %32
  %116 = add i64 %115, %113
  %117 = mul i64 %116, %29
  %118 = add i64 %117, %112
  %119 = insertelement <16 x i32> poison, i32 %66, i32 0
  %120 = shufflevector <16 x i32> %119, <16 x i32> poison, <16 x i32> zeroinitializer
  %121 = add i64 %84, %112
  %122 = insertelement <16 x i64> poison, i64 %121, i32 0
  %123 = shufflevector <16 x i64> %122, <16 x i64> poison, <16 x i32> zeroinitializer
  %124 = add <16 x i64> %123, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %125 = trunc <16 x i64> %124 to <16 x i32>
  %126 = icmp sgt <16 x i32> %120, %125
  %127 = bitcast <16 x i1> %126 to i16
  %128 = icmp eq i16 %127, 0
  %129 = icmp eq i16 %127, -1
  %130 = or i1 %128, %129
  %131 = add i64 %84, %112
  %132 = shl i64 %131, 32
  %133 = add i64 %132, 64424509440
  %134 = icmp sge i64 %133, %132
  %135 = and i1 %130, %134
  br i1 %135, label %143, label %144

136:
  %137 = load i64, ptr %8, align 8
  %138 = add i64 %137, 16
  store i64 %138, ptr %8, align 8
  %139 = load i64, ptr %8, align 8
  %140 = icmp ult i64 %139, %29
  br i1 %140, label %95, label %100

141:
  %142 = load i64, ptr %8, align 8
  store i64 %142, ptr %11, align 8
  store i64 %29, ptr %12, align 8
  br label %99

143:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  store <16 x i1> zeroinitializer, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %17, align 2
  store <16 x i1> zeroinitializer, ptr %18, align 2
  store <16 x i1> zeroinitializer, ptr %19, align 2
  store <16 x i1> zeroinitializer, ptr %20, align 2
  br label %147

144:
  %145 = load i64, ptr %8, align 8
  store i64 %145, ptr %11, align 8
  %146 = add i64 %145, 16
  store i64 %146, ptr %12, align 8
  br label %99

147:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  %148 = add i64 %84, %112
  store i64 %148, ptr %22, align 8
  %149 = trunc i64 %148 to i32
  %150 = insertelement <16 x i32> poison, i32 %66, i32 0
  %151 = shufflevector <16 x i32> %150, <16 x i32> poison, <16 x i32> zeroinitializer
  %152 = insertelement <16 x i32> poison, i32 %149, i32 0
  %153 = shufflevector <16 x i32> %152, <16 x i32> poison, <16 x i32> zeroinitializer
  %154 = add <16 x i32> %153, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %155 = icmp sgt <16 x i32> %151, %154
  %156 = add i64 %84, %112
  %157 = trunc i64 %156 to i32
  %158 = icmp sgt i32 %66, %157
  br i1 %158, label %213, label %214

159:
  store <16 x i1> zeroinitializer, ptr %16, align 2
  %160 = load i64, ptr %22, align 8
  %161 = shl i64 %160, 32
  %162 = ashr i64 %161, 32
  %163 = mul i64 %162, 4
  %164 = getelementptr i8, ptr %62, i64 %163
  %165 = load <16 x i32>, ptr %164, align 4
  %166 = mul i64 %162, 4
  %167 = getelementptr i8, ptr %64, i64 %166
  store ptr %167, ptr %23, align 8
  %168 = icmp eq <16 x i32> %165, splat (i32 7)
  %169 = insertelement <16 x i32> poison, i32 %66, i32 0
  %170 = shufflevector <16 x i32> %169, <16 x i32> poison, <16 x i32> zeroinitializer
  %171 = select <16 x i1> %168, <16 x i32> %170, <16 x i32> zeroinitializer
  %172 = icmp eq <16 x i32> %165, zeroinitializer
  %173 = select <16 x i1> splat (i1 true), <16 x i1> %172, <16 x i1> zeroinitializer
  %174 = xor <16 x i1> %173, splat (i1 true)
  %175 = and <16 x i1> splat (i1 true), %174
  %176 = icmp eq <16 x i32> %165, splat (i32 1)
  %177 = select <16 x i1> splat (i1 true), <16 x i1> %176, <16 x i1> zeroinitializer
  %178 = xor <16 x i1> %177, splat (i1 true)
  %179 = and <16 x i1> %175, %178
  %180 = icmp eq <16 x i32> %165, splat (i32 7)
  %181 = select <16 x i1> splat (i1 true), <16 x i1> %180, <16 x i1> zeroinitializer
  %182 = xor <16 x i1> %181, splat (i1 true)
  %183 = and <16 x i1> %179, %182
  %184 = or <16 x i1> %181, %183
  %185 = load <16 x i1>, ptr %18, align 2
  %186 = or <16 x i1> %185, %173
  store <16 x i1> %186, ptr %18, align 2
  %187 = load <16 x i1>, ptr %17, align 2
  %188 = or <16 x i1> %187, %177
  store <16 x i1> %188, ptr %17, align 2
  store <16 x i32> %171, ptr %21, align 64
  %189 = load <16 x i1>, ptr %19, align 2
  %190 = or <16 x i1> %189, %184
  store <16 x i1> %190, ptr %19, align 2
  br label %215

191:
  %192 = load <16 x i1>, ptr %17, align 2
  store <16 x i1> zeroinitializer, ptr %17, align 2
  %193 = load ptr, ptr %23, align 8
  %194 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr %193, <16 x i1> %192, <16 x i32> poison)
  %195 = sub <16 x i32> zeroinitializer, %194
  %196 = load <16 x i32>, ptr %21, align 64
  %197 = select <16 x i1> %192, <16 x i32> %195, <16 x i32> %196
  store <16 x i32> %197, ptr %21, align 64
  %198 = load <16 x i1>, ptr %19, align 2
  %199 = or <16 x i1> %198, %192
  store <16 x i1> %199, ptr %19, align 2
  br label %221

200:
  %201 = load <16 x i1>, ptr %18, align 2
  store <16 x i1> zeroinitializer, ptr %18, align 2
  %202 = load ptr, ptr %23, align 8
  %203 = call <16 x i32> @llvm.masked.load.v16i32.p0(ptr %202, <16 x i1> %201, <16 x i32> poison)
  %204 = add <16 x i32> %203, splat (i32 1)
  %205 = load <16 x i32>, ptr %21, align 64
  %206 = select <16 x i1> %201, <16 x i32> %204, <16 x i32> %205
  store <16 x i32> %206, ptr %21, align 64
  %207 = load <16 x i1>, ptr %19, align 2
  %208 = or <16 x i1> %207, %201
  store <16 x i1> %208, ptr %19, align 2
  br label %209

209:
  store <16 x i1> zeroinitializer, ptr %19, align 2
  %210 = load <16 x i32>, ptr %21, align 64
  %211 = load ptr, ptr %23, align 8
  store <16 x i32> %210, ptr %211, align 4
  br label %212

212:
  store <16 x i1> zeroinitializer, ptr %20, align 2
  store i32 -1, ptr %7, align 4
  br label %136

213:
  br label %159

214:
  br label %212

215:
  %216 = load <16 x i1>, ptr %17, align 2
  %217 = bitcast <16 x i1> %216 to i16
  %218 = icmp ne i16 %217, 0
  br i1 %218, label %219, label %220

219:
  br label %191

220:
  store <16 x i1> zeroinitializer, ptr %17, align 2
  br label %221

221:
  %222 = load <16 x i1>, ptr %18, align 2
  %223 = bitcast <16 x i1> %222 to i16
  %224 = icmp ne i16 %223, 0
  br i1 %224, label %225, label %226

225:
  br label %200

226:
  store <16 x i1> zeroinitializer, ptr %18, align 2
  br label %209

227:
  %228 = load i64, ptr %11, align 8
  %229 = load i64, ptr %9, align 8
  %230 = load i64, ptr %10, align 8
  %231 = mul i64 %230, %32
  %232 = add i64 %231, %229
  %233 = mul i64 %232, %29
  %234 = add i64 %233, %228
  br label %245

235:
  %236 = load i64, ptr %11, align 8
  %237 = add i64 %236, 1
  store i64 %237, ptr %11, align 8
  %238 = load i64, ptr %11, align 8
  %239 = load i64, ptr %12, align 8
  %240 = icmp ult i64 %238, %239
  br i1 %240, label %227, label %241

241:
  %242 = load i64, ptr %12, align 8
  store i64 %242, ptr %8, align 8
  %243 = load i64, ptr %12, align 8
  %244 = icmp ult i64 %243, %29
  br i1 %244, label %95, label %100

245:
  %246 = add i64 %84, %228
  store i64 %246, ptr %25, align 8
  %247 = trunc i64 %246 to i32
  %248 = icmp sgt i32 %66, %247
  br i1 %248, label %272, label %273

249:
  %250 = load i64, ptr %25, align 8
  %251 = shl i64 %250, 32
  %252 = ashr i64 %251, 32
  %253 = mul i64 %252, 4
  %254 = getelementptr i8, ptr %62, i64 %253
  %255 = load i32, ptr %254, align 4
  %256 = mul i64 %252, 4
  %257 = getelementptr i8, ptr %64, i64 %256
  store ptr %257, ptr %26, align 8
  %258 = icmp eq i32 %255, 7
  %259 = select i1 %258, i32 %66, i32 0
  switch i32 %255, label %274 [
    i32 0, label %275
    i32 1, label %276
    i32 7, label %274
  ]

260:
  %261 = load ptr, ptr %26, align 8
  %262 = load i32, ptr %261, align 4
  %263 = sub i32 0, %262
  store i32 %263, ptr %24, align 4
  br label %268

264:
  %265 = load ptr, ptr %26, align 8
  %266 = load i32, ptr %265, align 4
  %267 = add i32 %266, 1
  store i32 %267, ptr %24, align 4
  br label %268

268:
  %269 = load i32, ptr %24, align 4
  %270 = load ptr, ptr %26, align 8
  store i32 %269, ptr %270, align 4
  br label %271

271:
  store i32 -1, ptr %7, align 4
  br label %235

272:
  br label %249

273:
  br label %271

274:
  store i32 %259, ptr %24, align 4
  br label %268

275:
  br label %264

276:
  br label %260
