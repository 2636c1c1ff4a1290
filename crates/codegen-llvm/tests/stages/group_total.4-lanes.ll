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
  %29 = alloca i32, align 4
  %30 = alloca i64, align 8
  %31 = alloca i32, align 4
  %32 = alloca i64, align 8
  %33 = alloca i1, align 1
  %34 = alloca <8 x i1>, align 1
  %35 = alloca <8 x i1>, align 1
  %36 = alloca <8 x i1>, align 1
  %37 = alloca <8 x i1>, align 1
  %38 = alloca <8 x i1>, align 1
  %39 = alloca <8 x i1>, align 1
  %40 = alloca i32, align 4
  %41 = alloca i64, align 8
  %42 = alloca i32, align 4
  %43 = alloca i64, align 8
  %44 = alloca i1, align 1
  %45 = alloca i64, align 8
  %46 = alloca i64, align 8
  %47 = alloca i64, align 8
  %48 = alloca i64, align 8
  %49 = alloca i64, align 8
  %50 = alloca <8 x i1>, align 1
  %51 = alloca <8 x i1>, align 1
  %52 = alloca <8 x ptr>, align 64
  %53 = alloca <8 x i32>, align 64
  br label %54

54:
  %55 = load i32, ptr %1, align 4
  %56 = zext i32 %55 to i64
  %57 = getelementptr i8, ptr %1, i64 4
  %58 = load i32, ptr %57, align 4
  %59 = zext i32 %58 to i64
  %60 = getelementptr i8, ptr %1, i64 8
  %61 = load i32, ptr %60, align 4
  %62 = zext i32 %61 to i64
  %63 = getelementptr i8, ptr %1, i64 16
  %64 = load i32, ptr %63, align 4
  %65 = zext i32 %64 to i64
  %66 = getelementptr i8, ptr %1, i64 20
  %67 = load i32, ptr %66, align 4
  %68 = zext i32 %67 to i64
  %69 = getelementptr i8, ptr %1, i64 24
  %70 = load i32, ptr %69, align 4
  %71 = zext i32 %70 to i64
  %72 = getelementptr i8, ptr %1, i64 32
  %73 = load i64, ptr %72, align 8
  %74 = getelementptr i8, ptr %1, i64 40
  %75 = load i64, ptr %74, align 8
  %76 = getelementptr i8, ptr %1, i64 48
  %77 = load i64, ptr %76, align 8
  %78 = getelementptr i8, ptr %1, i64 28
  %79 = load i32, ptr %78, align 4
  %80 = zext i32 %79 to i64
  %81 = getelementptr i8, ptr %1, i64 12
  %82 = load i32, ptr %81, align 4
  %83 = zext i32 %82 to i64
  %84 = getelementptr i8, ptr %1, i64 72
  %85 = load i64, ptr %84, align 8
  %86 = getelementptr i8, ptr %1, i64 56
  %87 = load i64, ptr %86, align 8
  %88 = getelementptr i8, ptr %4, i64 %87
  %89 = load ptr, ptr %0, align 8
  %90 = getelementptr i8, ptr %0, i64 8
  %91 = load ptr, ptr %90, align 8
  %92 = getelementptr i8, ptr %1, i64 64
  %93 = load i64, ptr %92, align 8
  %94 = getelementptr i8, ptr %4, i64 %93
  %95 = mul i64 %80, 4
  %96 = add i64 %95, 15
  %97 = and i64 %96, -16
  %98 = getelementptr i8, ptr %94, i64 %97
  %99 = add i64 %2, %3
  %100 = getelementptr i8, ptr %1, i64 80
  %101 = load ptr, ptr %100, align 8
  store i8 0, ptr %6, align 1
  %102 = icmp eq ptr %101, null
  %103 = select i1 %102, ptr %6, ptr %101
  br label %104

104:
  %105 = phi i64 [ %2, %54 ], [ %122, %121 ]
  %106 = icmp ult i64 %105, %99
  br i1 %106, label %107, label %123

107:
  %108 = load atomic i8, ptr %103 monotonic, align 1
  %109 = icmp ne i8 %108, 0
  br i1 %109, label %123, label %110

110:
  %111 = udiv i64 %105, %65
  %112 = urem i64 %105, %65
  %113 = urem i64 %111, %68
  %114 = udiv i64 %111, %68
  %115 = mul i64 %112, %56
  %116 = add i64 %115, %73
  %117 = mul i64 %113, %59
  %118 = add i64 %117, %75
  %119 = mul i64 %114, %62
  %120 = add i64 %119, %77
  br label %124

121:
  %122 = add i64 %105, 1
  br label %104

123:
  ret void

124:
  %125 = and i64 %56, 7
  %126 = icmp eq i64 %125, 0
  br i1 %126, label %133, label %161

127:
  %128 = and i64 %56, 7
  %129 = icmp eq i64 %128, 0
  br i1 %129, label %237, label %265

130:
  %131 = and i64 %56, 7
  %132 = icmp eq i64 %131, 0
  br i1 %132, label %513, label %541

133:
  store i64 0, ptr %10, align 8
  store i64 0, ptr %11, align 8
  store i64 0, ptr %12, align 8
  br label %163

134:
  %135 = load i64, ptr %8, align 8
  %136 = insertelement <8 x i64> poison, i64 %135, i32 0
  %137 = shufflevector <8 x i64> %136, <8 x i64> poison, <8 x i32> zeroinitializer
  %138 = add <8 x i64> %137, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %139 = insertelement <8 x i64> poison, i64 %56, i32 0
  %140 = shufflevector <8 x i64> %139, <8 x i64> poison, <8 x i32> zeroinitializer
  %141 = insertelement <8 x i64> poison, i64 %59, i32 0
  %142 = shufflevector <8 x i64> %141, <8 x i64> poison, <8 x i32> zeroinitializer
  %143 = insertelement <8 x i64> poison, i64 %62, i32 0
  %144 = shufflevector <8 x i64> %143, <8 x i64> poison, <8 x i32> zeroinitializer
  %145 = uitofp <8 x i64> %138 to <8 x double>
  %146 = uitofp <8 x i64> %140 to <8 x double>
  %147 = fdiv <8 x double> %145, %146
  %148 = fptoui <8 x double> %147 to <8 x i64>
  %149 = mul <8 x i64> %148, %140
  %150 = sub <8 x i64> %138, %149
  %151 = uitofp <8 x i64> %148 to <8 x double>
  %152 = uitofp <8 x i64> %142 to <8 x double>
  %153 = fdiv <8 x double> %151, %152
  %154 = fptoui <8 x double> %153 to <8 x i64>
  %155 = mul <8 x i64> %154, %142
  %156 = sub <8 x i64> %148, %155
  %157 = insertelement <8 x i64> poison, i64 %80, i32 0
  %158 = shufflevector <8 x i64> %157, <8 x i64> poison, <8 x i32> zeroinitializer
  %159 = icmp ult <8 x i64> %138, %158
  store <8 x i1> zeroinitializer, ptr %14, align 1
  br label %204

160:
  br label %171

161:
  store i64 0, ptr %8, align 8
  store i64 %80, ptr %9, align 8
  br label %134

162:
  br label %127

163:
  %164 = load i64, ptr %10, align 8
  %165 = load i64, ptr %11, align 8
  %166 = load i64, ptr %12, align 8
  %167 = mul i64 %166, %59
  %168 = add i64 %167, %165
  %169 = mul i64 %168, %56
  %170 = add i64 %169, %164
  store <8 x i1> zeroinitializer, ptr %13, align 1
  br label %181

171:
  %172 = load i64, ptr %10, align 8
  %173 = add i64 %172, 8
  store i64 %173, ptr %10, align 8
  %174 = icmp ult i64 %173, %56
  br i1 %174, label %163, label %177

175:                                              ; No predecessors!
  store i64 %170, ptr %8, align 8
  %176 = add i64 %170, 8
  store i64 %176, ptr %9, align 8
  br label %134

177:
  store i64 0, ptr %10, align 8
  %178 = load i64, ptr %11, align 8
  %179 = add i64 %178, 1
  store i64 %179, ptr %11, align 8
  %180 = icmp ult i64 %179, %59
  br i1 %180, label %163, label %196

181:
  store <8 x i1> zeroinitializer, ptr %13, align 1
  %182 = add i64 %116, %164
  %183 = mul i64 %182, 4
  %184 = getelementptr i8, ptr %89, i64 %183
  %185 = mul i64 %170, 4
  %186 = getelementptr i8, ptr %94, i64 %185
  %187 = load <8 x i32>, ptr %184, align 4
  %188 = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %187)
  store <8 x i32> %187, ptr %186, align 4
  %189 = add i64 %80, 7
  %190 = and i64 %189, -8
  %191 = mul i64 %190, 0
  %192 = udiv i64 %170, 8
  %193 = mul i64 %192, 4
  %194 = add i64 %191, %193
  %195 = getelementptr i8, ptr %88, i64 %194
  store i32 %188, ptr %195, align 4
  store i32 1, ptr %7, align 4
  br label %171

196:
  store i64 0, ptr %11, align 8
  %197 = load i64, ptr %12, align 8
  %198 = add i64 %197, 1
  store i64 %198, ptr %12, align 8
  %199 = icmp ult i64 %198, %62
  br i1 %199, label %163, label %162

200:
  %201 = add i64 %135, 8
  store i64 %201, ptr %8, align 8
  %202 = load i64, ptr %9, align 8
  %203 = icmp ult i64 %201, %202
  br i1 %203, label %134, label %236

204:
  store <8 x i1> zeroinitializer, ptr %14, align 1
  %205 = insertelement <8 x i64> poison, i64 %116, i32 0
  %206 = shufflevector <8 x i64> %205, <8 x i64> poison, <8 x i32> zeroinitializer
  %207 = add <8 x i64> %206, %150
  %208 = mul <8 x i64> %207, splat (i64 4)
  %209 = getelementptr i8, ptr %89, <8 x i64> %208
  %210 = mul i64 %135, 4
  %211 = getelementptr i8, ptr %94, i64 %210
  store <8 x ptr> %209, ptr %15, align 64
  %212 = bitcast <8 x i1> %159 to i8
  %213 = zext i8 %212 to i64
  br label %214

214:
  %215 = phi i64 [ %213, %204 ], [ %222, %214 ]
  %216 = call i64 @llvm.cttz.i64(i64 %215, i1 true)
  %217 = getelementptr ptr, ptr %15, i64 %216
  %218 = load ptr, ptr %217, align 1
  %219 = load i32, ptr %218, align 4
  %220 = getelementptr i32, ptr %16, i64 %216
  store i32 %219, ptr %220, align 1
  %221 = sub i64 %215, 1
  %222 = and i64 %215, %221
  %223 = icmp ne i64 %222, 0
  br i1 %223, label %214, label %224

224:
  %225 = load <8 x i32>, ptr %16, align 64
  %226 = freeze <8 x i32> %225
  %227 = select <8 x i1> %159, <8 x i32> %226, <8 x i32> zeroinitializer
  %228 = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %227)
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %226, ptr %211, <8 x i1> %159)
  %229 = add i64 %80, 7
  %230 = and i64 %229, -8
  %231 = mul i64 %230, 0
  %232 = udiv i64 %135, 8
  %233 = mul i64 %232, 4
  %234 = add i64 %231, %233
  %235 = getelementptr i8, ptr %88, i64 %234
  store i32 %228, ptr %235, align 4
  store i32 1, ptr %7, align 4
  br label %200

236:
  br i1 %126, label %160, label %162

237:
  store i64 0, ptr %19, align 8
  store i64 0, ptr %20, align 8
  store i64 0, ptr %21, align 8
  br label %324

238:
  %239 = load i64, ptr %17, align 8
  %240 = insertelement <8 x i64> poison, i64 %239, i32 0
  %241 = shufflevector <8 x i64> %240, <8 x i64> poison, <8 x i32> zeroinitializer
  %242 = add <8 x i64> %241, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %243 = insertelement <8 x i64> poison, i64 %56, i32 0
  %244 = shufflevector <8 x i64> %243, <8 x i64> poison, <8 x i32> zeroinitializer
  %245 = insertelement <8 x i64> poison, i64 %59, i32 0
  %246 = shufflevector <8 x i64> %245, <8 x i64> poison, <8 x i32> zeroinitializer
  %247 = insertelement <8 x i64> poison, i64 %62, i32 0
  %248 = shufflevector <8 x i64> %247, <8 x i64> poison, <8 x i32> zeroinitializer
  %249 = uitofp <8 x i64> %242 to <8 x double>
  %250 = uitofp <8 x i64> %244 to <8 x double>
  %251 = fdiv <8 x double> %249, %250
  %252 = fptoui <8 x double> %251 to <8 x i64>
  %253 = mul <8 x i64> %252, %244
  %254 = sub <8 x i64> %242, %253
  %255 = uitofp <8 x i64> %252 to <8 x double>
  %256 = uitofp <8 x i64> %246 to <8 x double>
  %257 = fdiv <8 x double> %255, %256
  %258 = fptoui <8 x double> %257 to <8 x i64>
  %259 = mul <8 x i64> %258, %246
  %260 = sub <8 x i64> %252, %259
  %261 = insertelement <8 x i64> poison, i64 %80, i32 0
  %262 = shufflevector <8 x i64> %261, <8 x i64> poison, <8 x i32> zeroinitializer
  %263 = icmp ult <8 x i64> %242, %262
  store <8 x i1> zeroinitializer, ptr %34, align 1
  store <8 x i1> zeroinitializer, ptr %35, align 1
  store <8 x i1> zeroinitializer, ptr %36, align 1
  store <8 x i1> zeroinitializer, ptr %37, align 1
  store <8 x i1> zeroinitializer, ptr %38, align 1
  store <8 x i1> zeroinitializer, ptr %39, align 1
  store i32 poison, ptr %40, align 4
  store i64 poison, ptr %41, align 8
  store i32 poison, ptr %42, align 4
  br label %442

264:
  br label %313

265:
  %266 = mul i64 0, %59
  %267 = add i64 %266, 0
  %268 = mul i64 %267, %56
  %269 = add i64 %268, 0
  %270 = add i64 %80, 7
  %271 = udiv i64 %270, 8
  %272 = freeze i64 %269
  %273 = freeze i64 0
  %274 = sub i64 %271, 1
  %275 = mul i64 %274, 8
  %276 = add i64 %275, 7
  %277 = add i64 %272, %276
  %278 = icmp uge i64 %277, %272
  %279 = icmp ule i64 %272, %273
  %280 = sub i64 %273, %272
  %281 = udiv i64 %280, 8
  %282 = add i64 %281, 1
  %283 = select i1 %279, i64 %282, i64 0
  %284 = select i1 %278, i64 %283, i64 %271
  %285 = call i64 @llvm.umin.i64(i64 %271, i64 %284)
  %286 = add i64 %272, 7
  %287 = icmp ult i64 %286, %273
  %288 = sub i64 %273, %286
  %289 = sub i64 %288, 1
  %290 = udiv i64 %289, 8
  %291 = add i64 %290, 1
  %292 = select i1 %287, i64 %291, i64 0
  %293 = select i1 %278, i64 %292, i64 0
  %294 = call i64 @llvm.umax.i64(i64 0, i64 %293)
  %295 = icmp uge i64 %294, %285
  %296 = select i1 %295, i64 0, i64 %294
  %297 = select i1 %295, i64 1, i64 %285
  %298 = mul i64 %297, 8
  %299 = call i64 @llvm.umin.i64(i64 %298, i64 %80)
  %300 = mul i64 %296, 8
  %301 = icmp eq i64 %56, %80
  %302 = select i1 %301, i64 %300, i64 0
  %303 = select i1 %301, i64 %299, i64 %80
  store i64 %302, ptr %17, align 8
  store i64 %303, ptr %18, align 8
  br label %238

304:
  br label %130

305:
  %306 = load i64, ptr %19, align 8
  %307 = load i64, ptr %20, align 8
  %308 = load i64, ptr %21, align 8
  %309 = mul i64 %308, %59
  %310 = add i64 %309, %307
  %311 = mul i64 %310, %56
  %312 = add i64 %311, %306
  store <8 x i1> zeroinitializer, ptr %23, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %28, align 1
  store i32 poison, ptr %29, align 4
  store i64 poison, ptr %30, align 8
  store i32 poison, ptr %31, align 4
  br label %366

313:
  %314 = load i64, ptr %19, align 8
  %315 = add i64 %314, 8
  store i64 %315, ptr %19, align 8
  %316 = load i64, ptr %22, align 8
  %317 = icmp ult i64 %315, %316
  br i1 %317, label %305, label %320

318:                                              ; No predecessors!
  store i64 %312, ptr %17, align 8
  %319 = add i64 %312, 8
  store i64 %319, ptr %18, align 8
  br label %238

320:
  store i64 0, ptr %19, align 8
  %321 = load i64, ptr %20, align 8
  %322 = add i64 %321, 1
  store i64 %322, ptr %20, align 8
  %323 = icmp ult i64 %322, %59
  br i1 %323, label %324, label %434

324:
  %325 = load i64, ptr %20, align 8
  %326 = load i64, ptr %21, align 8
  %327 = mul i64 %326, %59
  %328 = add i64 %327, %325
  %329 = mul i64 %328, %56
  %330 = add i64 %329, 0
  %331 = or i64 %325, %326
  %332 = icmp eq i64 %331, 0
  %333 = add i64 %56, 7
  %334 = udiv i64 %333, 8
  %335 = freeze i64 %330
  %336 = freeze i64 0
  %337 = sub i64 %334, 1
  %338 = mul i64 %337, 8
  %339 = add i64 %338, 7
  %340 = add i64 %335, %339
  %341 = icmp uge i64 %340, %335
  %342 = icmp ule i64 %335, %336
  %343 = sub i64 %336, %335
  %344 = udiv i64 %343, 8
  %345 = add i64 %344, 1
  %346 = select i1 %342, i64 %345, i64 0
  %347 = select i1 %341, i64 %346, i64 %334
  %348 = call i64 @llvm.umin.i64(i64 %334, i64 %347)
  %349 = add i64 %335, 7
  %350 = icmp ult i64 %349, %336
  %351 = sub i64 %336, %349
  %352 = sub i64 %351, 1
  %353 = udiv i64 %352, 8
  %354 = add i64 %353, 1
  %355 = select i1 %350, i64 %354, i64 0
  %356 = select i1 %341, i64 %355, i64 0
  %357 = call i64 @llvm.umax.i64(i64 0, i64 %356)
  %358 = icmp uge i64 %357, %348
  %359 = select i1 %358, i64 0, i64 %357
  %360 = zext i1 %332 to i64
  %361 = select i1 %358, i64 %360, i64 %348
  %362 = mul i64 %361, 8
  %363 = call i64 @llvm.umin.i64(i64 %362, i64 %56)
  %364 = mul i64 %359, 8
  store i64 %364, ptr %19, align 8
  store i64 %363, ptr %22, align 8
  %365 = icmp ult i64 %364, %363
  br i1 %365, label %305, label %320

366:
  store <8 x i1> zeroinitializer, ptr %23, align 1
  %367 = insertelement <8 x i64> poison, i64 %312, i32 0
  %368 = shufflevector <8 x i64> %367, <8 x i64> poison, <8 x i32> zeroinitializer
  %369 = add <8 x i64> %368, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %370 = icmp eq <8 x i64> %369, zeroinitializer
  %371 = mul i64 %56, %59
  %372 = mul i64 %371, %62
  store i64 %372, ptr %32, align 8
  %373 = icmp ugt i64 %372, 1
  store i1 %373, ptr %33, align 1
  %374 = xor <8 x i1> %370, splat (i1 true)
  %375 = load <8 x i1>, ptr %24, align 1
  %376 = or <8 x i1> %375, %370
  store <8 x i1> %376, ptr %24, align 1
  %377 = load <8 x i1>, ptr %28, align 1
  %378 = or <8 x i1> %377, %374
  store <8 x i1> %378, ptr %28, align 1
  br label %415

379:
  %380 = load <8 x i1>, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  %381 = load i32, ptr %94, align 4
  %382 = load i1, ptr %33, align 1
  br i1 %382, label %421, label %424

383:
  %384 = load <8 x i1>, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  %385 = load i32, ptr %29, align 4
  %386 = load i64, ptr %30, align 8
  %387 = mul i64 %386, 4
  %388 = getelementptr i8, ptr %94, i64 %387
  %389 = load i32, ptr %388, align 4
  %390 = call i32 @llvm.umax.i32(i32 %385, i32 %389)
  %391 = add i64 %386, 1
  %392 = load i64, ptr %32, align 8
  %393 = icmp ult i64 %391, %392
  br i1 %393, label %427, label %431

394:
  %395 = load <8 x i1>, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  %396 = load i32, ptr %31, align 4
  store i32 %396, ptr %4, align 4
  %397 = load <8 x i1>, ptr %28, align 1
  %398 = or <8 x i1> %397, %395
  store <8 x i1> %398, ptr %28, align 1
  br label %399

399:
  store <8 x i1> zeroinitializer, ptr %28, align 1
  %400 = add i64 %80, 7
  %401 = and i64 %400, -8
  %402 = mul i64 %401, 0
  %403 = udiv i64 %312, 8
  %404 = mul i64 %403, 4
  %405 = add i64 %402, %404
  %406 = getelementptr i8, ptr %88, i64 %405
  %407 = load i32, ptr %406, align 4
  %408 = add i64 %80, 7
  %409 = and i64 %408, -8
  %410 = mul i64 %409, 0
  %411 = udiv i64 %312, 8
  %412 = mul i64 %411, 4
  %413 = add i64 %410, %412
  %414 = getelementptr i8, ptr %88, i64 %413
  store i32 %407, ptr %414, align 4
  store i32 2, ptr %7, align 4
  br label %313

415:
  %416 = load <8 x i1>, ptr %24, align 1
  %417 = bitcast <8 x i1> %416 to i8
  %418 = icmp ne i8 %417, 0
  br i1 %418, label %419, label %420

419:
  br label %379

420:
  store <8 x i1> zeroinitializer, ptr %24, align 1
  br label %399

421:
  store i32 %381, ptr %29, align 4
  store i64 1, ptr %30, align 8
  %422 = load <8 x i1>, ptr %25, align 1
  %423 = or <8 x i1> %422, %380
  store <8 x i1> %423, ptr %25, align 1
  br label %383

424:
  store i32 %381, ptr %31, align 4
  %425 = load <8 x i1>, ptr %27, align 1
  %426 = or <8 x i1> %425, %380
  store <8 x i1> %426, ptr %27, align 1
  br label %394

427:
  store i32 %390, ptr %29, align 4
  store i64 %391, ptr %30, align 8
  %428 = load <8 x i1>, ptr %26, align 1
  %429 = or <8 x i1> %428, %384
  store <8 x i1> %429, ptr %26, align 1
  %430 = load <8 x i1>, ptr %26, align 1
  store <8 x i1> %430, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  br label %383

431:
  store i32 %390, ptr %31, align 4
  %432 = load <8 x i1>, ptr %27, align 1
  %433 = or <8 x i1> %432, %384
  store <8 x i1> %433, ptr %27, align 1
  br label %394

434:
  store i64 0, ptr %20, align 8
  %435 = load i64, ptr %21, align 8
  %436 = add i64 %435, 1
  store i64 %436, ptr %21, align 8
  %437 = icmp ult i64 %436, %62
  br i1 %437, label %324, label %304

438:
  %439 = add i64 %239, 8
  store i64 %439, ptr %17, align 8
  %440 = load i64, ptr %18, align 8
  %441 = icmp ult i64 %439, %440
  br i1 %441, label %238, label %512

442:
  store <8 x i1> zeroinitializer, ptr %34, align 1
  %443 = insertelement <8 x i64> poison, i64 %239, i32 0
  %444 = shufflevector <8 x i64> %443, <8 x i64> poison, <8 x i32> zeroinitializer
  %445 = add <8 x i64> %444, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %446 = icmp eq <8 x i64> %445, zeroinitializer
  %447 = mul i64 %56, %59
  %448 = mul i64 %447, %62
  store i64 %448, ptr %43, align 8
  %449 = icmp ugt i64 %448, 1
  store i1 %449, ptr %44, align 1
  %450 = xor <8 x i1> %446, splat (i1 true)
  %451 = select <8 x i1> %263, <8 x i1> %446, <8 x i1> zeroinitializer
  %452 = select <8 x i1> %263, <8 x i1> %450, <8 x i1> zeroinitializer
  %453 = load <8 x i1>, ptr %35, align 1
  %454 = or <8 x i1> %453, %451
  store <8 x i1> %454, ptr %35, align 1
  %455 = load <8 x i1>, ptr %39, align 1
  %456 = or <8 x i1> %455, %452
  store <8 x i1> %456, ptr %39, align 1
  br label %493

457:
  %458 = load <8 x i1>, ptr %35, align 1
  store <8 x i1> zeroinitializer, ptr %35, align 1
  %459 = load i32, ptr %94, align 4
  %460 = load i1, ptr %44, align 1
  br i1 %460, label %499, label %502

461:
  %462 = load <8 x i1>, ptr %36, align 1
  store <8 x i1> zeroinitializer, ptr %36, align 1
  %463 = load i32, ptr %40, align 4
  %464 = load i64, ptr %41, align 8
  %465 = mul i64 %464, 4
  %466 = getelementptr i8, ptr %94, i64 %465
  %467 = load i32, ptr %466, align 4
  %468 = call i32 @llvm.umax.i32(i32 %463, i32 %467)
  %469 = add i64 %464, 1
  %470 = load i64, ptr %43, align 8
  %471 = icmp ult i64 %469, %470
  br i1 %471, label %505, label %509

472:
  %473 = load <8 x i1>, ptr %38, align 1
  store <8 x i1> zeroinitializer, ptr %38, align 1
  %474 = load i32, ptr %42, align 4
  store i32 %474, ptr %4, align 4
  %475 = load <8 x i1>, ptr %39, align 1
  %476 = or <8 x i1> %475, %473
  store <8 x i1> %476, ptr %39, align 1
  br label %477

477:
  store <8 x i1> zeroinitializer, ptr %39, align 1
  %478 = add i64 %80, 7
  %479 = and i64 %478, -8
  %480 = mul i64 %479, 0
  %481 = udiv i64 %239, 8
  %482 = mul i64 %481, 4
  %483 = add i64 %480, %482
  %484 = getelementptr i8, ptr %88, i64 %483
  %485 = load i32, ptr %484, align 4
  %486 = add i64 %80, 7
  %487 = and i64 %486, -8
  %488 = mul i64 %487, 0
  %489 = udiv i64 %239, 8
  %490 = mul i64 %489, 4
  %491 = add i64 %488, %490
  %492 = getelementptr i8, ptr %88, i64 %491
  store i32 %485, ptr %492, align 4
  store i32 2, ptr %7, align 4
  br label %438

493:
  %494 = load <8 x i1>, ptr %35, align 1
  %495 = bitcast <8 x i1> %494 to i8
  %496 = icmp ne i8 %495, 0
  br i1 %496, label %497, label %498

497:
  br label %457

498:
  store <8 x i1> zeroinitializer, ptr %35, align 1
  br label %477

499:
  store i32 %459, ptr %40, align 4
  store i64 1, ptr %41, align 8
  %500 = load <8 x i1>, ptr %36, align 1
  %501 = or <8 x i1> %500, %458
  store <8 x i1> %501, ptr %36, align 1
  br label %461

502:
  store i32 %459, ptr %42, align 4
  %503 = load <8 x i1>, ptr %38, align 1
  %504 = or <8 x i1> %503, %458
  store <8 x i1> %504, ptr %38, align 1
  br label %472

505:
  store i32 %468, ptr %40, align 4
  store i64 %469, ptr %41, align 8
  %506 = load <8 x i1>, ptr %37, align 1
  %507 = or <8 x i1> %506, %462
  store <8 x i1> %507, ptr %37, align 1
  %508 = load <8 x i1>, ptr %37, align 1
  store <8 x i1> %508, ptr %36, align 1
  store <8 x i1> zeroinitializer, ptr %37, align 1
  br label %461

509:
  store i32 %468, ptr %42, align 4
  %510 = load <8 x i1>, ptr %38, align 1
  %511 = or <8 x i1> %510, %462
  store <8 x i1> %511, ptr %38, align 1
  br label %472

512:
  br i1 %129, label %264, label %304

513:
  store i64 0, ptr %47, align 8
  store i64 0, ptr %48, align 8
  store i64 0, ptr %49, align 8
  br label %543

514:
  %515 = load i64, ptr %45, align 8
  %516 = insertelement <8 x i64> poison, i64 %515, i32 0
  %517 = shufflevector <8 x i64> %516, <8 x i64> poison, <8 x i32> zeroinitializer
  %518 = add <8 x i64> %517, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %519 = insertelement <8 x i64> poison, i64 %56, i32 0
  %520 = shufflevector <8 x i64> %519, <8 x i64> poison, <8 x i32> zeroinitializer
  %521 = insertelement <8 x i64> poison, i64 %59, i32 0
  %522 = shufflevector <8 x i64> %521, <8 x i64> poison, <8 x i32> zeroinitializer
  %523 = insertelement <8 x i64> poison, i64 %62, i32 0
  %524 = shufflevector <8 x i64> %523, <8 x i64> poison, <8 x i32> zeroinitializer
  %525 = uitofp <8 x i64> %518 to <8 x double>
  %526 = uitofp <8 x i64> %520 to <8 x double>
  %527 = fdiv <8 x double> %525, %526
  %528 = fptoui <8 x double> %527 to <8 x i64>
  %529 = mul <8 x i64> %528, %520
  %530 = sub <8 x i64> %518, %529
  %531 = uitofp <8 x i64> %528 to <8 x double>
  %532 = uitofp <8 x i64> %522 to <8 x double>
  %533 = fdiv <8 x double> %531, %532
  %534 = fptoui <8 x double> %533 to <8 x i64>
  %535 = mul <8 x i64> %534, %522
  %536 = sub <8 x i64> %528, %535
  %537 = insertelement <8 x i64> poison, i64 %80, i32 0
  %538 = shufflevector <8 x i64> %537, <8 x i64> poison, <8 x i32> zeroinitializer
  %539 = icmp ult <8 x i64> %518, %538
  store <8 x i1> zeroinitializer, ptr %51, align 1
  br label %585

540:
  br label %551

541:
  store i64 0, ptr %45, align 8
  store i64 %80, ptr %46, align 8
  br label %514

542:
  br label %121

543:
  %544 = load i64, ptr %47, align 8
  %545 = load i64, ptr %48, align 8
  %546 = load i64, ptr %49, align 8
  %547 = mul i64 %546, %59
  %548 = add i64 %547, %545
  %549 = mul i64 %548, %56
  %550 = add i64 %549, %544
  store <8 x i1> zeroinitializer, ptr %50, align 1
  br label %561

551:
  %552 = load i64, ptr %47, align 8
  %553 = add i64 %552, 8
  store i64 %553, ptr %47, align 8
  %554 = icmp ult i64 %553, %56
  br i1 %554, label %543, label %557

555:                                              ; No predecessors!
  store i64 %550, ptr %45, align 8
  %556 = add i64 %550, 8
  store i64 %556, ptr %46, align 8
  br label %514

557:
  store i64 0, ptr %47, align 8
  %558 = load i64, ptr %48, align 8
  %559 = add i64 %558, 1
  store i64 %559, ptr %48, align 8
  %560 = icmp ult i64 %559, %59
  br i1 %560, label %543, label %577

561:
  store <8 x i1> zeroinitializer, ptr %50, align 1
  %562 = add i64 %116, %544
  %563 = mul i64 %562, 4
  %564 = getelementptr i8, ptr %91, i64 %563
  %565 = load i32, ptr %4, align 4
  %566 = add i64 %80, 7
  %567 = and i64 %566, -8
  %568 = mul i64 %567, 0
  %569 = udiv i64 %550, 8
  %570 = mul i64 %569, 4
  %571 = add i64 %568, %570
  %572 = getelementptr i8, ptr %88, i64 %571
  %573 = load i32, ptr %572, align 4
  %574 = add i32 %565, %573
  %575 = insertelement <8 x i32> poison, i32 %574, i32 0
  %576 = shufflevector <8 x i32> %575, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x i32> %576, ptr %564, align 4
  store i32 -1, ptr %7, align 4
  br label %551

577:
  store i64 0, ptr %48, align 8
  %578 = load i64, ptr %49, align 8
  %579 = add i64 %578, 1
  store i64 %579, ptr %49, align 8
  %580 = icmp ult i64 %579, %62
  br i1 %580, label %543, label %542

581:
  %582 = add i64 %515, 8
  store i64 %582, ptr %45, align 8
  %583 = load i64, ptr %46, align 8
  %584 = icmp ult i64 %582, %583
  br i1 %584, label %514, label %616

585:
  store <8 x i1> zeroinitializer, ptr %51, align 1
  %586 = insertelement <8 x i64> poison, i64 %116, i32 0
  %587 = shufflevector <8 x i64> %586, <8 x i64> poison, <8 x i32> zeroinitializer
  %588 = add <8 x i64> %587, %530
  %589 = mul <8 x i64> %588, splat (i64 4)
  %590 = getelementptr i8, ptr %91, <8 x i64> %589
  %591 = load i32, ptr %4, align 4
  %592 = add i64 %80, 7
  %593 = and i64 %592, -8
  %594 = mul i64 %593, 0
  %595 = udiv i64 %515, 8
  %596 = mul i64 %595, 4
  %597 = add i64 %594, %596
  %598 = getelementptr i8, ptr %88, i64 %597
  %599 = load i32, ptr %598, align 4
  %600 = add i32 %591, %599
  %601 = insertelement <8 x i32> poison, i32 %600, i32 0
  %602 = shufflevector <8 x i32> %601, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x ptr> %590, ptr %52, align 64
  store <8 x i32> %602, ptr %53, align 64
  %603 = bitcast <8 x i1> %539 to i8
  %604 = zext i8 %603 to i64
  br label %605

605:
  %606 = phi i64 [ %604, %585 ], [ %613, %605 ]
  %607 = call i64 @llvm.cttz.i64(i64 %606, i1 true)
  %608 = getelementptr ptr, ptr %52, i64 %607
  %609 = load ptr, ptr %608, align 1
  %610 = getelementptr i32, ptr %53, i64 %607
  %611 = load i32, ptr %610, align 1
  store i32 %611, ptr %609, align 4
  %612 = sub i64 %606, 1
  %613 = and i64 %606, %612
  %614 = icmp ne i64 %613, 0
  br i1 %614, label %605, label %615

615:
  store i32 -1, ptr %7, align 4
  br label %581

616:
  br i1 %132, label %540, label %542
