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
  br i1 %144, label %316, label %345

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
  %151 = insertelement <8 x i64> poison, i64 %99, i32 0
  %152 = shufflevector <8 x i64> %151, <8 x i64> poison, <8 x i32> zeroinitializer
  %153 = icmp ult <8 x i64> %150, %152
  %154 = insertelement <8 x i64> poison, i64 %75, i32 0
  %155 = shufflevector <8 x i64> %154, <8 x i64> poison, <8 x i32> zeroinitializer
  %156 = insertelement <8 x i64> poison, i64 %78, i32 0
  %157 = shufflevector <8 x i64> %156, <8 x i64> poison, <8 x i32> zeroinitializer
  %158 = insertelement <8 x i64> poison, i64 %81, i32 0
  %159 = shufflevector <8 x i64> %158, <8 x i64> poison, <8 x i32> zeroinitializer
  %160 = uitofp <8 x i64> %150 to <8 x double>
  %161 = uitofp <8 x i64> %155 to <8 x double>
  %162 = fdiv <8 x double> %160, %161
  %163 = fptoui <8 x double> %162 to <8 x i64>
  %164 = mul <8 x i64> %163, %155
  %165 = sub <8 x i64> %150, %164
  %166 = uitofp <8 x i64> %163 to <8 x double>
  %167 = uitofp <8 x i64> %157 to <8 x double>
  %168 = fdiv <8 x double> %166, %167
  %169 = fptoui <8 x double> %168 to <8 x i64>
  %170 = mul <8 x i64> %169, %157
  %171 = sub <8 x i64> %163, %170
  store <8 x i1> zeroinitializer, ptr %23, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  store i32 poison, ptr %28, align 4
  br label %245

172:
  br label %185

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
  store <8 x i1> zeroinitializer, ptr %15, align 1
  store <8 x i1> zeroinitializer, ptr %16, align 1
  store <8 x i1> zeroinitializer, ptr %17, align 1
  store <8 x i1> zeroinitializer, ptr %18, align 1
  store <8 x i1> zeroinitializer, ptr %19, align 1
  store i32 poison, ptr %20, align 4
  br label %195

185:
  %186 = load i64, ptr %12, align 8
  %187 = add i64 %186, 8
  store i64 %187, ptr %12, align 8
  %188 = icmp ult i64 %187, %75
  br i1 %188, label %177, label %191

189:                                              ; No predecessors!
  store i64 %184, ptr %10, align 8
  %190 = add i64 %184, 8
  store i64 %190, ptr %11, align 8
  br label %146

191:
  store i64 0, ptr %12, align 8
  %192 = load i64, ptr %13, align 8
  %193 = add i64 %192, 1
  store i64 %193, ptr %13, align 8
  %194 = icmp ult i64 %193, %78
  br i1 %194, label %177, label %237

195:
  store <8 x i1> zeroinitializer, ptr %15, align 1
  %196 = add i64 %131, %178
  %197 = mul i64 %196, 4
  %198 = getelementptr i8, ptr %108, i64 %197
  %199 = trunc i64 %178 to i32
  %200 = zext i32 %199 to i64
  %201 = mul i64 %200, 4
  %202 = getelementptr i8, ptr %113, i64 %201
  %203 = lshr i64 %75, 1
  %204 = trunc i64 %203 to i32
  %205 = icmp eq i32 %204, 0
  %206 = insertelement <8 x i32> poison, i32 %199, i32 0
  %207 = shufflevector <8 x i32> %206, <8 x i32> poison, <8 x i32> zeroinitializer
  %208 = add <8 x i32> %207, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %209 = icmp eq <8 x i32> %208, zeroinitializer
  store <8 x i1> %209, ptr %21, align 1
  %210 = mul i64 %127, 4
  %211 = getelementptr i8, ptr %110, i64 %210
  store ptr %211, ptr %22, align 8
  %212 = load <8 x float>, ptr %198, align 4
  store <8 x float> %212, ptr %202, align 4
  br i1 %205, label %229, label %230

213:
  store <8 x i1> zeroinitializer, ptr %16, align 1
  %214 = load i32, ptr %20, align 4
  store i32 %214, ptr %8, align 4
  store i32 1, ptr %9, align 4
  br label %185

215:
  store <8 x i1> zeroinitializer, ptr %17, align 1
  %216 = load <8 x i1>, ptr %21, align 1
  %217 = xor <8 x i1> %216, splat (i1 true)
  %218 = load <8 x i1>, ptr %18, align 1
  %219 = or <8 x i1> %218, %216
  store <8 x i1> %219, ptr %18, align 1
  %220 = load <8 x i1>, ptr %19, align 1
  %221 = or <8 x i1> %220, %217
  store <8 x i1> %221, ptr %19, align 1
  br label %231

222:
  %223 = load <8 x i1>, ptr %18, align 1
  store <8 x i1> zeroinitializer, ptr %18, align 1
  %224 = load float, ptr %113, align 4
  %225 = load ptr, ptr %22, align 8
  store float %224, ptr %225, align 4
  %226 = load <8 x i1>, ptr %19, align 1
  %227 = or <8 x i1> %226, %223
  store <8 x i1> %227, ptr %19, align 1
  br label %228

228:
  store <8 x i1> zeroinitializer, ptr %19, align 1
  store i32 -1, ptr %9, align 4
  br label %185

229:
  br label %215

230:
  store i32 %204, ptr %20, align 4
  br label %213

231:
  %232 = load <8 x i1>, ptr %18, align 1
  %233 = bitcast <8 x i1> %232 to i8
  %234 = icmp ne i8 %233, 0
  br i1 %234, label %235, label %236

235:
  br label %222

236:
  store <8 x i1> zeroinitializer, ptr %18, align 1
  br label %228

237:
  store i64 0, ptr %13, align 8
  %238 = load i64, ptr %14, align 8
  %239 = add i64 %238, 1
  store i64 %239, ptr %14, align 8
  %240 = icmp ult i64 %239, %81
  br i1 %240, label %177, label %174

241:
  %242 = add i64 %147, 8
  store i64 %242, ptr %10, align 8
  %243 = load i64, ptr %11, align 8
  %244 = icmp ult i64 %242, %243
  br i1 %244, label %146, label %315

245:
  store <8 x i1> zeroinitializer, ptr %23, align 1
  %246 = insertelement <8 x i64> poison, i64 %131, i32 0
  %247 = shufflevector <8 x i64> %246, <8 x i64> poison, <8 x i32> zeroinitializer
  %248 = add <8 x i64> %247, %165
  %249 = mul <8 x i64> %248, splat (i64 4)
  %250 = getelementptr i8, ptr %108, <8 x i64> %249
  %251 = trunc <8 x i64> %165 to <8 x i32>
  %252 = zext <8 x i32> %251 to <8 x i64>
  %253 = mul <8 x i64> %252, splat (i64 4)
  %254 = getelementptr i8, ptr %113, <8 x i64> %253
  %255 = lshr i64 %75, 1
  %256 = trunc i64 %255 to i32
  %257 = icmp eq i32 %256, 0
  %258 = icmp eq <8 x i32> %251, zeroinitializer
  store <8 x i1> %258, ptr %29, align 1
  %259 = mul i64 %127, 4
  %260 = getelementptr i8, ptr %110, i64 %259
  store ptr %260, ptr %30, align 8
  store <8 x ptr> %250, ptr %31, align 64
  %261 = bitcast <8 x i1> %153 to i8
  %262 = zext i8 %261 to i64
  br label %281

263:
  store <8 x i1> zeroinitializer, ptr %24, align 1
  %264 = load i32, ptr %28, align 4
  store i32 %264, ptr %8, align 4
  store i32 1, ptr %9, align 4
  br label %241

265:
  store <8 x i1> zeroinitializer, ptr %25, align 1
  %266 = load <8 x i1>, ptr %29, align 1
  %267 = xor <8 x i1> %266, splat (i1 true)
  %268 = select <8 x i1> %153, <8 x i1> %266, <8 x i1> zeroinitializer
  %269 = select <8 x i1> %153, <8 x i1> %267, <8 x i1> zeroinitializer
  %270 = load <8 x i1>, ptr %26, align 1
  %271 = or <8 x i1> %270, %268
  store <8 x i1> %271, ptr %26, align 1
  %272 = load <8 x i1>, ptr %27, align 1
  %273 = or <8 x i1> %272, %269
  store <8 x i1> %273, ptr %27, align 1
  br label %309

274:
  %275 = load <8 x i1>, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  %276 = load float, ptr %113, align 4
  %277 = load ptr, ptr %30, align 8
  store float %276, ptr %277, align 4
  %278 = load <8 x i1>, ptr %27, align 1
  %279 = or <8 x i1> %278, %275
  store <8 x i1> %279, ptr %27, align 1
  br label %280

280:
  store <8 x i1> zeroinitializer, ptr %27, align 1
  store i32 -1, ptr %9, align 4
  br label %241

281:
  %282 = phi i64 [ %262, %245 ], [ %289, %281 ]
  %283 = call i64 @llvm.cttz.i64(i64 %282, i1 true)
  %284 = getelementptr ptr, ptr %31, i64 %283
  %285 = load ptr, ptr %284, align 1
  %286 = load float, ptr %285, align 4
  %287 = getelementptr float, ptr %32, i64 %283
  store float %286, ptr %287, align 1
  %288 = sub i64 %282, 1
  %289 = and i64 %282, %288
  %290 = icmp ne i64 %289, 0
  br i1 %290, label %281, label %291

291:
  %292 = load <8 x float>, ptr %32, align 64
  %293 = freeze <8 x float> %292
  store <8 x ptr> %254, ptr %33, align 64
  store <8 x float> %293, ptr %34, align 64
  %294 = bitcast <8 x i1> %153 to i8
  %295 = zext i8 %294 to i64
  br label %296

296:
  %297 = phi i64 [ %295, %291 ], [ %304, %296 ]
  %298 = call i64 @llvm.cttz.i64(i64 %297, i1 true)
  %299 = getelementptr ptr, ptr %33, i64 %298
  %300 = load ptr, ptr %299, align 1
  %301 = getelementptr float, ptr %34, i64 %298
  %302 = load float, ptr %301, align 1
  store float %302, ptr %300, align 4
  %303 = sub i64 %297, 1
  %304 = and i64 %297, %303
  %305 = icmp ne i64 %304, 0
  br i1 %305, label %296, label %306

306:
  br i1 %257, label %307, label %308

307:
  br label %265

308:
  store i32 %256, ptr %28, align 4
  br label %263

309:
  %310 = load <8 x i1>, ptr %26, align 1
  %311 = bitcast <8 x i1> %310 to i8
  %312 = icmp ne i8 %311, 0
  br i1 %312, label %313, label %314

313:
  br label %274

314:
  store <8 x i1> zeroinitializer, ptr %26, align 1
  br label %280

315:
  br i1 %141, label %172, label %174

316:
  store i64 0, ptr %37, align 8
  store i64 0, ptr %38, align 8
  store i64 0, ptr %39, align 8
  br label %349

317:
  %318 = load i64, ptr %35, align 8
  %319 = insertelement <8 x i64> poison, i64 %318, i32 0
  %320 = shufflevector <8 x i64> %319, <8 x i64> poison, <8 x i32> zeroinitializer
  %321 = add <8 x i64> %320, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %322 = insertelement <8 x i64> poison, i64 %99, i32 0
  %323 = shufflevector <8 x i64> %322, <8 x i64> poison, <8 x i32> zeroinitializer
  %324 = icmp ult <8 x i64> %321, %323
  %325 = insertelement <8 x i64> poison, i64 %75, i32 0
  %326 = shufflevector <8 x i64> %325, <8 x i64> poison, <8 x i32> zeroinitializer
  %327 = insertelement <8 x i64> poison, i64 %78, i32 0
  %328 = shufflevector <8 x i64> %327, <8 x i64> poison, <8 x i32> zeroinitializer
  %329 = insertelement <8 x i64> poison, i64 %81, i32 0
  %330 = shufflevector <8 x i64> %329, <8 x i64> poison, <8 x i32> zeroinitializer
  %331 = uitofp <8 x i64> %321 to <8 x double>
  %332 = uitofp <8 x i64> %326 to <8 x double>
  %333 = fdiv <8 x double> %331, %332
  %334 = fptoui <8 x double> %333 to <8 x i64>
  %335 = mul <8 x i64> %334, %326
  %336 = sub <8 x i64> %321, %335
  %337 = uitofp <8 x i64> %334 to <8 x double>
  %338 = uitofp <8 x i64> %328 to <8 x double>
  %339 = fdiv <8 x double> %337, %338
  %340 = fptoui <8 x double> %339 to <8 x i64>
  %341 = mul <8 x i64> %340, %328
  %342 = sub <8 x i64> %334, %341
  %343 = load i32, ptr %7, align 4
  store i32 %343, ptr %54, align 4
  store <8 x i1> zeroinitializer, ptr %55, align 1
  store <8 x i1> zeroinitializer, ptr %56, align 1
  store <8 x i1> zeroinitializer, ptr %57, align 1
  store <8 x i1> zeroinitializer, ptr %58, align 1
  store <8 x i1> zeroinitializer, ptr %59, align 1
  store <8 x i1> zeroinitializer, ptr %60, align 1
  store <8 x i1> zeroinitializer, ptr %61, align 1
  store i32 poison, ptr %62, align 4
  br label %486

344:
  br label %358

345:
  store i64 0, ptr %35, align 8
  store i64 %99, ptr %36, align 8
  br label %317

346:
  %347 = load i32, ptr %8, align 4
  store i32 %347, ptr %7, align 4
  %348 = load i32, ptr %9, align 4
  switch i32 %348, label %136 [
    i32 1, label %142
  ]

349:
  %350 = load i64, ptr %37, align 8
  %351 = load i64, ptr %38, align 8
  %352 = load i64, ptr %39, align 8
  %353 = mul i64 %352, %78
  %354 = add i64 %353, %351
  %355 = mul i64 %354, %75
  %356 = add i64 %355, %350
  %357 = load i32, ptr %7, align 4
  store i32 %357, ptr %40, align 4
  store <8 x i1> zeroinitializer, ptr %41, align 1
  store <8 x i1> zeroinitializer, ptr %42, align 1
  store <8 x i1> zeroinitializer, ptr %43, align 1
  store <8 x i1> zeroinitializer, ptr %44, align 1
  store <8 x i1> zeroinitializer, ptr %45, align 1
  store <8 x i1> zeroinitializer, ptr %46, align 1
  store <8 x i1> zeroinitializer, ptr %47, align 1
  store i32 poison, ptr %48, align 4
  br label %368

358:
  %359 = load i64, ptr %37, align 8
  %360 = add i64 %359, 8
  store i64 %360, ptr %37, align 8
  %361 = icmp ult i64 %360, %75
  br i1 %361, label %349, label %364

362:                                              ; No predecessors!
  store i64 %356, ptr %35, align 8
  %363 = add i64 %356, 8
  store i64 %363, ptr %36, align 8
  br label %317

364:
  store i64 0, ptr %37, align 8
  %365 = load i64, ptr %38, align 8
  %366 = add i64 %365, 1
  store i64 %366, ptr %38, align 8
  %367 = icmp ult i64 %366, %78
  br i1 %367, label %349, label %478

368:
  store <8 x i1> zeroinitializer, ptr %41, align 1
  %369 = trunc i64 %350 to i32
  store i32 %369, ptr %49, align 4
  %370 = zext i32 %369 to i64
  %371 = mul i64 %370, 4
  %372 = getelementptr i8, ptr %113, i64 %371
  store ptr %372, ptr %50, align 8
  %373 = insertelement <8 x i32> poison, i32 %369, i32 0
  %374 = shufflevector <8 x i32> %373, <8 x i32> poison, <8 x i32> zeroinitializer
  %375 = add <8 x i32> %374, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %376 = icmp eq <8 x i32> %375, zeroinitializer
  store <8 x i1> %376, ptr %51, align 1
  %377 = mul i64 %127, 4
  %378 = getelementptr i8, ptr %110, i64 %377
  store ptr %378, ptr %52, align 8
  %379 = load i32, ptr %40, align 4
  %380 = insertelement <8 x i32> poison, i32 %379, i32 0
  %381 = shufflevector <8 x i32> %380, <8 x i32> poison, <8 x i32> zeroinitializer
  %382 = insertelement <8 x i32> poison, i32 %369, i32 0
  %383 = shufflevector <8 x i32> %382, <8 x i32> poison, <8 x i32> zeroinitializer
  %384 = add <8 x i32> %383, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %385 = icmp ugt <8 x i32> %381, %384
  %386 = xor <8 x i1> %385, splat (i1 true)
  %387 = load <8 x i1>, ptr %42, align 1
  %388 = or <8 x i1> %387, %385
  store <8 x i1> %388, ptr %42, align 1
  %389 = load <8 x i1>, ptr %43, align 1
  %390 = or <8 x i1> %389, %386
  store <8 x i1> %390, ptr %43, align 1
  br label %427

391:
  %392 = load <8 x i1>, ptr %42, align 1
  store <8 x i1> zeroinitializer, ptr %42, align 1
  %393 = load i32, ptr %40, align 4
  %394 = load i32, ptr %49, align 4
  %395 = add i32 %393, %394
  %396 = add i32 %395, 7
  %397 = icmp uge i32 %396, %395
  %398 = zext i32 %395 to i64
  %399 = insertelement <8 x i32> poison, i32 %395, i32 0
  %400 = shufflevector <8 x i32> %399, <8 x i32> poison, <8 x i32> zeroinitializer
  %401 = add <8 x i32> %400, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %402 = zext <8 x i32> %401 to <8 x i64>
  %403 = mul i64 %398, 4
  %404 = getelementptr i8, ptr %113, i64 %403
  %405 = mul <8 x i64> %402, splat (i64 4)
  %406 = getelementptr i8, ptr %113, <8 x i64> %405
  br i1 %397, label %433, label %435

407:
  store <8 x i1> zeroinitializer, ptr %43, align 1
  %408 = load i32, ptr %40, align 4
  %409 = lshr i32 %408, 1
  %410 = icmp eq i32 %409, 0
  br i1 %410, label %470, label %471

411:
  store <8 x i1> zeroinitializer, ptr %44, align 1
  %412 = load i32, ptr %48, align 4
  store i32 %412, ptr %40, align 4
  store i32 %412, ptr %8, align 4
  store i32 1, ptr %9, align 4
  br label %358

413:
  store <8 x i1> zeroinitializer, ptr %45, align 1
  %414 = load <8 x i1>, ptr %51, align 1
  %415 = xor <8 x i1> %414, splat (i1 true)
  %416 = load <8 x i1>, ptr %46, align 1
  %417 = or <8 x i1> %416, %414
  store <8 x i1> %417, ptr %46, align 1
  %418 = load <8 x i1>, ptr %47, align 1
  %419 = or <8 x i1> %418, %415
  store <8 x i1> %419, ptr %47, align 1
  br label %472

420:
  %421 = load <8 x i1>, ptr %46, align 1
  store <8 x i1> zeroinitializer, ptr %46, align 1
  %422 = load float, ptr %113, align 4
  %423 = load ptr, ptr %52, align 8
  store float %422, ptr %423, align 4
  %424 = load <8 x i1>, ptr %47, align 1
  %425 = or <8 x i1> %424, %421
  store <8 x i1> %425, ptr %47, align 1
  br label %426

426:
  store <8 x i1> zeroinitializer, ptr %47, align 1
  store i32 -1, ptr %9, align 4
  br label %358

427:
  %428 = load <8 x i1>, ptr %42, align 1
  %429 = bitcast <8 x i1> %428 to i8
  %430 = icmp ne i8 %429, 0
  br i1 %430, label %431, label %432

431:
  br label %391

432:
  store <8 x i1> zeroinitializer, ptr %42, align 1
  br label %407

433:
  %434 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %404, <8 x i1> %392, <8 x float> poison)
  br label %463

435:
  %436 = insertelement <8 x ptr> poison, ptr %53, i32 0
  %437 = shufflevector <8 x ptr> %436, <8 x ptr> poison, <8 x i32> zeroinitializer
  %438 = select <8 x i1> %392, <8 x ptr> %406, <8 x ptr> %437
  %439 = extractelement <8 x ptr> %438, i32 0
  %440 = extractelement <8 x ptr> %438, i32 1
  %441 = extractelement <8 x ptr> %438, i32 2
  %442 = extractelement <8 x ptr> %438, i32 3
  %443 = extractelement <8 x ptr> %438, i32 4
  %444 = extractelement <8 x ptr> %438, i32 5
  %445 = extractelement <8 x ptr> %438, i32 6
  %446 = extractelement <8 x ptr> %438, i32 7
  %447 = load float, ptr %439, align 4
  %448 = insertelement <8 x float> poison, float %447, i32 0
  %449 = load float, ptr %440, align 4
  %450 = insertelement <8 x float> %448, float %449, i32 1
  %451 = load float, ptr %441, align 4
  %452 = insertelement <8 x float> %450, float %451, i32 2
  %453 = load float, ptr %442, align 4
  %454 = insertelement <8 x float> %452, float %453, i32 3
  %455 = load float, ptr %443, align 4
  %456 = insertelement <8 x float> %454, float %455, i32 4
  %457 = load float, ptr %444, align 4
  %458 = insertelement <8 x float> %456, float %457, i32 5
  %459 = load float, ptr %445, align 4
  %460 = insertelement <8 x float> %458, float %459, i32 6
  %461 = load float, ptr %446, align 4
  %462 = insertelement <8 x float> %460, float %461, i32 7
  br label %463

463:
  %464 = phi <8 x float> [ %434, %433 ], [ %462, %435 ]
  %465 = load ptr, ptr %50, align 8
  %466 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %465, <8 x i1> %392, <8 x float> poison)
  %467 = fadd <8 x float> %464, %466
  call void @llvm.masked.store.v8f32.p0(<8 x float> %467, ptr %465, <8 x i1> %392)
  %468 = load <8 x i1>, ptr %43, align 1
  %469 = or <8 x i1> %468, %392
  store <8 x i1> %469, ptr %43, align 1
  br label %407

470:
  br label %413

471:
  store i32 %409, ptr %48, align 4
  br label %411

472:
  %473 = load <8 x i1>, ptr %46, align 1
  %474 = bitcast <8 x i1> %473 to i8
  %475 = icmp ne i8 %474, 0
  br i1 %475, label %476, label %477

476:
  br label %420

477:
  store <8 x i1> zeroinitializer, ptr %46, align 1
  br label %426

478:
  store i64 0, ptr %38, align 8
  %479 = load i64, ptr %39, align 8
  %480 = add i64 %479, 1
  store i64 %480, ptr %39, align 8
  %481 = icmp ult i64 %480, %81
  br i1 %481, label %349, label %346

482:
  %483 = add i64 %318, 8
  store i64 %483, ptr %35, align 8
  %484 = load i64, ptr %36, align 8
  %485 = icmp ult i64 %483, %484
  br i1 %485, label %317, label %598

486:
  store <8 x i1> zeroinitializer, ptr %55, align 1
  %487 = trunc <8 x i64> %336 to <8 x i32>
  store <8 x i32> %487, ptr %63, align 32
  %488 = zext <8 x i32> %487 to <8 x i64>
  %489 = mul <8 x i64> %488, splat (i64 4)
  %490 = getelementptr i8, ptr %113, <8 x i64> %489
  store <8 x ptr> %490, ptr %64, align 64
  %491 = icmp eq <8 x i32> %487, zeroinitializer
  store <8 x i1> %491, ptr %65, align 1
  %492 = mul i64 %127, 4
  %493 = getelementptr i8, ptr %110, i64 %492
  store ptr %493, ptr %66, align 8
  %494 = load i32, ptr %54, align 4
  %495 = insertelement <8 x i32> poison, i32 %494, i32 0
  %496 = shufflevector <8 x i32> %495, <8 x i32> poison, <8 x i32> zeroinitializer
  %497 = icmp ugt <8 x i32> %496, %487
  %498 = xor <8 x i1> %497, splat (i1 true)
  %499 = select <8 x i1> %324, <8 x i1> %497, <8 x i1> zeroinitializer
  %500 = select <8 x i1> %324, <8 x i1> %498, <8 x i1> zeroinitializer
  %501 = load <8 x i1>, ptr %56, align 1
  %502 = or <8 x i1> %501, %499
  store <8 x i1> %502, ptr %56, align 1
  %503 = load <8 x i1>, ptr %57, align 1
  %504 = or <8 x i1> %503, %500
  store <8 x i1> %504, ptr %57, align 1
  br label %539

505:
  %506 = load <8 x i1>, ptr %56, align 1
  store <8 x i1> zeroinitializer, ptr %56, align 1
  %507 = load i32, ptr %54, align 4
  %508 = insertelement <8 x i32> poison, i32 %507, i32 0
  %509 = shufflevector <8 x i32> %508, <8 x i32> poison, <8 x i32> zeroinitializer
  %510 = load <8 x i32>, ptr %63, align 32
  %511 = add <8 x i32> %509, %510
  %512 = zext <8 x i32> %511 to <8 x i64>
  %513 = mul <8 x i64> %512, splat (i64 4)
  %514 = getelementptr i8, ptr %113, <8 x i64> %513
  store <8 x ptr> %514, ptr %67, align 64
  %515 = bitcast <8 x i1> %506 to i8
  %516 = zext i8 %515 to i64
  br label %545

517:
  store <8 x i1> zeroinitializer, ptr %57, align 1
  %518 = load i32, ptr %54, align 4
  %519 = lshr i32 %518, 1
  %520 = icmp eq i32 %519, 0
  br i1 %520, label %590, label %591

521:
  store <8 x i1> zeroinitializer, ptr %58, align 1
  %522 = load i32, ptr %62, align 4
  store i32 %522, ptr %54, align 4
  store i32 %522, ptr %8, align 4
  store i32 1, ptr %9, align 4
  br label %482

523:
  store <8 x i1> zeroinitializer, ptr %59, align 1
  %524 = load <8 x i1>, ptr %65, align 1
  %525 = xor <8 x i1> %524, splat (i1 true)
  %526 = select <8 x i1> %324, <8 x i1> %524, <8 x i1> zeroinitializer
  %527 = select <8 x i1> %324, <8 x i1> %525, <8 x i1> zeroinitializer
  %528 = load <8 x i1>, ptr %60, align 1
  %529 = or <8 x i1> %528, %526
  store <8 x i1> %529, ptr %60, align 1
  %530 = load <8 x i1>, ptr %61, align 1
  %531 = or <8 x i1> %530, %527
  store <8 x i1> %531, ptr %61, align 1
  br label %592

532:
  %533 = load <8 x i1>, ptr %60, align 1
  store <8 x i1> zeroinitializer, ptr %60, align 1
  %534 = load float, ptr %113, align 4
  %535 = load ptr, ptr %66, align 8
  store float %534, ptr %535, align 4
  %536 = load <8 x i1>, ptr %61, align 1
  %537 = or <8 x i1> %536, %533
  store <8 x i1> %537, ptr %61, align 1
  br label %538

538:
  store <8 x i1> zeroinitializer, ptr %61, align 1
  store i32 -1, ptr %9, align 4
  br label %482

539:
  %540 = load <8 x i1>, ptr %56, align 1
  %541 = bitcast <8 x i1> %540 to i8
  %542 = icmp ne i8 %541, 0
  br i1 %542, label %543, label %544

543:
  br label %505

544:
  store <8 x i1> zeroinitializer, ptr %56, align 1
  br label %517

545:
  %546 = phi i64 [ %516, %505 ], [ %553, %545 ]
  %547 = call i64 @llvm.cttz.i64(i64 %546, i1 true)
  %548 = getelementptr ptr, ptr %67, i64 %547
  %549 = load ptr, ptr %548, align 1
  %550 = load float, ptr %549, align 4
  %551 = getelementptr float, ptr %68, i64 %547
  store float %550, ptr %551, align 1
  %552 = sub i64 %546, 1
  %553 = and i64 %546, %552
  %554 = icmp ne i64 %553, 0
  br i1 %554, label %545, label %555

555:
  %556 = load <8 x float>, ptr %68, align 64
  %557 = freeze <8 x float> %556
  %558 = load <8 x ptr>, ptr %64, align 64
  store <8 x ptr> %558, ptr %69, align 64
  %559 = bitcast <8 x i1> %506 to i8
  %560 = zext i8 %559 to i64
  br label %561

561:
  %562 = phi i64 [ %560, %555 ], [ %569, %561 ]
  %563 = call i64 @llvm.cttz.i64(i64 %562, i1 true)
  %564 = getelementptr ptr, ptr %69, i64 %563
  %565 = load ptr, ptr %564, align 1
  %566 = load float, ptr %565, align 4
  %567 = getelementptr float, ptr %70, i64 %563
  store float %566, ptr %567, align 1
  %568 = sub i64 %562, 1
  %569 = and i64 %562, %568
  %570 = icmp ne i64 %569, 0
  br i1 %570, label %561, label %571

571:
  %572 = load <8 x float>, ptr %70, align 64
  %573 = freeze <8 x float> %572
  %574 = fadd <8 x float> %557, %573
  store <8 x ptr> %558, ptr %71, align 64
  store <8 x float> %574, ptr %72, align 64
  %575 = bitcast <8 x i1> %506 to i8
  %576 = zext i8 %575 to i64
  br label %577

577:
  %578 = phi i64 [ %576, %571 ], [ %585, %577 ]
  %579 = call i64 @llvm.cttz.i64(i64 %578, i1 true)
  %580 = getelementptr ptr, ptr %71, i64 %579
  %581 = load ptr, ptr %580, align 1
  %582 = getelementptr float, ptr %72, i64 %579
  %583 = load float, ptr %582, align 1
  store float %583, ptr %581, align 4
  %584 = sub i64 %578, 1
  %585 = and i64 %578, %584
  %586 = icmp ne i64 %585, 0
  br i1 %586, label %577, label %587

587:
  %588 = load <8 x i1>, ptr %57, align 1
  %589 = or <8 x i1> %588, %506
  store <8 x i1> %589, ptr %57, align 1
  br label %517

590:
  br label %523

591:
  store i32 %519, ptr %62, align 4
  br label %521

592:
  %593 = load <8 x i1>, ptr %60, align 1
  %594 = bitcast <8 x i1> %593 to i8
  %595 = icmp ne i8 %594, 0
  br i1 %595, label %596, label %597

596:
  br label %532

597:
  store <8 x i1> zeroinitializer, ptr %60, align 1
  br label %538

598:
  br i1 %144, label %344, label %346
