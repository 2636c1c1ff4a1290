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
  %16 = alloca <8 x i32>, align 64
  %17 = alloca i64, align 8
  %18 = alloca i64, align 8
  %19 = alloca i64, align 8
  %20 = alloca i64, align 8
  %21 = alloca i64, align 8
  %22 = alloca i64, align 8
  %23 = alloca <8 x i1>, align 1
  %24 = alloca <8 x i1>, align 1
  %25 = alloca <8 x i1>, align 1
  %26 = alloca <8 x i1>, align 1
  %27 = alloca <8 x i1>, align 1
  %28 = alloca <8 x i1>, align 1
  %29 = alloca <8 x i1>, align 1
  %30 = alloca <8 x i1>, align 1
  %31 = alloca <8 x i1>, align 1
  %32 = alloca <8 x i1>, align 1
  %33 = alloca <8 x i1>, align 1
  %34 = alloca <16 x i32>, align 64
  %35 = alloca i64, align 8
  %36 = alloca <16 x i32>, align 64
  %37 = alloca i64, align 8
  %38 = alloca i32, align 4
  %39 = alloca i64, align 8
  %40 = alloca i32, align 4
  %41 = alloca i64, align 8
  %42 = alloca i1, align 1
  %43 = alloca i1, align 1
  %44 = alloca i1, align 1
  %45 = alloca i32, align 4
  %46 = alloca <8 x i1>, align 1
  %47 = alloca <8 x i1>, align 1
  %48 = alloca <8 x i1>, align 1
  %49 = alloca <8 x i1>, align 1
  %50 = alloca <8 x i1>, align 1
  %51 = alloca <8 x i1>, align 1
  %52 = alloca <8 x i1>, align 1
  %53 = alloca <8 x i1>, align 1
  %54 = alloca <8 x i1>, align 1
  %55 = alloca <8 x i1>, align 1
  %56 = alloca <8 x i1>, align 1
  %57 = alloca <16 x i32>, align 64
  %58 = alloca i64, align 8
  %59 = alloca <16 x i32>, align 64
  %60 = alloca i64, align 8
  %61 = alloca i32, align 4
  %62 = alloca i64, align 8
  %63 = alloca i32, align 4
  %64 = alloca i64, align 8
  %65 = alloca i1, align 1
  %66 = alloca i1, align 1
  %67 = alloca i1, align 1
  %68 = alloca i32, align 4
  %69 = alloca i64, align 8
  %70 = alloca i64, align 8
  %71 = alloca i64, align 8
  %72 = alloca i64, align 8
  %73 = alloca i64, align 8
  %74 = alloca <8 x i1>, align 1
  %75 = alloca <8 x i1>, align 1
  %76 = alloca <8 x ptr>, align 64
  %77 = alloca <8 x i32>, align 64
  br label %78

78:
  %79 = load i32, ptr %1, align 4
  %80 = zext i32 %79 to i64
  %81 = getelementptr i8, ptr %1, i64 4
  %82 = load i32, ptr %81, align 4
  %83 = zext i32 %82 to i64
  %84 = getelementptr i8, ptr %1, i64 8
  %85 = load i32, ptr %84, align 4
  %86 = zext i32 %85 to i64
  %87 = getelementptr i8, ptr %1, i64 16
  %88 = load i32, ptr %87, align 4
  %89 = zext i32 %88 to i64
  %90 = getelementptr i8, ptr %1, i64 20
  %91 = load i32, ptr %90, align 4
  %92 = zext i32 %91 to i64
  %93 = getelementptr i8, ptr %1, i64 24
  %94 = load i32, ptr %93, align 4
  %95 = zext i32 %94 to i64
  %96 = getelementptr i8, ptr %1, i64 32
  %97 = load i64, ptr %96, align 8
  %98 = getelementptr i8, ptr %1, i64 40
  %99 = load i64, ptr %98, align 8
  %100 = getelementptr i8, ptr %1, i64 48
  %101 = load i64, ptr %100, align 8
  %102 = getelementptr i8, ptr %1, i64 28
  %103 = load i32, ptr %102, align 4
  %104 = zext i32 %103 to i64
  %105 = getelementptr i8, ptr %1, i64 12
  %106 = load i32, ptr %105, align 4
  %107 = zext i32 %106 to i64
  %108 = getelementptr i8, ptr %1, i64 72
  %109 = load i64, ptr %108, align 8
  %110 = getelementptr i8, ptr %1, i64 56
  %111 = load i64, ptr %110, align 8
  %112 = getelementptr i8, ptr %4, i64 %111
  %113 = load ptr, ptr %0, align 8
  %114 = getelementptr i8, ptr %0, i64 8
  %115 = load ptr, ptr %114, align 8
  %116 = getelementptr i8, ptr %1, i64 64
  %117 = load i64, ptr %116, align 8
  %118 = getelementptr i8, ptr %4, i64 %117
  %119 = mul i64 %104, 4
  %120 = add i64 %119, 15
  %121 = and i64 %120, -16
  %122 = getelementptr i8, ptr %118, i64 %121
  %123 = add i64 %2, %3
  %124 = getelementptr i8, ptr %1, i64 80
  %125 = load ptr, ptr %124, align 8
  store i8 0, ptr %6, align 1
  %126 = icmp eq ptr %125, null
  %127 = select i1 %126, ptr %6, ptr %125
  br label %128

128:
  %129 = phi i64 [ %2, %78 ], [ %146, %145 ]
  %130 = icmp ult i64 %129, %123
  br i1 %130, label %131, label %147

131:
  %132 = load atomic i8, ptr %127 monotonic, align 1
  %133 = icmp ne i8 %132, 0
  br i1 %133, label %147, label %134

134:
  %135 = udiv i64 %129, %89
  %136 = urem i64 %129, %89
  %137 = urem i64 %135, %92
  %138 = udiv i64 %135, %92
  %139 = mul i64 %136, %80
  %140 = add i64 %139, %97
  %141 = mul i64 %137, %83
  %142 = add i64 %141, %99
  %143 = mul i64 %138, %86
  %144 = add i64 %143, %101
  br label %148

145:
  %146 = add i64 %129, 1
  br label %128

147:
  ret void

148:
  %149 = and i64 %80, 7
  %150 = icmp eq i64 %149, 0
  br i1 %150, label %157, label %185

151:
  %152 = and i64 %80, 7
  %153 = icmp eq i64 %152, 0
  br i1 %153, label %261, label %289

154:
  %155 = and i64 %80, 7
  %156 = icmp eq i64 %155, 0
  br i1 %156, label %701, label %729

157:
  store i64 0, ptr %10, align 8
  store i64 0, ptr %11, align 8
  store i64 0, ptr %12, align 8
  br label %187

158:
  %159 = load i64, ptr %8, align 8
  %160 = insertelement <8 x i64> poison, i64 %159, i32 0
  %161 = shufflevector <8 x i64> %160, <8 x i64> poison, <8 x i32> zeroinitializer
  %162 = add <8 x i64> %161, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %163 = insertelement <8 x i64> poison, i64 %104, i32 0
  %164 = shufflevector <8 x i64> %163, <8 x i64> poison, <8 x i32> zeroinitializer
  %165 = icmp ult <8 x i64> %162, %164
  %166 = insertelement <8 x i64> poison, i64 %80, i32 0
  %167 = shufflevector <8 x i64> %166, <8 x i64> poison, <8 x i32> zeroinitializer
  %168 = insertelement <8 x i64> poison, i64 %83, i32 0
  %169 = shufflevector <8 x i64> %168, <8 x i64> poison, <8 x i32> zeroinitializer
  %170 = insertelement <8 x i64> poison, i64 %86, i32 0
  %171 = shufflevector <8 x i64> %170, <8 x i64> poison, <8 x i32> zeroinitializer
  %172 = uitofp <8 x i64> %162 to <8 x double>
  %173 = uitofp <8 x i64> %167 to <8 x double>
  %174 = fdiv <8 x double> %172, %173
  %175 = fptoui <8 x double> %174 to <8 x i64>
  %176 = mul <8 x i64> %175, %167
  %177 = sub <8 x i64> %162, %176
  %178 = uitofp <8 x i64> %175 to <8 x double>
  %179 = uitofp <8 x i64> %169 to <8 x double>
  %180 = fdiv <8 x double> %178, %179
  %181 = fptoui <8 x double> %180 to <8 x i64>
  %182 = mul <8 x i64> %181, %169
  %183 = sub <8 x i64> %175, %182
  store <8 x i1> zeroinitializer, ptr %14, align 1
  br label %228

184:
  br label %195

185:
  store i64 0, ptr %8, align 8
  store i64 %104, ptr %9, align 8
  br label %158

186:
  br label %151

187:
  %188 = load i64, ptr %10, align 8
  %189 = load i64, ptr %11, align 8
  %190 = load i64, ptr %12, align 8
  %191 = mul i64 %190, %83
  %192 = add i64 %191, %189
  %193 = mul i64 %192, %80
  %194 = add i64 %193, %188
  store <8 x i1> zeroinitializer, ptr %13, align 1
  br label %205

195:
  %196 = load i64, ptr %10, align 8
  %197 = add i64 %196, 8
  store i64 %197, ptr %10, align 8
  %198 = icmp ult i64 %197, %80
  br i1 %198, label %187, label %201

199:                                              ; No predecessors!
  store i64 %194, ptr %8, align 8
  %200 = add i64 %194, 8
  store i64 %200, ptr %9, align 8
  br label %158

201:
  store i64 0, ptr %10, align 8
  %202 = load i64, ptr %11, align 8
  %203 = add i64 %202, 1
  store i64 %203, ptr %11, align 8
  %204 = icmp ult i64 %203, %83
  br i1 %204, label %187, label %220

205:
  store <8 x i1> zeroinitializer, ptr %13, align 1
  %206 = add i64 %140, %188
  %207 = mul i64 %206, 4
  %208 = getelementptr i8, ptr %113, i64 %207
  %209 = mul i64 %194, 4
  %210 = getelementptr i8, ptr %118, i64 %209
  %211 = load <8 x i32>, ptr %208, align 4
  %212 = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %211)
  store <8 x i32> %211, ptr %210, align 4
  %213 = add i64 %104, 7
  %214 = and i64 %213, -8
  %215 = mul i64 %214, 0
  %216 = udiv i64 %194, 8
  %217 = mul i64 %216, 4
  %218 = add i64 %215, %217
  %219 = getelementptr i8, ptr %112, i64 %218
  store i32 %212, ptr %219, align 4
  store i32 1, ptr %7, align 4
  br label %195

220:
  store i64 0, ptr %11, align 8
  %221 = load i64, ptr %12, align 8
  %222 = add i64 %221, 1
  store i64 %222, ptr %12, align 8
  %223 = icmp ult i64 %222, %86
  br i1 %223, label %187, label %186

224:
  %225 = add i64 %159, 8
  store i64 %225, ptr %8, align 8
  %226 = load i64, ptr %9, align 8
  %227 = icmp ult i64 %225, %226
  br i1 %227, label %158, label %260

228:
  store <8 x i1> zeroinitializer, ptr %14, align 1
  %229 = insertelement <8 x i64> poison, i64 %140, i32 0
  %230 = shufflevector <8 x i64> %229, <8 x i64> poison, <8 x i32> zeroinitializer
  %231 = add <8 x i64> %230, %177
  %232 = mul <8 x i64> %231, splat (i64 4)
  %233 = getelementptr i8, ptr %113, <8 x i64> %232
  %234 = mul i64 %159, 4
  %235 = getelementptr i8, ptr %118, i64 %234
  store <8 x ptr> %233, ptr %15, align 64
  %236 = bitcast <8 x i1> %165 to i8
  %237 = zext i8 %236 to i64
  br label %238

238:
  %239 = phi i64 [ %237, %228 ], [ %246, %238 ]
  %240 = call i64 @llvm.cttz.i64(i64 %239, i1 true)
  %241 = getelementptr ptr, ptr %15, i64 %240
  %242 = load ptr, ptr %241, align 1
  %243 = load i32, ptr %242, align 4
  %244 = getelementptr i32, ptr %16, i64 %240
  store i32 %243, ptr %244, align 1
  %245 = sub i64 %239, 1
  %246 = and i64 %239, %245
  %247 = icmp ne i64 %246, 0
  br i1 %247, label %238, label %248

248:
  %249 = load <8 x i32>, ptr %16, align 64
  %250 = freeze <8 x i32> %249
  %251 = select <8 x i1> %165, <8 x i32> %250, <8 x i32> zeroinitializer
  %252 = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %251)
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %250, ptr %235, <8 x i1> %165)
  %253 = add i64 %104, 7
  %254 = and i64 %253, -8
  %255 = mul i64 %254, 0
  %256 = udiv i64 %159, 8
  %257 = mul i64 %256, 4
  %258 = add i64 %255, %257
  %259 = getelementptr i8, ptr %112, i64 %258
  store i32 %252, ptr %259, align 4
  store i32 1, ptr %7, align 4
  br label %224

260:
  br i1 %150, label %184, label %186

261:
  store i64 0, ptr %19, align 8
  store i64 0, ptr %20, align 8
  store i64 0, ptr %21, align 8
  br label %344

262:
  %263 = load i64, ptr %17, align 8
  %264 = insertelement <8 x i64> poison, i64 %263, i32 0
  %265 = shufflevector <8 x i64> %264, <8 x i64> poison, <8 x i32> zeroinitializer
  %266 = add <8 x i64> %265, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %267 = insertelement <8 x i64> poison, i64 %104, i32 0
  %268 = shufflevector <8 x i64> %267, <8 x i64> poison, <8 x i32> zeroinitializer
  %269 = icmp ult <8 x i64> %266, %268
  %270 = insertelement <8 x i64> poison, i64 %80, i32 0
  %271 = shufflevector <8 x i64> %270, <8 x i64> poison, <8 x i32> zeroinitializer
  %272 = insertelement <8 x i64> poison, i64 %83, i32 0
  %273 = shufflevector <8 x i64> %272, <8 x i64> poison, <8 x i32> zeroinitializer
  %274 = insertelement <8 x i64> poison, i64 %86, i32 0
  %275 = shufflevector <8 x i64> %274, <8 x i64> poison, <8 x i32> zeroinitializer
  %276 = uitofp <8 x i64> %266 to <8 x double>
  %277 = uitofp <8 x i64> %271 to <8 x double>
  %278 = fdiv <8 x double> %276, %277
  %279 = fptoui <8 x double> %278 to <8 x i64>
  %280 = mul <8 x i64> %279, %271
  %281 = sub <8 x i64> %266, %280
  %282 = uitofp <8 x i64> %279 to <8 x double>
  %283 = uitofp <8 x i64> %273 to <8 x double>
  %284 = fdiv <8 x double> %282, %283
  %285 = fptoui <8 x double> %284 to <8 x i64>
  %286 = mul <8 x i64> %285, %273
  %287 = sub <8 x i64> %279, %286
  store <8 x i1> zeroinitializer, ptr %46, align 1
  store <8 x i1> zeroinitializer, ptr %47, align 1
  store <8 x i1> zeroinitializer, ptr %48, align 1
  store <8 x i1> zeroinitializer, ptr %49, align 1
  store <8 x i1> zeroinitializer, ptr %50, align 1
  store <8 x i1> zeroinitializer, ptr %51, align 1
  store <8 x i1> zeroinitializer, ptr %52, align 1
  store <8 x i1> zeroinitializer, ptr %53, align 1
  store <8 x i1> zeroinitializer, ptr %54, align 1
  store <8 x i1> zeroinitializer, ptr %55, align 1
  store <8 x i1> zeroinitializer, ptr %56, align 1
  store <16 x i32> poison, ptr %57, align 64
  store i64 poison, ptr %58, align 8
  store <16 x i32> poison, ptr %59, align 64
  store i64 poison, ptr %60, align 8
  store i32 poison, ptr %61, align 4
  store i64 poison, ptr %62, align 8
  store i32 poison, ptr %63, align 4
  br label %544

288:
  br label %333

289:
  %290 = mul i64 0, %83
  %291 = add i64 %290, 0
  %292 = mul i64 %291, %80
  %293 = add i64 %292, 0
  %294 = add i64 %104, 7
  %295 = udiv i64 %294, 8
  %296 = freeze i64 %293
  %297 = freeze i64 0
  %298 = icmp ule i64 %296, %297
  %299 = sub i64 %297, %296
  %300 = udiv i64 %299, 1
  %301 = call i64 @llvm.umin.i64(i64 %300, i64 %104)
  %302 = add i64 %301, 1
  %303 = select i1 %298, i64 %302, i64 0
  %304 = select i1 true, i64 %303, i64 %104
  %305 = call i64 @llvm.umin.i64(i64 %104, i64 %304)
  %306 = add i64 %296, 7
  %307 = icmp ult i64 %306, %297
  %308 = sub i64 %297, %306
  %309 = sub i64 %308, 1
  %310 = udiv i64 %309, 8
  %311 = call i64 @llvm.umin.i64(i64 %310, i64 %104)
  %312 = add i64 %311, 1
  %313 = select i1 %307, i64 %312, i64 0
  %314 = select i1 true, i64 %313, i64 0
  %315 = call i64 @llvm.umax.i64(i64 0, i64 %314)
  %316 = mul i64 %315, 8
  %317 = icmp uge i64 %316, %305
  %318 = select i1 %317, i64 0, i64 %316
  %319 = select i1 %317, i64 1, i64 %305
  %320 = call i64 @llvm.umin.i64(i64 %319, i64 %104)
  %321 = icmp eq i64 %80, %104
  %322 = select i1 %321, i64 %318, i64 0
  %323 = select i1 %321, i64 %320, i64 %104
  store i64 %322, ptr %17, align 8
  store i64 %323, ptr %18, align 8
  br label %262

324:
  br label %154

325:
  %326 = load i64, ptr %19, align 8
  %327 = load i64, ptr %20, align 8
  %328 = load i64, ptr %21, align 8
  %329 = mul i64 %328, %83
  %330 = add i64 %329, %327
  %331 = mul i64 %330, %80
  %332 = add i64 %331, %326
  store <8 x i1> zeroinitializer, ptr %23, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %28, align 1
  store <8 x i1> zeroinitializer, ptr %29, align 1
  store <8 x i1> zeroinitializer, ptr %30, align 1
  store <8 x i1> zeroinitializer, ptr %31, align 1
  store <8 x i1> zeroinitializer, ptr %32, align 1
  store <8 x i1> zeroinitializer, ptr %33, align 1
  store <16 x i32> poison, ptr %34, align 64
  store i64 poison, ptr %35, align 8
  store <16 x i32> poison, ptr %36, align 64
  store i64 poison, ptr %37, align 8
  store i32 poison, ptr %38, align 4
  store i64 poison, ptr %39, align 8
  store i32 poison, ptr %40, align 4
  br label %382

333:
  %334 = load i64, ptr %19, align 8
  %335 = add i64 %334, 8
  store i64 %335, ptr %19, align 8
  %336 = load i64, ptr %22, align 8
  %337 = icmp ult i64 %335, %336
  br i1 %337, label %325, label %340

338:                                              ; No predecessors!
  store i64 %332, ptr %17, align 8
  %339 = add i64 %332, 8
  store i64 %339, ptr %18, align 8
  br label %262

340:
  store i64 0, ptr %19, align 8
  %341 = load i64, ptr %20, align 8
  %342 = add i64 %341, 1
  store i64 %342, ptr %20, align 8
  %343 = icmp ult i64 %342, %83
  br i1 %343, label %344, label %536

344:
  %345 = load i64, ptr %20, align 8
  %346 = load i64, ptr %21, align 8
  %347 = mul i64 %346, %83
  %348 = add i64 %347, %345
  %349 = mul i64 %348, %80
  %350 = add i64 %349, 0
  %351 = or i64 %345, %346
  %352 = icmp eq i64 %351, 0
  %353 = add i64 %80, 7
  %354 = udiv i64 %353, 8
  %355 = freeze i64 %350
  %356 = freeze i64 0
  %357 = icmp ule i64 %355, %356
  %358 = sub i64 %356, %355
  %359 = udiv i64 %358, 1
  %360 = call i64 @llvm.umin.i64(i64 %359, i64 %80)
  %361 = add i64 %360, 1
  %362 = select i1 %357, i64 %361, i64 0
  %363 = select i1 true, i64 %362, i64 %80
  %364 = call i64 @llvm.umin.i64(i64 %80, i64 %363)
  %365 = add i64 %355, 7
  %366 = icmp ult i64 %365, %356
  %367 = sub i64 %356, %365
  %368 = sub i64 %367, 1
  %369 = udiv i64 %368, 8
  %370 = call i64 @llvm.umin.i64(i64 %369, i64 %80)
  %371 = add i64 %370, 1
  %372 = select i1 %366, i64 %371, i64 0
  %373 = select i1 true, i64 %372, i64 0
  %374 = call i64 @llvm.umax.i64(i64 0, i64 %373)
  %375 = mul i64 %374, 8
  %376 = icmp uge i64 %375, %364
  %377 = select i1 %376, i64 0, i64 %375
  %378 = zext i1 %352 to i64
  %379 = select i1 %376, i64 %378, i64 %364
  %380 = call i64 @llvm.umin.i64(i64 %379, i64 %80)
  store i64 %377, ptr %19, align 8
  store i64 %380, ptr %22, align 8
  %381 = icmp ult i64 %377, %380
  br i1 %381, label %325, label %340

382:
  store <8 x i1> zeroinitializer, ptr %23, align 1
  %383 = insertelement <8 x i64> poison, i64 %332, i32 0
  %384 = shufflevector <8 x i64> %383, <8 x i64> poison, <8 x i32> zeroinitializer
  %385 = add <8 x i64> %384, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %386 = icmp eq <8 x i64> %385, zeroinitializer
  %387 = mul i64 %80, %83
  %388 = mul i64 %387, %86
  store i64 %388, ptr %41, align 8
  %389 = icmp uge i64 %388, 16
  store i1 %389, ptr %42, align 1
  %390 = add i64 %388, -16
  %391 = icmp uge i64 %390, 16
  store i1 %391, ptr %43, align 1
  %392 = icmp ugt i64 %388, 1
  store i1 %392, ptr %44, align 1
  %393 = xor <8 x i1> %386, splat (i1 true)
  %394 = load <8 x i1>, ptr %24, align 1
  %395 = or <8 x i1> %394, %386
  store <8 x i1> %395, ptr %24, align 1
  %396 = load <8 x i1>, ptr %33, align 1
  %397 = or <8 x i1> %396, %393
  store <8 x i1> %397, ptr %33, align 1
  br label %490

398:
  %399 = load <8 x i1>, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  %400 = load i32, ptr %118, align 4
  store i32 %400, ptr %45, align 4
  %401 = load i1, ptr %42, align 1
  br i1 %401, label %496, label %499

402:
  %403 = load <8 x i1>, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  %404 = load i1, ptr %44, align 1
  br i1 %404, label %502, label %506

405:
  %406 = load <8 x i1>, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  %407 = load <16 x i32>, ptr %118, align 16
  %408 = load i1, ptr %43, align 1
  br i1 %408, label %510, label %513

409:
  %410 = load <8 x i1>, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  %411 = load <16 x i32>, ptr %34, align 64
  %412 = load i64, ptr %35, align 8
  %413 = mul i64 %412, 4
  %414 = getelementptr i8, ptr %118, i64 %413
  %415 = load <16 x i32>, ptr %414, align 16
  %416 = call <16 x i32> @llvm.umax.v16i32(<16 x i32> %411, <16 x i32> %415)
  %417 = add i64 %412, 16
  %418 = load i64, ptr %41, align 8
  %419 = sub i64 %418, %417
  %420 = icmp uge i64 %419, 16
  br i1 %420, label %516, label %520

421:
  %422 = load <8 x i1>, ptr %29, align 1
  store <8 x i1> zeroinitializer, ptr %29, align 1
  %423 = load <16 x i32>, ptr %36, align 64
  %424 = load i64, ptr %37, align 8
  %425 = extractelement <16 x i32> %423, i32 0
  %426 = extractelement <16 x i32> %423, i32 1
  %427 = extractelement <16 x i32> %423, i32 2
  %428 = extractelement <16 x i32> %423, i32 3
  %429 = extractelement <16 x i32> %423, i32 4
  %430 = extractelement <16 x i32> %423, i32 5
  %431 = extractelement <16 x i32> %423, i32 6
  %432 = extractelement <16 x i32> %423, i32 7
  %433 = extractelement <16 x i32> %423, i32 8
  %434 = extractelement <16 x i32> %423, i32 9
  %435 = extractelement <16 x i32> %423, i32 10
  %436 = extractelement <16 x i32> %423, i32 11
  %437 = extractelement <16 x i32> %423, i32 12
  %438 = extractelement <16 x i32> %423, i32 13
  %439 = extractelement <16 x i32> %423, i32 14
  %440 = extractelement <16 x i32> %423, i32 15
  %441 = call i32 @llvm.umax.i32(i32 %425, i32 %433)
  %442 = call i32 @llvm.umax.i32(i32 %426, i32 %434)
  %443 = call i32 @llvm.umax.i32(i32 %427, i32 %435)
  %444 = call i32 @llvm.umax.i32(i32 %428, i32 %436)
  %445 = call i32 @llvm.umax.i32(i32 %429, i32 %437)
  %446 = call i32 @llvm.umax.i32(i32 %430, i32 %438)
  %447 = call i32 @llvm.umax.i32(i32 %431, i32 %439)
  %448 = call i32 @llvm.umax.i32(i32 %432, i32 %440)
  %449 = call i32 @llvm.umax.i32(i32 %441, i32 %445)
  %450 = call i32 @llvm.umax.i32(i32 %442, i32 %446)
  %451 = call i32 @llvm.umax.i32(i32 %443, i32 %447)
  %452 = call i32 @llvm.umax.i32(i32 %444, i32 %448)
  %453 = call i32 @llvm.umax.i32(i32 %449, i32 %451)
  %454 = call i32 @llvm.umax.i32(i32 %450, i32 %452)
  %455 = call i32 @llvm.umax.i32(i32 %453, i32 %454)
  %456 = load i64, ptr %41, align 8
  %457 = icmp ult i64 %424, %456
  br i1 %457, label %523, label %526

458:
  %459 = load <8 x i1>, ptr %30, align 1
  store <8 x i1> zeroinitializer, ptr %30, align 1
  %460 = load i32, ptr %38, align 4
  %461 = load i64, ptr %39, align 8
  %462 = mul i64 %461, 4
  %463 = getelementptr i8, ptr %118, i64 %462
  %464 = load i32, ptr %463, align 4
  %465 = call i32 @llvm.umax.i32(i32 %460, i32 %464)
  %466 = add i64 %461, 1
  %467 = load i64, ptr %41, align 8
  %468 = icmp ult i64 %466, %467
  br i1 %468, label %529, label %533

469:
  %470 = load <8 x i1>, ptr %32, align 1
  store <8 x i1> zeroinitializer, ptr %32, align 1
  %471 = load i32, ptr %40, align 4
  store i32 %471, ptr %4, align 4
  %472 = load <8 x i1>, ptr %33, align 1
  %473 = or <8 x i1> %472, %470
  store <8 x i1> %473, ptr %33, align 1
  br label %474

474:
  store <8 x i1> zeroinitializer, ptr %33, align 1
  %475 = add i64 %104, 7
  %476 = and i64 %475, -8
  %477 = mul i64 %476, 0
  %478 = udiv i64 %332, 8
  %479 = mul i64 %478, 4
  %480 = add i64 %477, %479
  %481 = getelementptr i8, ptr %112, i64 %480
  %482 = load i32, ptr %481, align 4
  %483 = add i64 %104, 7
  %484 = and i64 %483, -8
  %485 = mul i64 %484, 0
  %486 = udiv i64 %332, 8
  %487 = mul i64 %486, 4
  %488 = add i64 %485, %487
  %489 = getelementptr i8, ptr %112, i64 %488
  store i32 %482, ptr %489, align 4
  store i32 2, ptr %7, align 4
  br label %333

490:
  %491 = load <8 x i1>, ptr %24, align 1
  %492 = bitcast <8 x i1> %491 to i8
  %493 = icmp ne i8 %492, 0
  br i1 %493, label %494, label %495

494:
  br label %398

495:
  store <8 x i1> zeroinitializer, ptr %24, align 1
  br label %474

496:
  %497 = load <8 x i1>, ptr %26, align 1
  %498 = or <8 x i1> %497, %399
  store <8 x i1> %498, ptr %26, align 1
  br label %405

499:
  %500 = load <8 x i1>, ptr %25, align 1
  %501 = or <8 x i1> %500, %399
  store <8 x i1> %501, ptr %25, align 1
  br label %402

502:
  %503 = load i32, ptr %45, align 4
  store i32 %503, ptr %38, align 4
  store i64 1, ptr %39, align 8
  %504 = load <8 x i1>, ptr %30, align 1
  %505 = or <8 x i1> %504, %403
  store <8 x i1> %505, ptr %30, align 1
  br label %458

506:
  %507 = load i32, ptr %45, align 4
  store i32 %507, ptr %40, align 4
  %508 = load <8 x i1>, ptr %32, align 1
  %509 = or <8 x i1> %508, %403
  store <8 x i1> %509, ptr %32, align 1
  br label %469

510:
  store <16 x i32> %407, ptr %34, align 64
  store i64 16, ptr %35, align 8
  %511 = load <8 x i1>, ptr %27, align 1
  %512 = or <8 x i1> %511, %406
  store <8 x i1> %512, ptr %27, align 1
  br label %409

513:
  store <16 x i32> %407, ptr %36, align 64
  store i64 16, ptr %37, align 8
  %514 = load <8 x i1>, ptr %29, align 1
  %515 = or <8 x i1> %514, %406
  store <8 x i1> %515, ptr %29, align 1
  br label %421

516:
  store <16 x i32> %416, ptr %34, align 64
  store i64 %417, ptr %35, align 8
  %517 = load <8 x i1>, ptr %28, align 1
  %518 = or <8 x i1> %517, %410
  store <8 x i1> %518, ptr %28, align 1
  %519 = load <8 x i1>, ptr %28, align 1
  store <8 x i1> %519, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %28, align 1
  br label %409

520:
  store <16 x i32> %416, ptr %36, align 64
  store i64 %417, ptr %37, align 8
  %521 = load <8 x i1>, ptr %29, align 1
  %522 = or <8 x i1> %521, %410
  store <8 x i1> %522, ptr %29, align 1
  br label %421

523:
  store i32 %455, ptr %38, align 4
  store i64 %424, ptr %39, align 8
  %524 = load <8 x i1>, ptr %30, align 1
  %525 = or <8 x i1> %524, %422
  store <8 x i1> %525, ptr %30, align 1
  br label %458

526:
  store i32 %455, ptr %40, align 4
  %527 = load <8 x i1>, ptr %32, align 1
  %528 = or <8 x i1> %527, %422
  store <8 x i1> %528, ptr %32, align 1
  br label %469

529:
  store i32 %465, ptr %38, align 4
  store i64 %466, ptr %39, align 8
  %530 = load <8 x i1>, ptr %31, align 1
  %531 = or <8 x i1> %530, %459
  store <8 x i1> %531, ptr %31, align 1
  %532 = load <8 x i1>, ptr %31, align 1
  store <8 x i1> %532, ptr %30, align 1
  store <8 x i1> zeroinitializer, ptr %31, align 1
  br label %458

533:
  store i32 %465, ptr %40, align 4
  %534 = load <8 x i1>, ptr %32, align 1
  %535 = or <8 x i1> %534, %459
  store <8 x i1> %535, ptr %32, align 1
  br label %469

536:
  store i64 0, ptr %20, align 8
  %537 = load i64, ptr %21, align 8
  %538 = add i64 %537, 1
  store i64 %538, ptr %21, align 8
  %539 = icmp ult i64 %538, %86
  br i1 %539, label %344, label %324

540:
  %541 = add i64 %263, 8
  store i64 %541, ptr %17, align 8
  %542 = load i64, ptr %18, align 8
  %543 = icmp ult i64 %541, %542
  br i1 %543, label %262, label %700

544:
  store <8 x i1> zeroinitializer, ptr %46, align 1
  %545 = insertelement <8 x i64> poison, i64 %263, i32 0
  %546 = shufflevector <8 x i64> %545, <8 x i64> poison, <8 x i32> zeroinitializer
  %547 = add <8 x i64> %546, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %548 = icmp eq <8 x i64> %547, zeroinitializer
  %549 = mul i64 %80, %83
  %550 = mul i64 %549, %86
  store i64 %550, ptr %64, align 8
  %551 = icmp uge i64 %550, 16
  store i1 %551, ptr %65, align 1
  %552 = add i64 %550, -16
  %553 = icmp uge i64 %552, 16
  store i1 %553, ptr %66, align 1
  %554 = icmp ugt i64 %550, 1
  store i1 %554, ptr %67, align 1
  %555 = xor <8 x i1> %548, splat (i1 true)
  %556 = select <8 x i1> %269, <8 x i1> %548, <8 x i1> zeroinitializer
  %557 = select <8 x i1> %269, <8 x i1> %555, <8 x i1> zeroinitializer
  %558 = load <8 x i1>, ptr %47, align 1
  %559 = or <8 x i1> %558, %556
  store <8 x i1> %559, ptr %47, align 1
  %560 = load <8 x i1>, ptr %56, align 1
  %561 = or <8 x i1> %560, %557
  store <8 x i1> %561, ptr %56, align 1
  br label %654

562:
  %563 = load <8 x i1>, ptr %47, align 1
  store <8 x i1> zeroinitializer, ptr %47, align 1
  %564 = load i32, ptr %118, align 4
  store i32 %564, ptr %68, align 4
  %565 = load i1, ptr %65, align 1
  br i1 %565, label %660, label %663

566:
  %567 = load <8 x i1>, ptr %48, align 1
  store <8 x i1> zeroinitializer, ptr %48, align 1
  %568 = load i1, ptr %67, align 1
  br i1 %568, label %666, label %670

569:
  %570 = load <8 x i1>, ptr %49, align 1
  store <8 x i1> zeroinitializer, ptr %49, align 1
  %571 = load <16 x i32>, ptr %118, align 16
  %572 = load i1, ptr %66, align 1
  br i1 %572, label %674, label %677

573:
  %574 = load <8 x i1>, ptr %50, align 1
  store <8 x i1> zeroinitializer, ptr %50, align 1
  %575 = load <16 x i32>, ptr %57, align 64
  %576 = load i64, ptr %58, align 8
  %577 = mul i64 %576, 4
  %578 = getelementptr i8, ptr %118, i64 %577
  %579 = load <16 x i32>, ptr %578, align 16
  %580 = call <16 x i32> @llvm.umax.v16i32(<16 x i32> %575, <16 x i32> %579)
  %581 = add i64 %576, 16
  %582 = load i64, ptr %64, align 8
  %583 = sub i64 %582, %581
  %584 = icmp uge i64 %583, 16
  br i1 %584, label %680, label %684

585:
  %586 = load <8 x i1>, ptr %52, align 1
  store <8 x i1> zeroinitializer, ptr %52, align 1
  %587 = load <16 x i32>, ptr %59, align 64
  %588 = load i64, ptr %60, align 8
  %589 = extractelement <16 x i32> %587, i32 0
  %590 = extractelement <16 x i32> %587, i32 1
  %591 = extractelement <16 x i32> %587, i32 2
  %592 = extractelement <16 x i32> %587, i32 3
  %593 = extractelement <16 x i32> %587, i32 4
  %594 = extractelement <16 x i32> %587, i32 5
  %595 = extractelement <16 x i32> %587, i32 6
  %596 = extractelement <16 x i32> %587, i32 7
  %597 = extractelement <16 x i32> %587, i32 8
  %598 = extractelement <16 x i32> %587, i32 9
  %599 = extractelement <16 x i32> %587, i32 10
  %600 = extractelement <16 x i32> %587, i32 11
  %601 = extractelement <16 x i32> %587, i32 12
  %602 = extractelement <16 x i32> %587, i32 13
  %603 = extractelement <16 x i32> %587, i32 14
  %604 = extractelement <16 x i32> %587, i32 15
  %605 = call i32 @llvm.umax.i32(i32 %589, i32 %597)
  %606 = call i32 @llvm.umax.i32(i32 %590, i32 %598)
  %607 = call i32 @llvm.umax.i32(i32 %591, i32 %599)
  %608 = call i32 @llvm.umax.i32(i32 %592, i32 %600)
  %609 = call i32 @llvm.umax.i32(i32 %593, i32 %601)
  %610 = call i32 @llvm.umax.i32(i32 %594, i32 %602)
  %611 = call i32 @llvm.umax.i32(i32 %595, i32 %603)
  %612 = call i32 @llvm.umax.i32(i32 %596, i32 %604)
  %613 = call i32 @llvm.umax.i32(i32 %605, i32 %609)
  %614 = call i32 @llvm.umax.i32(i32 %606, i32 %610)
  %615 = call i32 @llvm.umax.i32(i32 %607, i32 %611)
  %616 = call i32 @llvm.umax.i32(i32 %608, i32 %612)
  %617 = call i32 @llvm.umax.i32(i32 %613, i32 %615)
  %618 = call i32 @llvm.umax.i32(i32 %614, i32 %616)
  %619 = call i32 @llvm.umax.i32(i32 %617, i32 %618)
  %620 = load i64, ptr %64, align 8
  %621 = icmp ult i64 %588, %620
  br i1 %621, label %687, label %690

622:
  %623 = load <8 x i1>, ptr %53, align 1
  store <8 x i1> zeroinitializer, ptr %53, align 1
  %624 = load i32, ptr %61, align 4
  %625 = load i64, ptr %62, align 8
  %626 = mul i64 %625, 4
  %627 = getelementptr i8, ptr %118, i64 %626
  %628 = load i32, ptr %627, align 4
  %629 = call i32 @llvm.umax.i32(i32 %624, i32 %628)
  %630 = add i64 %625, 1
  %631 = load i64, ptr %64, align 8
  %632 = icmp ult i64 %630, %631
  br i1 %632, label %693, label %697

633:
  %634 = load <8 x i1>, ptr %55, align 1
  store <8 x i1> zeroinitializer, ptr %55, align 1
  %635 = load i32, ptr %63, align 4
  store i32 %635, ptr %4, align 4
  %636 = load <8 x i1>, ptr %56, align 1
  %637 = or <8 x i1> %636, %634
  store <8 x i1> %637, ptr %56, align 1
  br label %638

638:
  store <8 x i1> zeroinitializer, ptr %56, align 1
  %639 = add i64 %104, 7
  %640 = and i64 %639, -8
  %641 = mul i64 %640, 0
  %642 = udiv i64 %263, 8
  %643 = mul i64 %642, 4
  %644 = add i64 %641, %643
  %645 = getelementptr i8, ptr %112, i64 %644
  %646 = load i32, ptr %645, align 4
  %647 = add i64 %104, 7
  %648 = and i64 %647, -8
  %649 = mul i64 %648, 0
  %650 = udiv i64 %263, 8
  %651 = mul i64 %650, 4
  %652 = add i64 %649, %651
  %653 = getelementptr i8, ptr %112, i64 %652
  store i32 %646, ptr %653, align 4
  store i32 2, ptr %7, align 4
  br label %540

654:
  %655 = load <8 x i1>, ptr %47, align 1
  %656 = bitcast <8 x i1> %655 to i8
  %657 = icmp ne i8 %656, 0
  br i1 %657, label %658, label %659

658:
  br label %562

659:
  store <8 x i1> zeroinitializer, ptr %47, align 1
  br label %638

660:
  %661 = load <8 x i1>, ptr %49, align 1
  %662 = or <8 x i1> %661, %563
  store <8 x i1> %662, ptr %49, align 1
  br label %569

663:
  %664 = load <8 x i1>, ptr %48, align 1
  %665 = or <8 x i1> %664, %563
  store <8 x i1> %665, ptr %48, align 1
  br label %566

666:
  %667 = load i32, ptr %68, align 4
  store i32 %667, ptr %61, align 4
  store i64 1, ptr %62, align 8
  %668 = load <8 x i1>, ptr %53, align 1
  %669 = or <8 x i1> %668, %567
  store <8 x i1> %669, ptr %53, align 1
  br label %622

670:
  %671 = load i32, ptr %68, align 4
  store i32 %671, ptr %63, align 4
  %672 = load <8 x i1>, ptr %55, align 1
  %673 = or <8 x i1> %672, %567
  store <8 x i1> %673, ptr %55, align 1
  br label %633

674:
  store <16 x i32> %571, ptr %57, align 64
  store i64 16, ptr %58, align 8
  %675 = load <8 x i1>, ptr %50, align 1
  %676 = or <8 x i1> %675, %570
  store <8 x i1> %676, ptr %50, align 1
  br label %573

677:
  store <16 x i32> %571, ptr %59, align 64
  store i64 16, ptr %60, align 8
  %678 = load <8 x i1>, ptr %52, align 1
  %679 = or <8 x i1> %678, %570
  store <8 x i1> %679, ptr %52, align 1
  br label %585

680:
  store <16 x i32> %580, ptr %57, align 64
  store i64 %581, ptr %58, align 8
  %681 = load <8 x i1>, ptr %51, align 1
  %682 = or <8 x i1> %681, %574
  store <8 x i1> %682, ptr %51, align 1
  %683 = load <8 x i1>, ptr %51, align 1
  store <8 x i1> %683, ptr %50, align 1
  store <8 x i1> zeroinitializer, ptr %51, align 1
  br label %573

684:
  store <16 x i32> %580, ptr %59, align 64
  store i64 %581, ptr %60, align 8
  %685 = load <8 x i1>, ptr %52, align 1
  %686 = or <8 x i1> %685, %574
  store <8 x i1> %686, ptr %52, align 1
  br label %585

687:
  store i32 %619, ptr %61, align 4
  store i64 %588, ptr %62, align 8
  %688 = load <8 x i1>, ptr %53, align 1
  %689 = or <8 x i1> %688, %586
  store <8 x i1> %689, ptr %53, align 1
  br label %622

690:
  store i32 %619, ptr %63, align 4
  %691 = load <8 x i1>, ptr %55, align 1
  %692 = or <8 x i1> %691, %586
  store <8 x i1> %692, ptr %55, align 1
  br label %633

693:
  store i32 %629, ptr %61, align 4
  store i64 %630, ptr %62, align 8
  %694 = load <8 x i1>, ptr %54, align 1
  %695 = or <8 x i1> %694, %623
  store <8 x i1> %695, ptr %54, align 1
  %696 = load <8 x i1>, ptr %54, align 1
  store <8 x i1> %696, ptr %53, align 1
  store <8 x i1> zeroinitializer, ptr %54, align 1
  br label %622

697:
  store i32 %629, ptr %63, align 4
  %698 = load <8 x i1>, ptr %55, align 1
  %699 = or <8 x i1> %698, %623
  store <8 x i1> %699, ptr %55, align 1
  br label %633

700:
  br i1 %153, label %288, label %324

701:
  store i64 0, ptr %71, align 8
  store i64 0, ptr %72, align 8
  store i64 0, ptr %73, align 8
  br label %731

702:
  %703 = load i64, ptr %69, align 8
  %704 = insertelement <8 x i64> poison, i64 %703, i32 0
  %705 = shufflevector <8 x i64> %704, <8 x i64> poison, <8 x i32> zeroinitializer
  %706 = add <8 x i64> %705, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %707 = insertelement <8 x i64> poison, i64 %104, i32 0
  %708 = shufflevector <8 x i64> %707, <8 x i64> poison, <8 x i32> zeroinitializer
  %709 = icmp ult <8 x i64> %706, %708
  %710 = insertelement <8 x i64> poison, i64 %80, i32 0
  %711 = shufflevector <8 x i64> %710, <8 x i64> poison, <8 x i32> zeroinitializer
  %712 = insertelement <8 x i64> poison, i64 %83, i32 0
  %713 = shufflevector <8 x i64> %712, <8 x i64> poison, <8 x i32> zeroinitializer
  %714 = insertelement <8 x i64> poison, i64 %86, i32 0
  %715 = shufflevector <8 x i64> %714, <8 x i64> poison, <8 x i32> zeroinitializer
  %716 = uitofp <8 x i64> %706 to <8 x double>
  %717 = uitofp <8 x i64> %711 to <8 x double>
  %718 = fdiv <8 x double> %716, %717
  %719 = fptoui <8 x double> %718 to <8 x i64>
  %720 = mul <8 x i64> %719, %711
  %721 = sub <8 x i64> %706, %720
  %722 = uitofp <8 x i64> %719 to <8 x double>
  %723 = uitofp <8 x i64> %713 to <8 x double>
  %724 = fdiv <8 x double> %722, %723
  %725 = fptoui <8 x double> %724 to <8 x i64>
  %726 = mul <8 x i64> %725, %713
  %727 = sub <8 x i64> %719, %726
  store <8 x i1> zeroinitializer, ptr %75, align 1
  br label %773

728:
  br label %739

729:
  store i64 0, ptr %69, align 8
  store i64 %104, ptr %70, align 8
  br label %702

730:
  br label %145

731:
  %732 = load i64, ptr %71, align 8
  %733 = load i64, ptr %72, align 8
  %734 = load i64, ptr %73, align 8
  %735 = mul i64 %734, %83
  %736 = add i64 %735, %733
  %737 = mul i64 %736, %80
  %738 = add i64 %737, %732
  store <8 x i1> zeroinitializer, ptr %74, align 1
  br label %749

739:
  %740 = load i64, ptr %71, align 8
  %741 = add i64 %740, 8
  store i64 %741, ptr %71, align 8
  %742 = icmp ult i64 %741, %80
  br i1 %742, label %731, label %745

743:                                              ; No predecessors!
  store i64 %738, ptr %69, align 8
  %744 = add i64 %738, 8
  store i64 %744, ptr %70, align 8
  br label %702

745:
  store i64 0, ptr %71, align 8
  %746 = load i64, ptr %72, align 8
  %747 = add i64 %746, 1
  store i64 %747, ptr %72, align 8
  %748 = icmp ult i64 %747, %83
  br i1 %748, label %731, label %765

749:
  store <8 x i1> zeroinitializer, ptr %74, align 1
  %750 = add i64 %140, %732
  %751 = mul i64 %750, 4
  %752 = getelementptr i8, ptr %115, i64 %751
  %753 = load i32, ptr %4, align 4
  %754 = add i64 %104, 7
  %755 = and i64 %754, -8
  %756 = mul i64 %755, 0
  %757 = udiv i64 %738, 8
  %758 = mul i64 %757, 4
  %759 = add i64 %756, %758
  %760 = getelementptr i8, ptr %112, i64 %759
  %761 = load i32, ptr %760, align 4
  %762 = add i32 %753, %761
  %763 = insertelement <8 x i32> poison, i32 %762, i32 0
  %764 = shufflevector <8 x i32> %763, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x i32> %764, ptr %752, align 4
  store i32 -1, ptr %7, align 4
  br label %739

765:
  store i64 0, ptr %72, align 8
  %766 = load i64, ptr %73, align 8
  %767 = add i64 %766, 1
  store i64 %767, ptr %73, align 8
  %768 = icmp ult i64 %767, %86
  br i1 %768, label %731, label %730

769:
  %770 = add i64 %703, 8
  store i64 %770, ptr %69, align 8
  %771 = load i64, ptr %70, align 8
  %772 = icmp ult i64 %770, %771
  br i1 %772, label %702, label %804

773:
  store <8 x i1> zeroinitializer, ptr %75, align 1
  %774 = insertelement <8 x i64> poison, i64 %140, i32 0
  %775 = shufflevector <8 x i64> %774, <8 x i64> poison, <8 x i32> zeroinitializer
  %776 = add <8 x i64> %775, %721
  %777 = mul <8 x i64> %776, splat (i64 4)
  %778 = getelementptr i8, ptr %115, <8 x i64> %777
  %779 = load i32, ptr %4, align 4
  %780 = add i64 %104, 7
  %781 = and i64 %780, -8
  %782 = mul i64 %781, 0
  %783 = udiv i64 %703, 8
  %784 = mul i64 %783, 4
  %785 = add i64 %782, %784
  %786 = getelementptr i8, ptr %112, i64 %785
  %787 = load i32, ptr %786, align 4
  %788 = add i32 %779, %787
  %789 = insertelement <8 x i32> poison, i32 %788, i32 0
  %790 = shufflevector <8 x i32> %789, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x ptr> %778, ptr %76, align 64
  store <8 x i32> %790, ptr %77, align 64
  %791 = bitcast <8 x i1> %709 to i8
  %792 = zext i8 %791 to i64
  br label %793

793:
  %794 = phi i64 [ %792, %773 ], [ %801, %793 ]
  %795 = call i64 @llvm.cttz.i64(i64 %794, i1 true)
  %796 = getelementptr ptr, ptr %76, i64 %795
  %797 = load ptr, ptr %796, align 1
  %798 = getelementptr i32, ptr %77, i64 %795
  %799 = load i32, ptr %798, align 1
  store i32 %799, ptr %797, align 4
  %800 = sub i64 %794, 1
  %801 = and i64 %794, %800
  %802 = icmp ne i64 %801, 0
  br i1 %802, label %793, label %803

803:
  store i32 -1, ptr %7, align 4
  br label %769

804:
  br i1 %156, label %728, label %730
