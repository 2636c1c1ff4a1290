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
  %22 = alloca <8 x i1>, align 1
  %23 = alloca <8 x i1>, align 1
  %24 = alloca <8 x i1>, align 1
  %25 = alloca <8 x i1>, align 1
  %26 = alloca <8 x i1>, align 1
  %27 = alloca <8 x i1>, align 1
  %28 = alloca i32, align 4
  %29 = alloca i64, align 8
  %30 = alloca i32, align 4
  %31 = alloca i64, align 8
  %32 = alloca i1, align 1
  %33 = alloca <8 x i1>, align 1
  %34 = alloca <8 x i1>, align 1
  %35 = alloca <8 x i1>, align 1
  %36 = alloca <8 x i1>, align 1
  %37 = alloca <8 x i1>, align 1
  %38 = alloca <8 x i1>, align 1
  %39 = alloca i32, align 4
  %40 = alloca i64, align 8
  %41 = alloca i32, align 4
  %42 = alloca i64, align 8
  %43 = alloca i1, align 1
  %44 = alloca i64, align 8
  %45 = alloca i64, align 8
  %46 = alloca i64, align 8
  %47 = alloca i64, align 8
  %48 = alloca i64, align 8
  %49 = alloca <8 x i1>, align 1
  %50 = alloca <8 x i1>, align 1
  %51 = alloca <8 x ptr>, align 64
  %52 = alloca <8 x i32>, align 64
  br label %53

53:
  %54 = load i32, ptr %1, align 4
  %55 = zext i32 %54 to i64
  %56 = getelementptr i8, ptr %1, i64 4
  %57 = load i32, ptr %56, align 4
  %58 = zext i32 %57 to i64
  %59 = getelementptr i8, ptr %1, i64 8
  %60 = load i32, ptr %59, align 4
  %61 = zext i32 %60 to i64
  %62 = getelementptr i8, ptr %1, i64 16
  %63 = load i32, ptr %62, align 4
  %64 = zext i32 %63 to i64
  %65 = getelementptr i8, ptr %1, i64 20
  %66 = load i32, ptr %65, align 4
  %67 = zext i32 %66 to i64
  %68 = getelementptr i8, ptr %1, i64 24
  %69 = load i32, ptr %68, align 4
  %70 = zext i32 %69 to i64
  %71 = getelementptr i8, ptr %1, i64 32
  %72 = load i64, ptr %71, align 8
  %73 = getelementptr i8, ptr %1, i64 40
  %74 = load i64, ptr %73, align 8
  %75 = getelementptr i8, ptr %1, i64 48
  %76 = load i64, ptr %75, align 8
  %77 = getelementptr i8, ptr %1, i64 28
  %78 = load i32, ptr %77, align 4
  %79 = zext i32 %78 to i64
  %80 = getelementptr i8, ptr %1, i64 12
  %81 = load i32, ptr %80, align 4
  %82 = zext i32 %81 to i64
  %83 = getelementptr i8, ptr %1, i64 72
  %84 = load i64, ptr %83, align 8
  %85 = getelementptr i8, ptr %1, i64 56
  %86 = load i64, ptr %85, align 8
  %87 = getelementptr i8, ptr %4, i64 %86
  %88 = load ptr, ptr %0, align 8
  %89 = getelementptr i8, ptr %0, i64 8
  %90 = load ptr, ptr %89, align 8
  %91 = getelementptr i8, ptr %1, i64 64
  %92 = load i64, ptr %91, align 8
  %93 = getelementptr i8, ptr %4, i64 %92
  %94 = mul i64 %79, 4
  %95 = add i64 %94, 15
  %96 = and i64 %95, -16
  %97 = getelementptr i8, ptr %93, i64 %96
  %98 = add i64 %2, %3
  %99 = getelementptr i8, ptr %1, i64 80
  %100 = load ptr, ptr %99, align 8
  store i8 0, ptr %6, align 1
  %101 = icmp eq ptr %100, null
  %102 = select i1 %101, ptr %6, ptr %100
  br label %103

103:
  %104 = phi i64 [ %2, %53 ], [ %121, %120 ]
  %105 = icmp ult i64 %104, %98
  br i1 %105, label %106, label %122

106:
  %107 = load atomic i8, ptr %102 monotonic, align 1
  %108 = icmp ne i8 %107, 0
  br i1 %108, label %122, label %109

109:
  %110 = udiv i64 %104, %64
  %111 = urem i64 %104, %64
  %112 = urem i64 %110, %67
  %113 = udiv i64 %110, %67
  %114 = mul i64 %111, %55
  %115 = add i64 %114, %72
  %116 = mul i64 %112, %58
  %117 = add i64 %116, %74
  %118 = mul i64 %113, %61
  %119 = add i64 %118, %76
  br label %123

120:
  %121 = add i64 %104, 1
  br label %103

122:
  ret void

123:
  %124 = and i64 %55, 7
  %125 = icmp eq i64 %124, 0
  br i1 %125, label %132, label %160

126:
  %127 = and i64 %55, 7
  %128 = icmp eq i64 %127, 0
  br i1 %128, label %238, label %266

129:
  %130 = and i64 %55, 7
  %131 = icmp eq i64 %130, 0
  br i1 %131, label %431, label %459

132:
  store i64 0, ptr %10, align 8
  store i64 0, ptr %11, align 8
  store i64 0, ptr %12, align 8
  br label %162

133:
  %134 = load i64, ptr %8, align 8
  %135 = insertelement <8 x i64> poison, i64 %134, i32 0
  %136 = shufflevector <8 x i64> %135, <8 x i64> poison, <8 x i32> zeroinitializer
  %137 = add <8 x i64> %136, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %138 = insertelement <8 x i64> poison, i64 %55, i32 0
  %139 = shufflevector <8 x i64> %138, <8 x i64> poison, <8 x i32> zeroinitializer
  %140 = insertelement <8 x i64> poison, i64 %58, i32 0
  %141 = shufflevector <8 x i64> %140, <8 x i64> poison, <8 x i32> zeroinitializer
  %142 = insertelement <8 x i64> poison, i64 %61, i32 0
  %143 = shufflevector <8 x i64> %142, <8 x i64> poison, <8 x i32> zeroinitializer
  %144 = uitofp <8 x i64> %137 to <8 x double>
  %145 = uitofp <8 x i64> %139 to <8 x double>
  %146 = fdiv <8 x double> %144, %145
  %147 = fptoui <8 x double> %146 to <8 x i64>
  %148 = mul <8 x i64> %147, %139
  %149 = sub <8 x i64> %137, %148
  %150 = uitofp <8 x i64> %147 to <8 x double>
  %151 = uitofp <8 x i64> %141 to <8 x double>
  %152 = fdiv <8 x double> %150, %151
  %153 = fptoui <8 x double> %152 to <8 x i64>
  %154 = mul <8 x i64> %153, %141
  %155 = sub <8 x i64> %147, %154
  %156 = insertelement <8 x i64> poison, i64 %79, i32 0
  %157 = shufflevector <8 x i64> %156, <8 x i64> poison, <8 x i32> zeroinitializer
  %158 = icmp ult <8 x i64> %137, %157
  store <8 x i1> zeroinitializer, ptr %14, align 1
  br label %204

159:
  br label %170

160:
  store i64 0, ptr %8, align 8
  store i64 %79, ptr %9, align 8
  br label %133

161:
  br label %126

162:
  %163 = load i64, ptr %10, align 8
  %164 = load i64, ptr %11, align 8
  %165 = load i64, ptr %12, align 8
  %166 = mul i64 %165, %58
  %167 = add i64 %166, %164
  %168 = mul i64 %167, %55
  %169 = add i64 %168, %163
  store <8 x i1> zeroinitializer, ptr %13, align 1
  br label %176

170:
  %171 = load i64, ptr %10, align 8
  %172 = add i64 %171, 8
  store i64 %172, ptr %10, align 8
  %173 = icmp ult i64 %172, %55
  br i1 %173, label %162, label %192

174:                                              ; No predecessors!
  store i64 %169, ptr %8, align 8
  %175 = add i64 %169, 8
  store i64 %175, ptr %9, align 8
  br label %133

176:
  store <8 x i1> zeroinitializer, ptr %13, align 1
  %177 = add i64 %115, %163
  %178 = mul i64 %177, 4
  %179 = getelementptr i8, ptr %88, i64 %178
  %180 = mul i64 %169, 4
  %181 = getelementptr i8, ptr %93, i64 %180
  %182 = load <8 x i32>, ptr %179, align 4
  %183 = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %182)
  store <8 x i32> %182, ptr %181, align 4
  %184 = insertelement <8 x i32> poison, i32 %183, i32 0
  %185 = shufflevector <8 x i32> %184, <8 x i32> poison, <8 x i32> zeroinitializer
  %186 = add i64 %79, 7
  %187 = and i64 %186, -8
  %188 = mul i64 %187, 0
  %189 = mul i64 %169, 4
  %190 = add i64 %188, %189
  %191 = getelementptr i8, ptr %87, i64 %190
  store <8 x i32> %185, ptr %191, align 4
  store i32 1, ptr %7, align 4
  br label %170

192:
  store i64 0, ptr %10, align 8
  %193 = load i64, ptr %11, align 8
  %194 = add i64 %193, 1
  store i64 %194, ptr %11, align 8
  %195 = icmp ult i64 %194, %58
  br i1 %195, label %162, label %196

196:
  store i64 0, ptr %11, align 8
  %197 = load i64, ptr %12, align 8
  %198 = add i64 %197, 1
  store i64 %198, ptr %12, align 8
  %199 = icmp ult i64 %198, %61
  br i1 %199, label %162, label %161

200:
  %201 = add i64 %134, 8
  store i64 %201, ptr %8, align 8
  %202 = load i64, ptr %9, align 8
  %203 = icmp ult i64 %201, %202
  br i1 %203, label %133, label %237

204:
  store <8 x i1> zeroinitializer, ptr %14, align 1
  %205 = insertelement <8 x i64> poison, i64 %115, i32 0
  %206 = shufflevector <8 x i64> %205, <8 x i64> poison, <8 x i32> zeroinitializer
  %207 = add <8 x i64> %206, %149
  %208 = mul <8 x i64> %207, splat (i64 4)
  %209 = getelementptr i8, ptr %88, <8 x i64> %208
  %210 = mul i64 %134, 4
  %211 = getelementptr i8, ptr %93, i64 %210
  store <8 x ptr> %209, ptr %15, align 64
  %212 = bitcast <8 x i1> %158 to i8
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
  %227 = select <8 x i1> %158, <8 x i32> %226, <8 x i32> zeroinitializer
  %228 = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %227)
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %226, ptr %211, <8 x i1> %158)
  %229 = insertelement <8 x i32> poison, i32 %228, i32 0
  %230 = shufflevector <8 x i32> %229, <8 x i32> poison, <8 x i32> zeroinitializer
  %231 = add i64 %79, 7
  %232 = and i64 %231, -8
  %233 = mul i64 %232, 0
  %234 = mul i64 %134, 4
  %235 = add i64 %233, %234
  %236 = getelementptr i8, ptr %87, i64 %235
  store <8 x i32> %230, ptr %236, align 4
  store i32 1, ptr %7, align 4
  br label %200

237:
  br i1 %125, label %159, label %161

238:
  store i64 0, ptr %19, align 8
  store i64 0, ptr %20, align 8
  store i64 0, ptr %21, align 8
  br label %268

239:
  %240 = load i64, ptr %17, align 8
  %241 = insertelement <8 x i64> poison, i64 %240, i32 0
  %242 = shufflevector <8 x i64> %241, <8 x i64> poison, <8 x i32> zeroinitializer
  %243 = add <8 x i64> %242, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %244 = insertelement <8 x i64> poison, i64 %55, i32 0
  %245 = shufflevector <8 x i64> %244, <8 x i64> poison, <8 x i32> zeroinitializer
  %246 = insertelement <8 x i64> poison, i64 %58, i32 0
  %247 = shufflevector <8 x i64> %246, <8 x i64> poison, <8 x i32> zeroinitializer
  %248 = insertelement <8 x i64> poison, i64 %61, i32 0
  %249 = shufflevector <8 x i64> %248, <8 x i64> poison, <8 x i32> zeroinitializer
  %250 = uitofp <8 x i64> %243 to <8 x double>
  %251 = uitofp <8 x i64> %245 to <8 x double>
  %252 = fdiv <8 x double> %250, %251
  %253 = fptoui <8 x double> %252 to <8 x i64>
  %254 = mul <8 x i64> %253, %245
  %255 = sub <8 x i64> %243, %254
  %256 = uitofp <8 x i64> %253 to <8 x double>
  %257 = uitofp <8 x i64> %247 to <8 x double>
  %258 = fdiv <8 x double> %256, %257
  %259 = fptoui <8 x double> %258 to <8 x i64>
  %260 = mul <8 x i64> %259, %247
  %261 = sub <8 x i64> %253, %260
  %262 = insertelement <8 x i64> poison, i64 %79, i32 0
  %263 = shufflevector <8 x i64> %262, <8 x i64> poison, <8 x i32> zeroinitializer
  %264 = icmp ult <8 x i64> %243, %263
  store <8 x i1> zeroinitializer, ptr %33, align 1
  store <8 x i1> zeroinitializer, ptr %34, align 1
  store <8 x i1> zeroinitializer, ptr %35, align 1
  store <8 x i1> zeroinitializer, ptr %36, align 1
  store <8 x i1> zeroinitializer, ptr %37, align 1
  store <8 x i1> zeroinitializer, ptr %38, align 1
  br label %362

265:
  br label %276

266:
  store i64 0, ptr %17, align 8
  store i64 %79, ptr %18, align 8
  br label %239

267:
  br label %129

268:
  %269 = load i64, ptr %19, align 8
  %270 = load i64, ptr %20, align 8
  %271 = load i64, ptr %21, align 8
  %272 = mul i64 %271, %58
  %273 = add i64 %272, %270
  %274 = mul i64 %273, %55
  %275 = add i64 %274, %269
  store <8 x i1> zeroinitializer, ptr %22, align 1
  store <8 x i1> zeroinitializer, ptr %23, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %27, align 1
  br label %282

276:
  %277 = load i64, ptr %19, align 8
  %278 = add i64 %277, 8
  store i64 %278, ptr %19, align 8
  %279 = icmp ult i64 %278, %55
  br i1 %279, label %268, label %350

280:                                              ; No predecessors!
  store i64 %275, ptr %17, align 8
  %281 = add i64 %275, 8
  store i64 %281, ptr %18, align 8
  br label %239

282:
  store <8 x i1> zeroinitializer, ptr %22, align 1
  %283 = insertelement <8 x i64> poison, i64 %275, i32 0
  %284 = shufflevector <8 x i64> %283, <8 x i64> poison, <8 x i32> zeroinitializer
  %285 = add <8 x i64> %284, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %286 = icmp eq <8 x i64> %285, zeroinitializer
  %287 = mul i64 %55, %58
  %288 = mul i64 %287, %61
  store i64 %288, ptr %31, align 8
  %289 = icmp ugt i64 %288, 1
  store i1 %289, ptr %32, align 1
  %290 = xor <8 x i1> %286, splat (i1 true)
  %291 = load <8 x i1>, ptr %23, align 1
  %292 = or <8 x i1> %291, %286
  store <8 x i1> %292, ptr %23, align 1
  %293 = load <8 x i1>, ptr %27, align 1
  %294 = or <8 x i1> %293, %290
  store <8 x i1> %294, ptr %27, align 1
  br label %331

295:
  %296 = load <8 x i1>, ptr %23, align 1
  store <8 x i1> zeroinitializer, ptr %23, align 1
  %297 = load i32, ptr %93, align 4
  %298 = load i1, ptr %32, align 1
  br i1 %298, label %337, label %340

299:
  %300 = load <8 x i1>, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %24, align 1
  %301 = load i32, ptr %28, align 4
  %302 = load i64, ptr %29, align 8
  %303 = mul i64 %302, 4
  %304 = getelementptr i8, ptr %93, i64 %303
  %305 = load i32, ptr %304, align 4
  %306 = call i32 @llvm.umax.i32(i32 %301, i32 %305)
  %307 = add i64 %302, 1
  %308 = load i64, ptr %31, align 8
  %309 = icmp ult i64 %307, %308
  br i1 %309, label %343, label %347

310:
  %311 = load <8 x i1>, ptr %26, align 1
  store <8 x i1> zeroinitializer, ptr %26, align 1
  %312 = load i32, ptr %30, align 4
  store i32 %312, ptr %4, align 4
  %313 = load <8 x i1>, ptr %27, align 1
  %314 = or <8 x i1> %313, %311
  store <8 x i1> %314, ptr %27, align 1
  br label %315

315:
  store <8 x i1> zeroinitializer, ptr %27, align 1
  %316 = add i64 %79, 7
  %317 = and i64 %316, -8
  %318 = mul i64 %317, 0
  %319 = mul i64 %275, 4
  %320 = add i64 %318, %319
  %321 = getelementptr i8, ptr %87, i64 %320
  %322 = load i32, ptr %321, align 4
  %323 = insertelement <8 x i32> poison, i32 %322, i32 0
  %324 = shufflevector <8 x i32> %323, <8 x i32> poison, <8 x i32> zeroinitializer
  %325 = add i64 %79, 7
  %326 = and i64 %325, -8
  %327 = mul i64 %326, 0
  %328 = mul i64 %275, 4
  %329 = add i64 %327, %328
  %330 = getelementptr i8, ptr %87, i64 %329
  store <8 x i32> %324, ptr %330, align 4
  store i32 2, ptr %7, align 4
  br label %276

331:
  %332 = load <8 x i1>, ptr %23, align 1
  %333 = bitcast <8 x i1> %332 to i8
  %334 = icmp ne i8 %333, 0
  br i1 %334, label %335, label %336

335:
  br label %295

336:
  store <8 x i1> zeroinitializer, ptr %23, align 1
  br label %315

337:
  store i32 %297, ptr %28, align 4
  store i64 1, ptr %29, align 8
  %338 = load <8 x i1>, ptr %24, align 1
  %339 = or <8 x i1> %338, %296
  store <8 x i1> %339, ptr %24, align 1
  br label %299

340:
  store i32 %297, ptr %30, align 4
  %341 = load <8 x i1>, ptr %26, align 1
  %342 = or <8 x i1> %341, %296
  store <8 x i1> %342, ptr %26, align 1
  br label %310

343:
  store i32 %306, ptr %28, align 4
  store i64 %307, ptr %29, align 8
  %344 = load <8 x i1>, ptr %25, align 1
  %345 = or <8 x i1> %344, %300
  store <8 x i1> %345, ptr %25, align 1
  %346 = load <8 x i1>, ptr %25, align 1
  store <8 x i1> %346, ptr %24, align 1
  store <8 x i1> zeroinitializer, ptr %25, align 1
  br label %299

347:
  store i32 %306, ptr %30, align 4
  %348 = load <8 x i1>, ptr %26, align 1
  %349 = or <8 x i1> %348, %300
  store <8 x i1> %349, ptr %26, align 1
  br label %310

350:
  store i64 0, ptr %19, align 8
  %351 = load i64, ptr %20, align 8
  %352 = add i64 %351, 1
  store i64 %352, ptr %20, align 8
  %353 = icmp ult i64 %352, %58
  br i1 %353, label %268, label %354

354:
  store i64 0, ptr %20, align 8
  %355 = load i64, ptr %21, align 8
  %356 = add i64 %355, 1
  store i64 %356, ptr %21, align 8
  %357 = icmp ult i64 %356, %61
  br i1 %357, label %268, label %267

358:
  %359 = add i64 %240, 8
  store i64 %359, ptr %17, align 8
  %360 = load i64, ptr %18, align 8
  %361 = icmp ult i64 %359, %360
  br i1 %361, label %239, label %430

362:
  store <8 x i1> zeroinitializer, ptr %33, align 1
  %363 = insertelement <8 x i64> poison, i64 %240, i32 0
  %364 = shufflevector <8 x i64> %363, <8 x i64> poison, <8 x i32> zeroinitializer
  %365 = add <8 x i64> %364, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %366 = icmp eq <8 x i64> %365, zeroinitializer
  %367 = mul i64 %55, %58
  %368 = mul i64 %367, %61
  store i64 %368, ptr %42, align 8
  %369 = icmp ugt i64 %368, 1
  store i1 %369, ptr %43, align 1
  %370 = xor <8 x i1> %366, splat (i1 true)
  %371 = select <8 x i1> %264, <8 x i1> %366, <8 x i1> zeroinitializer
  %372 = select <8 x i1> %264, <8 x i1> %370, <8 x i1> zeroinitializer
  %373 = load <8 x i1>, ptr %34, align 1
  %374 = or <8 x i1> %373, %371
  store <8 x i1> %374, ptr %34, align 1
  %375 = load <8 x i1>, ptr %38, align 1
  %376 = or <8 x i1> %375, %372
  store <8 x i1> %376, ptr %38, align 1
  br label %411

377:
  %378 = load <8 x i1>, ptr %34, align 1
  store <8 x i1> zeroinitializer, ptr %34, align 1
  %379 = load i32, ptr %93, align 4
  %380 = load i1, ptr %43, align 1
  br i1 %380, label %417, label %420

381:
  %382 = load <8 x i1>, ptr %35, align 1
  store <8 x i1> zeroinitializer, ptr %35, align 1
  %383 = load i32, ptr %39, align 4
  %384 = load i64, ptr %40, align 8
  %385 = mul i64 %384, 4
  %386 = getelementptr i8, ptr %93, i64 %385
  %387 = load i32, ptr %386, align 4
  %388 = call i32 @llvm.umax.i32(i32 %383, i32 %387)
  %389 = add i64 %384, 1
  %390 = load i64, ptr %42, align 8
  %391 = icmp ult i64 %389, %390
  br i1 %391, label %423, label %427

392:
  %393 = load <8 x i1>, ptr %37, align 1
  store <8 x i1> zeroinitializer, ptr %37, align 1
  %394 = load i32, ptr %41, align 4
  store i32 %394, ptr %4, align 4
  %395 = load <8 x i1>, ptr %38, align 1
  %396 = or <8 x i1> %395, %393
  store <8 x i1> %396, ptr %38, align 1
  br label %397

397:
  store <8 x i1> zeroinitializer, ptr %38, align 1
  %398 = add i64 %79, 7
  %399 = and i64 %398, -8
  %400 = mul i64 %399, 0
  %401 = mul i64 %240, 4
  %402 = add i64 %400, %401
  %403 = getelementptr i8, ptr %87, i64 %402
  %404 = load <8 x i32>, ptr %403, align 4
  %405 = add i64 %79, 7
  %406 = and i64 %405, -8
  %407 = mul i64 %406, 0
  %408 = mul i64 %240, 4
  %409 = add i64 %407, %408
  %410 = getelementptr i8, ptr %87, i64 %409
  store <8 x i32> %404, ptr %410, align 4
  store i32 2, ptr %7, align 4
  br label %358

411:
  %412 = load <8 x i1>, ptr %34, align 1
  %413 = bitcast <8 x i1> %412 to i8
  %414 = icmp ne i8 %413, 0
  br i1 %414, label %415, label %416

415:
  br label %377

416:
  store <8 x i1> zeroinitializer, ptr %34, align 1
  br label %397

417:
  store i32 %379, ptr %39, align 4
  store i64 1, ptr %40, align 8
  %418 = load <8 x i1>, ptr %35, align 1
  %419 = or <8 x i1> %418, %378
  store <8 x i1> %419, ptr %35, align 1
  br label %381

420:
  store i32 %379, ptr %41, align 4
  %421 = load <8 x i1>, ptr %37, align 1
  %422 = or <8 x i1> %421, %378
  store <8 x i1> %422, ptr %37, align 1
  br label %392

423:
  store i32 %388, ptr %39, align 4
  store i64 %389, ptr %40, align 8
  %424 = load <8 x i1>, ptr %36, align 1
  %425 = or <8 x i1> %424, %382
  store <8 x i1> %425, ptr %36, align 1
  %426 = load <8 x i1>, ptr %36, align 1
  store <8 x i1> %426, ptr %35, align 1
  store <8 x i1> zeroinitializer, ptr %36, align 1
  br label %381

427:
  store i32 %388, ptr %41, align 4
  %428 = load <8 x i1>, ptr %37, align 1
  %429 = or <8 x i1> %428, %382
  store <8 x i1> %429, ptr %37, align 1
  br label %392

430:
  br i1 %128, label %265, label %267

431:
  store i64 0, ptr %46, align 8
  store i64 0, ptr %47, align 8
  store i64 0, ptr %48, align 8
  br label %461

432:
  %433 = load i64, ptr %44, align 8
  %434 = insertelement <8 x i64> poison, i64 %433, i32 0
  %435 = shufflevector <8 x i64> %434, <8 x i64> poison, <8 x i32> zeroinitializer
  %436 = add <8 x i64> %435, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %437 = insertelement <8 x i64> poison, i64 %55, i32 0
  %438 = shufflevector <8 x i64> %437, <8 x i64> poison, <8 x i32> zeroinitializer
  %439 = insertelement <8 x i64> poison, i64 %58, i32 0
  %440 = shufflevector <8 x i64> %439, <8 x i64> poison, <8 x i32> zeroinitializer
  %441 = insertelement <8 x i64> poison, i64 %61, i32 0
  %442 = shufflevector <8 x i64> %441, <8 x i64> poison, <8 x i32> zeroinitializer
  %443 = uitofp <8 x i64> %436 to <8 x double>
  %444 = uitofp <8 x i64> %438 to <8 x double>
  %445 = fdiv <8 x double> %443, %444
  %446 = fptoui <8 x double> %445 to <8 x i64>
  %447 = mul <8 x i64> %446, %438
  %448 = sub <8 x i64> %436, %447
  %449 = uitofp <8 x i64> %446 to <8 x double>
  %450 = uitofp <8 x i64> %440 to <8 x double>
  %451 = fdiv <8 x double> %449, %450
  %452 = fptoui <8 x double> %451 to <8 x i64>
  %453 = mul <8 x i64> %452, %440
  %454 = sub <8 x i64> %446, %453
  %455 = insertelement <8 x i64> poison, i64 %79, i32 0
  %456 = shufflevector <8 x i64> %455, <8 x i64> poison, <8 x i32> zeroinitializer
  %457 = icmp ult <8 x i64> %436, %456
  store <8 x i1> zeroinitializer, ptr %50, align 1
  br label %502

458:
  br label %469

459:
  store i64 0, ptr %44, align 8
  store i64 %79, ptr %45, align 8
  br label %432

460:
  br label %120

461:
  %462 = load i64, ptr %46, align 8
  %463 = load i64, ptr %47, align 8
  %464 = load i64, ptr %48, align 8
  %465 = mul i64 %464, %58
  %466 = add i64 %465, %463
  %467 = mul i64 %466, %55
  %468 = add i64 %467, %462
  store <8 x i1> zeroinitializer, ptr %49, align 1
  br label %475

469:
  %470 = load i64, ptr %46, align 8
  %471 = add i64 %470, 8
  store i64 %471, ptr %46, align 8
  %472 = icmp ult i64 %471, %55
  br i1 %472, label %461, label %490

473:                                              ; No predecessors!
  store i64 %468, ptr %44, align 8
  %474 = add i64 %468, 8
  store i64 %474, ptr %45, align 8
  br label %432

475:
  store <8 x i1> zeroinitializer, ptr %49, align 1
  %476 = add i64 %115, %462
  %477 = mul i64 %476, 4
  %478 = getelementptr i8, ptr %90, i64 %477
  %479 = load i32, ptr %4, align 4
  %480 = add i64 %79, 7
  %481 = and i64 %480, -8
  %482 = mul i64 %481, 0
  %483 = mul i64 %468, 4
  %484 = add i64 %482, %483
  %485 = getelementptr i8, ptr %87, i64 %484
  %486 = load i32, ptr %485, align 4
  %487 = add i32 %479, %486
  %488 = insertelement <8 x i32> poison, i32 %487, i32 0
  %489 = shufflevector <8 x i32> %488, <8 x i32> poison, <8 x i32> zeroinitializer
  store <8 x i32> %489, ptr %478, align 4
  store i32 -1, ptr %7, align 4
  br label %469

490:
  store i64 0, ptr %46, align 8
  %491 = load i64, ptr %47, align 8
  %492 = add i64 %491, 1
  store i64 %492, ptr %47, align 8
  %493 = icmp ult i64 %492, %58
  br i1 %493, label %461, label %494

494:
  store i64 0, ptr %47, align 8
  %495 = load i64, ptr %48, align 8
  %496 = add i64 %495, 1
  store i64 %496, ptr %48, align 8
  %497 = icmp ult i64 %496, %61
  br i1 %497, label %461, label %460

498:
  %499 = add i64 %433, 8
  store i64 %499, ptr %44, align 8
  %500 = load i64, ptr %45, align 8
  %501 = icmp ult i64 %499, %500
  br i1 %501, label %432, label %532

502:
  store <8 x i1> zeroinitializer, ptr %50, align 1
  %503 = insertelement <8 x i64> poison, i64 %115, i32 0
  %504 = shufflevector <8 x i64> %503, <8 x i64> poison, <8 x i32> zeroinitializer
  %505 = add <8 x i64> %504, %448
  %506 = mul <8 x i64> %505, splat (i64 4)
  %507 = getelementptr i8, ptr %90, <8 x i64> %506
  %508 = load i32, ptr %4, align 4
  %509 = add i64 %79, 7
  %510 = and i64 %509, -8
  %511 = mul i64 %510, 0
  %512 = mul i64 %433, 4
  %513 = add i64 %511, %512
  %514 = getelementptr i8, ptr %87, i64 %513
  %515 = load <8 x i32>, ptr %514, align 4
  %516 = insertelement <8 x i32> poison, i32 %508, i32 0
  %517 = shufflevector <8 x i32> %516, <8 x i32> poison, <8 x i32> zeroinitializer
  %518 = add <8 x i32> %517, %515
  store <8 x ptr> %507, ptr %51, align 64
  store <8 x i32> %518, ptr %52, align 64
  %519 = bitcast <8 x i1> %457 to i8
  %520 = zext i8 %519 to i64
  br label %521

521:
  %522 = phi i64 [ %520, %502 ], [ %529, %521 ]
  %523 = call i64 @llvm.cttz.i64(i64 %522, i1 true)
  %524 = getelementptr ptr, ptr %51, i64 %523
  %525 = load ptr, ptr %524, align 1
  %526 = getelementptr i32, ptr %52, i64 %523
  %527 = load i32, ptr %526, align 1
  store i32 %527, ptr %525, align 4
  %528 = sub i64 %522, 1
  %529 = and i64 %522, %528
  %530 = icmp ne i64 %529, 0
  br i1 %530, label %521, label %531

531:
  store i32 -1, ptr %7, align 4
  br label %498

532:
  br i1 %131, label %458, label %460
