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
  br i1 %132, label %509, label %537

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
  br label %322

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
  br label %438

264:
  br label %311

265:
  %266 = mul i64 0, %59
  %267 = add i64 %266, 0
  %268 = mul i64 %267, %56
  %269 = add i64 %268, 0
  %270 = add i64 %80, 7
  %271 = udiv i64 %270, 8
  %272 = sub i64 %271, 1
  %273 = mul i64 %272, 8
  %274 = add i64 %273, 7
  %275 = add i64 %269, %274
  %276 = icmp uge i64 %275, %269
  %277 = icmp ule i64 %269, 0
  %278 = sub i64 0, %269
  %279 = udiv i64 %278, 8
  %280 = add i64 %279, 1
  %281 = select i1 %277, i64 %280, i64 0
  %282 = select i1 %276, i64 %281, i64 %271
  %283 = call i64 @llvm.umin.i64(i64 %271, i64 %282)
  %284 = add i64 %269, 7
  %285 = icmp ult i64 %284, 0
  %286 = sub i64 0, %284
  %287 = sub i64 %286, 1
  %288 = udiv i64 %287, 8
  %289 = add i64 %288, 1
  %290 = select i1 %285, i64 %289, i64 0
  %291 = select i1 %276, i64 %290, i64 0
  %292 = call i64 @llvm.umax.i64(i64 0, i64 %291)
  %293 = icmp uge i64 %292, %283
  %294 = select i1 %293, i64 0, i64 %292
  %295 = select i1 %293, i64 1, i64 %283
  %296 = mul i64 %295, 8
  %297 = call i64 @llvm.umin.i64(i64 %296, i64 %80)
  %298 = mul i64 %294, 8
  %299 = icmp eq i64 %56, %80
  %300 = select i1 %299, i64 %298, i64 0
  %301 = select i1 %299, i64 %297, i64 %80
  store i64 %300, ptr %17, align 8
  store i64 %301, ptr %18, align 8
  br label %238

302:
  br label %130

303:
  %304 = load i64, ptr %19, align 8
  %305 = load i64, ptr %20, align 8
  %306 = load i64, ptr %21, align 8
  %307 = mul i64 %306, %59
  %308 = add i64 %307, %305
  %309 = mul i64 %308, %56
  %310 = add i64 %309, %304
  store <8 x i1> zeroinitializer, ptr %23, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %28, align 1
  store i32 poison, ptr %29, align 4
  store i64 poison, ptr %30, align 8
  store i32 poison, ptr %31, align 4
  br label %362

311:
  %312 = load i64, ptr %19, align 8
  %313 = add i64 %312, 8
  store i64 %313, ptr %19, align 8
  %314 = load i64, ptr %22, align 8
  %315 = icmp ult i64 %313, %314
  br i1 %315, label %303, label %318

316:                                              ; No predecessors!
  store i64 %310, ptr %17, align 8
  %317 = add i64 %310, 8
  store i64 %317, ptr %18, align 8
  br label %238

318:
  store i64 0, ptr %19, align 8
  %319 = load i64, ptr %20, align 8
  %320 = add i64 %319, 1
  store i64 %320, ptr %20, align 8
  %321 = icmp ult i64 %320, %59
  br i1 %321, label %322, label %430

322:
  %323 = load i64, ptr %20, align 8
  %324 = load i64, ptr %21, align 8
  %325 = mul i64 %324, %59
  %326 = add i64 %325, %323
  %327 = mul i64 %326, %56
  %328 = add i64 %327, 0
  %329 = or i64 %323, %324
  %330 = icmp eq i64 %329, 0
  %331 = add i64 %56, 7
  %332 = udiv i64 %331, 8
  %333 = sub i64 %332, 1
  %334 = mul i64 %333, 8
  %335 = add i64 %334, 7
  %336 = add i64 %328, %335
  %337 = icmp uge i64 %336, %328
  %338 = icmp ule i64 %328, 0
  %339 = sub i64 0, %328
  %340 = udiv i64 %339, 8
  %341 = add i64 %340, 1
  %342 = select i1 %338, i64 %341, i64 0
  %343 = select i1 %337, i64 %342, i64 %332
  %344 = call i64 @llvm.umin.i64(i64 %332, i64 %343)
  %345 = add i64 %328, 7
  %346 = icmp ult i64 %345, 0
  %347 = sub i64 0, %345
  %348 = sub i64 %347, 1
  %349 = udiv i64 %348, 8
  %350 = add i64 %349, 1
  %351 = select i1 %346, i64 %350, i64 0
  %352 = select i1 %337, i64 %351, i64 0
  %353 = call i64 @llvm.umax.i64(i64 0, i64 %352)
  %354 = icmp uge i64 %353, %344
  %355 = select i1 %354, i64 0, i64 %353
  %356 = zext i1 %330 to i64
  %357 = select i1 %354, i64 %356, i64 %344
  %358 = mul i64 %357, 8
  %359 = call i64 @llvm.umin.i64(i64 %358, i64 %56)
  %360 = mul i64 %355, 8
  store i64 %360, ptr %19, align 8
  store i64 %359, ptr %22, align 8
  %361 = icmp ult i64 %360, %359
  br i1 %361, label %303, label %318

362:
  store <8 x i1> zeroinitializer, ptr %23, align 1
  %363 = insertelement <8 x i64> poison, i64 %310, i32 0
  %364 = shufflevector <8 x i64> %363, <8 x i64> poison, <8 x i32> zeroinitializer
  %365 = add <8 x i64> %364, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %366 = icmp eq <8 x i64> %365, zeroinitializer
  %367 = mul i64 %56, %59
  %368 = mul i64 %367, %62
  store i64 %368, ptr %32, align 8
  %369 = icmp ugt i64 %368, 1
  store i1 %369, ptr %33, align 1
  %370 = xor <8 x i1> %366, splat (i1 true)
  %371 = load <8 x i1>, ptr %24, align 1
  %372 = or <8 x i1> %371, %366
  store <8 x i1> %372, ptr %24, align 1
  %373 = load <8 x i1>, ptr %28, align 1
  %374 = or <8 x i1> %373, %370
  store <8 x i1> %374, ptr %28, align 1
  br label %411

375:
  %376 = load <8 x i1>, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  %377 = load i32, ptr %94, align 4
  %378 = load i1, ptr %33, align 1
  br i1 %378, label %417, label %420

379:
  %380 = load <8 x i1>, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  %381 = load i32, ptr %29, align 4
  %382 = load i64, ptr %30, align 8
  %383 = mul i64 %382, 4
  %384 = getelementptr i8, ptr %94, i64 %383
  %385 = load i32, ptr %384, align 4
  %386 = call i32 @llvm.umax.i32(i32 %381, i32 %385)
  %387 = add i64 %382, 1
  %388 = load i64, ptr %32, align 8
  %389 = icmp ult i64 %387, %388
  br i1 %389, label %423, label %427

390:
  %391 = load <8 x i1>, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  %392 = load i32, ptr %31, align 4
  store i32 %392, ptr %4, align 4
  %393 = load <8 x i1>, ptr %28, align 1
  %394 = or <8 x i1> %393, %391
  store <8 x i1> %394, ptr %28, align 1
  br label %395

395:
  store <8 x i1> zeroinitializer, ptr %28, align 1
  %396 = add i64 %80, 7
  %397 = and i64 %396, -8
  %398 = mul i64 %397, 0
  %399 = udiv i64 %310, 8
  %400 = mul i64 %399, 4
  %401 = add i64 %398, %400
  %402 = getelementptr i8, ptr %88, i64 %401
  %403 = load i32, ptr %402, align 4
  %404 = add i64 %80, 7
  %405 = and i64 %404, -8
  %406 = mul i64 %405, 0
  %407 = udiv i64 %310, 8
  %408 = mul i64 %407, 4
  %409 = add i64 %406, %408
  %410 = getelementptr i8, ptr %88, i64 %409
  store i32 %403, ptr %410, align 4
  store i32 2, ptr %7, align 4
  br label %311

411:
  %412 = load <8 x i1>, ptr %24, align 1
  %413 = bitcast <8 x i1> %412 to i8
  %414 = icmp ne i8 %413, 0
  br i1 %414, label %415, label %416

415:
  br label %375

416:
  store <8 x i1> zeroinitializer, ptr %24, align 1
  br label %395

417:
  store i32 %377, ptr %29, align 4
  store i64 1, ptr %30, align 8
  %418 = load <8 x i1>, ptr %25, align 1
  %419 = or <8 x i1> %418, %376
  store <8 x i1> %419, ptr %25, align 1
  br label %379

420:
  store i32 %377, ptr %31, align 4
  %421 = load <8 x i1>, ptr %27, align 1
  %422 = or <8 x i1> %421, %376
  store <8 x i1> %422, ptr %27, align 1
  br label %390

423:
  store i32 %386, ptr %29, align 4
  store i64 %387, ptr %30, align 8
  %424 = load <8 x i1>, ptr %26, align 1
  %425 = or <8 x i1> %424, %380
  store <8 x i1> %425, ptr %26, align 1
  %426 = load <8 x i1>, ptr %26, align 1
  store <8 x i1> %426, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  br label %379

427:
  store i32 %386, ptr %31, align 4
  %428 = load <8 x i1>, ptr %27, align 1
  %429 = or <8 x i1> %428, %380
  store <8 x i1> %429, ptr %27, align 1
  br label %390

430:
  store i64 0, ptr %20, align 8
  %431 = load i64, ptr %21, align 8
  %432 = add i64 %431, 1
  store i64 %432, ptr %21, align 8
  %433 = icmp ult i64 %432, %62
  br i1 %433, label %322, label %302

434:
  %435 = add i64 %239, 8
  store i64 %435, ptr %17, align 8
  %436 = load i64, ptr %18, align 8
  %437 = icmp ult i64 %435, %436
  br i1 %437, label %238, label %508

438:
  store <8 x i1> zeroinitializer, ptr %34, align 1
  %439 = insertelement <8 x i64> poison, i64 %239, i32 0
  %440 = shufflevector <8 x i64> %439, <8 x i64> poison, <8 x i32> zeroinitializer
  %441 = add <8 x i64> %440, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %442 = icmp eq <8 x i64> %441, zeroinitializer
  %443 = mul i64 %56, %59
  %444 = mul i64 %443, %62
  store i64 %444, ptr %43, align 8
  %445 = icmp ugt i64 %444, 1
  store i1 %445, ptr %44, align 1
  %446 = xor <8 x i1> %442, splat (i1 true)
  %447 = select <8 x i1> %263, <8 x i1> %442, <8 x i1> zeroinitializer
  %448 = select <8 x i1> %263, <8 x i1> %446, <8 x i1> zeroinitializer
  %449 = load <8 x i1>, ptr %35, align 1
  %450 = or <8 x i1> %449, %447
  store <8 x i1> %450, ptr %35, align 1
  %451 = load <8 x i1>, ptr %39, align 1
  %452 = or <8 x i1> %451, %448
  store <8 x i1> %452, ptr %39, align 1
  br label %489

453:
  %454 = load <8 x i1>, ptr %35, align 1
  store <8 x i1> zeroinitializer, ptr %35, align 1
  %455 = load i32, ptr %94, align 4
  %456 = load i1, ptr %44, align 1
  br i1 %456, label %495, label %498

457:
  %458 = load <8 x i1>, ptr %36, align 1
  store <8 x i1> zeroinitializer, ptr %36, align 1
  %459 = load i32, ptr %40, align 4
  %460 = load i64, ptr %41, align 8
  %461 = mul i64 %460, 4
  %462 = getelementptr i8, ptr %94, i64 %461
  %463 = load i32, ptr %462, align 4
  %464 = call i32 @llvm.umax.i32(i32 %459, i32 %463)
  %465 = add i64 %460, 1
  %466 = load i64, ptr %43, align 8
  %467 = icmp ult i64 %465, %466
  br i1 %467, label %501, label %505

468:
  %469 = load <8 x i1>, ptr %38, align 1
  store <8 x i1> zeroinitializer, ptr %38, align 1
  %470 = load i32, ptr %42, align 4
  store i32 %470, ptr %4, align 4
  %471 = load <8 x i1>, ptr %39, align 1
  %472 = or <8 x i1> %471, %469
  store <8 x i1> %472, ptr %39, align 1
  br label %473

473:
  store <8 x i1> zeroinitializer, ptr %39, align 1
  %474 = add i64 %80, 7
  %475 = and i64 %474, -8
  %476 = mul i64 %475, 0
  %477 = udiv i64 %239, 8
  %478 = mul i64 %477, 4
  %479 = add i64 %476, %478
  %480 = getelementptr i8, ptr %88, i64 %479
  %481 = load i32, ptr %480, align 4
  %482 = add i64 %80, 7
  %483 = and i64 %482, -8
  %484 = mul i64 %483, 0
  %485 = udiv i64 %239, 8
  %486 = mul i64 %485, 4
  %487 = add i64 %484, %486
  %488 = getelementptr i8, ptr %88, i64 %487
  store i32 %481, ptr %488, align 4
  store i32 2, ptr %7, align 4
  br label %434

489:
  %490 = load <8 x i1>, ptr %35, align 1
  %491 = bitcast <8 x i1> %490 to i8
  %492 = icmp ne i8 %491, 0
  br i1 %492, label %493, label %494

493:
  br label %453

494:
  store <8 x i1> zeroinitializer, ptr %35, align 1
  br label %473

495:
  store i32 %455, ptr %40, align 4
  store i64 1, ptr %41, align 8
  %496 = load <8 x i1>, ptr %36, align 1
  %497 = or <8 x i1> %496, %454
  store <8 x i1> %497, ptr %36, align 1
  br label %457

498:
  store i32 %455, ptr %42, align 4
  %499 = load <8 x i1>, ptr %38, align 1
  %500 = or <8 x i1> %499, %454
  store <8 x i1> %500, ptr %38, align 1
  br label %468

501:
  store i32 %464, ptr %40, align 4
  store i64 %465, ptr %41, align 8
  %502 = load <8 x i1>, ptr %37, align 1
  %503 = or <8 x i1> %502, %458
  store <8 x i1> %503, ptr %37, align 1
  %504 = load <8 x i1>, ptr %37, align 1
  store <8 x i1> %504, ptr %36, align 1
  store <8 x i1> zeroinitializer, ptr %37, align 1
  br label %457

505:
  store i32 %464, ptr %42, align 4
  %506 = load <8 x i1>, ptr %38, align 1
  %507 = or <8 x i1> %506, %458
  store <8 x i1> %507, ptr %38, align 1
  br label %468

508:
  br i1 %129, label %264, label %302

509:
  store i64 0, ptr %47, align 8
  store i64 0, ptr %48, align 8
  store i64 0, ptr %49, align 8
  br label %539

510:
  %511 = load i64, ptr %45, align 8
  %512 = insertelement <8 x i64> poison, i64 %511, i32 0
  %513 = shufflevector <8 x i64> %512, <8 x i64> poison, <8 x i32> zeroinitializer
  %514 = add <8 x i64> %513, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %515 = insertelement <8 x i64> poison, i64 %56, i32 0
  %516 = shufflevector <8 x i64> %515, <8 x i64> poison, <8 x i32> zeroinitializer
  %517 = insertelement <8 x i64> poison, i64 %59, i32 0
  %518 = shufflevector <8 x i64> %517, <8 x i64> poison, <8 x i32> zeroinitializer
  %519 = insertelement <8 x i64> poison, i64 %62, i32 0
  %520 = shufflevector <8 x i64> %519, <8 x i64> poison, <8 x i32> zeroinitializer
  %521 = uitofp <8 x i64> %514 to <8 x double>
  %522 = uitofp <8 x i64> %516 to <8 x double>
  %523 = fdiv <8 x double> %521, %522
  %524 = fptoui <8 x double> %523 to <8 x i64>
  %525 = mul <8 x i64> %524, %516
  %526 = sub <8 x i64> %514, %525
  %527 = uitofp <8 x i64> %524 to <8 x double>
  %528 = uitofp <8 x i64> %518 to <8 x double>
  %529 = fdiv <8 x double> %527, %528
  %530 = fptoui <8 x double> %529 to <8 x i64>
  %531 = mul <8 x i64> %530, %518
  %532 = sub <8 x i64> %524, %531
  %533 = insertelement <8 x i64> poison, i64 %80, i32 0
  %534 = shufflevector <8 x i64> %533, <8 x i64> poison, <8 x i32> zeroinitializer
  %535 = icmp ult <8 x i64> %514, %534
  store <8 x i1> zeroinitializer, ptr %51, align 1
  br label %581

536:
  br label %547

537:
  store i64 0, ptr %45, align 8
  store i64 %80, ptr %46, align 8
  br label %510

538:
  br label %121

539:
  %540 = load i64, ptr %47, align 8
  %541 = load i64, ptr %48, align 8
  %542 = load i64, ptr %49, align 8
  %543 = mul i64 %542, %59
  %544 = add i64 %543, %541
  %545 = mul i64 %544, %56
  %546 = add i64 %545, %540
  store <8 x i1> zeroinitializer, ptr %50, align 1
  br label %557

547:
  %548 = load i64, ptr %47, align 8
  %549 = add i64 %548, 8
  store i64 %549, ptr %47, align 8
  %550 = icmp ult i64 %549, %56
  br i1 %550, label %539, label %553

551:                                              ; No predecessors!
  store i64 %546, ptr %45, align 8
  %552 = add i64 %546, 8
  store i64 %552, ptr %46, align 8
  br label %510

553:
  store i64 0, ptr %47, align 8
  %554 = load i64, ptr %48, align 8
  %555 = add i64 %554, 1
  store i64 %555, ptr %48, align 8
  %556 = icmp ult i64 %555, %59
  br i1 %556, label %539, label %573

557:
  store <8 x i1> zeroinitializer, ptr %50, align 1
  %558 = add i64 %116, %540
  %559 = mul i64 %558, 4
  %560 = getelementptr i8, ptr %91, i64 %559
  %561 = load i32, ptr %4, align 4
  %562 = add i64 %80, 7
  %563 = and i64 %562, -8
  %564 = mul i64 %563, 0
  %565 = udiv i64 %546, 8
  %566 = mul i64 %565, 4
  %567 = add i64 %564, %566
  %568 = getelementptr i8, ptr %88, i64 %567
  %569 = load i32, ptr %568, align 4
  %570 = add i32 %561, %569
  %571 = insertelement <8 x i32> poison, i32 %570, i32 0
  %572 = shufflevector <8 x i32> %571, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x i32> %572, ptr %560, align 4
  store i32 -1, ptr %7, align 4
  br label %547

573:
  store i64 0, ptr %48, align 8
  %574 = load i64, ptr %49, align 8
  %575 = add i64 %574, 1
  store i64 %575, ptr %49, align 8
  %576 = icmp ult i64 %575, %62
  br i1 %576, label %539, label %538

577:
  %578 = add i64 %511, 8
  store i64 %578, ptr %45, align 8
  %579 = load i64, ptr %46, align 8
  %580 = icmp ult i64 %578, %579
  br i1 %580, label %510, label %612

581:
  store <8 x i1> zeroinitializer, ptr %51, align 1
  %582 = insertelement <8 x i64> poison, i64 %116, i32 0
  %583 = shufflevector <8 x i64> %582, <8 x i64> poison, <8 x i32> zeroinitializer
  %584 = add <8 x i64> %583, %526
  %585 = mul <8 x i64> %584, splat (i64 4)
  %586 = getelementptr i8, ptr %91, <8 x i64> %585
  %587 = load i32, ptr %4, align 4
  %588 = add i64 %80, 7
  %589 = and i64 %588, -8
  %590 = mul i64 %589, 0
  %591 = udiv i64 %511, 8
  %592 = mul i64 %591, 4
  %593 = add i64 %590, %592
  %594 = getelementptr i8, ptr %88, i64 %593
  %595 = load i32, ptr %594, align 4
  %596 = add i32 %587, %595
  %597 = insertelement <8 x i32> poison, i32 %596, i32 0
  %598 = shufflevector <8 x i32> %597, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x ptr> %586, ptr %52, align 64
  store <8 x i32> %598, ptr %53, align 64
  %599 = bitcast <8 x i1> %535 to i8
  %600 = zext i8 %599 to i64
  br label %601

601:
  %602 = phi i64 [ %600, %581 ], [ %609, %601 ]
  %603 = call i64 @llvm.cttz.i64(i64 %602, i1 true)
  %604 = getelementptr ptr, ptr %52, i64 %603
  %605 = load ptr, ptr %604, align 1
  %606 = getelementptr i32, ptr %53, i64 %603
  %607 = load i32, ptr %606, align 1
  store i32 %607, ptr %605, align 4
  %608 = sub i64 %602, 1
  %609 = and i64 %602, %608
  %610 = icmp ne i64 %609, 0
  br i1 %610, label %601, label %611

611:
  store i32 -1, ptr %7, align 4
  br label %577

612:
  br i1 %132, label %536, label %538
