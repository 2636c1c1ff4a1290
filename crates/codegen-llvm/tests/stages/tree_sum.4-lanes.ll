define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <8 x i1>, align 1
  %16 = alloca <8 x i1>, align 1
  %17 = alloca <8 x i1>, align 1
  %18 = alloca <8 x i1>, align 1
  %19 = alloca <8 x i1>, align 1
  %20 = alloca i32, align 4
  %21 = alloca <8 x i1>, align 1
  %22 = alloca ptr, align 8
  %23 = alloca <8 x i1>, align 1
  %24 = alloca <8 x i1>, align 1
  %25 = alloca <8 x i1>, align 1
  %26 = alloca <8 x i1>, align 1
  %27 = alloca <8 x i1>, align 1
  %28 = alloca i32, align 4
  %29 = alloca <8 x i1>, align 1
  %30 = alloca ptr, align 8
  %31 = alloca <8 x ptr>, align 64
  %32 = alloca <8 x float>, align 64
  %33 = alloca <8 x ptr>, align 64
  %34 = alloca <8 x float>, align 64
  %35 = alloca i64, align 8
  %36 = alloca i64, align 8
  %37 = alloca i64, align 8
  %38 = alloca i64, align 8
  %39 = alloca i64, align 8
  %40 = alloca i32, align 4
  %41 = alloca <8 x i1>, align 1
  %42 = alloca <8 x i1>, align 1
  %43 = alloca <8 x i1>, align 1
  %44 = alloca <8 x i1>, align 1
  %45 = alloca <8 x i1>, align 1
  %46 = alloca <8 x i1>, align 1
  %47 = alloca <8 x i1>, align 1
  %48 = alloca i32, align 4
  %49 = alloca i32, align 4
  %50 = alloca ptr, align 8
  %51 = alloca <8 x i1>, align 1
  %52 = alloca ptr, align 8
  %53 = alloca [64 x i8], align 64
  store [64 x i8] zeroinitializer, ptr %53, align 64
  %54 = alloca i32, align 4
  %55 = alloca <8 x i1>, align 1
  %56 = alloca <8 x i1>, align 1
  %57 = alloca <8 x i1>, align 1
  %58 = alloca <8 x i1>, align 1
  %59 = alloca <8 x i1>, align 1
  %60 = alloca <8 x i1>, align 1
  %61 = alloca <8 x i1>, align 1
  %62 = alloca i32, align 4
  %63 = alloca <8 x i32>, align 32
  %64 = alloca <8 x ptr>, align 64
  %65 = alloca <8 x i1>, align 1
  %66 = alloca ptr, align 8
  %67 = alloca <8 x ptr>, align 64
  %68 = alloca <8 x float>, align 64
  %69 = alloca <8 x ptr>, align 64
  %70 = alloca <8 x float>, align 64
  %71 = alloca <8 x ptr>, align 64
  %72 = alloca <8 x float>, align 64
  br label %73

73:
  %74 = load i32, ptr %1, align 4
  %75 = zext i32 %74 to i64
  %76 = getelementptr i8, ptr %1, i64 4
  %77 = load i32, ptr %76, align 4
  %78 = zext i32 %77 to i64
  %79 = getelementptr i8, ptr %1, i64 8
  %80 = load i32, ptr %79, align 4
  %81 = zext i32 %80 to i64
  %82 = getelementptr i8, ptr %1, i64 16
  %83 = load i32, ptr %82, align 4
  %84 = zext i32 %83 to i64
  %85 = getelementptr i8, ptr %1, i64 20
  %86 = load i32, ptr %85, align 4
  %87 = zext i32 %86 to i64
  %88 = getelementptr i8, ptr %1, i64 24
  %89 = load i32, ptr %88, align 4
  %90 = zext i32 %89 to i64
  %91 = getelementptr i8, ptr %1, i64 32
  %92 = load i64, ptr %91, align 8
  %93 = getelementptr i8, ptr %1, i64 40
  %94 = load i64, ptr %93, align 8
  %95 = getelementptr i8, ptr %1, i64 48
  %96 = load i64, ptr %95, align 8
  %97 = getelementptr i8, ptr %1, i64 28
  %98 = load i32, ptr %97, align 4
  %99 = zext i32 %98 to i64
  %100 = getelementptr i8, ptr %1, i64 12
  %101 = load i32, ptr %100, align 4
  %102 = zext i32 %101 to i64
  %103 = getelementptr i8, ptr %1, i64 72
  %104 = load i64, ptr %103, align 8
  %105 = getelementptr i8, ptr %1, i64 56
  %106 = load i64, ptr %105, align 8
  %107 = getelementptr i8, ptr %4, i64 %106
  %108 = load ptr, ptr %0, align 8
  %109 = getelementptr i8, ptr %0, i64 8
  %110 = load ptr, ptr %109, align 8
  %111 = getelementptr i8, ptr %0, i64 16
  %112 = load i64, ptr %111, align 8
  %113 = getelementptr i8, ptr %4, i64 %112
  %114 = add i64 %2, %3
  %115 = getelementptr i8, ptr %1, i64 80
  %116 = load ptr, ptr %115, align 8
  store i8 0, ptr %6, align 1
  %117 = icmp eq ptr %116, null
  %118 = select i1 %117, ptr %6, ptr %116
  br label %119

119:
  %120 = phi i64 [ %2, %73 ], [ %137, %136 ]
  %121 = icmp ult i64 %120, %114
  br i1 %121, label %122, label %138

122:
  %123 = load atomic i8, ptr %118 monotonic, align 1
  %124 = icmp ne i8 %123, 0
  br i1 %124, label %138, label %125

125:
  %126 = udiv i64 %120, %84
  %127 = urem i64 %120, %84
  %128 = urem i64 %126, %87
  %129 = udiv i64 %126, %87
  %130 = mul i64 %127, %75
  %131 = add i64 %130, %92
  %132 = mul i64 %128, %78
  %133 = add i64 %132, %94
  %134 = mul i64 %129, %81
  %135 = add i64 %134, %96
  br label %139

136:
  %137 = add i64 %120, 1
  br label %119

138:
  ret void

139:
  %140 = and i64 %75, 7
  %141 = icmp eq i64 %140, 0
  br i1 %141, label %145, label %173

142:
  %143 = and i64 %75, 7
  %144 = icmp eq i64 %143, 0
  br i1 %144, label %320, label %349

145:
  store i64 0, ptr %12, align 8
  store i64 0, ptr %13, align 8
  store i64 0, ptr %14, align 8
  br label %177

146:
  %147 = load i64, ptr %10, align 8
  %148 = insertelement <8 x i64> poison, i64 %147, i32 0
  %149 = shufflevector <8 x i64> %148, <8 x i64> poison, <8 x i32> zeroinitializer
  %150 = add <8 x i64> %149, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %151 = insertelement <8 x i64> poison, i64 %75, i32 0
  %152 = shufflevector <8 x i64> %151, <8 x i64> poison, <8 x i32> zeroinitializer
  %153 = insertelement <8 x i64> poison, i64 %78, i32 0
  %154 = shufflevector <8 x i64> %153, <8 x i64> poison, <8 x i32> zeroinitializer
  %155 = insertelement <8 x i64> poison, i64 %81, i32 0
  %156 = shufflevector <8 x i64> %155, <8 x i64> poison, <8 x i32> zeroinitializer
  %157 = uitofp <8 x i64> %150 to <8 x double>
  %158 = uitofp <8 x i64> %152 to <8 x double>
  %159 = fdiv <8 x double> %157, %158
  %160 = fptoui <8 x double> %159 to <8 x i64>
  %161 = mul <8 x i64> %160, %152
  %162 = sub <8 x i64> %150, %161
  %163 = uitofp <8 x i64> %160 to <8 x double>
  %164 = uitofp <8 x i64> %154 to <8 x double>
  %165 = fdiv <8 x double> %163, %164
  %166 = fptoui <8 x double> %165 to <8 x i64>
  %167 = mul <8 x i64> %166, %154
  %168 = sub <8 x i64> %160, %167
  %169 = insertelement <8 x i64> poison, i64 %99, i32 0
  %170 = shufflevector <8 x i64> %169, <8 x i64> poison, <8 x i32> zeroinitializer
  %171 = icmp ult <8 x i64> %150, %170
  store <8 x i1> zeroinitializer, ptr %23, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  store i32 poison, ptr %28, align 4
  br label %249

172:
  br label %188

173:
  store i64 0, ptr %10, align 8
  store i64 %99, ptr %11, align 8
  br label %146

174:
  %175 = load i32, ptr %8, align 4
  store i32 %175, ptr %7, align 4
  %176 = load i32, ptr %9, align 4
  switch i32 %176, label %136 [
    i32 1, label %142
  ]

177:
  %178 = load i64, ptr %12, align 8
  %179 = load i64, ptr %13, align 8
  %180 = load i64, ptr %14, align 8
  %181 = mul i64 %180, %78
  %182 = add i64 %181, %179
  %183 = mul i64 %182, %75
  %184 = add i64 %183, %178
  %185 = trunc i64 %178 to i32
  %186 = add i32 %185, 7
  %187 = icmp uge i32 %186, %185
  br i1 %187, label %198, label %192

188:
  %189 = load i64, ptr %12, align 8
  %190 = add i64 %189, 8
  store i64 %190, ptr %12, align 8
  %191 = icmp ult i64 %190, %75
  br i1 %191, label %177, label %194

192:
  store i64 %184, ptr %10, align 8
  %193 = add i64 %184, 8
  store i64 %193, ptr %11, align 8
  br label %146

194:
  store i64 0, ptr %12, align 8
  %195 = load i64, ptr %13, align 8
  %196 = add i64 %195, 1
  store i64 %196, ptr %13, align 8
  %197 = icmp ult i64 %196, %78
  br i1 %197, label %177, label %241

198:
  store <8 x i1> zeroinitializer, ptr %15, align 1
  store <8 x i1> zeroinitializer, ptr %16, align 1
  store <8 x i1> zeroinitializer, ptr %17, align 1
  store <8 x i1> zeroinitializer, ptr %18, align 1
  store <8 x i1> zeroinitializer, ptr %19, align 1
  store i32 poison, ptr %20, align 4
  br label %199

199:
  store <8 x i1> zeroinitializer, ptr %15, align 1
  %200 = add i64 %131, %178
  %201 = mul i64 %200, 4
  %202 = getelementptr i8, ptr %108, i64 %201
  %203 = trunc i64 %178 to i32
  %204 = zext i32 %203 to i64
  %205 = mul i64 %204, 4
  %206 = getelementptr i8, ptr %113, i64 %205
  %207 = lshr i64 %75, 1
  %208 = trunc i64 %207 to i32
  %209 = icmp eq i32 %208, 0
  %210 = insertelement <8 x i32> poison, i32 %203, i32 0
  %211 = shufflevector <8 x i32> %210, <8 x i32> poison, <8 x i32> zeroinitializer
  %212 = add <8 x i32> %211, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %213 = icmp eq <8 x i32> %212, zeroinitializer
  store <8 x i1> %213, ptr %21, align 1
  %214 = mul i64 %127, 4
  %215 = getelementptr i8, ptr %110, i64 %214
  store ptr %215, ptr %22, align 8
  %216 = load <8 x float>, ptr %202, align 4
  store <8 x float> %216, ptr %206, align 4
  br i1 %209, label %233, label %234

217:
  store <8 x i1> zeroinitializer, ptr %16, align 1
  %218 = load i32, ptr %20, align 4
  store i32 %218, ptr %8, align 4
  store i32 1, ptr %9, align 4
  br label %188

219:
  store <8 x i1> zeroinitializer, ptr %17, align 1
  %220 = load <8 x i1>, ptr %21, align 1
  %221 = xor <8 x i1> %220, splat (i1 true)
  %222 = load <8 x i1>, ptr %18, align 1
  %223 = or <8 x i1> %222, %220
  store <8 x i1> %223, ptr %18, align 1
  %224 = load <8 x i1>, ptr %19, align 1
  %225 = or <8 x i1> %224, %221
  store <8 x i1> %225, ptr %19, align 1
  br label %235

226:
  %227 = load <8 x i1>, ptr %18, align 1
  store <8 x i1> zeroinitializer, ptr %18, align 1
  %228 = load float, ptr %113, align 4
  %229 = load ptr, ptr %22, align 8
  store float %228, ptr %229, align 4
  %230 = load <8 x i1>, ptr %19, align 1
  %231 = or <8 x i1> %230, %227
  store <8 x i1> %231, ptr %19, align 1
  br label %232

232:
  store <8 x i1> zeroinitializer, ptr %19, align 1
  store i32 -1, ptr %9, align 4
  br label %188

233:
  br label %219

234:
  store i32 %208, ptr %20, align 4
  br label %217

235:
  %236 = load <8 x i1>, ptr %18, align 1
  %237 = bitcast <8 x i1> %236 to i8
  %238 = icmp ne i8 %237, 0
  br i1 %238, label %239, label %240

239:
  br label %226

240:
  store <8 x i1> zeroinitializer, ptr %18, align 1
  br label %232

241:
  store i64 0, ptr %13, align 8
  %242 = load i64, ptr %14, align 8
  %243 = add i64 %242, 1
  store i64 %243, ptr %14, align 8
  %244 = icmp ult i64 %243, %81
  br i1 %244, label %177, label %174

245:
  %246 = add i64 %147, 8
  store i64 %246, ptr %10, align 8
  %247 = load i64, ptr %11, align 8
  %248 = icmp ult i64 %246, %247
  br i1 %248, label %146, label %319

249:
  store <8 x i1> zeroinitializer, ptr %23, align 1
  %250 = insertelement <8 x i64> poison, i64 %131, i32 0
  %251 = shufflevector <8 x i64> %250, <8 x i64> poison, <8 x i32> zeroinitializer
  %252 = add <8 x i64> %251, %162
  %253 = mul <8 x i64> %252, splat (i64 4)
  %254 = getelementptr i8, ptr %108, <8 x i64> %253
  %255 = trunc <8 x i64> %162 to <8 x i32>
  %256 = zext <8 x i32> %255 to <8 x i64>
  %257 = mul <8 x i64> %256, splat (i64 4)
  %258 = getelementptr i8, ptr %113, <8 x i64> %257
  %259 = lshr i64 %75, 1
  %260 = trunc i64 %259 to i32
  %261 = icmp eq i32 %260, 0
  %262 = icmp eq <8 x i32> %255, zeroinitializer
  store <8 x i1> %262, ptr %29, align 1
  %263 = mul i64 %127, 4
  %264 = getelementptr i8, ptr %110, i64 %263
  store ptr %264, ptr %30, align 8
  store <8 x ptr> %254, ptr %31, align 64
  %265 = bitcast <8 x i1> %171 to i8
  %266 = zext i8 %265 to i64
  br label %285

267:
  store <8 x i1> zeroinitializer, ptr %24, align 1
  %268 = load i32, ptr %28, align 4
  store i32 %268, ptr %8, align 4
  store i32 1, ptr %9, align 4
  br label %245

269:
  store <8 x i1> zeroinitializer, ptr %25, align 1
  %270 = load <8 x i1>, ptr %29, align 1
  %271 = xor <8 x i1> %270, splat (i1 true)
  %272 = select <8 x i1> %171, <8 x i1> %270, <8 x i1> zeroinitializer
  %273 = select <8 x i1> %171, <8 x i1> %271, <8 x i1> zeroinitializer
  %274 = load <8 x i1>, ptr %26, align 1
  %275 = or <8 x i1> %274, %272
  store <8 x i1> %275, ptr %26, align 1
  %276 = load <8 x i1>, ptr %27, align 1
  %277 = or <8 x i1> %276, %273
  store <8 x i1> %277, ptr %27, align 1
  br label %313

278:
  %279 = load <8 x i1>, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  %280 = load float, ptr %113, align 4
  %281 = load ptr, ptr %30, align 8
  store float %280, ptr %281, align 4
  %282 = load <8 x i1>, ptr %27, align 1
  %283 = or <8 x i1> %282, %279
  store <8 x i1> %283, ptr %27, align 1
  br label %284

284:
  store <8 x i1> zeroinitializer, ptr %27, align 1
  store i32 -1, ptr %9, align 4
  br label %245

285:
  %286 = phi i64 [ %266, %249 ], [ %293, %285 ]
  %287 = call i64 @llvm.cttz.i64(i64 %286, i1 true)
  %288 = getelementptr ptr, ptr %31, i64 %287
  %289 = load ptr, ptr %288, align 1
  %290 = load float, ptr %289, align 4
  %291 = getelementptr float, ptr %32, i64 %287
  store float %290, ptr %291, align 1
  %292 = sub i64 %286, 1
  %293 = and i64 %286, %292
  %294 = icmp ne i64 %293, 0
  br i1 %294, label %285, label %295

295:
  %296 = load <8 x float>, ptr %32, align 64
  %297 = freeze <8 x float> %296
  store <8 x ptr> %258, ptr %33, align 64
  store <8 x float> %297, ptr %34, align 64
  %298 = bitcast <8 x i1> %171 to i8
  %299 = zext i8 %298 to i64
  br label %300

300:
  %301 = phi i64 [ %299, %295 ], [ %308, %300 ]
  %302 = call i64 @llvm.cttz.i64(i64 %301, i1 true)
  %303 = getelementptr ptr, ptr %33, i64 %302
  %304 = load ptr, ptr %303, align 1
  %305 = getelementptr float, ptr %34, i64 %302
  %306 = load float, ptr %305, align 1
  store float %306, ptr %304, align 4
  %307 = sub i64 %301, 1
  %308 = and i64 %301, %307
  %309 = icmp ne i64 %308, 0
  br i1 %309, label %300, label %310

310:
  br i1 %261, label %311, label %312

311:
  br label %269

312:
  store i32 %260, ptr %28, align 4
  br label %267

313:
  %314 = load <8 x i1>, ptr %26, align 1
  %315 = bitcast <8 x i1> %314 to i8
  %316 = icmp ne i8 %315, 0
  br i1 %316, label %317, label %318

317:
  br label %278

318:
  store <8 x i1> zeroinitializer, ptr %26, align 1
  br label %284

319:
  br i1 %141, label %172, label %174

320:
  store i64 0, ptr %37, align 8
  store i64 0, ptr %38, align 8
  store i64 0, ptr %39, align 8
  br label %353

321:
  %322 = load i64, ptr %35, align 8
  %323 = insertelement <8 x i64> poison, i64 %322, i32 0
  %324 = shufflevector <8 x i64> %323, <8 x i64> poison, <8 x i32> zeroinitializer
  %325 = add <8 x i64> %324, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %326 = insertelement <8 x i64> poison, i64 %75, i32 0
  %327 = shufflevector <8 x i64> %326, <8 x i64> poison, <8 x i32> zeroinitializer
  %328 = insertelement <8 x i64> poison, i64 %78, i32 0
  %329 = shufflevector <8 x i64> %328, <8 x i64> poison, <8 x i32> zeroinitializer
  %330 = insertelement <8 x i64> poison, i64 %81, i32 0
  %331 = shufflevector <8 x i64> %330, <8 x i64> poison, <8 x i32> zeroinitializer
  %332 = uitofp <8 x i64> %325 to <8 x double>
  %333 = uitofp <8 x i64> %327 to <8 x double>
  %334 = fdiv <8 x double> %332, %333
  %335 = fptoui <8 x double> %334 to <8 x i64>
  %336 = mul <8 x i64> %335, %327
  %337 = sub <8 x i64> %325, %336
  %338 = uitofp <8 x i64> %335 to <8 x double>
  %339 = uitofp <8 x i64> %329 to <8 x double>
  %340 = fdiv <8 x double> %338, %339
  %341 = fptoui <8 x double> %340 to <8 x i64>
  %342 = mul <8 x i64> %341, %329
  %343 = sub <8 x i64> %335, %342
  %344 = insertelement <8 x i64> poison, i64 %99, i32 0
  %345 = shufflevector <8 x i64> %344, <8 x i64> poison, <8 x i32> zeroinitializer
  %346 = icmp ult <8 x i64> %325, %345
  %347 = load i32, ptr %7, align 4
  store i32 %347, ptr %54, align 4
  store <8 x i1> zeroinitializer, ptr %55, align 1
  store <8 x i1> zeroinitializer, ptr %56, align 1
  store <8 x i1> zeroinitializer, ptr %57, align 1
  store <8 x i1> zeroinitializer, ptr %58, align 1
  store <8 x i1> zeroinitializer, ptr %59, align 1
  store <8 x i1> zeroinitializer, ptr %60, align 1
  store <8 x i1> zeroinitializer, ptr %61, align 1
  store i32 poison, ptr %62, align 4
  br label %494

348:
  br label %364

349:
  store i64 0, ptr %35, align 8
  store i64 %99, ptr %36, align 8
  br label %321

350:
  %351 = load i32, ptr %8, align 4
  store i32 %351, ptr %7, align 4
  %352 = load i32, ptr %9, align 4
  switch i32 %352, label %136 [
    i32 1, label %142
  ]

353:
  %354 = load i64, ptr %37, align 8
  %355 = load i64, ptr %38, align 8
  %356 = load i64, ptr %39, align 8
  %357 = mul i64 %356, %78
  %358 = add i64 %357, %355
  %359 = mul i64 %358, %75
  %360 = add i64 %359, %354
  %361 = trunc i64 %354 to i32
  %362 = add i32 %361, 7
  %363 = icmp uge i32 %362, %361
  br i1 %363, label %374, label %368

364:
  %365 = load i64, ptr %37, align 8
  %366 = add i64 %365, 8
  store i64 %366, ptr %37, align 8
  %367 = icmp ult i64 %366, %75
  br i1 %367, label %353, label %370

368:
  store i64 %360, ptr %35, align 8
  %369 = add i64 %360, 8
  store i64 %369, ptr %36, align 8
  br label %321

370:
  store i64 0, ptr %37, align 8
  %371 = load i64, ptr %38, align 8
  %372 = add i64 %371, 1
  store i64 %372, ptr %38, align 8
  %373 = icmp ult i64 %372, %78
  br i1 %373, label %353, label %486

374:
  %375 = load i32, ptr %7, align 4
  store i32 %375, ptr %40, align 4
  store <8 x i1> zeroinitializer, ptr %41, align 1
  store <8 x i1> zeroinitializer, ptr %42, align 1
  store <8 x i1> zeroinitializer, ptr %43, align 1
  store <8 x i1> zeroinitializer, ptr %44, align 1
  store <8 x i1> zeroinitializer, ptr %45, align 1
  store <8 x i1> zeroinitializer, ptr %46, align 1
  store <8 x i1> zeroinitializer, ptr %47, align 1
  store i32 poison, ptr %48, align 4
  br label %376

376:
  store <8 x i1> zeroinitializer, ptr %41, align 1
  %377 = trunc i64 %354 to i32
  store i32 %377, ptr %49, align 4
  %378 = zext i32 %377 to i64
  %379 = mul i64 %378, 4
  %380 = getelementptr i8, ptr %113, i64 %379
  store ptr %380, ptr %50, align 8
  %381 = insertelement <8 x i32> poison, i32 %377, i32 0
  %382 = shufflevector <8 x i32> %381, <8 x i32> poison, <8 x i32> zeroinitializer
  %383 = add <8 x i32> %382, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %384 = icmp eq <8 x i32> %383, zeroinitializer
  store <8 x i1> %384, ptr %51, align 1
  %385 = mul i64 %127, 4
  %386 = getelementptr i8, ptr %110, i64 %385
  store ptr %386, ptr %52, align 8
  %387 = load i32, ptr %40, align 4
  %388 = insertelement <8 x i32> poison, i32 %387, i32 0
  %389 = shufflevector <8 x i32> %388, <8 x i32> poison, <8 x i32> zeroinitializer
  %390 = insertelement <8 x i32> poison, i32 %377, i32 0
  %391 = shufflevector <8 x i32> %390, <8 x i32> poison, <8 x i32> zeroinitializer
  %392 = add <8 x i32> %391, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %393 = icmp ugt <8 x i32> %389, %392
  %394 = xor <8 x i1> %393, splat (i1 true)
  %395 = load <8 x i1>, ptr %42, align 1
  %396 = or <8 x i1> %395, %393
  store <8 x i1> %396, ptr %42, align 1
  %397 = load <8 x i1>, ptr %43, align 1
  %398 = or <8 x i1> %397, %394
  store <8 x i1> %398, ptr %43, align 1
  br label %435

399:
  %400 = load <8 x i1>, ptr %42, align 1
  store <8 x i1> zeroinitializer, ptr %42, align 1
  %401 = load i32, ptr %40, align 4
  %402 = load i32, ptr %49, align 4
  %403 = add i32 %401, %402
  %404 = add i32 %403, 7
  %405 = icmp uge i32 %404, %403
  %406 = zext i32 %403 to i64
  %407 = insertelement <8 x i32> poison, i32 %403, i32 0
  %408 = shufflevector <8 x i32> %407, <8 x i32> poison, <8 x i32> zeroinitializer
  %409 = add <8 x i32> %408, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %410 = zext <8 x i32> %409 to <8 x i64>
  %411 = mul i64 %406, 4
  %412 = getelementptr i8, ptr %113, i64 %411
  %413 = mul <8 x i64> %410, splat (i64 4)
  %414 = getelementptr i8, ptr %113, <8 x i64> %413
  br i1 %405, label %441, label %443

415:
  store <8 x i1> zeroinitializer, ptr %43, align 1
  %416 = load i32, ptr %40, align 4
  %417 = lshr i32 %416, 1
  %418 = icmp eq i32 %417, 0
  br i1 %418, label %478, label %479

419:
  store <8 x i1> zeroinitializer, ptr %44, align 1
  %420 = load i32, ptr %48, align 4
  store i32 %420, ptr %40, align 4
  store i32 %420, ptr %8, align 4
  store i32 1, ptr %9, align 4
  br label %364

421:
  store <8 x i1> zeroinitializer, ptr %45, align 1
  %422 = load <8 x i1>, ptr %51, align 1
  %423 = xor <8 x i1> %422, splat (i1 true)
  %424 = load <8 x i1>, ptr %46, align 1
  %425 = or <8 x i1> %424, %422
  store <8 x i1> %425, ptr %46, align 1
  %426 = load <8 x i1>, ptr %47, align 1
  %427 = or <8 x i1> %426, %423
  store <8 x i1> %427, ptr %47, align 1
  br label %480

428:
  %429 = load <8 x i1>, ptr %46, align 1
  store <8 x i1> zeroinitializer, ptr %46, align 1
  %430 = load float, ptr %113, align 4
  %431 = load ptr, ptr %52, align 8
  store float %430, ptr %431, align 4
  %432 = load <8 x i1>, ptr %47, align 1
  %433 = or <8 x i1> %432, %429
  store <8 x i1> %433, ptr %47, align 1
  br label %434

434:
  store <8 x i1> zeroinitializer, ptr %47, align 1
  store i32 -1, ptr %9, align 4
  br label %364

435:
  %436 = load <8 x i1>, ptr %42, align 1
  %437 = bitcast <8 x i1> %436 to i8
  %438 = icmp ne i8 %437, 0
  br i1 %438, label %439, label %440

439:
  br label %399

440:
  store <8 x i1> zeroinitializer, ptr %42, align 1
  br label %415

441:
  %442 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %412, <8 x i1> %400, <8 x float> poison)
  br label %471

443:
  %444 = insertelement <8 x ptr> poison, ptr %53, i32 0
  %445 = shufflevector <8 x ptr> %444, <8 x ptr> poison, <8 x i32> zeroinitializer
  %446 = select <8 x i1> %400, <8 x ptr> %414, <8 x ptr> %445
  %447 = extractelement <8 x ptr> %446, i32 0
  %448 = extractelement <8 x ptr> %446, i32 1
  %449 = extractelement <8 x ptr> %446, i32 2
  %450 = extractelement <8 x ptr> %446, i32 3
  %451 = extractelement <8 x ptr> %446, i32 4
  %452 = extractelement <8 x ptr> %446, i32 5
  %453 = extractelement <8 x ptr> %446, i32 6
  %454 = extractelement <8 x ptr> %446, i32 7
  %455 = load float, ptr %447, align 4
  %456 = insertelement <8 x float> poison, float %455, i32 0
  %457 = load float, ptr %448, align 4
  %458 = insertelement <8 x float> %456, float %457, i32 1
  %459 = load float, ptr %449, align 4
  %460 = insertelement <8 x float> %458, float %459, i32 2
  %461 = load float, ptr %450, align 4
  %462 = insertelement <8 x float> %460, float %461, i32 3
  %463 = load float, ptr %451, align 4
  %464 = insertelement <8 x float> %462, float %463, i32 4
  %465 = load float, ptr %452, align 4
  %466 = insertelement <8 x float> %464, float %465, i32 5
  %467 = load float, ptr %453, align 4
  %468 = insertelement <8 x float> %466, float %467, i32 6
  %469 = load float, ptr %454, align 4
  %470 = insertelement <8 x float> %468, float %469, i32 7
  br label %471

471:
  %472 = phi <8 x float> [ %442, %441 ], [ %470, %443 ]
  %473 = load ptr, ptr %50, align 8
  %474 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %473, <8 x i1> %400, <8 x float> poison)
  %475 = fadd <8 x float> %472, %474
  call void @llvm.masked.store.v8f32.p0(<8 x float> %475, ptr %473, <8 x i1> %400)
  %476 = load <8 x i1>, ptr %43, align 1
  %477 = or <8 x i1> %476, %400
  store <8 x i1> %477, ptr %43, align 1
  br label %415

478:
  br label %421

479:
  store i32 %417, ptr %48, align 4
  br label %419

480:
  %481 = load <8 x i1>, ptr %46, align 1
  %482 = bitcast <8 x i1> %481 to i8
  %483 = icmp ne i8 %482, 0
  br i1 %483, label %484, label %485

484:
  br label %428

485:
  store <8 x i1> zeroinitializer, ptr %46, align 1
  br label %434

486:
  store i64 0, ptr %38, align 8
  %487 = load i64, ptr %39, align 8
  %488 = add i64 %487, 1
  store i64 %488, ptr %39, align 8
  %489 = icmp ult i64 %488, %81
  br i1 %489, label %353, label %350

490:
  %491 = add i64 %322, 8
  store i64 %491, ptr %35, align 8
  %492 = load i64, ptr %36, align 8
  %493 = icmp ult i64 %491, %492
  br i1 %493, label %321, label %606

494:
  store <8 x i1> zeroinitializer, ptr %55, align 1
  %495 = trunc <8 x i64> %337 to <8 x i32>
  store <8 x i32> %495, ptr %63, align 32
  %496 = zext <8 x i32> %495 to <8 x i64>
  %497 = mul <8 x i64> %496, splat (i64 4)
  %498 = getelementptr i8, ptr %113, <8 x i64> %497
  store <8 x ptr> %498, ptr %64, align 64
  %499 = icmp eq <8 x i32> %495, zeroinitializer
  store <8 x i1> %499, ptr %65, align 1
  %500 = mul i64 %127, 4
  %501 = getelementptr i8, ptr %110, i64 %500
  store ptr %501, ptr %66, align 8
  %502 = load i32, ptr %54, align 4
  %503 = insertelement <8 x i32> poison, i32 %502, i32 0
  %504 = shufflevector <8 x i32> %503, <8 x i32> poison, <8 x i32> zeroinitializer
  %505 = icmp ugt <8 x i32> %504, %495
  %506 = xor <8 x i1> %505, splat (i1 true)
  %507 = select <8 x i1> %346, <8 x i1> %505, <8 x i1> zeroinitializer
  %508 = select <8 x i1> %346, <8 x i1> %506, <8 x i1> zeroinitializer
  %509 = load <8 x i1>, ptr %56, align 1
  %510 = or <8 x i1> %509, %507
  store <8 x i1> %510, ptr %56, align 1
  %511 = load <8 x i1>, ptr %57, align 1
  %512 = or <8 x i1> %511, %508
  store <8 x i1> %512, ptr %57, align 1
  br label %547

513:
  %514 = load <8 x i1>, ptr %56, align 1
  store <8 x i1> zeroinitializer, ptr %56, align 1
  %515 = load i32, ptr %54, align 4
  %516 = load <8 x i32>, ptr %63, align 32
  %517 = insertelement <8 x i32> poison, i32 %515, i32 0
  %518 = shufflevector <8 x i32> %517, <8 x i32> poison, <8 x i32> zeroinitializer
  %519 = add <8 x i32> %518, %516
  %520 = zext <8 x i32> %519 to <8 x i64>
  %521 = mul <8 x i64> %520, splat (i64 4)
  %522 = getelementptr i8, ptr %113, <8 x i64> %521
  store <8 x ptr> %522, ptr %67, align 64
  %523 = bitcast <8 x i1> %514 to i8
  %524 = zext i8 %523 to i64
  br label %553

525:
  store <8 x i1> zeroinitializer, ptr %57, align 1
  %526 = load i32, ptr %54, align 4
  %527 = lshr i32 %526, 1
  %528 = icmp eq i32 %527, 0
  br i1 %528, label %598, label %599

529:
  store <8 x i1> zeroinitializer, ptr %58, align 1
  %530 = load i32, ptr %62, align 4
  store i32 %530, ptr %54, align 4
  store i32 %530, ptr %8, align 4
  store i32 1, ptr %9, align 4
  br label %490

531:
  store <8 x i1> zeroinitializer, ptr %59, align 1
  %532 = load <8 x i1>, ptr %65, align 1
  %533 = xor <8 x i1> %532, splat (i1 true)
  %534 = select <8 x i1> %346, <8 x i1> %532, <8 x i1> zeroinitializer
  %535 = select <8 x i1> %346, <8 x i1> %533, <8 x i1> zeroinitializer
  %536 = load <8 x i1>, ptr %60, align 1
  %537 = or <8 x i1> %536, %534
  store <8 x i1> %537, ptr %60, align 1
  %538 = load <8 x i1>, ptr %61, align 1
  %539 = or <8 x i1> %538, %535
  store <8 x i1> %539, ptr %61, align 1
  br label %600

540:
  %541 = load <8 x i1>, ptr %60, align 1
  store <8 x i1> zeroinitializer, ptr %60, align 1
  %542 = load float, ptr %113, align 4
  %543 = load ptr, ptr %66, align 8
  store float %542, ptr %543, align 4
  %544 = load <8 x i1>, ptr %61, align 1
  %545 = or <8 x i1> %544, %541
  store <8 x i1> %545, ptr %61, align 1
  br label %546

546:
  store <8 x i1> zeroinitializer, ptr %61, align 1
  store i32 -1, ptr %9, align 4
  br label %490

547:
  %548 = load <8 x i1>, ptr %56, align 1
  %549 = bitcast <8 x i1> %548 to i8
  %550 = icmp ne i8 %549, 0
  br i1 %550, label %551, label %552

551:
  br label %513

552:
  store <8 x i1> zeroinitializer, ptr %56, align 1
  br label %525

553:
  %554 = phi i64 [ %524, %513 ], [ %561, %553 ]
  %555 = call i64 @llvm.cttz.i64(i64 %554, i1 true)
  %556 = getelementptr ptr, ptr %67, i64 %555
  %557 = load ptr, ptr %556, align 1
  %558 = load float, ptr %557, align 4
  %559 = getelementptr float, ptr %68, i64 %555
  store float %558, ptr %559, align 1
  %560 = sub i64 %554, 1
  %561 = and i64 %554, %560
  %562 = icmp ne i64 %561, 0
  br i1 %562, label %553, label %563

563:
  %564 = load <8 x float>, ptr %68, align 64
  %565 = freeze <8 x float> %564
  %566 = load <8 x ptr>, ptr %64, align 64
  store <8 x ptr> %566, ptr %69, align 64
  %567 = bitcast <8 x i1> %514 to i8
  %568 = zext i8 %567 to i64
  br label %569

569:
  %570 = phi i64 [ %568, %563 ], [ %577, %569 ]
  %571 = call i64 @llvm.cttz.i64(i64 %570, i1 true)
  %572 = getelementptr ptr, ptr %69, i64 %571
  %573 = load ptr, ptr %572, align 1
  %574 = load float, ptr %573, align 4
  %575 = getelementptr float, ptr %70, i64 %571
  store float %574, ptr %575, align 1
  %576 = sub i64 %570, 1
  %577 = and i64 %570, %576
  %578 = icmp ne i64 %577, 0
  br i1 %578, label %569, label %579

579:
  %580 = load <8 x float>, ptr %70, align 64
  %581 = freeze <8 x float> %580
  %582 = fadd <8 x float> %565, %581
  store <8 x ptr> %566, ptr %71, align 64
  store <8 x float> %582, ptr %72, align 64
  %583 = bitcast <8 x i1> %514 to i8
  %584 = zext i8 %583 to i64
  br label %585

585:
  %586 = phi i64 [ %584, %579 ], [ %593, %585 ]
  %587 = call i64 @llvm.cttz.i64(i64 %586, i1 true)
  %588 = getelementptr ptr, ptr %71, i64 %587
  %589 = load ptr, ptr %588, align 1
  %590 = getelementptr float, ptr %72, i64 %587
  %591 = load float, ptr %590, align 1
  store float %591, ptr %589, align 4
  %592 = sub i64 %586, 1
  %593 = and i64 %586, %592
  %594 = icmp ne i64 %593, 0
  br i1 %594, label %585, label %595

595:
  %596 = load <8 x i1>, ptr %57, align 1
  %597 = or <8 x i1> %596, %514
  store <8 x i1> %597, ptr %57, align 1
  br label %525

598:
  br label %531

599:
  store i32 %527, ptr %62, align 4
  br label %529

600:
  %601 = load <8 x i1>, ptr %60, align 1
  %602 = bitcast <8 x i1> %601 to i8
  %603 = icmp ne i8 %602, 0
  br i1 %603, label %604, label %605

604:
  br label %540

605:
  store <8 x i1> zeroinitializer, ptr %60, align 1
  br label %546

606:
  br i1 %144, label %348, label %350
