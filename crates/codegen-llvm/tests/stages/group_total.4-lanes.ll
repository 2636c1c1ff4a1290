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
  br i1 %132, label %505, label %533

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
  br label %320

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
  br label %434

264:
  br label %309

265:
  %266 = mul i64 0, %59
  %267 = add i64 %266, 0
  %268 = mul i64 %267, %56
  %269 = add i64 %268, 0
  %270 = add i64 %80, 7
  %271 = udiv i64 %270, 8
  %272 = freeze i64 %269
  %273 = freeze i64 0
  %274 = icmp ule i64 %272, %273
  %275 = sub i64 %273, %272
  %276 = udiv i64 %275, 1
  %277 = call i64 @llvm.umin.i64(i64 %276, i64 %80)
  %278 = add i64 %277, 1
  %279 = select i1 %274, i64 %278, i64 0
  %280 = select i1 true, i64 %279, i64 %80
  %281 = call i64 @llvm.umin.i64(i64 %80, i64 %280)
  %282 = add i64 %272, 7
  %283 = icmp ult i64 %282, %273
  %284 = sub i64 %273, %282
  %285 = sub i64 %284, 1
  %286 = udiv i64 %285, 8
  %287 = call i64 @llvm.umin.i64(i64 %286, i64 %80)
  %288 = add i64 %287, 1
  %289 = select i1 %283, i64 %288, i64 0
  %290 = select i1 true, i64 %289, i64 0
  %291 = call i64 @llvm.umax.i64(i64 0, i64 %290)
  %292 = mul i64 %291, 8
  %293 = icmp uge i64 %292, %281
  %294 = select i1 %293, i64 0, i64 %292
  %295 = select i1 %293, i64 1, i64 %281
  %296 = call i64 @llvm.umin.i64(i64 %295, i64 %80)
  %297 = icmp eq i64 %56, %80
  %298 = select i1 %297, i64 %294, i64 0
  %299 = select i1 %297, i64 %296, i64 %80
  store i64 %298, ptr %17, align 8
  store i64 %299, ptr %18, align 8
  br label %238

300:
  br label %130

301:
  %302 = load i64, ptr %19, align 8
  %303 = load i64, ptr %20, align 8
  %304 = load i64, ptr %21, align 8
  %305 = mul i64 %304, %59
  %306 = add i64 %305, %303
  %307 = mul i64 %306, %56
  %308 = add i64 %307, %302
  store <8 x i1> zeroinitializer, ptr %23, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %28, align 1
  store i32 poison, ptr %29, align 4
  store i64 poison, ptr %30, align 8
  store i32 poison, ptr %31, align 4
  br label %358

309:
  %310 = load i64, ptr %19, align 8
  %311 = add i64 %310, 8
  store i64 %311, ptr %19, align 8
  %312 = load i64, ptr %22, align 8
  %313 = icmp ult i64 %311, %312
  br i1 %313, label %301, label %316

314:                                              ; No predecessors!
  store i64 %308, ptr %17, align 8
  %315 = add i64 %308, 8
  store i64 %315, ptr %18, align 8
  br label %238

316:
  store i64 0, ptr %19, align 8
  %317 = load i64, ptr %20, align 8
  %318 = add i64 %317, 1
  store i64 %318, ptr %20, align 8
  %319 = icmp ult i64 %318, %59
  br i1 %319, label %320, label %426

320:
  %321 = load i64, ptr %20, align 8
  %322 = load i64, ptr %21, align 8
  %323 = mul i64 %322, %59
  %324 = add i64 %323, %321
  %325 = mul i64 %324, %56
  %326 = add i64 %325, 0
  %327 = or i64 %321, %322
  %328 = icmp eq i64 %327, 0
  %329 = add i64 %56, 7
  %330 = udiv i64 %329, 8
  %331 = freeze i64 %326
  %332 = freeze i64 0
  %333 = icmp ule i64 %331, %332
  %334 = sub i64 %332, %331
  %335 = udiv i64 %334, 1
  %336 = call i64 @llvm.umin.i64(i64 %335, i64 %56)
  %337 = add i64 %336, 1
  %338 = select i1 %333, i64 %337, i64 0
  %339 = select i1 true, i64 %338, i64 %56
  %340 = call i64 @llvm.umin.i64(i64 %56, i64 %339)
  %341 = add i64 %331, 7
  %342 = icmp ult i64 %341, %332
  %343 = sub i64 %332, %341
  %344 = sub i64 %343, 1
  %345 = udiv i64 %344, 8
  %346 = call i64 @llvm.umin.i64(i64 %345, i64 %56)
  %347 = add i64 %346, 1
  %348 = select i1 %342, i64 %347, i64 0
  %349 = select i1 true, i64 %348, i64 0
  %350 = call i64 @llvm.umax.i64(i64 0, i64 %349)
  %351 = mul i64 %350, 8
  %352 = icmp uge i64 %351, %340
  %353 = select i1 %352, i64 0, i64 %351
  %354 = zext i1 %328 to i64
  %355 = select i1 %352, i64 %354, i64 %340
  %356 = call i64 @llvm.umin.i64(i64 %355, i64 %56)
  store i64 %353, ptr %19, align 8
  store i64 %356, ptr %22, align 8
  %357 = icmp ult i64 %353, %356
  br i1 %357, label %301, label %316

358:
  store <8 x i1> zeroinitializer, ptr %23, align 1
  %359 = insertelement <8 x i64> poison, i64 %308, i32 0
  %360 = shufflevector <8 x i64> %359, <8 x i64> poison, <8 x i32> zeroinitializer
  %361 = add <8 x i64> %360, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %362 = icmp eq <8 x i64> %361, zeroinitializer
  %363 = mul i64 %56, %59
  %364 = mul i64 %363, %62
  store i64 %364, ptr %32, align 8
  %365 = icmp ugt i64 %364, 1
  store i1 %365, ptr %33, align 1
  %366 = xor <8 x i1> %362, splat (i1 true)
  %367 = load <8 x i1>, ptr %24, align 1
  %368 = or <8 x i1> %367, %362
  store <8 x i1> %368, ptr %24, align 1
  %369 = load <8 x i1>, ptr %28, align 1
  %370 = or <8 x i1> %369, %366
  store <8 x i1> %370, ptr %28, align 1
  br label %407

371:
  %372 = load <8 x i1>, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  %373 = load i32, ptr %94, align 4
  %374 = load i1, ptr %33, align 1
  br i1 %374, label %413, label %416

375:
  %376 = load <8 x i1>, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  %377 = load i32, ptr %29, align 4
  %378 = load i64, ptr %30, align 8
  %379 = mul i64 %378, 4
  %380 = getelementptr i8, ptr %94, i64 %379
  %381 = load i32, ptr %380, align 4
  %382 = call i32 @llvm.umax.i32(i32 %377, i32 %381)
  %383 = add i64 %378, 1
  %384 = load i64, ptr %32, align 8
  %385 = icmp ult i64 %383, %384
  br i1 %385, label %419, label %423

386:
  %387 = load <8 x i1>, ptr %27, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  %388 = load i32, ptr %31, align 4
  store i32 %388, ptr %4, align 4
  %389 = load <8 x i1>, ptr %28, align 1
  %390 = or <8 x i1> %389, %387
  store <8 x i1> %390, ptr %28, align 1
  br label %391

391:
  store <8 x i1> zeroinitializer, ptr %28, align 1
  %392 = add i64 %80, 7
  %393 = and i64 %392, -8
  %394 = mul i64 %393, 0
  %395 = udiv i64 %308, 8
  %396 = mul i64 %395, 4
  %397 = add i64 %394, %396
  %398 = getelementptr i8, ptr %88, i64 %397
  %399 = load i32, ptr %398, align 4
  %400 = add i64 %80, 7
  %401 = and i64 %400, -8
  %402 = mul i64 %401, 0
  %403 = udiv i64 %308, 8
  %404 = mul i64 %403, 4
  %405 = add i64 %402, %404
  %406 = getelementptr i8, ptr %88, i64 %405
  store i32 %399, ptr %406, align 4
  store i32 2, ptr %7, align 4
  br label %309

407:
  %408 = load <8 x i1>, ptr %24, align 1
  %409 = bitcast <8 x i1> %408 to i8
  %410 = icmp ne i8 %409, 0
  br i1 %410, label %411, label %412

411:
  br label %371

412:
  store <8 x i1> zeroinitializer, ptr %24, align 1
  br label %391

413:
  store i32 %373, ptr %29, align 4
  store i64 1, ptr %30, align 8
  %414 = load <8 x i1>, ptr %25, align 1
  %415 = or <8 x i1> %414, %372
  store <8 x i1> %415, ptr %25, align 1
  br label %375

416:
  store i32 %373, ptr %31, align 4
  %417 = load <8 x i1>, ptr %27, align 1
  %418 = or <8 x i1> %417, %372
  store <8 x i1> %418, ptr %27, align 1
  br label %386

419:
  store i32 %382, ptr %29, align 4
  store i64 %383, ptr %30, align 8
  %420 = load <8 x i1>, ptr %26, align 1
  %421 = or <8 x i1> %420, %376
  store <8 x i1> %421, ptr %26, align 1
  %422 = load <8 x i1>, ptr %26, align 1
  store <8 x i1> %422, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  br label %375

423:
  store i32 %382, ptr %31, align 4
  %424 = load <8 x i1>, ptr %27, align 1
  %425 = or <8 x i1> %424, %376
  store <8 x i1> %425, ptr %27, align 1
  br label %386

426:
  store i64 0, ptr %20, align 8
  %427 = load i64, ptr %21, align 8
  %428 = add i64 %427, 1
  store i64 %428, ptr %21, align 8
  %429 = icmp ult i64 %428, %62
  br i1 %429, label %320, label %300

430:
  %431 = add i64 %239, 8
  store i64 %431, ptr %17, align 8
  %432 = load i64, ptr %18, align 8
  %433 = icmp ult i64 %431, %432
  br i1 %433, label %238, label %504

434:
  store <8 x i1> zeroinitializer, ptr %34, align 1
  %435 = insertelement <8 x i64> poison, i64 %239, i32 0
  %436 = shufflevector <8 x i64> %435, <8 x i64> poison, <8 x i32> zeroinitializer
  %437 = add <8 x i64> %436, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %438 = icmp eq <8 x i64> %437, zeroinitializer
  %439 = mul i64 %56, %59
  %440 = mul i64 %439, %62
  store i64 %440, ptr %43, align 8
  %441 = icmp ugt i64 %440, 1
  store i1 %441, ptr %44, align 1
  %442 = xor <8 x i1> %438, splat (i1 true)
  %443 = select <8 x i1> %263, <8 x i1> %438, <8 x i1> zeroinitializer
  %444 = select <8 x i1> %263, <8 x i1> %442, <8 x i1> zeroinitializer
  %445 = load <8 x i1>, ptr %35, align 1
  %446 = or <8 x i1> %445, %443
  store <8 x i1> %446, ptr %35, align 1
  %447 = load <8 x i1>, ptr %39, align 1
  %448 = or <8 x i1> %447, %444
  store <8 x i1> %448, ptr %39, align 1
  br label %485

449:
  %450 = load <8 x i1>, ptr %35, align 1
  store <8 x i1> zeroinitializer, ptr %35, align 1
  %451 = load i32, ptr %94, align 4
  %452 = load i1, ptr %44, align 1
  br i1 %452, label %491, label %494

453:
  %454 = load <8 x i1>, ptr %36, align 1
  store <8 x i1> zeroinitializer, ptr %36, align 1
  %455 = load i32, ptr %40, align 4
  %456 = load i64, ptr %41, align 8
  %457 = mul i64 %456, 4
  %458 = getelementptr i8, ptr %94, i64 %457
  %459 = load i32, ptr %458, align 4
  %460 = call i32 @llvm.umax.i32(i32 %455, i32 %459)
  %461 = add i64 %456, 1
  %462 = load i64, ptr %43, align 8
  %463 = icmp ult i64 %461, %462
  br i1 %463, label %497, label %501

464:
  %465 = load <8 x i1>, ptr %38, align 1
  store <8 x i1> zeroinitializer, ptr %38, align 1
  %466 = load i32, ptr %42, align 4
  store i32 %466, ptr %4, align 4
  %467 = load <8 x i1>, ptr %39, align 1
  %468 = or <8 x i1> %467, %465
  store <8 x i1> %468, ptr %39, align 1
  br label %469

469:
  store <8 x i1> zeroinitializer, ptr %39, align 1
  %470 = add i64 %80, 7
  %471 = and i64 %470, -8
  %472 = mul i64 %471, 0
  %473 = udiv i64 %239, 8
  %474 = mul i64 %473, 4
  %475 = add i64 %472, %474
  %476 = getelementptr i8, ptr %88, i64 %475
  %477 = load i32, ptr %476, align 4
  %478 = add i64 %80, 7
  %479 = and i64 %478, -8
  %480 = mul i64 %479, 0
  %481 = udiv i64 %239, 8
  %482 = mul i64 %481, 4
  %483 = add i64 %480, %482
  %484 = getelementptr i8, ptr %88, i64 %483
  store i32 %477, ptr %484, align 4
  store i32 2, ptr %7, align 4
  br label %430

485:
  %486 = load <8 x i1>, ptr %35, align 1
  %487 = bitcast <8 x i1> %486 to i8
  %488 = icmp ne i8 %487, 0
  br i1 %488, label %489, label %490

489:
  br label %449

490:
  store <8 x i1> zeroinitializer, ptr %35, align 1
  br label %469

491:
  store i32 %451, ptr %40, align 4
  store i64 1, ptr %41, align 8
  %492 = load <8 x i1>, ptr %36, align 1
  %493 = or <8 x i1> %492, %450
  store <8 x i1> %493, ptr %36, align 1
  br label %453

494:
  store i32 %451, ptr %42, align 4
  %495 = load <8 x i1>, ptr %38, align 1
  %496 = or <8 x i1> %495, %450
  store <8 x i1> %496, ptr %38, align 1
  br label %464

497:
  store i32 %460, ptr %40, align 4
  store i64 %461, ptr %41, align 8
  %498 = load <8 x i1>, ptr %37, align 1
  %499 = or <8 x i1> %498, %454
  store <8 x i1> %499, ptr %37, align 1
  %500 = load <8 x i1>, ptr %37, align 1
  store <8 x i1> %500, ptr %36, align 1
  store <8 x i1> zeroinitializer, ptr %37, align 1
  br label %453

501:
  store i32 %460, ptr %42, align 4
  %502 = load <8 x i1>, ptr %38, align 1
  %503 = or <8 x i1> %502, %454
  store <8 x i1> %503, ptr %38, align 1
  br label %464

504:
  br i1 %129, label %264, label %300

505:
  store i64 0, ptr %47, align 8
  store i64 0, ptr %48, align 8
  store i64 0, ptr %49, align 8
  br label %535

506:
  %507 = load i64, ptr %45, align 8
  %508 = insertelement <8 x i64> poison, i64 %507, i32 0
  %509 = shufflevector <8 x i64> %508, <8 x i64> poison, <8 x i32> zeroinitializer
  %510 = add <8 x i64> %509, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %511 = insertelement <8 x i64> poison, i64 %56, i32 0
  %512 = shufflevector <8 x i64> %511, <8 x i64> poison, <8 x i32> zeroinitializer
  %513 = insertelement <8 x i64> poison, i64 %59, i32 0
  %514 = shufflevector <8 x i64> %513, <8 x i64> poison, <8 x i32> zeroinitializer
  %515 = insertelement <8 x i64> poison, i64 %62, i32 0
  %516 = shufflevector <8 x i64> %515, <8 x i64> poison, <8 x i32> zeroinitializer
  %517 = uitofp <8 x i64> %510 to <8 x double>
  %518 = uitofp <8 x i64> %512 to <8 x double>
  %519 = fdiv <8 x double> %517, %518
  %520 = fptoui <8 x double> %519 to <8 x i64>
  %521 = mul <8 x i64> %520, %512
  %522 = sub <8 x i64> %510, %521
  %523 = uitofp <8 x i64> %520 to <8 x double>
  %524 = uitofp <8 x i64> %514 to <8 x double>
  %525 = fdiv <8 x double> %523, %524
  %526 = fptoui <8 x double> %525 to <8 x i64>
  %527 = mul <8 x i64> %526, %514
  %528 = sub <8 x i64> %520, %527
  %529 = insertelement <8 x i64> poison, i64 %80, i32 0
  %530 = shufflevector <8 x i64> %529, <8 x i64> poison, <8 x i32> zeroinitializer
  %531 = icmp ult <8 x i64> %510, %530
  store <8 x i1> zeroinitializer, ptr %51, align 1
  br label %577

532:
  br label %543

533:
  store i64 0, ptr %45, align 8
  store i64 %80, ptr %46, align 8
  br label %506

534:
  br label %121

535:
  %536 = load i64, ptr %47, align 8
  %537 = load i64, ptr %48, align 8
  %538 = load i64, ptr %49, align 8
  %539 = mul i64 %538, %59
  %540 = add i64 %539, %537
  %541 = mul i64 %540, %56
  %542 = add i64 %541, %536
  store <8 x i1> zeroinitializer, ptr %50, align 1
  br label %553

543:
  %544 = load i64, ptr %47, align 8
  %545 = add i64 %544, 8
  store i64 %545, ptr %47, align 8
  %546 = icmp ult i64 %545, %56
  br i1 %546, label %535, label %549

547:                                              ; No predecessors!
  store i64 %542, ptr %45, align 8
  %548 = add i64 %542, 8
  store i64 %548, ptr %46, align 8
  br label %506

549:
  store i64 0, ptr %47, align 8
  %550 = load i64, ptr %48, align 8
  %551 = add i64 %550, 1
  store i64 %551, ptr %48, align 8
  %552 = icmp ult i64 %551, %59
  br i1 %552, label %535, label %569

553:
  store <8 x i1> zeroinitializer, ptr %50, align 1
  %554 = add i64 %116, %536
  %555 = mul i64 %554, 4
  %556 = getelementptr i8, ptr %91, i64 %555
  %557 = load i32, ptr %4, align 4
  %558 = add i64 %80, 7
  %559 = and i64 %558, -8
  %560 = mul i64 %559, 0
  %561 = udiv i64 %542, 8
  %562 = mul i64 %561, 4
  %563 = add i64 %560, %562
  %564 = getelementptr i8, ptr %88, i64 %563
  %565 = load i32, ptr %564, align 4
  %566 = add i32 %557, %565
  %567 = insertelement <8 x i32> poison, i32 %566, i32 0
  %568 = shufflevector <8 x i32> %567, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x i32> %568, ptr %556, align 4
  store i32 -1, ptr %7, align 4
  br label %543

569:
  store i64 0, ptr %48, align 8
  %570 = load i64, ptr %49, align 8
  %571 = add i64 %570, 1
  store i64 %571, ptr %49, align 8
  %572 = icmp ult i64 %571, %62
  br i1 %572, label %535, label %534

573:
  %574 = add i64 %507, 8
  store i64 %574, ptr %45, align 8
  %575 = load i64, ptr %46, align 8
  %576 = icmp ult i64 %574, %575
  br i1 %576, label %506, label %608

577:
  store <8 x i1> zeroinitializer, ptr %51, align 1
  %578 = insertelement <8 x i64> poison, i64 %116, i32 0
  %579 = shufflevector <8 x i64> %578, <8 x i64> poison, <8 x i32> zeroinitializer
  %580 = add <8 x i64> %579, %522
  %581 = mul <8 x i64> %580, splat (i64 4)
  %582 = getelementptr i8, ptr %91, <8 x i64> %581
  %583 = load i32, ptr %4, align 4
  %584 = add i64 %80, 7
  %585 = and i64 %584, -8
  %586 = mul i64 %585, 0
  %587 = udiv i64 %507, 8
  %588 = mul i64 %587, 4
  %589 = add i64 %586, %588
  %590 = getelementptr i8, ptr %88, i64 %589
  %591 = load i32, ptr %590, align 4
  %592 = add i32 %583, %591
  %593 = insertelement <8 x i32> poison, i32 %592, i32 0
  %594 = shufflevector <8 x i32> %593, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x ptr> %582, ptr %52, align 64
  store <8 x i32> %594, ptr %53, align 64
  %595 = bitcast <8 x i1> %531 to i8
  %596 = zext i8 %595 to i64
  br label %597

597:
  %598 = phi i64 [ %596, %577 ], [ %605, %597 ]
  %599 = call i64 @llvm.cttz.i64(i64 %598, i1 true)
  %600 = getelementptr ptr, ptr %52, i64 %599
  %601 = load ptr, ptr %600, align 1
  %602 = getelementptr i32, ptr %53, i64 %599
  %603 = load i32, ptr %602, align 1
  store i32 %603, ptr %601, align 4
  %604 = sub i64 %598, 1
  %605 = and i64 %598, %604
  %606 = icmp ne i64 %605, 0
  br i1 %606, label %597, label %607

607:
  store i32 -1, ptr %7, align 4
  br label %573

608:
  br i1 %132, label %532, label %534
